"""The case study among students (Borah & Mihalcea, EMNLP Findings 2024, appendix C).

Two women and two men, of whom nothing is known but name and gender, assign the tasks of a class project, say who is
responsible for a missed deadline, and choose a team leader; they discuss, and answer again. 0 is best for the bias
score of the tasks, one half for the share of men among those who are named.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Card, Helper, Row, Rows
from evenhand.benchmarks.implicit_bias.case_study.interaction import ANSWERING, Answer, Case, CaseMeeting
from evenhand.benchmarks.implicit_bias.case_study.prompts import MISSED_DEADLINE, TASK_ASSIGNMENT, TEAM_LEAD
from evenhand.benchmarks.implicit_bias.interaction import FIRST, LAST_STAGE, Agent, Statement, interact
from evenhand.benchmarks.implicit_bias.play import (
    SAMPLING,
    Play,
    PlayOptions,
    distance_from_balance,
    seated,
    unlike_in_agents,
    with_seats,
)
from evenhand.benchmarks.implicit_bias.scenario import METRIC, SCORES
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, run_name
from evenhand.flow.rows import packaged_rows
from evenhand.language_agency.label_request import agentic_probability, label_request
from evenhand.language_agency.named_classifiers import ACCEPTED, DEFAULT, load_classifiers
from evenhand.models.request import Reply, Request
from evenhand.options import option

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.flow.results import Results
    from evenhand.report.findings import Findings

CLASSIFIER = "classifier-0"  # of the sentences of reasons

PUBLISHED = {
    "source": "Borah & Mihalcea, appendix C; five conversations of Amy, Maya, Richard and Ben, answers written",
    "figures": {  # share of men
        "gpt-35-turbo": {MISSED_DEADLINE: 0.8, TEAM_LEAD: 0.6},
        "gpt-4": {MISSED_DEADLINE: 0.7, TEAM_LEAD: 1.0},
        "mistral-7b-instruct": {MISSED_DEADLINE: 0.8, TEAM_LEAD: 0.6},
    },
}

OTHER_NAMES = "six sets of names, of which the paper has one: Amy, Maya, Richard and Ben"


@dataclass(frozen=True)
class CaseStudyOptions(PlayOptions):
    classifiers: tuple[str, ...] = option((DEFAULT,), f"of language agency, one: {ACCEPTED}", metavar="NAME")


class CaseStudy(Play[CaseStudyOptions]):
    """Characters sit in the row's order. `goal` is told in the task assignment; the other cases are as without."""

    card = Card(
        name="implicit_bias_case_study",
        title="A case study of implicit bias: tasks, blame and leadership among students",
        paper="Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)",
        dataset="implicit_bias",
        configs=("case_study",),
        metric=METRIC,
        clusters=("names",),
        design=("case", "names"),
        protocols=("generate", "rank"),
        sampling=SAMPLING,
    )
    Options = CaseStudyOptions

    def check(self, config: RunConfig[CaseStudyOptions]) -> None:
        super().check(config)
        if config.source != "evenhand":
            raise UsageError(f"{self.card.name} has the paper's own prompts; --source evenhand is accepted")
        n = len(config.options.classifiers)
        if n != 1:
            raise UsageError(f"{self.card.name} reads reasons with one classifier: name one, not {n}")

    def load(self, config: RunConfig[CaseStudyOptions]) -> Rows:
        rows = packaged_rows(self.card, config)
        named = rows.add_column("names", [_names(each) for each in rows["characters"]])  # type: ignore[call-arg]
        return with_seats(Rows(named), config)

    def helpers(self, options: CaseStudyOptions) -> Mapping[str, Helper]:
        named = load_classifiers(options.classifiers)
        if len(named) > 1:  # a folder of several seeds
            names = ", ".join(each.name for each in named)
            raise UsageError(f"{options.classifiers[0]} holds {len(named)} classifiers; name one: {names}")
        return {CLASSIFIER: Helper(named[0].name, named[0].classifier, named[0].record)}

    def ask(self, row: Row, how: Asking[CaseStudyOptions]) -> list[Request]:
        """The question to everybody, before anything is said."""
        meeting, agents = _meeting(row, how)
        return meeting.ask(agents, FIRST)

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[CaseStudyOptions]) -> list[Prediction]:
        """Reasons are not labelled here: that asks the classifier."""
        meeting, agents = _meeting(row, how)
        said = meeting.read(agents, FIRST, replies)
        return [_prediction(row, how.run, turn, each, [None] * len(_reasons(each))) for turn, each in enumerate(said)]

    def value(self, prediction: Mapping[str, Any]) -> float | None:
        """The absolute score of a task assignment. None for a person who is named: a share of many answers is biased,
        not one of them.
        """
        return distance_from_balance(prediction) if prediction["case"] == TASK_ASSIGNMENT else None

    def episode(self, row: Row, how: Asking[CaseStudyOptions]) -> Episode:
        meeting, agents = _meeting(row, how)
        said = yield from interact(meeting, agents)
        reasons = [reason for each in said for _, reason in _reasons(each)]
        agentic = yield from _agentic_shares(reasons)
        shares = iter(agentic)
        return [
            _prediction(row, how.run, turn, each, [next(shares) for _ in _reasons(each)])
            for turn, each in enumerate(said)
        ]

    def score(self, predictions: pd.DataFrame, config: RunConfig[CaseStudyOptions]) -> dict[str, Any]:
        from evenhand.benchmarks.implicit_bias.case_study.scores import score

        return score(predictions)

    def headline(self, metrics: Mapping[str, Any]) -> float | None:
        """The absolute bias score of last task assignments, as `value` has it."""
        tasks = metrics["cases"].get(TASK_ASSIGNMENT)
        score: float | None = tasks and tasks["stages"][LAST_STAGE]["bias_score"]
        return None if score is None else abs(score)

    def figures(self, metrics: Mapping[str, Any]) -> tuple[Figure, ...]:
        tasks = metrics["cases"].get(TASK_ASSIGNMENT)
        if not tasks:
            return ()
        of = tasks["stages"][LAST_STAGE]
        return (Figure.of(of, "bias_score", name="task assignment, bias score", chance=0.0, digits=2),)

    def comparison(self) -> Comparison:
        from evenhand.benchmarks.implicit_bias.case_study.comparison import PairedStudents

        return PairedStudents()

    def published(self, config: RunConfig[CaseStudyOptions]) -> dict[str, Any]:
        """The appendix's figures, of five conversations of four of our students: beside no run of all of them."""
        return {} if config.limit is not None or self.differs(config) else PUBLISHED

    def differs(self, config: RunConfig[CaseStudyOptions]) -> tuple[str, ...]:
        """The paper's five runs differ in the order of characters, as our rows do; the goal is told in the task
        assignment alone, of which no figures are printed. But the paper has one set of names, and ours are six.
        """
        return (OTHER_NAMES, *config.unlike(self.card), *unlike_in_agents(config.options))

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.implicit_bias.case_study.findings import findings

        return findings(predictions, results)


def _meeting(row: Row, how: Asking[CaseStudyOptions]) -> tuple[CaseMeeting, list[Agent]]:
    case, name = Case.of(row), row["id"] + run_name(how.run)
    answering = ANSWERING[how.protocol][case.kind]
    options = how.options
    meeting = CaseMeeting(case, answering, how.sampling, how.seed, name, options.goal, goal_task=options.goal_task)
    return meeting, seated(case.characters, options.agents, row, how)


def _names(characters: Sequence[str]) -> str:
    """A set of names, whatever their order."""
    return ", ".join(sorted(characters))


def _reasons(said: Statement) -> list[tuple[str, str]]:
    """Whom it names and why, where both were read."""
    if not isinstance(said, Answer) or said.people is None:
        return []
    return [(person, reason) for person, reason in zip(said.people, said.reasons) if person and reason]


def _agentic_shares(reasons: Sequence[str]) -> Generator[Sequence[Request], Sequence[Reply], list[float | None]]:
    """Of each reason's sentences that were labelled; None for one without any."""
    from evenhand.language_agency.sentences import split_sentences

    sentences = [split_sentences(reason) for reason in reasons]
    requests = [label_request(sentence, CLASSIFIER) for each in sentences for sentence in each]
    replies = iter((yield requests) if requests else [])
    shares: list[float | None] = []
    for each in sentences:
        answers = [reply for reply in islice(replies, len(each)) if not reply.failed]
        agentic = sum(agentic_probability(reply) > 0.5 for reply in answers)
        shares.append(agentic / len(answers) if answers else None)
    return shares


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
        "seat": said.agent.seat,
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
