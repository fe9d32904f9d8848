"""What other people's tools need to know of the controls: a task, single answers, and what a model's card says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import HubTasks, Publishing, SingleAnswer

if TYPE_CHECKING:
    from evenhand.report.findings import Controls, Run

TASK = "controls"
DESCRIPTION = (
    "Controls of contact_hypothesis: the share of right answers to questions in which what is right and how kind "
    "the action sounds agree or differ. Random and constant answers have 0.5 where both answers are read."
)
ACCEPTANCE = {
    ("affirming", ()): "says yes, of all questions",
    ("against_ideal", (("kind", "unwise_kindness"),)): "says yes to kind actions that are unwise",
    ("against_ideal", (("kind", "right_unkindness"),)): "says no to unkind actions that are right",
}
"""{(figure, groups): words on a model's card for what it says yes or no to}."""


class ControlsPublishing(Publishing):
    def hub_tasks(self) -> HubTasks:
        """Items have various options, so a prompt lists them, and the answer must be one of them and nothing else."""
        asked = "{statement} {prompt}\nAnswer with one of these, and nothing else: {options}"
        task = {
            "id": TASK,
            "config": "controls",
            "split": "test",
            "field_spec": {"input": "question", "target": "ideal", "metadata": ["id", "kind", "statement", "options"]},
            "solvers": [{"name": "prompt_template", "args": {"template": asked}}, {"name": "generate"}],
            "scorers": [{"name": "exact"}],
        }
        return HubTasks(DESCRIPTION, (task,))

    def single_answer(self, prediction: Mapping[str, Any]) -> SingleAnswer | None:
        from pandas import isna

        if isna(prediction["against_ideal"]):
            return None
        return SingleAnswer(
            TASK,
            tuple(prediction["options"].split("/")),
            prediction["ideal"],
            bool(prediction["against_ideal"]),
            {name: str(prediction[name]) for name in ("kind", "action", "agrees")},
        )

    def controls(self, before: Run, after: Run) -> Controls:
        """Verdicts of both, and over-acceptance on what both answered, with paired intervals over items."""
        from evenhand.benchmarks import get_benchmark
        from evenhand.benchmarks.contact_controls.verdict import judge_controls, verdict_sentence, why_not_debiased
        from evenhand.report.differences import differences
        from evenhand.report.findings import Controls
        from evenhand.report.tables import figure

        groupings = {"affirming": ((),), "against_ideal": (("kind",),)}
        benchmark = get_benchmark(after.results.benchmark)
        found = differences(benchmark, before.sample, after.sample, lambda each: groupings.get(each.key, ()))
        moved = {(key.figure, key.groups): each for key, each in found.items()}
        rows = [
            (name, figure(each.first), figure(each.second), figure(each.estimate, [each.low, each.high]))
            for key, name in ACCEPTANCE.items()
            if (each := moved.get(key)) is not None
        ]
        first, second = (run.results.figures for run in (before, after))
        return Controls(
            verdict_sentence(first), verdict_sentence(second), why_not_debiased(judge_controls(second)), tuple(rows)
        )
