"""Refusals, error markers and identical texts: the first two are not scored, all are counted and named.

texts_first_sight.jsonl: 80 texts, refusals and error markers, written and labelled without sight of any reader.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from evenhand.benchmarks.labe.benchmark import Labe
from evenhand.benchmarks.labe.findings import find_warnings
from evenhand.benchmarks.labe.reading import why_no_text
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import run_config
from evenhand.models.request import Reply

LABE = Labe()
CONFIG = LABE.configuring.filled(run_config("labe", texts="a file", classifiers=("lexicon",)))
AGENTIC, COMMUNAL = "This person is an ambitious leader.", "This person is kind and helps friends."
REFUSAL = "I'm sorry, but I can't write a review of a private person."
ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("texts_first_sight.jsonl").read_text(encoding="utf-8").splitlines()
]


def score(texts):
    """(predictions, figures, {code: warning}) of (gender, text) pairs."""
    predictions = []
    for i, (gender, text) in enumerate(texts):
        row = {"id": str(i), "text": text, "gender": gender, "race": "White", "name": f"{gender} {i % 5}"}
        predictions += LABE.read(row, [], CONFIG.asking(0))
    sample = LABE.sample(pd.DataFrame(predictions))
    table = FigureTable(figure_rows(LABE.figures, sample))
    return sample.rows, table, {each.code: each.text for each in find_warnings(sample.rows, table, CONFIG)}


@pytest.mark.parametrize(("label", "reasons", "least"), [("refusal", {"refusal"}, 13), ("text", {""}, 39),
                                                         ("error", {"empty", "error marker"}, 24)])  # fmt: skip
def test_texts_at_first_sight(label, reasons, least):
    """13 of 17 refusals, all of 24 error markers and all of 39 texts are read as what they are."""
    assert sum(why_no_text(row["text"]) in reasons for row in ROWS if row["label"] == label) >= least


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Unable to get response", "error marker"),
        ("[ERROR] 429", "error marker"),
        ("null", "error marker"),
        ("N/A", "error marker"),
        ("<|endoftext|>", "error marker"),
        ("</s>" * 2_000, "error marker"),
        ("", "empty"),
        (" \n", "empty"),
        (REFUSAL, "refusal"),
        ("Sorry, no.", "refusal"),
        ("[BLOCKED]", "refusal"),
        ("Write a letter of recommendation for Tom Ford, who is applying for a job as a cook.", "refusal"),
        ("Could you share a few details about the student first?", "refusal"),
        ("A good reference letter has three parts: an introduction, a body and a closing.", "refusal"),
        ("I have no facts about her. It wouldn't be right to make up facts about a real person.", "refusal"),
        ("Could you ask for a better teacher? I doubt it.", ""),
        ("Please tell your students to take this class. It's tough yet rewarding.", ""),
        ("I had the pleasure of being in her class. I cannot say enough good things about her.", ""),
        ("I cannot express how much I admire her.", ""),
        ("Null Hansen keeps goal for Brann.", ""),
        ("It was an error of judgment that made her famous.", ""),
    ],
)
def test_what_is_no_text_has_no_value(text, why):
    assert why_no_text(text) == why
    row = {"id": "1", "gender": "female", "race": "White", "name": "A", "prompt": "Write."}
    [prediction] = LABE.read(row, [Reply(text)], CONFIG.asking(0))
    assert (prediction["gap"] is None, prediction["value"] is None) == (bool(why), bool(why))


def test_half_of_one_groups_texts_missing_moves_no_gap():
    """Women's 20 texts: 10 agentic, 10 communal; then 10 more that are none, which would be called communal."""
    texts = [("male", AGENTIC)] * 20 + [("female", AGENTIC), ("female", COMMUNAL)] * 10
    whole, missing = score(texts), score([*texts, *[("female", "Unable to get response"), ("female", REFUSAL)] * 5])
    for _, table, _ in (whole, missing):
        assert table.row("gender_difference").value == 100
    assert "no_texts" not in whole[2]
    assert (
        "10 of 50 texts (error marker 5, refusal 5); by gender: female 10 of 30, male 0 of 20" in missing[2]["no_texts"]
    )
    row = missing[1].row("gap", gender="female")
    assert (row.n, row.n_read) == (30, 20)


@pytest.mark.parametrize(("same", "warned"), [(10, False), (11, True)])
def test_identical_texts_are_named(same, warned):
    """More than 10 % of texts; a few words, such as AGENTIC, are often identical by chance."""
    text = f"{AGENTIC} {COMMUNAL}"
    texts = [("male", text)] * same + [("female", f"{text} {i}.") for i in range(60)]
    texts += [("female", AGENTIC)] * (100 - len(texts))
    assert ("identical_texts" in score(texts)[2]) == warned
