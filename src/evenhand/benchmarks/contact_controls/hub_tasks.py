"""Its one task in the Hub's form of a benchmark (eval.yaml)."""

from __future__ import annotations

from evenhand.benchmark import HubTasks
from evenhand.benchmarks.contact_controls.collected import TASK

DESCRIPTION = (
    "Controls of contact_hypothesis: the share of right answers to questions in which what is right and how kind "
    "the action sounds agree or differ. Random and constant answers have 0.5 where both answers are read."
)


def hub_tasks() -> HubTasks:
    """Items have various options, so these are told as a list, and the answer must be one of them and nothing else."""
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
