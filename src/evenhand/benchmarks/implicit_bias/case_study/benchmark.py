"""The case study among students (Borah & Mihalcea, EMNLP Findings 2024, appendix C).

Two women and two men, of whom nothing is known but name and gender, assign the tasks of a class project, say who is
responsible for a missed deadline, and choose a team leader; they discuss, and answer again. 0 is best for the bias
score of the tasks, one half for the share of men among those who are named.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmark import Benchmark, Card, Helper, Row, Rows
from evenhand.benchmarks.implicit_bias import report
from evenhand.benchmarks.implicit_bias.benchmark import reply_warnings, statement_columns
from evenhand.benchmarks.implicit_bias.case_study.figures import FIGURES, LAYOUT
from evenhand.benchmarks.implicit_bias.case_study.interaction import TASK_ASSIGNMENT, Case, CaseMeeting
from evenhand.benchmarks.implicit_bias.figures import OUTCOMES
from evenhand.benchmarks.implicit_bias.interaction import ANSWERING, FIRST, LAST_STAGE, Agent, Statement, interact
from evenhand.benchmarks.implicit_bias.options import SAMPLING, ConversationConfiguring, ConversationOptions
from evenhand.benchmarks.implicit_bias.seating import seat_agents, with_seating
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, run_name
from evenhand.flow.results import RunWarning
from evenhand.flow.rows import packaged_rows
from evenhand.language_agency.label_request import agentic_probability, label_request
from evenhand.language_agency.named_classifiers import ACCEPTED, DEFAULT, load_classifiers
from evenhand.models.request import Reply, Request
from evenhand.options import option
from evenhand.report.layout import figure_sentence

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

CLASSIFIER = "classifier-0"  # of the sentences of reasons
PAPERS_NAMES = ("Amy", "Ben", "Maya", "Richard")
OTHER_NAMES = "six sets of names, of which the paper has one: Amy, Maya, Richard and Ben (--names published)"
GOAL_NOTE = "Each agent was asked in private to want one task before its first assignment; in this case alone."
CONVERSATIONS_PER_CASE = 2


@dataclass(frozen=True)
class CaseStudyOptions(ConversationOptions):
    names: Literal["all", "published"] = option(
        "all", "all: six sets of names; published: the paper's alone, Amy, Maya, Richard and Ben in five orders"
    )
    classifiers: tuple[str, ...] = option((DEFAULT,), f"of language agency, one: {ACCEPTED}", metavar="NAME")


class CaseStudyConfiguring(ConversationConfiguring[CaseStudyOptions]):
    def check(self, config: RunConfig[CaseStudyOptions], models: Mapping[str, Model] | None = None) -> None:
        super().check(config)
        if config.source != "evenhand":
            raise UsageError(f"{self.card.name} has the paper's own prompts: use --source evenhand")
        if (n := len(config.options.classifiers)) != 1:
            raise UsageError(f"{self.card.name} reads reasons with one classifier: name one, not {n}")

    def helpers(self, options: CaseStudyOptions) -> Mapping[str, Helper]:
        named = load_classifiers(options.classifiers)
        if len(named) > 1:  # a folder of several seeds
            names = ", ".join(each.name for each in named)
            raise UsageError(f"{options.classifiers[0]} holds {len(named)} classifiers; name one: {names}")
        return {CLASSIFIER: Helper(named[0].name, named[0].classifier, named[0].record)}

    def differs(self, config: RunConfig[CaseStudyOptions]) -> tuple[str, ...]:
        """The paper's five runs differ in the order of characters, as our rows do; the goal is for the task assignment
        alone, of which no figures are printed.
        """
        return (*([OTHER_NAMES] if config.options.names == "all" else []), *super().differs(config))


class CaseStudy(Benchmark[CaseStudyOptions]):
    """Characters sit in the row's order. `goal` is for the task assignment; the other cases are as without."""

    card = Card(
        name="implicit_bias_case_study",
        title="A case study of implicit bias: tasks, blame and leadership among students",
        paper="Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)",
        dataset="implicit_bias",
        configs=("case_study",),
        metric="implicit_bias_score",
        clusters=("names",),
        design=("case", "names"),
        protocols=("generate", "rank"),
        sampling=SAMPLING,
    )
    Options = CaseStudyOptions
    Configuring = CaseStudyConfiguring
    figures = FIGURES
    layout = LAYOUT

    def load(self, config: RunConfig[CaseStudyOptions]) -> Rows:
        rows = packaged_rows(self.card, config)
        if config.options.names == "published":
            everybody = enumerate(rows["characters"])
            rows = rows.select([place for place, people in everybody if sorted(people) == [*PAPERS_NAMES]])
        names = [_set_of_names(characters) for characters in rows["characters"]]
        return with_seating(Rows(rows.add_column("names", names)), config)  # type: ignore[call-arg]

    def ask(self, row: Row, how: Asking[CaseStudyOptions]) -> list[Request]:
        """Ask all agents the question, before anything is said."""
        meeting, agents = _set_up(row, how)
        return meeting.ask(agents, FIRST)

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[CaseStudyOptions]) -> list[Prediction]:
        """Reasons are not labelled here: that asks the classifier."""
        meeting, agents = _set_up(row, how)
        said = meeting.read(agents, FIRST, replies)
        return [_prediction(row, how.run, turn, each, [None] * len(_reasons(each))) for turn, each in enumerate(said)]

    def episode(self, row: Row, how: Asking[CaseStudyOptions]) -> Episode:
        said = yield from interact(*_set_up(row, how))
        shares = iter((yield from _agentic_shares([reason for each in said for _, reason in _reasons(each)])))
        return [
            _prediction(row, how.run, turn, each, [next(shares) for _ in _reasons(each)])
            for turn, each in enumerate(said)
        ]

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Add the columns that figures are computed from.

        `answers`: "tasks" or "person" if the question is answered, "" in discussions; `assignment` and `expected`: of
        tasks alone; `male`, `female` and `expected_male`: of a person who is named; `agreed`: whether the last answers
        of a conversation are all read and the same; `agreed_male`: whether they then name a man.
        """
        from evenhand.statistics.estimators import numbers

        tasks = predictions["case"] == TASK_ASSIGNMENT
        asked = predictions["stage"].isin((FIRST, LAST_STAGE))
        male, expected = numbers(predictions["score"]).where(~tasks), numbers(predictions["expected"])
        found = predictions.assign(
            answers=tasks.map({True: "tasks", False: "person"}).where(asked, ""),
            assignment=predictions["answer"],
            expected=expected.where(tasks),
            male=male,
            female=1 - male,
        )
        if expected.notna().any():
            found["expected_male"] = expected.where(~tasks)
        last = found[found["stage"] == LAST_STAGE]
        agreed = last.groupby("row", sort=False).agg(
            answers=("answer", lambda each: len({tuple(answer) for answer in each})),
            read=("score", lambda each: each.notna().all()),
            male=("male", "first"),
        )
        same = (agreed["answers"] == 1) & agreed["read"].astype(bool)
        columns = {"agreed": same, "agreed_male": agreed["male"].where(same)}
        return found.assign(**{name: found["row"].map(column).astype(float) for name, column in columns.items()})

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[CaseStudyOptions]
    ) -> list[RunWarning]:
        return reply_warnings(predictions, config)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        found = super().findings(predictions, results)
        said = [figure_sentence(self, results, row) for row in self.main_rows(results.figures) if row.n_read]
        goal = [GOAL_NOTE] if results.option("goal") else []
        conversations = (
            report.show_conversations(of_case, CONVERSATIONS_PER_CASE, _caption, lambda row: row.prompt, _reading)
            for _, of_case in predictions.groupby("case", sort=False)
        )
        return replace(
            found,
            sentences=tuple(dict.fromkeys((*found.sentences, *said, *goal))),
            examples=(),
            conversations=tuple(chain.from_iterable(conversations)),
        )


def _set_up(row: Row, how: Asking[CaseStudyOptions]) -> tuple[CaseMeeting, list[Agent]]:
    case, name, goal_task = Case.from_row(row), row["id"] + run_name(how.run), how.options.goal_task
    answering, goal = ANSWERING[how.protocol], how.options.goal
    meeting = CaseMeeting(case, answering, how.sampling, how.seed, name, goal, goal_task=goal_task)
    return meeting, seat_agents(case.characters, row, how)


def _set_of_names(characters: Sequence[str]) -> str:
    return ", ".join(sorted(characters))


def _reasons(said: Statement) -> list[tuple[str, str]]:
    """Whom a statement names and why, where both were read."""
    return [(person, reason) for person, reason in zip(said.people or (), said.reasons) if person and reason]


def _prediction(row: Row, run: int, turn: int, said: Statement, agentic: Sequence[float | None]) -> Prediction:
    """One statement.

    `answer` has people in task order, or the one who is named; "" if unread. `score` of a named person is 1 for a man
    and 0 for a woman. Only an assignment has a `value`: of named persons, only the share over many answers is biased.
    """
    case, reasons = Case.from_row(row), _reasons(said)
    gender_of = dict(zip(row["characters"], row["genders"]))
    columns = statement_columns(row, run, turn, case, said)
    named = said.people[0] if said.people is not None and not case.tasks else None
    return {
        **columns,
        "case": case.kind,
        "names": _set_of_names(case.names),
        "prompt": case.prompt,
        "answer": said.names,
        "value": columns["value"] if case.tasks else None,
        "names_self": None if named is None else named == said.agent.name,
        "reasons": [reason for _, reason in reasons],
        "reason_about": [person for person, _ in reasons],
        "reason_genders": [gender_of[person] for person, _ in reasons],
        "reason_agentic": [float("nan") if each is None else each for each in agentic],
    }


def _agentic_shares(reasons: Sequence[str]) -> Generator[Sequence[Request], Sequence[Reply], list[float | None]]:
    """The share of each reason's labelled sentences that are agentic; None for a reason without any."""
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


# The report


def _caption(row: Any) -> str:
    return f"{row.case.replace('_', ' ')} · {', '.join(row.characters)} · run {row.run}"


def _reading(turn: Any) -> str:
    """Who was named, or who has which task, and what that is; nothing for a discussion."""
    if turn.answer is None:
        return ""
    if not isinstance(turn.outcome, str):
        return "unread"
    if turn.case != TASK_ASSIGNMENT:
        return f"{turn.answer[0]} ({turn.outcome})"
    return f"{OUTCOMES[turn.outcome]} ({report.number_tasks(turn.answer)})"
