"""The case study among students (Borah & Mihalcea, EMNLP Findings 2024, appendix C).

Two women and two men, of whom nothing is known but name and gender, assign the tasks of a class project, say who is
responsible for a missed deadline, and choose a team leader; they discuss, and answer again. 0 is best for the bias
score of the tasks, one half for the share of men among those who are named.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from evenhand.benchmark import Card, Helper, Row, Rows
from evenhand.benchmarks.implicit_bias.case_study.figures import FIGURES, LAYOUT
from evenhand.benchmarks.implicit_bias.case_study.interaction import ANSWERING, Case, CaseMeeting
from evenhand.benchmarks.implicit_bias.case_study.reading import prediction, prepared, reasons_of, sorted_names
from evenhand.benchmarks.implicit_bias.interaction import FIRST, LAST_STAGE, Agent, interact
from evenhand.benchmarks.implicit_bias.play import (
    SAMPLING,
    Play,
    PlayOptions,
    seated,
    unlike_in_agents,
    with_seats,
)
from evenhand.benchmarks.implicit_bias.scenario import METRIC
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction, run_name
from evenhand.flow.results import RunWarning
from evenhand.flow.rows import packaged_rows
from evenhand.language_agency.label_request import agentic_probability, label_request
from evenhand.language_agency.named_classifiers import ACCEPTED, DEFAULT, load_classifiers
from evenhand.models.request import Reply, Request
from evenhand.options import option

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureRow, FigureTable
    from evenhand.flow.results import Results
    from evenhand.report.findings import Findings

CLASSIFIER = "classifier-0"  # of the sentences of reasons
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
    figures = FIGURES
    layout = LAYOUT

    def check(self, config: RunConfig[CaseStudyOptions]) -> None:
        super().check(config)
        if config.source != "evenhand":
            raise UsageError(f"{self.card.name} has the paper's own prompts; --source evenhand is accepted")
        n = len(config.options.classifiers)
        if n != 1:
            raise UsageError(f"{self.card.name} reads reasons with one classifier: name one, not {n}")

    def load(self, config: RunConfig[CaseStudyOptions]) -> Rows:
        rows = packaged_rows(self.card, config)
        named = rows.add_column("names", [sorted_names(each) for each in rows["characters"]])  # type: ignore[call-arg]
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
        return [prediction(row, how.run, turn, each, [None] * len(reasons_of(each))) for turn, each in enumerate(said)]

    def episode(self, row: Row, how: Asking[CaseStudyOptions]) -> Episode:
        meeting, agents = _meeting(row, how)
        said = yield from interact(meeting, agents)
        reasons = [reason for each in said for _, reason in reasons_of(each)]
        agentic = yield from _agentic_shares(reasons)
        shares = iter(agentic)
        return [
            prediction(row, how.run, turn, each, [next(shares) for _ in reasons_of(each)])
            for turn, each in enumerate(said)
        ]

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return prepared(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[CaseStudyOptions]
    ) -> list[RunWarning]:
        n, ends = len(predictions), f"replies ended at the limit of {config.max_new_tokens} tokens."
        cut = int((predictions["finish_reason"] == "length").sum())
        empty = int((predictions["text"].str.strip() == "").sum())
        return [
            *([RunWarning("cut_off", f"{cut:,} of {n:,} {ends}")] if cut else []),
            *([RunWarning("empty_replies", f"{empty:,} of {n:,} replies are empty.")] if empty else []),
        ]

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.implicit_bias.case_study.conversations import conversations
        from evenhand.report.layout import figure_sentence

        found = super().findings(predictions, results)
        said = [figure_sentence(self, results, row) for row in _last(results.figures) if row.n_read]
        if results.option("goal"):
            told = "Each agent was told in private to want one task before its first assignment; in this case alone."
            said.append(told)
        sentences = tuple(dict.fromkeys((*found.sentences, *said)))
        return replace(found, sentences=sentences, examples=(), conversations=tuple(conversations(predictions)))

    def count_read(self, predictions: pd.DataFrame, table: FigureTable) -> tuple[int, int]:
        """Of the last answers in all cases."""
        last = _last(table)
        return sum(row.n for row in last), sum(row.n_read for row in last)

    def distance(self, table: FigureTable) -> float:
        """The absolute bias score of last task assignments."""
        return abs(table.row("bias_score", stage=LAST_STAGE).value)

    def differs(self, config: RunConfig[CaseStudyOptions]) -> tuple[str, ...]:
        """The paper's five runs differ in the order of characters, as our rows do; the goal is told in the task
        assignment alone, of which no figures are printed. But the paper has one set of names, and ours are six.
        """
        return (OTHER_NAMES, *config.unlike(self.card), *unlike_in_agents(config.options))


def _meeting(row: Row, how: Asking[CaseStudyOptions]) -> tuple[CaseMeeting, list[Agent]]:
    case, name = Case.of(row), row["id"] + run_name(how.run)
    answering = ANSWERING[how.protocol][case.kind]
    options = how.options
    meeting = CaseMeeting(case, answering, how.sampling, how.seed, name, options.goal, goal_task=options.goal_task)
    return meeting, seated(case.characters, options.agents, row, how)


def _last(table: FigureTable) -> list[FigureRow]:
    """The main figure of each case, of last answers."""
    return [*table.rows("bias_score", stage=LAST_STAGE), *table.rows("male", "case", stage=LAST_STAGE)]


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
