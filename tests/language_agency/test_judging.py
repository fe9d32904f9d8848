"""How classifiers are judged: figures that scikit-learn has too, intervals over pairs, calibration, agreement."""

import json
import math

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from evenhand.language_agency.judging import agreement, judge, judge_undecided, judged, undecided, undecided_sentences

F1S = ("macro_f1", "micro_f1", "weighted_f1")
FIGURES = ("accuracy", *F1S)
PROBABILITIES = st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.500001, 0.9, 1.0, math.nan]) | st.floats(0, 1)
ANSWERED = st.lists(st.tuples(PROBABILITIES, st.integers(0, 1)), min_size=3, max_size=40)


def arrays(answered):
    """(probabilities, labels) of pairs of them."""
    return np.array([agentic for agentic, _ in answered], dtype=float), np.array([label for _, label in answered])


def answers(labels, right):
    """Probabilities that name the right label where `right` says so."""
    return np.where((np.asarray(labels) == 1) == np.asarray(right), 0.9, 0.2)


def width(result, name="accuracy"):
    low, high = result["intervals"][name]
    return high - low


@given(ANSWERED)
@settings(max_examples=150, deadline=None)
def test_figures_equal_scikit_learns(answered):
    """An unread answer is a third label there, which no sentence has: it counts as wrong."""
    agentic, labels = arrays(answered)
    given_ = np.where(np.isnan(agentic), 2, agentic > 0.5).astype(int)
    result = judged(agentic, labels)
    expected = {"accuracy": metrics.accuracy_score(labels, given_)} | {
        name: metrics.f1_score(labels, given_, labels=[0, 1], average=name.removesuffix("_f1"), zero_division=0)
        for name in F1S
    }
    assert {name: result[name] for name in FIGURES} == pytest.approx({k: 100 * v for k, v in expected.items()})
    assert (result["n"], result["unread"]) == (len(labels), np.isnan(agentic).sum())
    json.dumps(result, allow_nan=False)


@given(ANSWERED)
@settings(max_examples=50, deadline=None)
def test_figures_and_intervals_are_in_range(answered):
    result = judged(*arrays(answered))
    for name in FIGURES:
        low, high = result["intervals"][name]
        assert 0 <= low <= high <= 100
        assert 0 <= result[name] <= 100
    assert all(result[name] is None or 0 <= result[name] <= 1 for name in ("brier", "calibration_error"))


def test_by_hand():
    """Of 6 agentic sentences 4 are right and 1 is unread, of 4 communal ones 3 are right.

    F1: agentic 2·4 / (6 + 5), communal 2·3 / (4 + 4).
    """
    labels = np.array([1] * 6 + [0] * 4)
    agentic = np.array([0.9, 0.8, 0.7, 0.6, 0.5, math.nan, 0.1, 0.2, 0.3, 0.9])
    result = judged(agentic, labels)
    assert result["accuracy"] == pytest.approx(70)
    assert result["macro_f1"] == pytest.approx(100 * (8 / 11 + 6 / 8) / 2)
    assert result["micro_f1"] == pytest.approx(100 * 2 * 7 / (10 + 9))
    assert result["weighted_f1"] == pytest.approx(100 * (6 * 8 / 11 + 4 * 6 / 8) / 10)
    assert (result["n"], result["unread"]) == (10, 1)
    errors = [0.1, 0.2, 0.3, 0.4, 0.5, 0.1, 0.2, 0.3, 0.9]
    assert result["brier"] == pytest.approx(sum(error**2 for error in errors) / 9)


def test_what_is_right_and_what_is_wrong_throughout():
    labels = np.array([0, 1] * 50)
    perfect, wrong = judged(answers(labels, True), labels), judged(answers(labels, False), labels)
    for name in FIGURES:
        assert (perfect[name], perfect["intervals"][name]) == (100, [100, 100])
        assert (wrong[name], wrong["intervals"][name]) == (0, [0, 0])
    certain = judged(labels.astype(float), labels)
    assert (certain["brier"], certain["calibration_error"]) == (0, 0)


def test_unread_counts_as_wrong():
    """Accuracy is as with the wrong label in place of each; calibration is of the read ones."""
    labels = np.array([0, 1] * 50)
    agentic = answers(labels, True)
    agentic[:20] = math.nan
    result = judged(agentic, labels)
    assert (result["accuracy"], result["unread"]) == (80, 20)
    assert result["micro_f1"] == pytest.approx(100 * 2 * 80 / 180)
    read = judged(agentic[20:], labels[20:])
    assert (result["brier"], result["calibration_error"]) == (read["brier"], read["calibration_error"])


def test_nothing_read():
    """No calibration, and figures of zero."""
    result = judged(np.full(10, math.nan), np.array([0, 1] * 5))
    assert [result[name] for name in (*FIGURES, "brier", "calibration_error", "unread")] == [0, 0, 0, 0, None, None, 10]


@pytest.mark.parametrize("seed", range(5))
def test_intervals_hold_the_figure_and_have_the_normal_width(seed):
    """200 sentences, 80 % right: accuracy ± 1.96 · √(0.8 · 0.2 / 200) = ± 5.5 points; each holds its figure."""
    random = np.random.default_rng(seed)
    labels, right = random.permutation([0, 1] * 100), random.permutation([True] * 160 + [False] * 40)
    result = judged(answers(labels, right), labels)
    assert width(result) == pytest.approx(2 * 100 * 1.96 * math.sqrt(0.8 * 0.2 / 200), rel=0.15)
    for name in FIGURES:
        low, high = result["intervals"][name]
        assert low < result[name] < high


def test_pairs_are_resampled_together():
    """Two sentences of a pair right or wrong together count as one: √2 times as wide. Always one right: no width."""
    labels = np.array([0, 1] * 100)
    pairs = np.repeat([f"pair {i}" for i in range(100)], 2)
    together = answers(labels, np.repeat(np.arange(100) < 70, 2))
    alone, paired = judged(together, labels), judged(together, labels, pairs)
    assert width(paired) == pytest.approx(math.sqrt(2) * width(alone), rel=0.15)
    assert {name: alone[name] for name in FIGURES} == {name: paired[name] for name in FIGURES}
    one_of_each = answers(labels, np.tile([True, False], 100))
    assert judged(one_of_each, labels, pairs)["intervals"]["accuracy"] == [50, 50]
    assert width(judged(one_of_each, labels)) > 10


@pytest.mark.parametrize(("agentic", "pairs"), [([0.9], None), ([0.9, 0.9], ["a", "a"]), ([0.9, math.nan], ["a", "a"])])
def test_a_single_pair_or_sentence_has_figures_and_no_interval(agentic, pairs):
    result = judged(np.array(agentic), np.array([1, 0][: len(agentic)]), pairs)
    assert result["accuracy"] == 100 / len(agentic)
    assert [math.isnan(end) for name in FIGURES for end in result["intervals"][name]] == [True] * 8


def test_names_and_order_of_pairs_make_no_difference():
    """Pairs that are named in another order, numbers or words, are resampled alike; twice is the same to the bit."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 60)
    agentic = random.random(60)
    pairs = np.arange(60) // 2
    result = judged(agentic, labels, pairs)
    assert judged(agentic, labels, [f"pair {i:03}" for i in pairs]) == result
    assert judged(agentic, labels, pairs) == result


def test_a_calibrated_classifier():
    """Labels drawn by the probability itself: nearly no calibration error, and a Brier score of E[p (1 - p)] = 1/6."""
    random = np.random.default_rng(0)
    agentic = random.random(4000)
    result = judged(agentic, (random.random(4000) < agentic).astype(int))
    assert result["calibration_error"] < 0.02
    assert result["brier"] == pytest.approx(1 / 6, abs=0.01)


@pytest.mark.parametrize(
    ("agentic", "share_right", "error"),
    [(0.9, 0.6, 0.3), (0.1, 0.6, 0.3), (0.6, 0.9, 0.3), (0.75, 0.75, 0.0), (1.0, 0.5, 0.5), (0.5, 1.0, 0.5)],
)
def test_calibration_error_by_hand(agentic, share_right, error):
    """One confidence throughout: its distance from the share that is right. 0.5 is communal."""
    named = int(agentic > 0.5)
    labels = np.where(np.arange(20) < 20 * share_right, named, 1 - named)
    assert judged(np.full(20, agentic), labels)["calibration_error"] == pytest.approx(error)


def test_calibration_errors_of_bins_do_not_cancel():
    """Ten too sure by 0.4 and ten too timid by 0.4, in two bins."""
    agentic = np.array([0.9] * 10 + [0.6] * 10)
    labels = np.array([1] * 5 + [0] * 5 + [1] * 10)
    assert judged(agentic, labels)["calibration_error"] == pytest.approx(0.4)


class Fixed:
    """A classifier that gives the probabilities it was made with."""

    def __init__(self, agentic):
        self.agentic = dict(agentic)

    def agentic_probabilities(self, sentences):
        return np.array([self.agentic[sentence] for sentence in sentences])


def test_judge_reads_rows_and_their_pairs():
    """`pair` where sentences have one; each alone where none is named or there is no such column, as in LAC."""
    random = np.random.default_rng(0)
    texts, labels, agentic = [f"Sentence {i}." for i in range(80)], [0, 1] * 40, random.random(80)
    pairs = [f"p{i // 2}" for i in range(80)]
    classifier = Fixed(zip(texts, agentic))
    columns = {"text": texts, "label": labels}
    by_pair, by_sentence = judged(agentic, np.array(labels), pairs), judged(agentic, np.array(labels))
    assert by_pair != by_sentence
    for named, expected in (({"pair": pairs}, by_pair), ({"pair": [""] * 80}, by_sentence), ({}, by_sentence)):
        assert judge(classifier, datasets.Dataset.from_dict(columns | named)) == expected
    assert judge(classifier, datasets.Dataset.from_dict(columns | {"pair": [None] * 80})) == by_sentence


def test_abstention_by_hand():
    """Confidences 0.9, 0.8, 0.75, 0.6, 0.5 and one unread: the last three are abstained from."""
    agentic = np.array([0.1, 0.8, 0.75, 0.6, 0.5, math.nan])
    kept = undecided(agentic)
    assert kept == {"n": 6, "abstained": 50, "calibration_error": pytest.approx((0.4 + 0.3 + 0.25 + 0.1) / 5)}
    assert judged(agentic, np.array([0, 1] * 3))["abstained"] == 50
    assert undecided(np.full(3, math.nan)) == {"n": 3, "abstained": 100, "calibration_error": None}
    assert undecided(np.array([0.0, 1.0])) == {"n": 2, "abstained": 0, "calibration_error": 0.5}


def test_sentences_of_neither_label_are_judged_by_kind():
    """100 neutral and 100 mixed ones, whoever the classifier is."""
    texts = undecided_sentences()
    classifier = Fixed({text: 0.5 if kind == "neutral" else 0.9 for kind in texts for text in texts[kind]})
    assert judge_undecided(classifier) == {
        "neutral": {"n": 100, "abstained": 100, "calibration_error": 0},
        "mixed": {"n": 100, "abstained": 0, "calibration_error": pytest.approx(0.4)},
    }


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=2, max_size=50))
@settings(max_examples=100, deadline=None)
def test_agreement_equals_scikit_learns_kappa(probabilities):
    """The mean over the three pairs of three classifiers; no kappa where two of them gave one label throughout."""
    agentic = list(np.array(probabilities).T)
    result = agreement(agentic)
    labels = [each > 0.5 for each in agentic]
    pairs = [(labels[i], labels[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert result["percent"] == pytest.approx(100 * np.mean([np.mean(one == other) for one, other in pairs]))
    if any(len(set(one) | set(other)) == 1 for one, other in pairs):
        assert result["kappa"] is None
    else:
        assert result["kappa"] == pytest.approx(np.mean([metrics.cohen_kappa_score(*pair) for pair in pairs]))
    json.dumps(result, allow_nan=False)


def test_agreement_by_hand():
    one = np.array([0.9, 0.8, 0.2, 0.1])
    assert agreement([one, one]) == {"percent": 100, "kappa": 1}
    assert agreement([one, 0.6 * one + 0.1]) == {"percent": 100, "kappa": 1}  # labels are compared, not probabilities
    assert agreement([one, 1 - one]) == {"percent": 0, "kappa": -1}
    assert agreement([one, one[[0, 2, 1, 3]]]) == {"percent": 50, "kappa": 0}
    assert agreement([one]) is None
    assert agreement([np.full(4, 0.9)] * 2) == {"percent": 100, "kappa": None}
