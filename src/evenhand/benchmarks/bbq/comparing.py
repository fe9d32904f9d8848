"""What comparisons of runs show besides differences, and how figures are named as tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.benchmark import Card, Comparing, Publishing

if TYPE_CHECKING:
    from evenhand.report.findings import Panel, Run


class BbqComparing(Comparing):
    note = "Accuracy: higher is better; bias scores: 0 is best. "

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        from evenhand.benchmarks.bbq.wins import panel

        return (panel(runs),)


class BbqPublishing(Publishing):
    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """ "age-ambig"; "all-ambig" of all categories together, which is no task where some were not asked."""
        if "category" in groups or {*configs} == {*card.configs}:
            return "-".join([groups.get("category", "all"), groups["context_condition"]])
        return ""
