"""Rank ranges: by hand, against a simulation, and where both runs' answers are at hand."""

import math

import numpy as np
import pytest

from evenhand.hub.leaderboard.board import make_board
from evenhand.hub.leaderboard.ranks import rank_results, widening
from evenhand.hub.leaderboard.sources import gather
from tests.edited_runs import write_predictions
from tests.hub.submittable import IDENTITY, change, change_figure, whole


def texts(values, half, lower=True, paired=None):
    intervals = [None if each is None else (value - each, value + each) for value, each in zip(values, half)]
    return [str(rank) for rank in rank_results(values, intervals, lower, paired)]


def test_by_hand():
    """10 ± 3 and 13 ± 4: sqrt(9 + 16) = 5 is more than their difference, 3, so they are tied; 30 ± 3 is behind both."""
    assert texts([10, 13, 30, 1], [3, 4, 3, None]) == ["1–2", "1–2", "3", ""]
    assert texts([10, 13, 30, 1], [3, 4, 3, None], lower=False) == ["2–3", "2–3", "1", ""]
    assert texts([10, 16], [3, 4]) == ["1", "2"]  # 6 is over 5, though the intervals meet in 12 to 13
    assert texts([10, 14.9], [3, 4]) == ["1–2", "1–2"]
    assert texts([10], [3]) == [""]
    assert texts([], []) == []


def test_ends_towards_the_other_count():
    """From 10 up to 11 and from 20 down to 12: sqrt(1 + 64) is 8.06, below 10; the other ends would reach 13.5."""
    found = rank_results([10.0, 20.0], [(1.0, 11.0), (12.0, 30.0)], True)
    assert [(rank.best, rank.worst) for rank in found] == [(1, 1), (2, 2)]


def test_of_many_the_level_is_that_of_as_many_comparisons():
    assert widening(2) == 1
    assert widening(21) == pytest.approx(3.0233 / 1.9600, abs=1e-3)  # of 0.05 / 20, two-sided


def test_a_paired_difference_decides_what_intervals_leave_open():
    asked = []

    def paired(first, second):
        asked.append((first, second))
        return (0.5, 1.5)

    assert texts([10, 11, 30], [3, 3, 3], paired=paired) == ["1", "2", "3"]
    assert asked == [(0, 1)]
    assert texts([10, 11], [3, 3], paired=lambda first, second: None) == ["1–2", "1–2"]


def test_ranges_hold_the_true_rank():
    """Twelve true values, four of them alike, estimated 500 times: each model's range misses 5 % at most."""
    draw, true = np.random.default_rng(0), np.array([0, 0, 0, 0, 1, 2, 3, 3.5, 5, 6, 8, 9.0])
    best = np.array([1 + (true < each).sum() for each in true])
    worst = np.array([(true <= each).sum() for each in true])
    missed = np.zeros(len(true))
    for _ in range(500):
        seen = true + draw.normal(size=len(true))
        found = rank_results(list(seen), [(each - 1.96, each + 1.96) for each in seen], True)
        ranges = np.array([(rank.best, rank.worst) for rank in found])
        missed += (ranges[:, 0] > best) | (ranges[:, 1] < worst)
    assert (missed / 500).max() <= 0.05


def test_two_runs_of_the_same_rows_are_paired(finished, tmp_path):
    """One run is biased in every answer but where the other is: intervals of 60 answers say less than the pairs."""
    import pandas as pd

    source = finished("contact_hypothesis", "stub:random", limit=60)
    runs = [whole(source, tmp_path / name) for name in ("one", "two")]
    change(
        runs[1],
        model="lab/two",
        model_identity=IDENTITY.replace("lab/small-model", "lab/two"),
        **{"config.model": "lab/two"},
    )
    answers = pd.read_parquet(runs[1] / "predictions.parquet")
    fixed = answers["biased"].astype(bool) & (answers["situation"].rank(method="dense") % 5 != 0)
    answers["biased"] = fixed
    write_predictions(runs[1], answers)
    share = 100 * float(fixed.mean())
    change_figure(runs[1], "biased", value=share, low=share - 12, high=share + 12)
    made = make_board(gather(list(map(str, runs))))
    [column] = [column for column in made.columns if column.task == "all"]
    places = {cell.record.model: str(cell.rank) for (of, _), cell in made.cells.items() if of == column}
    values = {cell.record.model: cell.record for (of, _), cell in made.cells.items() if of == column}
    gap = values["lab/small-model"].value - values["lab/two"].value
    reach = math.hypot(*(each.value - each.interval[k] for each, k in zip(values.values(), (0, 1))))
    assert 0 < gap < reach  # by intervals alone they are tied
    assert places == {"lab/small-model": "2", "lab/two": "1"}
