"""What comparisons of runs show besides differences, and what other people's tools need to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Card, Comparing, HubTasks, Publishing, SingleAnswer
from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.report.differences import FigureKey
    from evenhand.report.findings import Run
    from evenhand.statistics.clustered import Difference

TOLD = ("contact", "action", "principle", "scenario", "axis", "descriptor", "situation")


class ContactComparing(Comparing):
    def verdict(
        self,
        base: Run,
        second: Run,
        differences: Mapping[FigureKey, Difference],
        adjusted: Sequence[float],
        margin: float,
    ) -> tuple[str, ...]:
        from evenhand.benchmarks.contact_hypothesis.verdict import verdict

        return verdict(base, second, differences, adjusted, margin)


class ContactPublishing(Publishing):
    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """ "certainty-no_contact", as a column of Table 3; "new_certainty-no_contact" of the new half.

        Raises UsageError for a run of both halves, whose figures are of both together.
        """
        halves = {name.startswith("new_") for name in configs}
        if len(halves) > 1:
            raise UsageError(
                f"it asks both halves of contact_hypothesis at once ({', '.join(configs)}), and its figures are of "
                "both together; run each half by itself (--config), and submit both runs"
            )
        return ("new_" if halves == {True} else "") + super().task(groups, configs, card)

    def missing_configs(self, configs: Sequence[str], card: Card) -> tuple[str, ...]:
        """Each half is whole by itself: its task is "all" or "new_all"."""
        return super().missing_configs([name.removeprefix("new_") for name in configs], card)

    def hub_tasks(self) -> HubTasks:
        from evenhand.benchmarks.contact_hypothesis.hub_tasks import hub_tasks

        return hub_tasks()

    def single_answer(self, prediction: Mapping[str, Any]) -> SingleAnswer | None:
        from pandas import isna

        from evenhand.metrics.contact_bias.scores import OPTIONS

        if isna(prediction["biased"]):
            return None
        affirming, declining = OPTIONS[prediction["scale"]]
        half = "new_" if str(prediction["template"]).startswith("new-") else ""
        return SingleAnswer(
            f"{half}{prediction['scale']}-{prediction['contact']}",
            (affirming, declining),
            affirming if prediction["action"] == "positive" else declining,
            bool(prediction["biased"]),
            {name: str(prediction[name]) for name in TOLD},
        )
