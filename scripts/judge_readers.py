"""Judge the readers of written answers on labelled ones: how many of the readable are read right, how many wrong.

A line of FILE.jsonl is {"benchmark": …, "row": {…}, "text": …, "label": …}. Label null: not readable, that is a
refusal, a hedge, a denial, or several answers. Wrong: the reader finds another answer than the label, or any where the
label is null. "row" is what the reader knows besides the text, and the labels are:

    contact_hypothesis           {"scale": "certainty" | "likelihood" | "frequency"}      "Yes" | "No" | "Likely" | …
    contact_controls             {"options": ["Yes", "No"]}                               one of the options
    bbq                          {"answers": [first, second, third], "question": as asked, or left out}
                                     0, 1 or 2: the place of one; "I don't know" is the answer unknown
    labe                         {}                                  "text" | "refusal" | "error marker" | "empty"
    utility                      {"answers": [accepted, …]}          "correct" | "wrong" | "refused" | "empty"
                                     refused: also "I don't know" and its kind, with no answer after it
    implicit_bias                {"tasks": […], "people": […], "speaker": name or left out}
                                     [name or null for each task], or null for all; tasks are counted, not texts
    implicit_bias_understanding  {}                                  "present" | "absent"
    implicit_bias_case_study     {"label": "Agent" | "Leader Agent", "names": […], "speaker": one of them, or left out}
                                     one of the names
    mllm_stereotypes             {"asked": "nurse" or left out, "scale": number or left out}        "left" | "right"
                                 {"attribute": "gender" | "race", "candidates": […]}      one of the candidates

A row may also say "cut_off": true, for a text that ended at the limit of tokens.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulating import print_header, print_row
from write_results import save_tables

from evenhand.benchmarks.bbq.reading import read_place
from evenhand.benchmarks.contact_controls.reading import scale_of
from evenhand.benchmarks.contact_hypothesis.reading import read_written
from evenhand.benchmarks.implicit_bias import read_assignment, read_present_or_absent
from evenhand.benchmarks.implicit_bias.case_study.reader import read_named
from evenhand.benchmarks.labe.reading import why_no_text
from evenhand.benchmarks.mllm_stereotypes import read_side, read_social_term
from evenhand.benchmarks.utility.reading import read_outcome
from evenhand.command_line import ScriptHelp
from evenhand.metrics.contact_bias import scores
from evenhand.models.request import Reply
from evenhand.models.thoughts import split_thought
from evenhand.report.tables import Cell, Table

Row = Mapping[str, Any]


def _reply(text: str, row: Row) -> Reply:
    return Reply(text=text, finish_reason="length" if row.get("cut_off") else "stop")


def _read_scale(text: str, row: Row) -> str | None:
    scale = row["scale"] if "scale" in row else scale_of(row["options"])
    polarity = read_written(_reply(text, row), scale)
    return {scores.AFFIRMING: scores.OPTIONS[scale][0], scores.DECLINING: scores.OPTIONS[scale][1]}.get(polarity)


def _read_picture(text: str, row: Row) -> str | None:
    if "attribute" in row:
        return read_social_term(text, row["attribute"], row["candidates"])
    return read_side(text, row.get("scale"), row.get("asked"))


READERS: dict[str, Callable[[str, Row], Any]] = {
    "contact_hypothesis": _read_scale,
    "contact_controls": _read_scale,
    "bbq": lambda text, row: read_place(text, row["answers"], bool(row.get("cut_off")), row.get("question", "")),
    "labe": lambda text, row: why_no_text(text) or "text",
    "utility": lambda text, row: read_outcome(_reply(text, row), row["answers"]),
    "implicit_bias": lambda text, row: read_assignment(text, row["tasks"], row["people"], row.get("speaker")),
    "implicit_bias_understanding": lambda text, row: read_present_or_absent(text),
    "implicit_bias_case_study": lambda text, row: (
        read_named(text, row["label"], row["names"], row.get("speaker")).person
    ),
    "mllm_stereotypes": _read_picture,
}


def judge(entries: Sequence[Row]) -> dict[str, list[tuple[Row, Any, Any]]]:
    """Return per benchmark (entry, label, what is read) of every answer, and of every task where tasks are given."""
    judged: dict[str, list[tuple[Row, Any, Any]]] = {}
    for entry in entries:
        name, row = entry["benchmark"], entry["row"]
        read, label = READERS[name](split_thought(entry["text"])[0], row), entry["label"]
        pairs = zip(label or [None] * len(read), read, strict=True) if name == "implicit_bias" else [(label, read)]
        judged.setdefault(name, []).extend((entry, *pair) for pair in pairs)
    return judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("file", type=Path, help="labelled answers")
    parser.add_argument("--show", action="store_true", help="show what is read wrong, and what is not read")
    parser.add_argument("--record", type=Path, help="table as JSON, for scripts/write_results.py")
    options = parser.parse_args()
    entries = [json.loads(line) for line in options.file.read_text("utf-8").splitlines() if line.strip()]
    columns = ("benchmark", "answers", "readable", "read right", "read wrong")
    print_header(*columns)
    rows = []
    for name, judged in judge(entries).items():
        readable = sum(label is not None for _, label, _ in judged)
        right = sum(label is not None and label == read for _, label, read in judged)
        wrong = [each for each in judged if each[2] not in (None, each[1])]
        numbers = (len(judged), readable, right, len(wrong))
        rows.append((Cell(name), *(Cell(number, style="count") for number in numbers)))
        print_row(name, *map(str, numbers))
        if options.show:
            for entry, label, read in (each for each in judged if each[1] != each[2]):
                print(f"  {'WRONG' if read is not None else 'unread'} {label!r} <- {read!r}: {entry['row']}")
                print(f"      {entry['text']!r}")
    if options.record:
        command = f"python scripts/judge_readers.py {options.file.name}"
        about = "Answers labelled apart, before any reader was run on them. Wrong: another answer than the label."
        save_tables(options.record, command, about, [Table("first sight", columns, tuple(rows))])


if __name__ == "__main__":
    main()
