"""Implicit gender bias in multi-agent task assignment (Borah & Mihalcea, EMNLP Findings 2024).

Agents with a name and a gender assign a scenario's tasks to its characters, discuss, and assign them again. A model
that hands out tasks by stereotype scores 1, one that always turns the stereotype round -1; 0 is best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import pandas as pd

from evenhand.benchmark import BenchmarkDefaults, Findings, Panel, Results, Row, Run
from evenhand.benchmarks.implicit_bias import findings, published, side_by_side
from evenhand.benchmarks.implicit_bias.correction import claims, self_correction, with_former
from evenhand.benchmarks.implicit_bias.interaction import (
    ALONE,
    FIRST,
    LAST_STAGE,
    REFLECTED,
    Agent,
    Answering,
    Generated,
    Meeting,
    Ranked,
    Statement,
    ask_alone,
    interact,
)
from evenhand.benchmarks.implicit_bias.reflection import Reflection
from evenhand.benchmarks.implicit_bias.scenario import SCORES, Scenario
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prediction, derive_seed, run_name
from evenhand.flow.settings import Settings
from evenhand.library import load_metric
from evenhand.statistics.clustered import paired_difference

ASSIGNMENTS = (FIRST, REFLECTED, LAST_STAGE, ALONE)  # the stages in which tasks are assigned
ANSWERING: dict[str, Answering] = {"generate": Generated(), "rank": Ranked()}


def _default_protocol(settings: Settings) -> str:
    """The paper's, but for the embedded model, which is too small to keep the answer format."""
    models = [model for _, model in settings.agents] or [settings.model]
    return "rank" if "embedded" in models else "generate"


class ImplicitBias(BenchmarkDefaults):
    name = dataset = "implicit_bias"
    title = "Implicit bias in multi-agent task assignment"
    paper = "Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)"
    configs = ("scenarios", "test")
    default_configs = ("scenarios",)
    defaults: Mapping[str, object] = {  # sampling: appendix H.1
        "protocol": _default_protocol,
        "setting": "interaction",
        "temperature": 0.7,
        "top_p": 0.95,
        "max_new_tokens": 500,
    }
    options = ("setting", "goal", "agents")
    answers_are_shares = False
    digits = 3
    design_columns = ("domain", "shape")
    metric = "implicit_bias_score"
    cluster_column = "scenario"

    def check(self, settings: Settings) -> None:
        if settings.protocol not in ANSWERING:
            raise UsageError(f"{self.name} reads assignments or ranks them: --protocol generate or rank is accepted")
        if settings.goal and settings.setting == "none":
            raise UsageError("--goal is what agents are told before they discuss: it needs --setting interaction")
        if settings.agents and settings.setting == "none":
            raise UsageError("--agents are models that discuss: they need --setting interaction")

    def usable(self, rows: datasets.Dataset, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
        labels = zip(rows["task_stereotypes"], rows["genders"])
        known = [i for i, (stereotypes, genders) in enumerate(labels) if stereotypes and all([*stereotypes, *genders])]
        left_out = len(rows) - len(known)
        note = f"{left_out} of {len(rows)} scenarios are left out: a gender or a task's stereotype is not known"
        rows = rows.select(known)
        shapes = [_shape(*each) for each in zip(rows["task_stereotypes"], rows["genders"])]
        return rows.add_column("shape", shapes), (note,) if left_out else ()  # type: ignore[call-arg]

    def episode(self, row: Row, settings: Settings, run: int = 0, reflection: Reflection | None = None) -> Episode:
        name = row["id"] + run_name(run)
        scenario = Scenario.of(row).seated(derive_seed(settings.seed, name, agent="order"))
        answering = ANSWERING[str(settings.protocol)]
        meeting = Meeting(scenario, answering, settings.sampling(), settings.seed, name, settings.goal, reflection)
        models = [model for model, _ in settings.agents] or ["default"]
        if settings.setting == "none":
            said = yield from ask_alone(meeting, models[0])
        else:
            said = yield from interact(
                meeting,
                [Agent(each, models[seat % len(models)]) for seat, each in enumerate(scenario.characters)],
            )
        return [_prediction(row, run, turn, statement) for turn, statement in enumerate(said)]

    def score(self, predictions: pd.DataFrame, settings: Settings) -> dict[str, Any]:
        """The last assignments' figures; all stages' under `stages`, and what the discussion changed under `change`.

        Where agents reflected, `self_correction` and `claims` too.
        """
        of_stage = {stage: predictions[predictions["stage"] == stage] for stage in ASSIGNMENTS}
        stages = {stage: _score(self.metric, of) for stage, of in of_stage.items() if len(of)}
        if ALONE in stages:
            return stages[ALONE] | {"stages": stages}
        scored = stages[LAST_STAGE] | {"stages": stages, "change": _change(of_stage[FIRST], of_stage[LAST_STAGE])}
        if REFLECTED in stages:
            scored["self_correction"] = self_correction(of_stage[FIRST], of_stage[REFLECTED])
            scored["claims"] = claims(of_stage[FIRST], of_stage[REFLECTED])
        return scored

    def headline_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        assigned = _assigned(predictions)
        return _values(assigned, assigned["stage"].map(findings.STAGES.__getitem__))

    def exploratory_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        assigned = _assigned(predictions)
        return _values(
            assigned, *(f"{column}: " + assigned[column] + ", " + assigned["stage"] for column in ("domain", "shape"))
        )

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        return side_by_side.panels(runs)

    def published(self, settings: Settings) -> dict[str, Any]:
        """Table 1's rows of this setting, for its whole dataset; the note beside them says what differs."""
        if (settings.configs or self.default_configs) != ("scenarios",) or settings.mitigation or settings.agents:
            return {}
        setting = f"{settings.setting}, goal" if settings.goal else str(settings.setting)
        return {
            "source": published.SOURCE,
            "figures": {
                model: {
                    row.stage: {key: getattr(row, key) for key in (*findings.SHARES, "bias_score")}
                    for row in rows
                    if row.setting == setting
                }
                for model, rows in published.TABLE_1.items()
            },
        }

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return findings.findings(predictions, results)


def _shape(task_stereotypes: list[str], genders: list[str]) -> str:
    """'2 men, 2 women', and the tasks where they are not as many of each kind."""
    men, women = genders.count("male"), genders.count("female")
    male, female = task_stereotypes.count("male"), task_stereotypes.count("female")
    tasks = "" if (men, women) == (male, female) else f", {male} + {female} tasks"
    return f"{men} {'man' if men == 1 else 'men'}, {women} {'woman' if women == 1 else 'women'}{tasks}"


def _prediction(row: Row, run: int, turn: int, said: Statement) -> Prediction:
    """One statement; what is assigned is None in discussions, `outcome` and `score` also where it is unread."""
    people = said.people
    outcome = None if people is None else Scenario.of(row).outcome(people)
    return {
        "id": "/".join(filter(None, (row["id"] + run_name(run), said.stage, said.agent.name))),
        "row": row["id"] + run_name(run),
        "scenario_id": row["id"],
        "scenario": row["scenario"],
        "domain": row["domain"],
        "shape": row["shape"],
        "run": run,
        "turn": turn,
        "stage": said.stage,
        "agent": said.agent.name,
        "agent_gender": said.agent.character.gender if said.agent.character else "",
        "agent_model": said.agent.model,
        "text": said.text,
        "finish_reason": said.finish_reason,
        "tasks": list(row["tasks"]),
        "task_stereotypes": list(row["task_stereotypes"]),
        "characters": list(row["characters"]),
        "genders": list(row["genders"]),
        "assignment": None if people is None else [name or "" for name in people],
        "outcome": outcome,
        "score": None if outcome is None else SCORES[outcome],
        "expected": said.expected,
        "probability": said.probability,
        "claim": said.claim and said.claim.present,
        "reason": said.claim and said.claim.reason,
    }


def _assigned(predictions: pd.DataFrame) -> pd.DataFrame:
    return predictions[predictions["stage"].isin(ASSIGNMENTS)]


def _score(metric: str, assigned: pd.DataFrame) -> dict[str, Any]:
    columns = {name: assigned[name].tolist() for name in ("domain", "shape", "agent_gender", "agent_model", "run")}
    by = {name: values for name, values in columns.items() if name != "run" and len(set(values)) > 1}
    ranked = assigned["expected"].notna().any()
    scored: dict[str, Any] = load_metric(metric).compute(
        predictions=[list(each) for each in assigned["assignment"]],
        references=[
            {key: list(of[key]) for key in ("task_stereotypes", "characters", "genders")}
            for of in assigned[["task_stereotypes", "characters", "genders"]].to_dict("records")
        ],
        runs=[str(run) for run in columns["run"]] if len(set(columns["run"])) > 1 else None,
        clusters=assigned["scenario_id"].tolist(),
        by=by,
        **({"expected": [None if pd.isna(each) else float(each) for each in assigned["expected"]]} if ranked else {}),
    )
    return scored


def _change(first: pd.DataFrame, last: pd.DataFrame) -> dict[str, Any]:
    """Last minus first score of each agent in each conversation, with both read."""
    both = with_former(first, last)
    difference = paired_difference(both["score_before"], both["score"], both["scenario_id"])
    return {
        "estimate": difference.estimate,
        "interval": [difference.low, difference.high],
        "p_value": difference.p_value,
        "n": difference.n,
        "n_clusters": difference.n_clusters,
    }


def _values(assigned: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    values = pd.DataFrame(
        {"id": assigned["id"], "value": assigned["score"].astype(float), "cluster": assigned["scenario_id"]}
    )
    return pd.concat([values.assign(figure=names) for names in figures])
