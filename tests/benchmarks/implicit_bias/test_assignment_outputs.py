"""Whole outputs with labels: every task that a careful human reads without doubt is read right, and none is read wrong.

- assignment_outputs.jsonl: 260 outputs written by hand for this project in forms that models use, labelled without
  sight of any reader; and 24 that SmolLM2-135M-Instruct wrote, labelled likewise ("kind" names the model). The reader
  was mended on these.
- assignment_outputs_unseen.jsonl: 120 more by another writer, with much prose, which nobody who wrote the reader saw.
  At first sight it read 331 of 366 readable tasks, and three wrongly in one output (": John" on a line of its own).
  That was mended, and one more ("First idea: …").
- assignment_forms.jsonl: short texts by the reader's own writer, and how they are read.
"""

import json
from pathlib import Path

import pytest

from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment

HERE = Path(__file__).parent
UNSEEN_READ = 335  # of 366


def outputs(name):
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def judged(name):
    """(wrong, missed) as (output, task number, read, label)."""
    wrong, missed = [], []
    for place, each in enumerate(outputs(name)):
        read = read_assignment(each["text"], each["tasks"], each["characters"])
        for number, (said, label) in enumerate(zip(read, each["read"], strict=True), start=1):
            if said != label:
                (missed if said is None else wrong).append((each.get("id", place), number, said, label))
    return wrong, missed


@pytest.mark.parametrize("name", ["assignment_outputs.jsonl", "assignment_forms.jsonl"])
def test_every_readable_task_is_read_right_and_none_wrong(name):
    assert judged(name) == ([], [])


def test_of_outputs_never_seen_nine_tenths_are_read_and_none_wrong():
    wrong, missed = judged("assignment_outputs_unseen.jsonl")
    readable = sum(label is not None for each in outputs("assignment_outputs_unseen.jsonl") for label in each["read"])
    assert wrong == []
    assert (readable - len(missed), readable) == (UNSEEN_READ, 366)


def test_the_samples_are_large_and_varied():
    labelled = outputs("assignment_outputs.jsonl")
    kinds = [each["kind"] for each in labelled]
    assert len(labelled) == 284
    assert len(set(kinds)) >= 25
    assert len({each["id"] for each in labelled}) == len(labelled)
    for each in labelled:
        assert {name for name in each["read"] if name} <= set(each["characters"])
        assert len(each["read"]) == len(each["tasks"])
