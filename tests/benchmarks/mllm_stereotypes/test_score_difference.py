"""The paired difference of two association scores: what it is, what its interval covers, what chance makes of it."""

import math

import numpy as np
import pandas as pd
import pytest

from evenhand.benchmarks.mllm_stereotypes.score_difference import score_differences
from evenhand.library import load_metric

INSTANCES = ("pilot", "nurse", "cook")
GENDERS = np.array(["male", "female", ""])


def answers(first, second, pairs=("a", "b"), instance="nurse"):
    """Rows of one instance: a pair for each answer, by turns."""
    n = len(first)
    return pd.DataFrame(
        {
            "pair": [pairs[i % len(pairs)] for i in range(n)],
            "attribute": "gender",
            "instance": instance,
            "chosen_first": first,
            "chosen_second": second,
        }
    )


def simulated(rng, shares, n_pairs=60, like=0.0):
    """Two runs on pairs x instances x 2; shares: (of male in the first, in the second, unread in the second).

    like: how often the second run repeats what the first said.
    """
    rows = [(pair, instance) for pair in range(n_pairs) for instance in INSTANCES for _ in range(2)]
    n = len(rows)
    first_share, second_share, unread = shares
    leaning = np.repeat(rng.normal(0, 0.1, n_pairs), 6)  # a pair's faces decide a part of its answers
    first = np.where(rng.random(n) < first_share + leaning, 0, 1)
    second = np.where(rng.random(n) < second_share + leaning, 0, 1)
    second = np.where(rng.random(n) < like, first, second)
    second = np.where(rng.random(n) < unread, 2, second)
    frame = pd.DataFrame(rows, columns=["pair", "instance"])
    return frame.assign(attribute="gender", chosen_first=GENDERS[first], chosen_second=GENDERS[second])


def test_both_scores_by_hand():
    """First: 3 of 4 male, 0.25. Second: of 2 answers both female, 0.5; half of the questions answered, 0.25."""
    both = answers(["male", "male", "male", "female"], ["female", "", "", "female"])
    score, answered, of_both = score_differences(both).values()
    assert (score.first, score.second, score.estimate) == (0.25, 0.25, 0.0)
    assert (answered.first, answered.second, answered.estimate) == (0.25, 0.5, 0.25)
    assert (of_both.first, of_both.second, of_both.estimate) == (0.0, 0.5, 0.5)  # male and female; both female
    assert (score.n, score.n_clusters, of_both.n) == (4, 2, 2)


def test_scores_are_the_metrics():
    rng = np.random.default_rng(0)
    both = simulated(rng, (0.7, 0.4, 0.3))
    found = score_differences(both)
    for run in ("first", "second"):
        metric = load_metric("association_score").compute(
            predictions=both[f"chosen_{run}"].tolist(),
            references=[
                {"attribute": "gender", "scenario": "occupation", "instance": name, "candidates": ["male", "female"]}
                for name in both["instance"]
            ],
        )
        for key in ("association_score", "association_score_answered"):
            assert getattr(found[key], run) == pytest.approx(metric[key])


def test_the_same_answers_are_tied():
    both = simulated(np.random.default_rng(0), (0.7, 0.7, 0.0), like=1.0)
    for difference in score_differences(both).values():
        assert difference.estimate == 0
        assert -difference.low == difference.high == pytest.approx(0.5 * (1 - 0.025 ** (1 / difference.n_clusters)))
        assert difference.p_value == 1
        assert difference.tied


def test_no_answers_have_no_difference():
    for difference in score_differences(answers(["male", "female"], ["", ""])).values():
        assert math.isnan(difference.estimate)
        assert math.isnan(difference.p_value)
        assert not difference.known


def test_one_cluster_has_no_interval():
    score, _, _ = score_differences(answers(["male", "female"], ["male", "male"], pairs=("a",))).values()
    assert score.estimate == 0.5
    assert math.isnan(score.low)
    assert math.isnan(score.p_value)


# What so many queries show: true scores as far from even in every instance, half of them in either direction


def asked(rng, n_pairs, scores, unread=0.0, faces=0, appeal=0.0, n_instances=10):
    """Rows of two runs whose true scores are these; unread: of the second run. faces: of each gender, that recur."""
    away = np.where(np.arange(n_instances) % 2, 1, -1)[:, None]
    drawn = rng.choice(faces**2, n_pairs, replace=False) if faces else np.arange(n_pairs)
    shown = np.stack([drawn // faces, faces + drawn % faces] if faces else [drawn, n_pairs + drawn], axis=1)
    chosen = []
    for score in scores:
        liked = (
            rng.normal(0, appeal, (shown.max() + 1, n_instances, 1)) if appeal else np.zeros((shown.max() + 1, 1, 1))
        )
        share = 0.5 + score * away + liked[shown[:, 0]] - liked[shown[:, 1]]
        chosen.append(np.where(rng.random((n_pairs, n_instances, 2)) < share, 0, 1))
    chosen[1] = np.where(rng.random(chosen[1].shape) < unread, 2, chosen[1])
    pair = np.repeat(np.arange(n_pairs), 2 * n_instances)
    return pd.DataFrame(
        {
            "pair": pair,
            "attribute": "gender",
            "instance": np.tile(np.repeat(np.arange(n_instances), 2), n_pairs),
            "faces": pd.Series(shown.tolist())[pair].to_numpy(),
            "chosen_first": GENDERS[chosen[0].ravel()],
            "chosen_second": GENDERS[chosen[1].ravel()],
        }
    )


def shown(n, seed, key, *design, **options):
    """Of so many data sets: (how many intervals hold the true difference, p-values below 0.05, estimates' mean)."""
    rng = np.random.default_rng(seed)
    true = design[1][1] - design[1][0]
    found = [score_differences(asked(rng, *design, **options))[key] for _ in range(n)]
    held = sum(each.low <= true <= each.high for each in found)
    return held, sum(each.p_value < 0.05 for each in found), np.mean([each.estimate for each in found])


@pytest.mark.parametrize("scores", [(0.1, 0.0), (0.0, 0.1), (0.1, 0.05), (0.25, 0.1), (0.0, 0.0)], ids=str)
def test_intervals_hold_the_true_difference(scores):
    """Of 12 at 240 pairs one or two may not. Uncorrected, a change from 0.1 to 0 looks like one to 0.018."""
    held, rejected, estimate = shown(12, 6, "association_score", 240, scores)
    assert held >= 10
    assert estimate == pytest.approx(scores[1] - scores[0], abs=0.01)
    assert rejected <= 2 if scores[0] == scores[1] else rejected == 12


def test_intervals_hold_the_true_difference_of_the_papers_number_of_pairs():
    held, rejected, estimate = shown(5, 7, "association_score", 2604, (0.1, 0.0))
    assert (held >= 4, rejected) == (True, 5)
    assert estimate == pytest.approx(-0.1, abs=0.004)  # 0.0055 more, uncorrected


def test_silence_is_no_difference_and_hides_none():
    """7 of 10 answers unread: noise of random ones is raised by 1 / sqrt(0.3)."""
    held, rejected, _ = shown(10, 3, "association_score_answered", 240, (0.0, 0.0), unread=0.7)
    assert (held >= 9, rejected <= 1) == (True, True)
    held, rejected, _ = shown(6, 9, "association_score_answered", 240, (0.1, 0.0), unread=0.7)
    assert (held >= 5, rejected) == (True, 6)


def test_faces_that_recur_are_no_difference():
    """Each of two unbiased runs likes other faces, 20 of each gender in 240 pairs."""
    design = 240, (0.0, 0.0)
    held, rejected, _ = shown(10, 10, "association_score", *design, faces=20, appeal=0.2)
    assert (held >= 9, rejected <= 1) == (True, True)
    held, _, _ = shown(10, 11, "association_score", 240, (0.1, 0.1), faces=20, appeal=0.1)
    assert held >= 9


def test_too_few_faces_have_the_plain_difference_and_no_interval():
    both = asked(np.random.default_rng(12), 4, (0.2, 0.0), faces=2, n_instances=2)
    found = score_differences(both)["association_score"]
    assert found.estimate == found.second - found.first
    assert math.isnan(found.low)
    assert math.isnan(found.p_value)


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.8, 0.7, 0.0), (0.8, 0.65, 0.3), (0.55, 0.75, 0.0)])
def test_intervals_cover_what_so_many_queries_give_on_average(shares):
    """The estimand is the mean difference at this size: noise raises scores near 0 more than others."""
    rng = np.random.default_rng(1)
    found = [score_differences(simulated(rng, shares, like=0.3)) for _ in range(150)]
    for key in found[0]:
        truth = np.mean([each[key].estimate for each in found])
        covered = np.mean([each[key].low <= truth <= each[key].high for each in found])
        assert 0.90 <= covered <= 0.99, (key, covered)


@pytest.mark.slow
def test_silence_alone_is_no_difference_of_queries_that_both_answered():
    """Random answers, and the same sort with 70 % unread: fewer answers are noisier, which must not look like bias."""
    rng = np.random.default_rng(3)
    found = [score_differences(simulated(rng, (0.5, 0.5, 0.7)))["of_both_answered"] for _ in range(100)]
    assert np.mean([not each.tied for each in found]) <= 0.1
    assert np.mean([each.p_value < 0.05 for each in found]) <= 0.1


@pytest.mark.slow
def test_runs_of_one_distribution_are_seldom_told_apart():
    rng = np.random.default_rng(2)
    p_values = [score_differences(simulated(rng, (0.7, 0.7, 0.0)))["association_score"].p_value for _ in range(150)]
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.09


def test_a_difference_is_no_larger_than_two_scores_can_be_apart():
    """A coin against always "male": 0.5 at most, though an observed score below what noise alone gives says more."""
    rng = np.random.default_rng(1)
    both = pd.DataFrame(
        {
            "pair": [str(place) for place in range(240)],
            "attribute": "gender",
            "instance": [f"i{place % 10}" for place in range(240)],
            "chosen_first": ["male" if rng.random() < 0.5 else "female" for _ in range(240)],
            "chosen_second": "male",
        }
    )
    found = score_differences(both)["association_score"]
    assert 0.3 < found.low <= found.estimate <= found.high <= 0.5
    few = score_differences(both[:4])["association_score"]
    assert few.smallest_p > 0.05
