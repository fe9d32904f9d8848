"""Statistics that figures are declared with: what they compute, count, and make of the opposite bias."""

import math

import numpy as np
import pandas as pd
import pytest

from evenhand.benchmark import Card
from evenhand.errors import EvenhandError
from evenhand.figure import Design, Figure, Sample, figure_rows
from evenhand.statistics.bootstrap import bootstrap_difference
from evenhand.statistics.clustered import crossed_mean
from evenhand.statistics.estimators import Mean, PairedEffect, Ratio


def sample(design=("cluster",), n=40, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "id": [f"row-{i}" for i in range(n)],
            "cluster": [f"c{i % 8}" for i in range(n)],
            "other": [f"o{i // 8}" for i in range(n)],
            "row": [f"r{i // 2}" for i in range(n)],
            "condition": ["without", "with"] * (n // 2),
            "biased": rng.random(n) < 0.3,
            "part": rng.integers(0, 5, n).astype(float),
            "whole": rng.integers(5, 9, n).astype(float),
        }
    )
    rows["biased"] = rows["biased"].astype(object)
    rows.loc[:9, "biased"] = None
    return Sample(rows, Design(design))


def test_a_ratio_is_a_sum_over_a_sum_however_rows_cluster():
    rows = sample().rows
    expected = rows["part"].sum() / rows["whole"].sum()
    for design in (("cluster",), ("cluster", "other")):
        found = Ratio("part", "whole", (0.0, 1.0)).estimate(sample(design))
        assert found.value == pytest.approx(expected)
        assert found.low < expected < found.high
    assert Ratio("part", "whole").value(rows) == pytest.approx(expected)


def test_an_unread_answer_that_counts_as_a_value_is_unread():
    found = Mean("biased", (0.0, 1.0), unread=1.0).estimate(sample())
    plain = Mean("biased", (0.0, 1.0)).estimate(sample())
    assert (found.n, found.n_read, found.n_clusters) == (40, 30, plain.n_clusters)
    assert found.value == pytest.approx((plain.value * 30 + 10) / 40)


@pytest.mark.parametrize(
    "statistic",
    [
        Mean("part", (0.0, 5.0)),
        Mean("biased", (0.0, 1.0), unread=1.0),
        PairedEffect("biased", "condition", "without", "row"),
        Ratio("part", "whole"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_opposite_bias_is_the_first_run_with_the_other_sign(statistic):
    first, second = sample(), sample(seed=1)
    [(_, plain)] = statistic.differences(first, second)
    [(_, mirrored)] = statistic.mirrored_differences(first, second)
    assert mirrored.first == pytest.approx(-plain.first)
    assert mirrored.second == pytest.approx(plain.second)


def test_a_resampled_p_value_and_interval_say_the_same():
    rng = np.random.default_rng(0)
    clusters = pd.Series(np.repeat(np.arange(9), 3))
    for _ in range(20):
        first, second = (pd.DataFrame({"x": rng.normal(shift, 1, 27)}) for shift in (0, rng.choice([0, 1])))
        found = bootstrap_difference(lambda rows: rows["x"].mean(), first, second, clusters)
        if abs(found.p_value - 0.05) > 0.02:  # beyond what 1,000 draws leave open
            assert found.differs == (found.p_value < 0.05)


def test_rows_that_all_say_the_same_show_no_interval_where_the_range_is_unknown():
    rows = sample().rows
    mean, low, high = crossed_mean(pd.Series(1.0, rows.index), rows["cluster"], rows["other"])
    assert mean == 1.0
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize(
    ("what", "of"),
    [
        ({"clusters": ("meal")}, Card),
        ({"configs": "lunch"}, Card),
        ({"protocols": ("scored",)}, Card),
        ({"headline": ("scale",)}, Figure),
        ({"best": "lowest"}, Figure),
        ({"statistic": Mean}, Figure),
    ],
)
def test_a_declaration_that_is_none_is_refused_where_it_is_made(what, of):
    card = {"name": "n", "title": "t", "paper": "p", "dataset": "", "configs": ("a",), "metric": "", "clusters": ("c",)}
    whole = {**card, "design": ()} if of is Card else {"key": "k", "name": "n", "statistic": Mean("value")}
    assert of(**whole)
    with pytest.raises(TypeError):
        of(**{**whole, **what})


def test_columns_that_no_prediction_has_are_named():
    with pytest.raises(EvenhandError, match="tip"):
        figure_rows([Figure("gap", "gap", Mean("tip"))], sample())
    with pytest.raises(EvenhandError, match="gender"):
        figure_rows([Figure("gap", "gap", Mean("part"), headline=(("gender",),))], sample())
    with pytest.raises(EvenhandError, match="mael"):
        figure_rows([Figure("gap", "gap", Mean("part"))], sample(("mael",)))
