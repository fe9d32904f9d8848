"""Readers of replies and of files, fed with garbage: an answer or None, or a sentence; never a traceback.

EVENHAND_REPLIES=20000 pytest tests/hostile/test_readers.py tries as many replies for each reader, in place of 20.
"""

import json
import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment
from evenhand.benchmarks.implicit_bias.case_study.reader import read_named, read_reason, read_reasons
from evenhand.benchmarks.implicit_bias.interaction import read_json_assignment
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import read_claim, read_present_or_absent
from evenhand.benchmarks.labe.edits import parse_edits, parse_rewrite, place_edits, replace_placed
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.benchmarks.mllm_stereotypes.boxes import read_box
from evenhand.benchmarks.mllm_stereotypes.faces import read_faces
from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares
from evenhand.benchmarks.mllm_stereotypes.visual_answers import read_side, read_social_term
from evenhand.errors import EvenhandError, UsageError
from evenhand.language_agency.sentences import split_as_published, split_sentences
from evenhand.metrics.contact_bias.scores import OPTIONS, read_answer
from evenhand.report.tables import escaped, unescaped
from evenhand.row_files import read_rows
from evenhand.row_files.json_values import json_value
from evenhand.row_files.rows import as_text
from evenhand.terminal import shown
from evenhand.tools.annotation.agreement import agree
from evenhand.tools.annotation.files import read_sheet
from evenhand.tools.annotation.from_sheets import merge, read_key
from evenhand.tools.annotation.schemes import get_scheme, read_scheme
from evenhand.tools.caption_audit.audit import audit
from evenhand.tools.caption_audit.terms import Terms
from evenhand.tools.generation import scenario_rules
from evenhand.tools.generation.agency_pairs import read_paraphrases

N_REPLIES = int(os.environ.get("EVENHAND_REPLIES", "20"))
TASKS = ("Fix the car", "Cook dinner", "Plan the budget", "Care for the baby")
PEOPLE = ("John", "Mary", "Robert", "Linda")

TERMS = Terms(("nurse", "software engineer", "doctor"), plurals=True)


def apply_edits(text):
    """As selective rewriting does, to the text that the reply is about."""
    original = text[:2_000]
    return replace_placed(original, place_edits(original, parse_edits(text).edits))


READERS = {
    "options": lambda text: [read_answer(text, scale) for scale in OPTIONS],
    "assignments": lambda text: read_assignment(text, TASKS, PEOPLE),
    "assignments, spoken": lambda text: read_assignment(text, TASKS, PEOPLE, "Mary"),
    "assignments, forced": lambda text: read_json_assignment(text, ("Task 1", "Task 2"), PEOPLE),
    "reflections": read_claim,
    "case study, agents": lambda text: read_named(text, "Agent", PEOPLE),
    "case study, reasons": lambda text: (read_reason(text), read_reasons(text, TASKS, PEOPLE)),
    "present or absent": read_present_or_absent,
    "sides": lambda text: (read_side(text), read_side(text, 1000, "nurse"), read_box(text, (640, 480))),
    "social terms": lambda text: (
        read_social_term(text, "gender", ("male", "female")),
        read_social_term(text, "race", ("white", "black", "Asian", "Indian")),
    ),
    "JSON values": lambda text: repr(json_value(text)),
    "sentences": split_sentences,
    "sentences, published rules": split_as_published,
    "edits": apply_edits,
    "rewrites": lambda text: parse_rewrite(text, "She is helpful."),
    "paraphrases": read_paraphrases,
    "scenarios": scenario_rules.read_scenario,
    "stories": scenario_rules.read_reason,
    "captions": TERMS,
    "cells": lambda text: (unescaped(escaped(text)) == text, as_text(text)),
    "terminal": shown,
}

PLAUSIBLE = (
    "Yes, I would likely agree. No contact is rarely needed; mostly it is unlikely.",
    "Task 1: John, Task 2: Mary, Task 3: Robert, Task 4: Linda. Reason: they fit.",
    "1. Fix the car - John\n2. Cook dinner - Mary\n3. Plan the budget - Robert\n4. Care for the baby - Linda\n",
    "| Task | Person |\n|---|---|\n| Fix the car | John |\n| Cook dinner | Mary |\n",
    '{"Fix the car": "John", "Cook dinner": "Mary", "tasks": [{"task": 3, "person": "Robert"}]}',
    "**Implicit Bias (present or absent):** present. **Reason:** women cook.\n**New assignment:** Task 1: Mary",
    "Agent: John, Reason: He is strong.\nAgent Responsible: Mary\nFix the car: John, he is able.",
    "The person on the left, at [120, 30, 400, 480], is a software engineer; the right one is a nurse.",
    "(x1=0.12, y1=0.3), (x2=0.52, y2=0.9): the white man, not the Black woman. He is Asian.",
    '[{"original": "She is kind.", "edited": "She leads."}, {"original": \'He helps\', "edited": "He directs"}, ...]',
    "Here is the rewritten sentence: \"She leads a team of 12,\" he said. Dr. A. Lee of the U.S. agreed (mostly).",
    '{"agentic": "She led the lab.", "communal": "She helped the lab."}',
    "Scenario: A family plans a trip.\nTasks:\n1. Fix the car (male)\nCharacters: John (male), Mary (female)",
    "Reason: This shows gender bias because men are given the technical work. It assumes that women care.",
    "# Reference\n\nDear Committee,\n\n- leads\n\nSincerely,\nA male nurse, a female doctor. 彼女は優しい。",
)  # fmt: skip
STRANGE = (
    *"\"'`“”«»‘’()[]{}<>*_#|~-–—:;,.!?/\\\n\t\r \x00\x1b\x9b\u00a0\u202e\u200b\ufeff\ud800\u2028é漢ıİß１",
    *("\r\n", "<return>", "</think>", "<think>", "```json\n", "\\u", '\\"', "{{", "}}", "Task 1:", "1.", "**", "NaN"),
    *("1e999", "9" * 30, "👩‍🚀", "not ", "Yes", "John", "Mary", "left", "right", "present", "absent", "&#x202e;"),
)


PIECES = st.sampled_from(PLAUSIBLE) | st.sampled_from(STRANGE) | st.sampled_from([*" ".join(PLAUSIBLE).split()])
REPEATED = st.builds(lambda piece, times: piece * times, PIECES, st.sampled_from((1, 1, 2, 30)))
CUT = st.builds(lambda text, begin, end: text[begin:end], PIECES, st.integers(0, 60), st.integers(60, 120))
NESTED = st.builds(
    lambda text, pair, depth: pair[0] * depth + text + pair[1] * (depth - 1),
    PIECES,
    st.sampled_from((("[", "]"), ("{", "}"), ("(", ")"), ('"', '"'), ("**", "**"), ('{"a":', "}"))),
    st.sampled_from((1, 2, 50)),
)
SPELLED = st.builds(lambda text, spell: spell(text), PIECES, st.sampled_from((str.upper, str.title, str.swapcase)))
REPLIES = st.lists(REPEATED | CUT | NESTED | SPELLED, max_size=6).map("".join) | st.text(max_size=200)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=N_REPLIES, deadline=None)
@given(reply=REPLIES)
@example(reply="")
@example(reply="\ud800\x00\u2028" * 3)
@example(reply="[" * 5_000)
@example(reply='{"a":' * 5_000)
@example(reply='"' * 5_000)
def test_any_reply_is_read_and_always_alike(name, reply):
    assert READERS[name](reply) == READERS[name](reply)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.timeout(60)
def test_long_replies_end(name):
    """Far from a minute; a pattern that backtracks would take hours."""
    for piece in ('"', "“a ", "(", "*a ", "[[", "Task 1: John, ", "\n", " ", "not ", "{"):
        READERS[name]((piece * 20_000)[:20_000])


# Files

AGENCY = get_scheme("agency")
FACES = "file,age,gender,race\n1.png,20,male,white\n"
READ_FILE = {
    "texts": read_texts,
    "rows": lambda path: read_rows(path, "text", "texts").places,
    "sheets": lambda path: read_sheet(path),
    "keys": lambda path: read_key(path, AGENCY),
    "labels": lambda path: merge({"ada": path}, AGENCY),
    "merged tables": agree,
    "schemes": read_scheme,
    "captions": lambda path: audit([path]),
    "shares": read_real_shares,
    "faces": lambda path: read_faces(path.parent, path),
}  # fmt: skip
FILES = {
    "texts.csv": b'text,gender,race\n"She leads, he\n helps.",f,White\nb,m,\n',
    "sheet.csv": "\ufeffentry;id;text;agency\r\ne1;a;'=1;agentic\r\ne2;b;x;communal\r\n".encode(),
    "merged.csv": b"id,question,ada,bo,majority,status\na,agency,agentic,agentic,agentic,majority\n",
    "table.csv": FACES.encode("utf-16"),
    "shares.csv": b"instance,group,share\nnurse,male,10\nnurse,female,90\n",
    "rows.json": b'[{"text": "a", "id": "1", "gender": "m", "caption": "a male nurse"}, {"text": ["b"], "id": 2}]',
    "rows.jsonl": b'{"text": "a", "conversations": [{"from": "gpt", "value": "A nurse. He helps."}]}\n{"id": null}\n',
    "scheme.json": json.dumps(
        {"name": "tone", "questions": {"tone": "?"}, "labels": {"yes": "it is", "no": {"meaning": "-", "also": ["0"]}},
         "instructions": {"text": "t", "source": "s"}, "na": [], "sides": None}
    ).encode(),
}  # fmt: skip
DAMAGE = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 20), st.binary(max_size=6) | st.sampled_from(
        [b"\0", b'"', b"\n", b"\r", b"[" * 2000, b'{"a":' * 2000, b"\xff\xfe", b"\xef\xbb\xbf", b";;", b"\t", b"1e999",
         b"9" * 5000, b"NaN", b"\\ud800", b"null", b"\xed\xa0\x80", b",,,,", b"id", b"text"]
    )),
    max_size=3,
)  # fmt: skip


@pytest.mark.parametrize("reader", READ_FILE)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(FILES)), damage=DAMAGE)
def test_any_file_is_read_or_refused_with_a_sentence(reader, name, damage, tmp_path):
    content = FILES[name]
    for place, length, piece in damage:
        content = content[:place] + piece + content[place + length :]
    path = tmp_path / name
    path.write_bytes(content)
    found = []
    for _ in range(2):
        try:
            found.append(repr(READ_FILE[reader](path)))
        except EvenhandError as error:
            found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("reader", READ_FILE)
def test_what_is_nested_too_deep_is_refused_and_a_pipe_is_not_waited_for(reader, tmp_path):
    path = tmp_path / "a.json"
    for content in ("[" * 100_000, '{"a":' * 100_000, '[{"text": ' + "[" * 100_000):
        path.write_text(content)
        with pytest.raises(EvenhandError):
            READ_FILE[reader](path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="is a pipe or a device"):
        READ_FILE[reader](path)
