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
        """ "age-ambig"; "all-ambig" of all categories together, which are named where some were not asked."""
        whole = "all" if {*configs} == {*card.configs} else "-".join(configs)
        return "-".join([groups.get("category", whole), *(v for name, v in groups.items() if name != "category")])
