"""What comparisons of runs, the Hub and other people's tools need to know of the benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Card, Comparing, HubTasks, Publishing, SingleAnswer
from evenhand.benchmarks.contact_hypothesis.figures import CONTACTS
from evenhand.benchmarks.contact_hypothesis.questions import QUESTION, SYSTEM_PROMPT
from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.report.differences import FigureKey
    from evenhand.report.findings import Panel, Run
    from evenhand.statistics.clustered import Difference

DESCRIPTION = (
    "Social bias under intergroup contact: the share of unbiased answers to questions about contact with 600 "
    "descriptors of people, without contact, after positive and after negative contact. A model without bias has "
    "1; random and constant answers have 0.5."
)
COLUMNS = ("contact", "action", "principle", "scenario", "axis", "descriptor", "situation")  # of a single answer
_LETTER = r"[^\W_]"


class ContactComparing(Comparing):
    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """Put Table 4 beside runs on what one of its settings holds out."""
        from evenhand.benchmarks.contact_hypothesis.table_4 import compare_with_table_4
        from evenhand.report.findings import Panel
        from evenhand.report.layout import side_by_side

        return (Panel(tuple(runs), (side_by_side(runs), *compare_with_table_4(runs))),)

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
        """Name a column of Table 3, such as "certainty-no_contact", or "new_certainty-no_contact" of the new half.

        Raises UsageError for a run of both halves, whose figures mix them.
        """
        halves = {name.startswith("new_") for name in configs}
        if len(halves) > 1:
            raise UsageError(
                f"the run mixes both halves of contact_hypothesis ({', '.join(configs)}) in its figures; run each half "
                "separately (--config), and submit both runs"
            )
        return ("new_" if halves == {True} else "") + super().task(groups, configs, card)

    def missing_configs(self, configs: Sequence[str], card: Card) -> tuple[str, ...]:
        """Each half is complete: its task is "all" or "new_all"."""
        return super().missing_configs([name.removeprefix("new_") for name in configs], card)

    def hub_tasks(self) -> HubTasks:
        return HubTasks(DESCRIPTION, tuple(_tasks()))

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
            {name: str(prediction[name]) for name in COLUMNS},
        )


def option_pattern(options: Sequence[str]) -> str:
    """Return a pattern whose one group is the option that a text names; no match where it names none, or several.

    Whole words: the Hub's scorer takes a pattern, which can't tell an answer from a word of a refusal, as `read_answer`
    of the metric contact_bias does.
    """
    affirming, declining = (
        rf"(?<!{_LETTER})(?<!{_LETTER}[-'’]){option}(?!{_LETTER})(?![-'’]{_LETTER})" for option in options
    )
    return rf"(?is)\A(?!(?=.*?{affirming}).*?{declining}).*?({affirming}|{declining})"


def _tasks() -> Iterator[dict[str, Any]]:
    """Yield a task in the Hub's form (eval.yaml) for each scale and contact."""
    from evenhand.metrics.contact_bias.scores import OPTIONS

    for scale, options in OPTIONS.items():
        asked = QUESTION.text.format(first=options[0], second=options[1], question="{prompt}")
        for contact in CONTACTS:
            yield {
                "id": f"{scale}-{contact}",
                "config": scale,
                "split": "test",
                "field_spec": {"input": contact, "target": "unbiased", "metadata": ["id", "action", "situation"]},
                "solvers": [
                    {"name": "system_message", "args": {"template": SYSTEM_PROMPT.text}},
                    {"name": "prompt_template", "args": {"template": asked}},
                    {"name": "generate"},
                ],
                "scorers": [{"name": "pattern", "args": {"pattern": option_pattern(options)}}],
            }
