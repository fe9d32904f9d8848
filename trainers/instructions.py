"""General instructions with their answers, mixed into a training so that the model stays what it is otherwise."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import Continuation
from evenhand.models.request import Message, Request
from evenhand.models.text_reader import TextReader
from evenhand.row_files import Rows, as_text, read_rows

LONGEST = 1024  # tokens of prompt and answer, as in the published training
PAIRS = (("instruction", "output"), ("prompt", "completion"), ("prompt", "response"), ("question", "answer"))
ACCEPTED = "columns instruction and output (input is added to the instruction, where there is one), prompt and "
ACCEPTED += "completion or response, question and answer, or messages, whose last is the assistant's"


@dataclass(frozen=True)
class Mixed:
    """examples: of those drawn; left_out: of them, for being too long. sha256: of the file's bytes. told: what a person
    should know of it, no full stop; nothing where all were read.
    """

    examples: tuple[Continuation, ...]
    left_out: int
    sha256: str
    told: str = ""


def mixed(path: Path, n: int, seed: int, reader: TextReader, template: bool) -> Mixed:
    """n of the file's rows, or all where it has fewer, drawn by the seed.

    template: of the model's chat; the answer then ends with the token that the template puts behind an assistant's.
    Without it, instruction and answer are plain paragraphs. Raises UsageError for a file that can't be read, other
    columns, and rows none of which is short enough.
    """
    rows = read_rows(path, "instruction", "instructions")
    asked = _asked(rows, template)
    drawn = random.Random(f"mix {seed}").sample(range(len(asked)), min(n, len(asked)))
    end = reader.end_of_answer() if template else None
    behind = () if end is None else (end,)
    longest = min(LONGEST, reader.context or LONGEST)
    examples: list[Continuation] = []
    too_long: list[tuple[int, str]] = []
    of_any_length = replace(reader, context=None)  # so that it can be said how long what is too long is
    for place, found in zip(drawn, of_any_length.continuations([asked[place] for place in drawn])):
        if isinstance(found, Unanswerable):
            continue
        example = Continuation(found[0].prompt, found[0].answer + behind)
        if len(example.prompt + example.answer) <= longest:
            examples.append(example)
        else:
            too_long.append((len(example.prompt + example.answer), rows.places[place]))
    left_out = len(drawn) - len(examples)
    if not examples:
        why = f"; the shortest, {min(too_long)[1]}, has {min(too_long)[0]:,}" if too_long else ""
        raise UsageError(
            f"{path}: none of the {len(drawn)} instructions drawn from it can be read within {longest:,} tokens, with "
            f"its answer{why}. Shorter ones are accepted: cut them, or name another file"
        )
    told = ""
    if too_long:
        most, where = max(too_long)
        told = (
            f"{len(too_long):,} of {len(drawn):,} instructions from {path.name} left out: with their answers they have "
            f"more than {longest:,} tokens (the longest, {where}, has {most:,})"
        )
    return Mixed(tuple(examples), left_out, rows.sha256, told)


def _asked(rows: Rows, template: bool) -> list[Request]:
    if "messages" in rows.columns:
        talks = [_talk(messages, rows, place) for place, messages in enumerate(rows.cells("messages"))]
    else:
        talks = [[Message("user", asked), Message("assistant", answer)] for asked, answer in _pairs(rows)]
    return [
        Request(tuple(turns[:-1]), (turns[-1].text,), name=f"mix/{place}")
        if template
        else Request(
            (Message("user", "\n\n".join(each.text for each in turns[:-1]) + "\n"),), (turns[-1].text,), template=False
        )
        for place, turns in enumerate(talks)
    ]


def _pairs(rows: Rows) -> list[tuple[str, str]]:
    columns = next((pair for pair in PAIRS if {*pair} <= {*rows.columns}), None)
    if columns is None:
        raise UsageError(f"{rows.path} has the columns {', '.join(rows.columns)}; {ACCEPTED} are accepted")
    for name in columns:
        for place, cell in enumerate(rows.cells(name)):
            if isinstance(cell, (list, dict)):
                what = "a list" if isinstance(cell, list) else "an object"
                raise UsageError(f"{rows.path}, {rows.places[place]}: {name} is {what}; a text is accepted")
    asked, answers = (rows.words(name) for name in columns)
    further = rows.words("input") if "input" in rows.columns else [""] * rows.n
    for place, (question, answer) in enumerate(zip(asked, answers)):
        missing = [name for name, words in zip(columns, (question, answer)) if not words]
        if missing:
            empty = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} empty or not there"
            raise UsageError(f"{rows.path}, {rows.places[place]}: {empty}; every row needs both")
    return [
        ("\n\n".join(filter(None, (question, more))), answer) for question, more, answer in zip(asked, further, answers)
    ]


def _talk(messages: Any, rows: Rows, place: int) -> list[Message]:
    """Raises UsageError for what is no conversation that an assistant ends."""
    turns = messages if isinstance(messages, Sequence) and not isinstance(messages, str) else []
    talk = [
        Message(turn["role"], as_text(turn["content"]))
        for turn in turns
        if isinstance(turn, dict) and turn.get("role") in ("system", "user", "assistant") and turn.get("content")
    ]
    asked = any(turn.role == "user" for turn in talk)
    if len(talk) != len(turns) or not asked or talk[-1].role != "assistant":
        raise UsageError(
            f"{rows.path}, {rows.places[place]}: messages are no list of turns (role, content) in which a user asks "
            "and that ends with the assistant's"
        )
    return talk
