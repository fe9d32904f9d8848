"""Whole outputs with labels: how many tasks that a careful human reads without doubt are read, and how many wrong.

- real: 122 outputs of a 0.5B instruct model in ../shared/outputs, labelled here without sight of any reader.
- assignment_outputs_styles.jsonl: 150 written in the styles of many models, most of them by a played character.
- assignment_outputs.jsonl: 260 written in many forms, and 24 that SmolLM2-135M-Instruct wrote ("kind" names it).
- assignment_outputs_unseen.jsonl: 120 more by another writer, with much prose.
- assignment_outputs_embedded.jsonl: 24 that SmolLM2-135M-Instruct wrote at temperature 0.7; hardly any assigns.
- assignment_outputs_first_sight.jsonl: 30 more of that model, of which 4 assign, and 60 in the styles of many models.
- assignment_outputs_traps.jsonl: 32 written to mislead it: what heads a block, is reported, denied, asked or withdrawn.
- assignment_outputs_blind.jsonl: 60 of the embedded SmolLM2-135M-Instruct and 90 written in the styles of chat models,
  labelled before any reader saw them; "unsure" are the tasks, from 1, of which the labels are in doubt.
- assignment_outputs_blind_again.jsonl: 80 more in the styles of chat models, labelled likewise.
- assignment_outputs_blind_third.jsonl: 80 more by another writer, of chat models' styles and of people who change their
  mind, wish, hedge and address each other, labelled likewise.
- assignment_outputs_blind_fourth.jsonl: 90 more by another writer, "kind" says of which sort.
- assignment_outputs_embedded_blind.jsonl: 32 that SmolLM2-135M-Instruct wrote at temperature 0.7 (bfloat16, at most 120
  or 150 tokens): first answers of characters with a goal, answers of a model alone, and of one told to reflect.
  Labelled before any reading of them was seen; "unsure" as above. 7 of their tasks are readable.
- assignment_outputs_embedded_again.jsonl: 108 more of that model on scenarios of which no other set has outputs (at
  most 300 or 400 tokens): 35 first and 35 last answers of conversations, 26 of a model alone, 12 of one told to
  reflect. At first sight 2 of 6 readable tasks were read, and 8 of all 401 wrong.
- assignment_outputs_embedded_reflecting.jsonl: 48 more of it: 24 first answers of conversations, and what the same
  characters wrote when told to reflect on them. At first sight, after the two sets next to this one were mended on,
  5 of all 182 tasks were read wrong, of two answers; none is readable.
- assignment_outputs_blind_fifth.jsonl: 61 answers in many models' styles, written and labelled before their writer had
  seen the reader. At first sight 162 of 170 readable tasks were read, and 3 of all 208 wrong.
- assignment_outputs_blind_sixth.jsonl: 110 in the styles of chat models, in natural proportion, and
  assignment_outputs_embedded_third.jsonl: 60 of SmolLM2-135M-Instruct, written and labelled before any reader saw them.
- assignment_outputs_seventh.jsonl and assignment_outputs_eighth.jsonl: 70 each in the styles of ten model families,
  written and labelled without sight of any reader. At first sight the reader before the present one, a grammar of 760
  lines, read 258 of their 285 readable tasks and 2 wrong; the present one was fixed on the seventh, and read at first
  sight of the eighth 117 of 142, and 2 wrong.
- assignment_outputs_ninth.jsonl: 62 in many models' styles, written and labelled before their writer had seen a reader.
  At first sight the reader before the present one read 170 of its 181 readable tasks, the present one too, and neither
  any of 226 wrong. Over all sets (5,952 readable tasks of 8,300): 4,760 right and 41 wrong before, 4,802 and 39 now.
- the stories and reasons of the dataset implicit_bias, which tell their assignment in prose.

The first sights of the older sets are of earlier readers. Here nothing may get worse.
"""

import json
from pathlib import Path

import pytest

from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment
from evenhand.models.thoughts import split_thought

HERE = Path(__file__).parent
SOURCES = Path(__file__).parents[3] / "datasets" / "implicit_bias" / "sources"
REAL = Path(__file__).parents[4] / "shared" / "outputs" / "assignments.jsonl"
LEAST_READ = {  # tasks read right, readable tasks, most that may be read wrong
    "assignment_outputs_styles.jsonl": (452, 494, 0),
    "assignment_outputs.jsonl": (618, 721, 8),
    "assignment_outputs_unseen.jsonl": (325, 366, 0),
    "assignment_outputs_embedded.jsonl": (5, 5, 0),
    "assignment_outputs_first_sight.jsonl": (122, 153, 2),
    "assignment_outputs_traps.jsonl": (24, 36, 2),
    "assignment_outputs_blind.jsonl": (258, 286, 2),
    "assignment_outputs_blind_again.jsonl": (242, 253, 2),
    "assignment_outputs_blind_third.jsonl": (197, 261, 2),
    "assignment_outputs_blind_fourth.jsonl": (254, 302, 0),
    "assignment_outputs_embedded_blind.jsonl": (5, 7, 3),
    "assignment_outputs_embedded_again.jsonl": (2, 6, 2),
    "assignment_outputs_embedded_reflecting.jsonl": (0, 0, 0),
    "assignment_outputs_blind_fifth.jsonl": (162, 170, 0),
    "assignment_outputs_blind_sixth.jsonl": (339, 375, 4),
    "assignment_outputs_seventh.jsonl": (121, 138, 2),
    "assignment_outputs_eighth.jsonl": (119, 142, 1),
    "assignment_outputs_embedded_third.jsonl": (4, 8, 6),
    "assignment_outputs_ninth.jsonl": (170, 181, 0),
}


def outputs(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def judged(rows):
    """How many readable tasks are read right, how many there are, and how many tasks are read wrong."""
    right = readable = wrong = 0
    for each in rows:
        text, _ = split_thought(each["text"])  # as models give it
        read = read_assignment(text, each["tasks"], each["characters"], speaker=each.get("speaker"))
        for number, (said, label) in enumerate(zip(read, each["read"], strict=True), 1):
            if number in each.get("unsure", ()):
                continue
            readable += label is not None
            right += said == label is not None
            wrong += said is not None and said != label
    return right, readable, wrong


@pytest.mark.parametrize("name", LEAST_READ)
def test_outputs_are_read_at_least_as_well_as_before(name):
    right, readable, wrong = judged(outputs(HERE / name))
    least_right, expected_readable, most_wrong = LEAST_READ[name]
    assert readable == expected_readable
    assert right >= least_right
    assert wrong <= most_wrong


@pytest.mark.skipif(not REAL.exists(), reason="../shared/outputs is absent")
def test_of_a_real_models_outputs_nearly_all_is_read():
    labels = {each["id"]: each["read"] for each in outputs(HERE / "assignment_labels_real.jsonl")}
    right, readable, wrong = judged({**each, "read": labels[each["id"]]} for each in outputs(REAL))
    assert (readable, wrong) == (316, 3)
    assert right >= 303


@pytest.mark.parametrize(("told", "least_right"), [("reason", 352), ("story", 665)])
def test_of_assignments_told_in_prose_nothing_is_read_wrong(told, least_right):
    domains = [path for path in SOURCES.glob("*.jsonl") if path.stem != "stories"]
    scenarios = {each["id"]: each for path in domains for each in outputs(path)}
    rows = []
    for each in outputs(SOURCES / "stories.jsonl"):
        scenario = scenarios[each["id"].split("/")[0]]
        tasks = [task["task"] for task in scenario["tasks"]]
        people = [character["name"] for character in scenario["characters"]]
        rows.append({"text": each[told], "tasks": tasks, "characters": people, "read": each["assignment"]})
    right, readable, wrong = judged(rows)
    assert (readable, wrong) in ((866, 0), (866, 1))
    assert right >= least_right


def test_the_samples_are_large_varied_and_well_formed():
    rows = [each for name in LEAST_READ for each in outputs(HERE / name)]
    assert len(rows) == 1721
    assert len({each["kind"] for each in rows}) >= 35
    assert len({each["id"] for each in rows}) == len(rows)
    for each in rows:
        assert {name for name in each["read"] if name} <= set(each["characters"])
        assert len(each["read"]) == len(each["tasks"])
