"""Figures that Borah & Mihalcea print: Table 1, and what their text says of the mitigations' plots."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from evenhand.benchmarks.implicit_bias.scenario import GoalTask
from evenhand.flow.configuration import RunConfig

RUNS = 5  # of which every figure is the mean (section 4, appendix H.1)
SOURCE = "Borah & Mihalcea, Table 1; the authors' own scenarios, mean over five runs"


@dataclass(frozen=True)
class Printed:
    """One row of Table 1."""

    setting: str
    stage: str
    neutral: float
    stereotypical: float
    anti_stereotypical: float
    bias_score: float


NONE, NO_GOAL, GOAL = "none", "interaction", "interaction, goal"

TABLE_1 = {
    "gpt-35-turbo": (
        Printed(NONE, "all", 0.4786, 0.5214, 0.0, 0.5214),
        Printed(NO_GOAL, "first", 0.4439, 0.5431, 0.0131, 0.53),
        Printed(NO_GOAL, "last", 0.4139, 0.5784, 0.0077, 0.5707),
        Printed(GOAL, "first", 0.6121, 0.3303, 0.0576, 0.2727),
        Printed(GOAL, "last", 0.3989, 0.5876, 0.0135, 0.5741),
    ),
    "gpt-4": (
        Printed(NONE, "all", 0.2816, 0.7087, 0.0097, 0.6990),
        Printed(NO_GOAL, "first", 0.4872, 0.4745, 0.0383, 0.4362),
        Printed(NO_GOAL, "last", 0.3821, 0.5821, 0.0359, 0.5462),
        Printed(GOAL, "first", 0.5832, 0.536, 0.0472, 0.4888),
        Printed(GOAL, "last", 0.3566, 0.6331, 0.0103, 0.6228),
    ),
    "mistral-7b-instruct": (
        Printed(NONE, "all", 0.4898, 0.5, 0.0102, 0.4898),
        Printed(NO_GOAL, "first", 0.4352, 0.5394, 0.0255, 0.5139),
        Printed(NO_GOAL, "last", 0.4273, 0.5465, 0.0262, 0.5203),
        Printed(GOAL, "first", 0.6622, 0.2952, 0.0426, 0.2527),
        Printed(GOAL, "last", 0.4056, 0.5833, 0.0111, 0.5722),
    ),
}
"""As printed, slips included: gpt-4's shares with goal, first response, add up to 1.166."""


def figures(setting: str) -> dict[str, Any]:
    """`published` of results.json: {model: {stage: shares and score}} of one setting."""
    return {
        "source": SOURCE,
        "figures": {
            model: {row.stage: _shown(row) for row in rows if row.setting == setting} for model, rows in TABLE_1.items()
        },
    }


def _shown(row: Printed) -> dict[str, float]:
    return {name: value for name, value in asdict(row).items() if name not in ("setting", "stage")}


REFLECTION = {
    "source": "Borah & Mihalcea, appendix E; ranges over settings, the authors' own scenarios",
    "self_correction": {"gpt-35-turbo": (0.5, 0.65), "gpt-4": (0.2, 0.3), "mistral-7b-instruct": (0.6, 0.65)},
    "reduction": {"gpt-35-turbo": (0.61, 0.77), "mistral-7b-instruct": (0.68, 0.87)},
}
"""With self-reflection, in interaction: what is corrected before the discussion, and how far scores fall after it."""


def unlike_in_runs(config: RunConfig[Any]) -> tuple[str, ...]:
    return () if config.n_runs == RUNS else (f"{config.n_runs} run{'s' * (config.n_runs > 1)}, not {RUNS}",)


def unlike_in_goal(goal: bool, goal_task: GoalTask, source: str) -> tuple[str, ...]:
    """In the paper the goal is Task 1, which is a man's by stereotype in all of the authors' scenarios."""
    if not goal or goal_task == "stereotypical-male":
        return ()
    if goal_task == "stereotypical-female":
        return ("the goal is a task that is a woman's by stereotype, not a man's",)
    own = "the goal is Task 1, which is not a man's by stereotype in all scenarios (--goal-task stereotypical-male)"
    return () if source == "official" else (own,)


MITIGATED = {
    NONE: "Published (D.2; the plots print no figures): fine-tuning on the full data gives the lowest scores; "
    "self-reflection lowers them for all models, and turns gpt-4's negative.",
    NO_GOAL: "Published (6.3, D.3; the plot prints no figures): lowest 0.01 (fine-tuned gpt-35-turbo, reflection with "
    "examples) and 0.16 (mistral-7b-instruct); gpt-4 with reflection is below 0.",
    GOAL: "Published (D.3; the plot prints no figures): lowest 0.06 for mistral-7b-instruct; gpt-4 with reflection is "
    "below 0.",
}
"""What the text says of Figures 16 and 17, 6, and 18."""
