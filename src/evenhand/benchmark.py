"""What a benchmark is: it asks about a row, reads the replies, and declares what is computed from them.

`ask`, `read` and `figures` are all that a new benchmark must bring. Everything else has its default here. Importing
this module, and a benchmark's own, is light: what needs pandas or torch is imported where it is used, for the command
line lists benchmarks in a moment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from evenhand.errors import check_names, naming_fault
from evenhand.figure import Design, Figure, Sample
from evenhand.flow.configuration import NEEDS, Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction
from evenhand.models.request import Reply, Request, Sampling
from evenhand.options import NoOptions, made
from evenhand.statistics.estimators import Mean

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.figure import FigureRow, FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.differences import FigureKey
    from evenhand.report.findings import Controls, Findings, Panel, Run, Similarity
    from evenhand.report.layout import Block
    from evenhand.report.tables import Table
    from evenhand.statistics.clustered import Difference

O = TypeVar("O")  # noqa: E741

Row = Mapping[str, Any]  # a dataset's row, of its own features


@dataclass(frozen=True)
class Card:
    """What there is to know of a benchmark without running it.

    Attributes:
        dataset: whose rows are asked, a packaged dataset of this name.
        metric: the packaged metric whose formula it uses; "" where its figures are its own.
        clusters: columns of the predictions whose values would be other ones in a new sample; two where rows cluster in
            two ways. strata: the column within which they are sampled.
        design: row columns, or crossings of some ("scale × action"), that a stratified draw keeps in proportion;
            together: what rows have in common that a draw takes or leaves together.
        protocols: the paper's first; the first of them is taken that the model can.
        sampling: of what models write, as in the paper. runs: of which the paper averages what models write.
        sees: whether its requests carry images.
    """

    name: str
    title: str
    paper: str
    dataset: str
    configs: tuple[str, ...]
    metric: str
    clusters: tuple[str, ...]
    design: tuple[str, ...]
    strata: str | None = None
    together: tuple[str, ...] = ()
    default_configs: tuple[str, ...] = ()
    split: str = "test"
    protocols: tuple[str, ...] = ("generate",)
    sampling: Sampling = Sampling()
    runs: int = 1
    sees: bool = False

    def __post_init__(self) -> None:
        check_names(
            f"card of {self.name!r}", configs=self.configs, clusters=self.clusters, design=self.design,
            together=self.together, default_configs=self.default_configs, protocols=self.protocols,
        )  # fmt: skip
        if not self.clusters or not self.protocols or set(self.protocols) - NEEDS.keys():
            raise TypeError(
                f"card of {self.name!r}: clusters must name a column, and protocols be some of {', '.join(NEEDS)}"
            )

    @property
    def cluster(self) -> str:
        """The first way in which rows cluster."""
        return self.clusters[0]


@dataclass(frozen=True)
class Target:
    """What a model would answer that has no bias, for tuning: the request, the ideal answer and its opposite."""

    request: Request
    ideal: str
    opposite: str


@dataclass(frozen=True)
class Rows:
    """The rows that a run may draw from, and what is to be said of those that are not among them.

    origin, sha256: of a file that stands in place of packaged data; the name is what the run measures where no model
    is asked. design, together: in place of the card's, for rows of other columns. arranged: what is done to the rows
    that were drawn, where it depends on which they are. drawn_from: how many there were before the draw. left_out: how
    many of the data are not among them, for they can't be asked.
    """

    rows: datasets.Dataset
    notes: tuple[str, ...] = ()
    origin: str | None = None
    sha256: str | None = None
    design: tuple[str, ...] | None = None
    together: tuple[str, ...] | None = None
    arranged: Callable[[datasets.Dataset], datasets.Dataset] = lambda rows: rows
    drawn_from: int | None = None
    left_out: int = 0


@dataclass(frozen=True)
class Part:
    """What is asked of a benchmark: options in place of defaults. left_out: what is not asked, in words, and why."""

    options: Mapping[str, object] = field(default_factory=dict)
    left_out: tuple[str, str] | None = None


@dataclass(frozen=True)
class Helper:
    """A model that episodes ask besides the one that is measured; the score depends on it.

    record: what is known of it, for results.json, such as its training.
    """

    name: str
    model: Model
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SingleAnswer:
    """A read answer to a question with options. told: what else is known of it, by column."""

    task: str
    options: tuple[str, ...]
    right: str
    wrong: bool
    told: Mapping[str, str]


@dataclass(frozen=True)
class HubTasks:
    """What a benchmark's dataset says of itself on the Hub (eval.yaml): description, and its tasks as inspect_ai reads
    them.
    """

    description: str
    tasks: tuple[Mapping[str, Any], ...]


class Configuring(Generic[O]):
    """How a run's configuration is completed and checked. All of it is optional."""

    def __init__(self, card: Card):
        self.card = card

    def filled(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> RunConfig[O]:
        """With defaults where nothing was chosen. models: those that are measured, by agent, once they are loaded."""
        return config.filled(self.card)

    def check(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> None:
        """Raises UsageError for a filled configuration that doesn't fit this benchmark, or these models."""
        return None

    def measured(self, config: RunConfig[O]) -> Mapping[str, str]:
        """The models that are measured: {agent: name}; none where what exists already is scored."""
        return {"default": config.model}

    def helpers(self, options: O) -> Mapping[str, Helper]:
        """{agent: helper}. Raises UsageError for unknown names, ModelError for those that can't be loaded."""
        return {}

    def differs(self, config: RunConfig[O]) -> tuple[str, ...]:
        """In what a filled configuration is not as in the paper though an option would bring it nearer, in a few words
        each ("option order balanced"). Published figures are shown only where there is nothing of the kind.

        That not all rows are asked, and rehearsals, are known without it.
        """
        return ()

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """What of it a profile asks a model, where that is not what a run asks by default; options: those given."""
        return Part()


AnyConfiguring = Configuring  # Benchmark has an attribute of that name


class Comparing:
    """What comparisons of a benchmark's runs show besides the differences of its figures. All of it is optional.

    note: what is to be known of the intervals and p-values of the headline figures.
    measures_bias: whether the benchmark's main rows can rank models by their bias.
    """

    note: ClassVar[str] = ""
    measures_bias: ClassVar[bool] = True

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """Which of these runs can be compared, the first of each panel being the base, and what is shown of them."""
        from evenhand.report.findings import Panel
        from evenhand.report.layout import side_by_side

        return (Panel(tuple(runs), (side_by_side(runs),)),)

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """Further tables of two runs' predictions."""
        return ()

    def verdict(
        self,
        base: Run,
        second: Run,
        differences: Mapping[FigureKey, Difference],
        adjusted: Sequence[float],
        margin: float,
    ) -> tuple[str, ...]:
        """Sentences on whether a mitigation did what it is for.

        Args:
            differences, adjusted: of the headline figures, with their p-values over the family.
            margin: percent by which a figure of use may fall.
        """
        return ()


class Publishing:
    """What other people's tools need to know of a benchmark. All of it is optional."""

    def hub_tasks(self) -> HubTasks | None:
        """Of a benchmark whose questions each have one right answer; None: the Hub's form holds no such score."""
        return None

    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """The name of a figure's group as a task: "certainty-no_contact"; "" where these configurations make none."""
        if groups:
            return "-".join(groups.values())
        return "all" if len(card.default_configs or card.configs) > 1 else "-".join(configs)

    def missing_configs(self, configs: Sequence[str], card: Card) -> tuple[str, ...]:
        """Configurations without which a run has no figure of the whole benchmark."""
        return tuple(sorted({*(card.default_configs or card.configs)} - {*configs}))

    def single_answer(self, prediction: Mapping[str, Any]) -> SingleAnswer | None:
        """Of a row that is a question with options; None where it is unread, or rows are something else."""
        return None

    def controls(self, before: Run, after: Run) -> Controls | None:
        """Of a benchmark that tells whether a training took bias away or taught a habit, what it says on the model's
        card; None: it's no such benchmark.
        """
        return None


MEAN_VALUE = Figure("value", "mean value", Mean("value"), headline=((),), digits=3)


class Benchmark(ABC, Generic[O]):
    """A benchmark: where its rows come from, what is asked about one, how replies are read, and what is computed.

    Subclasses give `card`, `ask`, `read` and `figures`; `Options` where they take any: a frozen dataclass of
    `evenhand.options.option`s. Everything else has a default: intervals, reports, comparisons, gates, leaderboards and
    cards are made from the figures.

    Attributes:
        figures: what it measures. By default the mean of the predictions' column `value`, 0 best.
        layout: the tables and plots of a report; by default a table for each figure and grouping.
        Configuring: how a run's configuration is completed and checked.
        comparing, publishing: what comparisons, and other people's tools, show of it besides.
    """

    card: ClassVar[Card]
    Options: ClassVar[type[Any]] = NoOptions
    Configuring: ClassVar[type[Configuring[Any]]] = Configuring
    figures: tuple[Figure, ...] = (MEAN_VALUE,)
    layout: tuple[Block, ...] = ()
    comparing: Comparing = Comparing()
    publishing: Publishing = Publishing()

    # Asking and reading

    @abstractmethod
    def ask(self, row: Row, how: Asking[O]) -> list[Request]:
        """What a row asks; of a conversation, its first step."""

    @abstractmethod
    def read(self, row: Row, replies: Sequence[Reply], how: Asking[O]) -> list[Prediction]:
        """What was answered to what `ask` asked, in its order. Pure, never raises: what can't be read is None.

        `text`: what was written, or the option that was chosen, to the letter; "" where none was. `value`, where
        trainers are to learn from it: the bias of this one answer, lower is better; None where it is unread.
        """

    def episode(self, row: Row, how: Asking[O]) -> Episode:
        """Conversations, and what asks helpers, override this."""
        with naming_fault(self, "ask"):
            requests = list(self.ask(row, how))
            _check_all(requests, lambda each: isinstance(each, Request), "evenhand.models.request.Requests")
        replies = yield requests
        with naming_fault(self, "read"):
            predictions = list(self.read(row, replies, how))
            _check_all(predictions, _is_prediction, "dicts with an 'id' that is a text")
            return predictions

    def targets(self, row: Row, how: Asking[O]) -> list[Target]:
        """Ideal answers to what `ask` asks; none where there are none. Of several opposites of one ideal the last is
        that by which a trainer sets questions against each other.
        """
        return []

    def counterparts(self, row: Row) -> list[Row]:
        """Rows that are learned from together with this one, it among them, where their options are of this row alone.

        Over all of them each place among the options has the same mean value: no constant answer is worth more than
        another. None by default: questions that offer the same options are set against each other.
        """
        return []

    def load(self, config: RunConfig[O]) -> Rows:
        """The rows of the configuration's `configs`. Raises UsageError for names that are none."""
        from evenhand.flow.rows import packaged_rows

        return Rows(packaged_rows(self.card, config))

    # Results

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """The predictions with the further columns that figures are computed from and grouped by."""
        return predictions

    def warnings(self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[O]) -> list[RunWarning]:
        """What is to be known of the figures, besides what any run is looked at for; predictions: prepared."""
        return []

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        """What the report shows, by default by the layout; predictions: prepared."""
        from evenhand.report.layout import laid_out

        return laid_out(self, predictions, results)

    def main_rows(self, table: FigureTable) -> list[FigureRow]:
        """The rows that the whole run is judged by: their answers are what was asked and read.

        By default the first figure's, of all rows together where it has that.
        """
        first = [row for row in table if row.figure == self.figures[0].key]
        return [row for row in first if not row.groups] or first[:1]

    def published(self, config: RunConfig[O]) -> list[dict[str, Any]]:
        """The paper's figures, of runs that differ in nothing: by default the records of published.csv, if there."""
        from evenhand.flow.results import published_beside

        return published_beside(type(self))

    # Not to be overridden

    @property
    def configuring(self) -> AnyConfiguring[O]:
        return self.Configuring(self.card)

    def asking(self, *, seed: int = 0, run: int = 0, protocol: str | None = None, **options: object) -> Asking[O]:
        """How rows are asked by default; options: the benchmark's own, by name. Raises UsageError for unknown ones."""
        chosen = made(self.Options, options)
        return Asking(chosen, protocol or self.card.protocols[0], self.card.sampling, seed, run)

    def sample(self, predictions: pd.DataFrame) -> Sample:
        """What figures are computed from, of predictions as `read` gives them."""
        with naming_fault(self, "prepare"):
            return Sample(self.prepare(predictions), Design(self.card.clusters, self.card.strata))

    def figure(self, key: str) -> Figure:
        return next(each for each in self.figures if each.key == key)


def _is_prediction(each: object) -> bool:
    return isinstance(each, dict) and isinstance(each.get("id"), str)


def _check_all(returned: Sequence[object], fits: Callable[[object], bool], expected: str) -> None:
    """Raises TypeError for what a benchmark's method returned."""
    for each in returned:
        if not fits(each):
            raise TypeError(f"it must return a list of {expected}, got {each!r} in it")
