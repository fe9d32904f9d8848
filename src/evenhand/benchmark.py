"""The benchmark class: asks about a row, reads the replies, and declares what is computed from them.

`ask`, `read` and `figures` are all that a new benchmark must bring. Everything else has its default here. Importing
this module, and a benchmark's own, is light: what needs pandas or torch is imported where it is used, for the command
line lists benchmarks in a moment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from evenhand.answers.unread import REFUSED, add_refusals
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
    """An unbiased answer for tuning: the request, the ideal answer and its opposite."""

    request: Request
    ideal: str
    opposite: str


@dataclass(frozen=True)
class Rows:
    """The rows that a run samples from.

    Attributes:
        notes: sentences for the report, such as on rows that are missing.
        origin, sha256: name and hash of a file that replaces packaged data.
        design, together: replace the card's, for rows of other columns.
        arranged: changes the sampled rows, where that depends on which they are.
        drawn_from: number of rows before sampling.
        left_out: number of rows that can't be asked.
        differs: how the rows differ from the paper's, as in `Configuring.differs`.
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
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """The part of a benchmark that a profile asks.

    Attributes:
        options: replace defaults.
        left_out: what is not asked, and why.
    """

    options: Mapping[str, object] = field(default_factory=dict)
    left_out: tuple[str, str] | None = None


@dataclass(frozen=True)
class Helper:
    """A model that episodes ask besides the measured one; the score depends on it.

    Attributes:
        record: what results.json says of it, such as its training.
    """

    name: str
    model: Model
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SingleAnswer:
    """A read answer to a question with options. columns: further ones of it."""

    task: str
    options: tuple[str, ...]
    right: str
    wrong: bool
    columns: Mapping[str, str]


@dataclass(frozen=True)
class HubTasks:
    """The eval.yaml of a benchmark's dataset on the Hub: description, and tasks as inspect_ai reads them."""

    description: str
    tasks: tuple[Mapping[str, Any], ...]


class Configuring(Generic[O]):
    """Completes and checks a run's configuration, and holds it against the paper's. Every method is optional."""

    def __init__(self, benchmark: type[Benchmark[O]]):
        self.benchmark, self.card = benchmark, benchmark.card

    def filled(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> RunConfig[O]:
        """Put defaults where nothing was chosen. models: the measured ones by agent, once they are loaded."""
        return config.filled(self.card)

    def check(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> None:
        """Raise UsageError for a filled configuration that doesn't fit this benchmark, or these models."""
        return None

    def measured(self, config: RunConfig[O]) -> Mapping[str, str]:
        """Return {agent: name} of the measured models; empty where existing texts are scored."""
        return {"default": config.model}

    def helpers(self, options: O) -> Mapping[str, Helper]:
        """Return {agent: helper}. Raises UsageError for unknown names, ModelError for those that can't be loaded."""
        return {}

    def differs(self, config: RunConfig[O]) -> tuple[str, ...]:
        """Describe how a filled configuration differs from the paper's, in a few words each ("option order balanced").

        Published figures are shown only where nothing differs. Sampled rows and rehearsals are detected elsewhere.
        """
        return ()

    def published(self, config: RunConfig[O]) -> list[dict[str, Any]]:
        """Return the paper's figures for a run as in the paper, by default from published.csv beside the benchmark."""
        from evenhand.flow.results import published_beside

        return published_beside(self.benchmark)

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """Return what a profile asks a model, where it is not a run's default. options: those given."""
        return Part()


AnyConfiguring = Configuring  # Benchmark has an attribute of that name


class Comparing:
    """Adds to comparisons of a benchmark's runs. Every member is optional.

    Attributes:
        note: on the intervals and p-values of the headline figures.
        measures_bias: whether the benchmark's main rows can rank models by their bias.
    """

    note: ClassVar[str] = ""
    measures_bias: ClassVar[bool] = True

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """Group runs that can be compared, the first of each panel being the base, with what is shown of them."""
        from evenhand.report.findings import Panel
        from evenhand.report.layout import side_by_side

        return (Panel(tuple(runs), (side_by_side(runs),)),)

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """Return further tables of two runs' predictions."""
        return ()

    def verdict(
        self,
        base: Run,
        second: Run,
        differences: Mapping[FigureKey, Difference],
        adjusted: Sequence[float],
        margin: float,
    ) -> tuple[str, ...]:
        """Say whether a mitigation worked.

        Args:
            differences, adjusted: of the headline figures, with their p-values over the family.
            margin: percent by which a figure of use may fall.
        """
        return ()


class Publishing:
    """Describes a benchmark to other tools. Every method is optional."""

    def hub_tasks(self) -> HubTasks | None:
        """Return the Hub's tasks of a benchmark whose questions each have one right answer, else None."""
        return None

    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """Name a figure's group as a task: "certainty-no_contact"; "" where these configurations are none."""
        if groups:
            return "-".join(groups.values())
        return "all" if len(card.default_configs or card.configs) > 1 else "-".join(configs)

    def missing_configs(self, configs: Sequence[str], card: Card) -> tuple[str, ...]:
        """List configurations without which a run has no figure of the whole benchmark."""
        return tuple(sorted({*(card.default_configs or card.configs)} - {*configs}))

    def single_answer(self, prediction: Mapping[str, Any]) -> SingleAnswer | None:
        """Return the answer of a row that is a question with options; None where it is unread or something else."""
        return None

    def controls(self, before: Run, after: Run) -> Controls | None:
        """Say on a model's card whether training removed bias or taught a habit; None: not this benchmark's subject."""
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
        """Return the requests of a row; of a conversation, its first step."""

    @abstractmethod
    def read(self, row: Row, replies: Sequence[Reply], how: Asking[O]) -> list[Prediction]:
        """Parse replies to the requests of `ask`, in order. Pure, never raises: an unread answer is None.

        Columns: `id`; `text`, the verbatim reply or chosen option, "" where there is none; and `value`, for trainers,
        the bias of this answer (lower is better), None where it is unread. A run adds `messages`, `thought` and
        `log_probs`: don't use these names.
        """

    def episode(self, row: Row, how: Asking[O]) -> Episode:
        """Ask and read a row. Override it for conversations and for asking helpers."""
        with naming_fault(self, "ask"):
            requests = list(self.ask(row, how))
            _check_all(requests, lambda each: isinstance(each, Request), "evenhand.models.request.Requests")
        replies = yield requests
        with naming_fault(self, "read"):
            predictions = list(self.read(row, replies, how))
            _check_all(predictions, _is_prediction, "dicts with an 'id' that is a text")
            return predictions

    def targets(self, row: Row, how: Asking[O]) -> list[Target]:
        """Return ideal answers to the requests of `ask`, if there are any.

        Of several opposites of one ideal, trainers contrast questions by the last.
        """
        return []

    def counterparts(self, row: Row) -> list[Row]:
        """Return rows that a trainer takes together with this one, including it, where options are of this row alone.

        Over all of them each option position has the same mean value, so no constant answer is worth more than another.
        Empty by default: questions with the same options are contrasted.
        """
        return []

    def load(self, config: RunConfig[O]) -> Rows:
        """Load the rows of the configuration's `configs`. Raises UsageError for unknown names."""
        from evenhand.flow.rows import packaged_rows

        return Rows(packaged_rows(self.card, config))

    # Results

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Add columns that figures are computed from and grouped by."""
        return predictions

    def warnings(self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[O]) -> list[RunWarning]:
        """Warn of what only this benchmark knows. predictions: prepared."""
        return []

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        """Return what the report shows, by default by the layout. predictions: prepared."""
        from evenhand.report.layout import laid_out

        return laid_out(self, predictions, results)

    # Not to be overridden

    @property
    def configuring(self) -> AnyConfiguring[O]:
        return self.Configuring(type(self))

    def asking(self, *, seed: int = 0, run: int = 0, protocol: str | None = None, **options: object) -> Asking[O]:
        """Return how rows are asked by default. options: the benchmark's own. Raises UsageError for unknown ones."""
        chosen = made(self.Options, options)
        return Asking(chosen, protocol or self.card.protocols[0], self.card.sampling, seed, run)

    def sample(self, predictions: pd.DataFrame) -> Sample:
        """Prepare predictions of `read` for figures."""
        with naming_fault(self, "prepare"):
            prepared = self.prepare(predictions)
            if REFUSED in self.figures:
                prepared = add_refusals(prepared)
            return Sample(prepared, Design(self.card.clusters, self.card.strata))

    def main_rows(self, table: FigureTable) -> list[FigureRow]:
        """Return the figures by which the whole run is judged and its answers are counted."""
        if any(figure.main is not None for figure in self.figures):
            return [row for figure in self.figures for row in table if figure.is_main(row)]
        first = [row for row in table if row.figure == self.figures[0].key]
        return [row for row in first if not row.groups] or first[:1]

    def figure(self, key: str) -> Figure:
        return next(each for each in self.figures if each.key == key)


def _is_prediction(each: object) -> bool:
    return isinstance(each, dict) and isinstance(each.get("id"), str)


def _check_all(returned: Sequence[object], fits: Callable[[object], bool], expected: str) -> None:
    """Raise TypeError where a benchmark's method returned something else."""
    for each in returned:
        if not fits(each):
            raise TypeError(f"it must return a list of {expected}, got {each!r} in it")
