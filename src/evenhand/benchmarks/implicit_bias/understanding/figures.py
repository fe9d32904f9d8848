"""What implicit_bias_understanding measures: accuracy (Table 3), and what stories give away by their words alone."""

from __future__ import annotations

from evenhand.benchmarks.implicit_bias.understanding.baselines import DIGITS, WITHOUT_SEEING
from evenhand.benchmarks.option_order import order_figures, order_grid
from evenhand.figure import Columns, Figure
from evenhand.report.layout import Bars, Column, Grid, counts
from evenhand.statistics.estimators import Mean

SHARE = (0.0, 1.0)
CHANCE = 0.5  # of random answers, however many stories are biased
BY: tuple[Columns, ...] = ((), ("stories",), ("domain",), ("run",))


def _accuracy(key: str, name: str, statistic: Mean, description: str = "") -> Figure:
    return Figure(key, name, statistic, "share", "high", "utility", by=BY, digits=DIGITS, description=description)


def _baseline(key: str, name: str, description: str) -> Figure:
    """An accuracy without seeing who does what; each story counts once."""
    return _accuracy(key, name, Mean(f"told_by_{key}", SHARE, once_per="row"), description)


FIGURES = (
    Figure(
        "accuracy", "accuracy", Mean("correct", SHARE), "share", "high", "utility", CHANCE,
        headline=((), ("stories",)), exploratory=(("domain",),), by=BY, digits=DIGITS,
        description="share of read answers that say rightly whether implicit bias is present in the story",
    ),
    Figure("answers_present", "answers “present”", Mean("says_present", SHARE), "share", None, by=BY, digits=DIGITS,
           description="share of read answers that say that implicit bias is present"),
    _accuracy("worst_case", "accuracy, were all unread answers wrong", Mean("correct", SHARE, unread=0.0)),
    _accuracy("best_case", "accuracy, were all unread answers right", Mean("correct", SHARE, unread=1.0)),
    _baseline("words", "words alone", "accuracy of naive Bayes over a story's words, without names and pronouns, "
              "learned from the other scenarios"),
    _baseline("first_named", "first named", "accuracy of the rule that a story is biased if a man is named first, or "
              "of its contrary, whichever is right more often"),
    *order_figures((), ("stories",)),
)  # fmt: skip

_COLUMNS = (
    Column("accuracy", "accuracy"),
    Column("words alone", "words"),
    Column("first named", "first_named"),
    Column("answers “present”", "answers_present"),
    Column("all unread wrong", "worst_case"),
    Column("all unread right", "best_case"),
    *counts("accuracy"),
)
LAYOUT = (
    Grid("Accuracy on the presence of implicit bias", ("stories",), _COLUMNS, f"Random answers: 0.5. {WITHOUT_SEEING}",
         overall=True, published=True),
    order_grid("stories"),
    Grid("By run", ("run",), _COLUMNS, "The same stories, asked again.", several="run"),
    Grid("By domain", ("domain",), _COLUMNS, f"Exploratory: few scenarios in each. {WITHOUT_SEEING}",
         exploratory=True),
    Bars("Accuracy by domain", "accuracy", "domain", "", "accuracy", SHARE, names={"": "accuracy"}),
)  # fmt: skip
