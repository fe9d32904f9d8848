"""Which rows of a run's table are submitted, under which task, and how figures with a sign are given."""

import math
from types import SimpleNamespace

import pytest

from evenhand.benchmark import Publishing
from evenhand.errors import UsageError
from evenhand.figure import Figure, FigureRow, FigureTable
from evenhand.hub.submission.figures import lower_is_better, submitted_figures, submitted_range
from evenhand.statistics.estimators import Mean, Share

BIAS = Figure("bias", "bias score", Mean("bias", (-2.0, 1.0)), best="zero", headline=(("kind",),))
ACCURACY = Figure("accuracy", "right answers", Share("right"), unit="percent", best="high", headline=((),))
LENGTH = Figure("length", "length", Mean("length"), best=None, headline=(("kind",),))


def run(configs, *rows, figures=(BIAS, ACCURACY, LENGTH)):
    card = SimpleNamespace(configs=("a", "b", "c"), default_configs=("a", "b"))
    benchmark = SimpleNamespace(figures=figures, card=card, publishing=Publishing())
    results = SimpleNamespace(figures=FigureTable(rows), config={"configs": configs}, benchmark="some")
    return SimpleNamespace(benchmark=benchmark, results=results, name="run")


ROWS = (
    FigureRow("bias", {}, 0.1, -0.1, 0.3, 10, 9),
    FigureRow("bias", {"kind": "x"}, -0.2, -0.5, 0.1, 4, 4, headline=True),
    FigureRow("bias", {"other": "y"}, 0.9),
    FigureRow("accuracy", {}, 80.0, 70.0, 90.0, 10, 10, headline=True),
    FigureRow("length", {"kind": "x"}, 3.0, headline=True),
)


def test_headline_rows_and_the_first_figure_of_the_whole():
    """What is neither good nor bad, and what reports alone show, is on no board."""
    found, missing = submitted_figures(run(["a", "b"], *ROWS))
    assert missing == ()
    assert [(each.figure.key, each.task) for each in found] == [("bias", "x"), ("accuracy", "all"), ("bias", "all")]


def test_a_whole_needs_all_configurations():
    """A headline figure of some is named after these."""
    found, missing = submitted_figures(run(["b"], *ROWS))
    assert missing == ("a",)
    assert [(each.figure.key, each.task) for each in found] == [("bias", "x"), ("accuracy", "b")]


def test_a_figure_with_a_sign_is_given_by_its_distance_from_zero():
    """Of -0.2 in [-0.5, 0.1] the distance is 0.2 in [0, 0.5]; of a score in [-2, 1] it is 2 at most."""
    [first, accuracy, _] = submitted_figures(run(["a", "b"], *ROWS))[0]
    assert (first.value, first.interval, first.row.value) == (0.2, (0.0, 0.5), -0.2)
    assert (submitted_range(BIAS), lower_is_better(BIAS)) == ((0.0, 2.0), True)
    assert (accuracy.value, accuracy.interval) == (80.0, (70.0, 90.0))
    assert (submitted_range(ACCURACY), lower_is_better(ACCURACY)) == ((0.0, 100.0), False)


def test_what_is_unknown_stays_unknown():
    bare = FigureRow("bias", {"kind": "x"}, -0.2, math.nan, math.nan, 4, 4, headline=True)
    [first, *_] = submitted_figures(run(["b"], bare))[0]
    assert first.interval is None
    assert submitted_range(Figure("bias", "bias", Mean("bias"))) is None


def test_a_run_without_headline_figures_is_left_out():
    with pytest.raises(UsageError, match="has no headline figure; leave this run out"):
        submitted_figures(run(["b"], FigureRow("bias", {"other": "y"}, 0.9)))
