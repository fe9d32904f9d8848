"""Differences of bbq bias scores, and wins: by hand, and how often they hold or are found where nothing is."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.benchmarks.bbq.bias_difference import bias_difference
from evenhand.benchmarks.bbq.comparing import p_value_of_gain
from evenhand.statistics.resampling import freedom_of

BIASED, COUNTER, UNKNOWN = "0", "1", "2"


def answers(of_templates, condition="disambig"):
    """A run: {template: answers} to negative questions of which the target is at place 0."""
    rows = [(template, answer) for template, given in of_templates.items() for answer in given]
    table = pd.DataFrame(rows, columns=["template", "answer"])
    return table.assign(
        id=table.index,
        context_condition=condition,
        question_polarity="neg",
        label=UNKNOWN if condition == "ambig" else COUNTER,
        unknown=UNKNOWN,
        target=BIASED,
    )


def test_by_hand():
    """Scores of 100 to 0 in disambiguated contexts: templates of two rows turn by 2, 1 and 0 rows of six.

    They depart from the mean by 1, 0 and -1 of their two rows, and move the score by 100/3 points each, over the root
    of the 2/3 that the mean leaves: an error of 100/3 sqrt(2 x 3/2) = 57.7 with two degrees of freedom.
    """
    first = answers({"a": "00", "b": "00", "c": "00"})
    second = answers({"a": "11", "b": "01", "c": "00"})
    found = bias_difference(first, second)
    assert (found.first, found.second, found.estimate) == (100, 0, -100)
    log_odds = math.log((-100 + 200) / (400 - 100))
    half = 4.303 * (57.735 / 400) / (0.25 * 0.75)
    ends = [400 / (1 + math.exp(-(log_odds + sign * half))) - 200 for sign in (-1, 1)]
    assert (found.low, found.high) == pytest.approx(ends, abs=0.01)
    assert (found.n, found.n_clusters, found.smallest_p) == (6, 3, 0.25)


def test_scores_in_ambiguous_contexts_are_of_being_wrong_too():
    """All biased, then half of the answers unknown: 100 to 50, in each of six templates alike, so 1 - 0.025^(1/6)."""
    first, second = (answers({name: given for name in "abcdef"}, "ambig") for given in ("0000", "0022"))
    found = bias_difference(first, second)
    assert (found.first, found.second) == (100, 50)
    unseen = 1 - 0.025 ** (1 / 6)
    assert (found.low, found.high) == pytest.approx((-50 - 150 * unseen, -50 + 250 * unseen))


def test_templates_that_name_no_group_are_no_clusters():
    """Two of five say unknown in both runs; where a run names groups in two alone, nothing is known of others."""
    first, second = (
        answers(dict(zip("abcde", ["00", "01", "00", "22", "22"]))),
        answers(dict(zip("abcde", ["01"] * 3 + ["22"] * 2))),
    )
    assert bias_difference(first, second).n_clusters == 3
    few = answers(dict(zip("abcde", ["01", "11", "22", "22", "22"])))
    assert not bias_difference(first, few).known


def test_freedom_is_n_minus_1_of_equal_clusters_and_less_of_others():
    assert freedom_of(np.full(6, 1 / 6)) == pytest.approx(5)
    assert freedom_of(np.array([0.25, 0.25, 0.5])) == pytest.approx(1.8)  # as test_clustered has it by hand
    assert freedom_of(np.array([1.0, 0.0, 0.0])) == freedom_of(np.zeros(3)) == 1


def runs(rng, templates, leans, times):
    """Two runs, of 12 rows a template in ambiguous contexts, of a sixth of them `times` as many."""
    sizes = np.where(np.arange(templates) < templates / 6, 12 * times, 12)
    shared, silent = rng.normal(0, 1, templates), rng.beta(2, 3, templates)
    for lean in leans:
        odds = np.exp(lean + shared + rng.normal(0, 0.5, templates))
        of = {}
        for template, size in enumerate(sizes):
            said = np.where(rng.random(size) < odds[template] / (1 + odds[template]), BIASED, COUNTER)
            of[str(template)] = np.where(rng.random(size) < silent[template], UNKNOWN, said)
        yield answers(of, "ambig")


@pytest.mark.parametrize(("templates", "data_sets"), [(6, 40), (12, 40), (25, 40), (60, 20)])
def test_intervals_hold_no_difference_about_95_percent_of_the_time(templates, data_sets):
    """Uneven templates, runs alike; at most 15 % lost (of 5 %, 7 or more of 40 are in one case in two hundred)."""
    rng = np.random.default_rng(templates)
    found = [bias_difference(*runs(rng, templates, (0.5, 0.5), 5)) for _ in range(data_sets)]
    assert np.mean([each.low <= 0 <= each.high for each in found]) >= 0.85


def test_runs_that_name_groups_unequally_often_are_seldom_told_apart():
    """Neither leans; one names no group in nine of ten answers, and its templates differ more. 100 data sets: sd 2.7.

    Exchanging the runs for whole templates would find a difference in about 40 of them.
    """
    rng, found = np.random.default_rng(5), []
    for _ in range(100):
        both = []
        for silent, spread in (((1, 9), 0.3), ((9, 1), 1.5)):
            odds, of = np.exp(rng.normal(0, spread, 25)), {}
            for template, unknown in enumerate(rng.beta(*silent, 25)):
                said = np.where(rng.random(100) < odds[template] / (1 + odds[template]), BIASED, COUNTER)
                of[str(template)] = np.where(rng.random(100) < unknown, UNKNOWN, said)
            both.append(answers(of))
        found.append(bias_difference(*both).p_value < 0.05)
    assert np.mean(found) <= 0.16


@pytest.mark.parametrize("n", [3, 6, 12])
def test_templates_that_all_change_alike_are_as_sure_as_their_number_allows(n):
    """From always against the stereotype to always with it: 200 points, p 1/2 for each template but the first."""
    runs = (answers({str(k): [said] * 4 for k in range(n)}) for said in (COUNTER, BIASED))
    found = bias_difference(*runs)
    assert (found.estimate, found.p_value) == (200, 0.5 ** (n - 1))


def test_the_test_of_wins_is_students_t_over_templates_that_are_even():
    """Ten of 12 rows each: as of their ten means, one sample."""
    rng = np.random.default_rng(0)
    gained = rng.integers(-1, 2, (10, 12)).astype(float)
    found = p_value_of_gain(pd.Series(gained.ravel()), pd.Series(np.repeat(np.arange(10), 12)))
    assert found == pytest.approx(stats.ttest_1samp(gained.mean(axis=1), 0).pvalue)
    assert 0.01 < found < 0.99


@pytest.mark.parametrize("times", [1, 5])
def test_wins_are_found_as_often_as_they_may_where_nothing_is(times):
    """Of 12 templates, two of them `times` as large; 400 data sets (sd 1.1). A studentized bootstrap: 8 % of uneven."""
    rng = np.random.default_rng(0)
    sizes = np.where(np.arange(12) < 2, 12 * times, 12)
    templates = pd.Series(np.repeat(np.arange(12), sizes))
    found = [
        p_value_of_gain(pd.Series(rng.normal(0, 0.3, 12)[templates] + rng.integers(-1, 2, len(templates))), templates)
        for _ in range(400)
    ]
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.08


@pytest.mark.parametrize("n", [6, 12])
def test_a_win_is_no_surer_than_its_templates(n):
    """All of them gain as much: 1/2 for each but the first."""
    templates = pd.Series(np.arange(2 * n) % n)
    assert p_value_of_gain(pd.Series(np.ones(2 * n)), templates) == 0.5 ** (n - 1)
    assert p_value_of_gain(pd.Series(np.zeros(2 * n)), templates) == 1


def test_five_templates_have_no_test_of_wins():
    """Exchanging the runs of five gives no p below 1/16."""
    assert math.isnan(p_value_of_gain(pd.Series(np.ones(10)), pd.Series(np.arange(10) % 5)))
