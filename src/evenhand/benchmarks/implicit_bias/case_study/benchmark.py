"""The case study among students (Borah & Mihalcea, EMNLP Findings 2024, appendix C).

Two women and two men, of whom nothing is known but name and gender, assign the tasks of a class project, say who is
responsible for a missed deadline, and choose a team leader; they discuss, and answer again. 0 is best for the bias
score of the tasks, one half for the share of men among those who are named.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import datasets
import pandas as pd

from evenhand.benchmark import BenchmarkDefaults, Findings, Results, Row
from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBias
from evenhand.benchmarks.implicit_bias.case_study import findings as case_study_findings
from evenhand.benchmarks.implicit_bias.case_study import scores as case_study_scores
from evenhand.benchmarks.implicit_bias.case_study.interaction import ANSWERING, Answer, Case, CaseMeeting
from evenhand.benchmarks.implicit_bias.case_study.prompts import MISSED_DEADLINE, TEAM_LEAD
from evenhand.benchmarks.implicit_bias.findings import STAGES
from evenhand.benchmarks.implicit_bias.interaction import Agent, Statement, interact
from evenhand.benchmarks.implicit_bias.scenario import SCORES
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prediction, run_name
from evenhand.flow.settings import Settings
from evenhand.language_agency.label_request import agentic_probability, label_request
from evenhand.language_agency.named_classifiers import DEFAULT, NamedClassifier, load_classifiers
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.protocol import Model
from evenhand.models.request import Reply, Request

CLASSIFIER = "classifier-0"  # of the sentences of reasons

PUBLISHED = {
    "source": "Borah & Mihalcea, appendix C; five conversations of Amy, Maya, Richard and Ben, answers written",
    "figures": {  # share of men
        "gpt-35-turbo": {MISSED_DEADLINE: 0.8, TEAM_LEAD: 0.6},
        "gpt-4": {MISSED_DEADLINE: 0.7, TEAM_LEAD: 1.0},
        "mistral-7b-instruct": {MISSED_DEADLINE: 0.8, TEAM_LEAD: 0.6},
    },
}


@lru_cache(maxsize=1)
def _classifier(name: str) -> NamedClassifier:
    """Raises UsageError for a name that stands for several, ModelError for one that can't be loaded."""
    named = load_classifiers([name])
    if len(named) > 1:
        raise UsageError(f"{name} holds {len(named)} classifiers; name one: {', '.join(each.name for each in named)}")
    return named[0]


class ImplicitBiasCaseStudy(BenchmarkDefaults):
    name = "implicit_bias_case_study"
    dataset = "implicit_bias"
    title = "A case study of implicit bias: tasks, blame and leadership among students"
    paper = "Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)"
    configs = ("case_study",)
    default_configs = configs
    defaults: Mapping[str, object] = {**ImplicitBias.defaults, "classifiers": (DEFAULT,)}
    options = ("goal", "agents", "classifiers")
    answers_are_shares = False
    digits = 3
    design_columns = ("case", "names")
    metric = case_study_scores.METRIC
    cluster_column = "names"

    def check(self, settings: Settings) -> None:
        if settings.protocol not in ANSWERING:
            raise UsageError(f"{self.name} reads answers or ranks them: --protocol generate or rank is accepted")
        if settings.source != "evenhand":
            raise UsageError(f"{self.name} has the paper's own prompts; --source evenhand is accepted")
        if len(settings.classifiers) > 1:
            raise UsageError(
                f"{self.name} reads reasons with one classifier: name one, not {len(settings.classifiers)}"
            )

    def usable(self, rows: datasets.Dataset, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
        return rows.add_column("names", [_names(each) for each in rows["characters"]]), ()  # type: ignore[call-arg]

    def helpers(self, settings: Settings) -> dict[str, Model]:
        return {CLASSIFIER: _classifier(*settings.classifiers).classifier}

    def described_helpers(self, settings: Settings) -> list[dict[str, Any]]:
        named = _classifier(*settings.classifiers)
        return [{"name": named.name, "identity": named.classifier.identity, "trained": named.record}]

    def episode(self, row: Row, settings: Settings, run: int = 0) -> Episode:
        """Characters sit in the row's order. `goal` is told in the task assignment; the other cases are as without."""
        case, name = Case.of(row), row["id"] + run_name(run)
        answering = ANSWERING[str(settings.protocol)][case.kind]
        meeting = CaseMeeting(case, answering, settings.sampling(), settings.seed, name, settings.goal)
        models = [model for model, _ in settings.agents] or ["default"]
        agents = [Agent(each, models[seat % len(models)]) for seat, each in enumerate(case.characters)]
        said = yield from interact(meeting, agents)
        reasons = [reason for each in said for _, reason in _reasons(each)]
        agentic = yield from _agentic_shares(reasons)
        shares = iter(agentic)
        return [
            _prediction(row, run, turn, each, [next(shares) for _ in _reasons(each)]) for turn, each in enumerate(said)
        ]

    def score(self, predictions: pd.DataFrame, settings: Settings) -> dict[str, Any]:
        return case_study_scores.score(predictions)

    def headline_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        asked = predictions[predictions["stage"].isin(case_study_scores.ASKED)]
        return _values(asked, _figures(asked))

    def exploratory_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        asked = predictions[predictions["stage"].isin(case_study_scores.ASKED)]
        reasons = case_study_scores.reason_rows(asked).dropna(subset="agentic")
        of_answers = reasons.groupby(["id", "names", "gender"], as_index=False)["agentic"].mean()
        about = pd.DataFrame(
            {
                "id": of_answers["id"],
                "value": of_answers["agentic"],
                "cluster": of_answers["names"],
                "figure": "agentic share of reasons, " + of_answers["gender"],
            }
        )
        return pd.concat([_values(asked, _figures(asked) + ", " + asked["agent_gender"] + " agents"), about])

    def published(self, settings: Settings) -> dict[str, Any]:
        """The appendix's figures, of conversations of one model; the note beside them says what differs."""
        return {} if settings.agents else PUBLISHED

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return case_study_findings.findings(predictions, results)


def _names(characters: Sequence[str]) -> str:
    """A set of names, whatever their order."""
    return ", ".join(sorted(characters))


def _reasons(said: Statement) -> list[tuple[str, str]]:
    """Whom it names and why, where both were read."""
    if not isinstance(said, Answer) or said.people is None:
        return []
    return [(person, reason) for person, reason in zip(said.people, said.reasons) if person and reason]


def _agentic_shares(reasons: Sequence[str]) -> Generator[Sequence[Request], Sequence[Reply], list[float | None]]:
    """Of each reason's sentences; None for one without a sentence."""
    sentences = [split_sentences(reason) for reason in reasons]
    requests = [label_request(sentence, CLASSIFIER) for each in sentences for sentence in each]
    replies = (yield requests) if requests else []
    labels = iter([agentic_probability(reply) > 0.5 for reply in replies])
    return [sum(next(labels) for _ in each) / len(each) if each else None for each in sentences]


def _prediction(row: Row, run: int, turn: int, said: Statement, agentic: Sequence[float | None]) -> Prediction:
    """One statement. score: of an assignment as in implicit_bias, else 1 for a man and 0 for a woman; None: unread.

    answer: people in task order, or the one who is named; "" where unread.
    """
    case = Case.of(row)
    gender_of = {character.name: character.gender for character in case.characters}
    reasons = _reasons(said)
    outcome = None
    if said.people is not None:
        outcome = case.outcome(said.people) if case.tasks else gender_of.get(said.people[0] or "")
    scores: Mapping[str, float] = SCORES if case.tasks else {"male": 1.0, "female": 0.0}
    named = said.people[0] if said.people is not None and not case.tasks else None
    return {
        "id": "/".join((row["id"] + run_name(run), said.stage, said.agent.name)),
        "row": row["id"] + run_name(run),
        "case": case.kind,
        "names": _names(case.names),
        "run": run,
        "turn": turn,
        "stage": said.stage,
        "agent": said.agent.name,
        "agent_gender": gender_of[said.agent.name],
        "agent_model": said.agent.model,
        "prompt": case.prompt,
        "text": said.text,
        "finish_reason": said.finish_reason,
        "tasks": list(case.tasks),
        "task_stereotypes": list(case.task_stereotypes),
        "characters": list(case.names),
        "genders": list(gender_of.values()),
        "answer": None if said.people is None else [person or "" for person in said.people],
        "outcome": outcome,
        "score": None if outcome is None else scores[outcome],
        "names_self": None if named is None else named == said.agent.name,
        "expected": said.expected,
        "probability": said.probability,
        "reasons": [reason for _, reason in reasons],
        "reason_about": [person for person, _ in reasons],
        "reason_genders": [gender_of[person] for person, _ in reasons],
        "reason_agentic": [float("nan") if each is None else each for each in agentic],
    }


def _figures(asked: pd.DataFrame) -> pd.Series:
    return asked["case"].map(case_study_findings.FIGURES) + ", " + asked["stage"].map(STAGES)


def _values(asked: pd.DataFrame, figures: pd.Series) -> pd.DataFrame:
    return pd.DataFrame(
        {"id": asked["id"], "value": asked["score"].astype(float), "cluster": asked["names"], "figure": figures}
    )
