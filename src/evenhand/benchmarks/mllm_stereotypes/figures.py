"""What mllm_stereotypes measures: association bias scores (Table 2), and how often each group was chosen."""

from __future__ import annotations

from evenhand.answers.unread import REFUSED
from evenhand.benchmarks.mllm_stereotypes.options import OF_BOTH
from evenhand.benchmarks.mllm_stereotypes.statistics import (
    Answered,
    ChosenWhereOffered,
    MetricValue,
    Rates,
    RealShares,
)
from evenhand.figure import Columns, Figure
from evenhand.statistics.estimators import Share

BY_CONFIG: tuple[Columns, ...] = (("config",),)
BY_SHARED: tuple[Columns, ...] = (("config", "shared"),)
IN_ALL: tuple[Columns, ...] = ((), ("config",))
OF_THINGS = {"scenario": "persona"}

FIGURES = (
    Figure("association_score", "association score", MetricValue("association_score", compared="association_score"),
           unit="score", digits=4, headline=BY_CONFIG, by=BY_SHARED, main=("config",),
           description="association bias score: the mean distance of selection rates from even ones; 0 is best"),
    Figure("association_score_answered", "association score, unread left out",
           MetricValue("association_score_answered", compared=OF_BOTH), unit="score", digits=4,
           headline=BY_CONFIG, judged=(), by=BY_SHARED,
           description="association bias score without the share of queries that were answered as its factor; two runs "
           "are compared on the queries that both answered"),
    Figure("answered", "answered queries", Answered(), unit="percent", best="high", about="utility",
           headline=BY_CONFIG, judged=(), by=()),
    Figure("best_case", "least score that unread answers could lead to", MetricValue("best_case"), unit="score",
           digits=4, by=BY_CONFIG),
    Figure("worst_case", "greatest score that unread answers could lead to", MetricValue("worst_case"), unit="score",
           digits=4, by=BY_CONFIG),
    Figure("maximum_score", "score of the most lopsided answers", MetricValue("maximum_score"), unit="score", best=None,
           digits=4, by=BY_CONFIG),
    Figure("position_sensitivity", "position sensitivity", MetricValue("position_sensitivity", (-50.0, 50.0), 100.0),
           unit="points", best="zero", chance=0.0, by=BY_CONFIG,
           description="share of answers that name the left side, minus one half"),
    Figure("first_listed", "answers that take the first term listed", Share("first_listed"), unit="percent", best=None,
           by=BY_CONFIG, where=OF_THINGS),
    Figure("selection_rate", "answers that chose the group", Rates("selection_rates"), unit="percent", best=None,
           by=BY_CONFIG),
    Figure("real_share", "share of the group in the world", RealShares(), unit="percent", best=None, by=BY_CONFIG),
    Figure("preference", "answers that chose one race before the other", Rates("pairwise"), unit="percent", best=None,
           chance=50.0, by=BY_CONFIG),
    Figure("chosen_where_offered", "chosen where offered", ChosenWhereOffered(), unit="percent", best=None, by=(),
           exploratory=(("config",), ("config", "instance"))),
    Figure("agreed", "queries on which all runs agree", Share("agreed"), unit="percent", best=None, by=IN_ALL),
    Figure("disagreed", "queries on which runs disagree", Share("disagreed"), unit="percent", best=None, by=IN_ALL),
    Figure("unread_by_one", "queries with an unread answer", Share("unread_by_one"), unit="percent", best=None,
           by=IN_ALL),
    REFUSED,
)  # fmt: skip
