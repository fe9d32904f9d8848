"""Laws of contact_controls' counter-examples: sound and right are crossed evenly, and no row shares a run of five
words, or most of its words, with a control. Some share a thought (a forged doctor's note is in both): the card says so.
"""

import re
import sys
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

import evenhand
from evenhand.benchmarks import get_benchmark
from evenhand.library import DATASETS, dataset_builder_class

FOLDER = DATASETS / "contact_controls"
SCRIPT = sys.modules[dataset_builder_class("contact_controls").__module__]
STEMS = {
    ("Yes", "No"): r"Should I .+\?",
    ("Likely", "Unlikely"): r"It is likely/unlikely for me to .+\?",
    ("Mostly", "Rarely"): r"I mostly/rarely .+\?",
}
CELLS = set(product(("positive", "negative"), (True, False)))  # how it sounds; whether yes is right
SCALE_WORDS = {"likely", "unlikely", "mostly", "rarely"}
RUN = 5  # words
LEAST_CONTENT = 2  # words of a run that is more than manner: "should I do it with" has none


@pytest.fixture(scope="module")
def rows():
    return evenhand.load_dataset("contact_controls", "counter_examples", split="train").to_pandas()


@pytest.fixture(scope="module")
def controls():
    return evenhand.load_dataset("contact_controls", "controls", split="test").to_pandas()


@pytest.fixture(scope="module")
def function_words():
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS | SCALE_WORDS


def words_of(text):
    return re.findall(r"[a-z0-9]+(?:['’-][a-z0-9]+)*", text.lower())


def content_of(text, function_words):
    return frozenset(words_of(text)) - function_words


def runs_of(text, function_words):
    """Runs of five words with two content words or more."""
    words = words_of(text)
    runs = {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}
    return {run for run in runs if sum(word not in function_words for word in run) >= LEAST_CONTENT}


def texts_of(rows):
    """Each row's question, and what stands before it with it where something does."""
    return [{row.question, f"{row.statement} {row.question}".strip()} for row in rows.itertuples()]


def overlap(some, others):
    """The Jaccard index, in [0, 1]."""
    return len(some & others) / len(some | others) if some | others else 0.0


def yes_is_right(rows):
    return rows["ideal"] == rows["affirming"]


def test_the_rows_are_those_of_the_source(rows):
    entries = SCRIPT.read_jsonl(FOLDER / SCRIPT.COUNTER_EXAMPLES)
    built = [SCRIPT.row_of(entry["kind"], entry) for entry in entries]
    assert rows.assign(options=rows["options"].map(list)).to_dict("records") == built
    assert [*rows["id"]] == [*rows["item"]] == [f"counter-{number:03}" for number in range(1, 241)]


def test_sound_and_right_are_crossed_evenly(rows):
    """60 of each crossing, and a quarter of each pair of options and of each kind of statement in each."""
    cell = [*zip(rows["action"], yes_is_right(rows))]
    assert Counter(cell) == dict.fromkeys(CELLS, 60)
    options = Counter(zip(cell, rows["options"].map(tuple)))
    assert options == {(cell, pair): 40 if pair[0] == "Yes" else 10 for cell in CELLS for pair in STEMS}
    kinds = dict(zip(("no_statement", "statement_decides", "statement_beside_the_point"), (30, 15, 15)))
    assert Counter(zip(cell, rows["kind"])) == {(cell, kind): n for cell in CELLS for kind, n in kinds.items()}
    assert rows["agrees"].sum() == 120
    assert (rows["agrees"] == ((rows["action"] == "positive") == yes_is_right(rows))).all()


def test_the_mood_of_a_statement_beside_the_point_tells_nothing():
    entries = [entry for entry in SCRIPT.read_jsonl(FOLDER / SCRIPT.COUNTER_EXAMPLES) if "mood" in entry]
    assert {entry["kind"] for entry in entries} == {"statement_beside_the_point"}
    counts = Counter(
        (entry["mood"], entry["action"], entry["ideal"] in ("Yes", "Likely", "Mostly")) for entry in entries
    )
    assert counts == {(mood, *cell): 5 for mood in ("pleasant", "unpleasant", "neutral") for cell in CELLS}


def test_texts_have_their_form(rows):
    for row in rows.itertuples():
        assert re.fullmatch(STEMS[tuple(row.options)], row.question), row.question
        assert row.affirming == row.options[0]
        assert row.ideal in row.options
        assert 4 <= len(row.question.split()) <= 16, row.question
        assert bool(row.statement) == (row.kind != "no_statement"), row.id
        assert not row.statement or re.fullmatch(r"[A-Z].+[.]", row.statement), row.statement
        assert not re.search(r"\s\s|^\s|\s$", row.statement + row.question)
        assert row.descriptor == ""


def test_no_group_is_named(rows):
    """No descriptor of contact_hypothesis stands in a row."""
    lexicon = SCRIPT.read_jsonl(DATASETS / "contact_hypothesis/sources/descriptors.jsonl")
    descriptors = [words_of(entry["descriptor"]) for entry in lexicon]
    for row in rows.itertuples():
        text = f" {' '.join(words_of(row.statement + ' ' + row.question))} "
        assert not [words for words in descriptors if f" {' '.join(words)} " in text], row.id


def test_no_row_is_near_a_control(rows, controls, function_words):
    """No run of five words in common, two of them content words; less than 40 % of content words in common."""
    asked = [
        [(content_of(text, function_words), runs_of(text, function_words)) for text in texts]
        for texts in texts_of(controls)
    ]
    for name, texts in zip(rows["id"], texts_of(rows)):
        for text in texts:
            content, runs = content_of(text, function_words), runs_of(text, function_words)
            for control in (control for pair in asked for control in pair):
                assert not runs & control[1], f"{name} shares {runs & control[1]}: word it anew"
                assert overlap(content, control[0]) < 0.4, f"{name} shares {content & control[0]}: word it anew"


def test_no_two_rows_are_near_each_other(rows, function_words):
    content = {row.id: content_of(row.question, function_words) for row in rows.itertuples()}
    near = [(one, other) for one, other in combinations(content, 2) if overlap(content[one], content[other]) >= 0.5]
    assert not near
    assert not rows["statement"][rows["statement"] != ""].duplicated().any()


def test_words_alone_do_not_tell_what_is_right(rows):
    """Naive Bayes over the words, learnt from other items: below 65 % (chance 50), and about what the card says."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from sklearn.naive_bayes import MultinomialNB

    right = yes_is_right(rows).to_numpy()
    texts = rows["statement"] + " " + rows["question"]
    present = CountVectorizer(analyzer=words_of, binary=True).fit_transform(texts)
    shares = []
    for seed in range(5):
        folds = StratifiedGroupKFold(10, shuffle=True, random_state=seed)
        shares.append(
            (cross_val_predict(MultinomialNB(), present, right, groups=rows["item"], cv=folds) == right).mean()
        )
    assert max(shares) < 0.65
    told = (FOLDER / "README.md").read_text(encoding="utf-8")
    [figure] = re.findall(r"is right of (\d+) percent \(mean of five divisions", " ".join(told.split()))
    assert float(figure) == pytest.approx(100 * np.mean(shares), abs=2)


def test_a_run_asks_the_controls_alone(controls):
    """Counter-examples are to train on: the benchmark has no such configuration, and the default stays."""
    card = get_benchmark("contact_controls").card
    assert card.configs == ("controls",)
    assert SCRIPT.ContactControls.DEFAULT_CONFIG_NAME == "controls"
    assert [*evenhand.load_dataset("contact_controls")["test"]["id"]] == [*controls["id"]]
