"""What a benchmark is: it asks about a row, reads the replies, and says what is to be made small.

`ask`, `read` and `value` are all that a new benchmark must bring; whoever trains uses the same three. Everything else
has its default here. Importing this module, and a benchmark's own, is light: what needs pandas or torch is imported
where it is used, for the command line lists benchmarks in a moment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode, Prediction
from evenhand.models.request import Reply, Request, Sampling
from evenhand.options import NoOptions, made

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.collected import Collection, Definition, SingleAnswer
    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Controls, Findings, Panel, Run, Similarity
    from evenhand.report.tables import Table
    from evenhand.statistics.clustered import Difference

O = TypeVar("O")  # noqa: E741

Row = Mapping[str, Any]  # a dataset's row, of its own features


@dataclass(frozen=True)
class Card:
    """What there is to know of a benchmark without running it.

    dataset: whose rows are asked, a packaged dataset of this name. metric: the packaged metric whose score it is; ""
    where `score` is its own. cluster: the prediction column whose values are resampled for intervals. interval: how
    these are made, in words; None: Student's t, errors clustered by it. design: row
    columns, or crossings of some ("scale × action"), that a stratified draw keeps in proportion; together: what rows
    have in common that a draw takes or leaves together. protocols: the paper's first; the first of them is taken that
    the model can. sampling: of what models write, as the paper has it. runs: of which the paper averages what models
    write. digits: of its figures, after the point. shares: whether figures are shares of answers,
    whose smallest visible difference follows from their number; ends: likewise, between which an answer's score lies
    where headline figures are means of it. sees: whether its requests carry images.
    """

    name: str
    title: str
    paper: str
    dataset: str
    configs: tuple[str, ...]
    metric: str
    cluster: str
    design: tuple[str, ...]
    together: tuple[str, ...] = ()
    default_configs: tuple[str, ...] = ()
    split: str = "test"
    protocols: tuple[str, ...] = ("generate",)
    sampling: Sampling = Sampling()
    runs: int = 1
    digits: int = 1
    shares: bool = False
    ends: tuple[float, float] | None = None
    sees: bool = False
    interval: str | None = None

    @property
    def within(self) -> tuple[float, float] | None:
        """Between which an answer's score lies: the ends, else 0 and 1 where figures are shares; None: not known."""
        return self.ends or ((0.0, 1.0) if self.shares else None)


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
class HubTasks:
    """What a benchmark's dataset says of itself on the Hub (eval.yaml): description, and its tasks as inspect_ai reads
    them.
    """

    description: str
    tasks: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Figure:
    """One of a run's headline figures, for tables of several benchmarks. interval: 95 %, of its metrics. chance: of
    random answers; None: not known. best: in words ("0 is best").
    """

    name: str
    value: float | None
    interval: Sequence[float | None] | None
    chance: float | None
    best: str = "0 is best"
    digits: int = 1

    @classmethod
    def of(cls, metrics: Mapping[str, Any], *keys: str, name: str, chance: float | None, digits: int = 1,
           best: str = "0 is best") -> Figure:  # fmt: skip
        """Of metrics whose intervals are nested like their figures."""
        value, interval = metrics, metrics.get("intervals") or {}
        for key in keys:
            value, interval = value[key], (interval or {}).get(key)
        return cls(name, value, interval, chance, best, digits)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Judged:
    """How a gate judges a headline figure.

    of: whose margin counts. best: its best values. span: from the best to the worst that there can be; None: not known.
    logarithm: its exponential is what counts, and margins are percent of that. by_default: judged where nobody asks for
    it by name, too.
    """

    of: Literal["bias", "utility"] = "bias"
    best: Literal["low", "high", "zero"] = "low"
    span: float | None = None
    logarithm: bool = False
    by_default: bool = True


class Comparison(ABC):
    """How two runs of a benchmark are compared, and many shown side by side.

    note: what is to be known of the headline figures' intervals and p-values, for their table's note.
    """

    note: ClassVar[str] = ""

    @abstractmethod
    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """What each headline figure is the mean of: columns `figure`, `id`, `value` (NaN: unread) and `cluster`.

        Also `stratum`, within which clusters would be drawn anew, and `crossed`, where rows cluster in another way too;
        `least` and `most`, that the figure's values can be, where that is known.
        """

    def headline_of(self, predictions: pd.DataFrame, wanted: Callable[[str], bool]) -> pd.DataFrame:
        """`headline`, of the figures with these names alone: overridden where others take long to compute."""
        values = self.headline(predictions)
        return values[values["figure"].map(wanted, na_action="ignore").eq(True)]

    def answers_of(self, task: str, key: str) -> Callable[[str], bool] | None:
        """Of a figure that others collect (`Benchmark.collected`), which headline figures are means over its answers,
        so that two runs of it can be paired; None where there are none.
        """
        return None

    def exploratory(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Likewise for figures of groups; none by default."""
        import pandas as pd

        return pd.DataFrame(columns=["figure", "id", "value", "cluster"])

    def differences(self, first: pd.DataFrame, second: pd.DataFrame) -> Mapping[str, Difference]:
        """Of headline figures that are no means over rows: they are judged in one family with those."""
        return {}

    def judged(self, figure: str) -> Judged | None:
        """How a gate judges a headline figure of this name; None: it judges none of that kind."""
        return None

    def mirrored(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """As if every bias went the other way: of benchmarks that have figures which are best at zero."""
        raise NotImplementedError(f"{type(self).__name__} has figures that are best at zero, and mirrors none")

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """Which of these runs can be compared, and what is shown of those side by side."""
        from evenhand.report.findings import Panel

        return (Panel(tuple(runs)),)

    def verdict(
        self, base: Run, second: Run, differences: Mapping[str, Difference], adjusted: Sequence[float], margin: float
    ) -> tuple[str, ...]:
        """Sentences on whether a mitigation did what it is for; none by default.

        differences, adjusted: of the headline figures, with their p over the family. margin: percent by which a figure
        of use may fall.
        """
        return ()

    def tables(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """Further tables of two runs' predictions: what is no mean over rows, and what a difference may have cost."""
        return ()


class PairedMeans(Comparison):
    """The mean of what is to be made small, over the rows that both runs have."""

    def __init__(self, benchmark: Benchmark[Any]):
        self.benchmark = benchmark

    def headline(self, predictions: pd.DataFrame) -> pd.DataFrame:
        from evenhand.report.mean_value import values

        return values(self.benchmark, predictions)

    def judged(self, figure: str) -> Judged | None:
        """Between the card's ends; else a share, from 0 to 1."""
        within = self.benchmark.card.within
        return Judged(span=None if within is None else within[1] - within[0])


class Benchmark(ABC, Generic[O]):
    """Subclasses give `card`, and `Options` where they take any: a frozen dataclass of `evenhand.options.option`s."""

    card: ClassVar[Card]
    Options: ClassVar[type[Any]] = NoOptions

    # What every benchmark says itself

    @abstractmethod
    def ask(self, row: Row, how: Asking[O]) -> list[Request]:
        """What a row asks; of a conversation, its first step."""

    @abstractmethod
    def read(self, row: Row, replies: Sequence[Reply], how: Asking[O]) -> list[Prediction]:
        """What was answered to what `ask` asked, in its order. Pure, never raises: what can't be read is None.

        `text`: what was written, or the option that was chosen, to the letter; "" where none was.
        """

    @abstractmethod
    def value(self, prediction: Mapping[str, Any]) -> float | None:
        """What is to be made small, of one prediction; None where it is unread, or where one alone has none."""

    # What some say

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

    def episode(self, row: Row, how: Asking[O]) -> Episode:
        """Conversations, and what asks helpers, override this."""
        replies = yield self.ask(row, how)
        return self.read(row, replies, how)

    def check(self, config: RunConfig[O]) -> None:
        """Raises UsageError for a filled configuration that doesn't fit this benchmark."""
        return None

    def filled(self, config: RunConfig[O]) -> RunConfig[O]:
        """With the card's defaults where nothing was chosen."""
        return config.filled(self.card)

    def fitted(self, config: RunConfig[O], models: Mapping[str, Model]) -> RunConfig[O]:
        """With what the measured models declare where nothing was chosen."""
        return config

    def measured(self, config: RunConfig[O]) -> Mapping[str, str]:
        """The models that are measured: {agent: name}; none where what exists already is scored."""
        return {"default": config.model}

    def helpers(self, options: O) -> Mapping[str, Helper]:
        """{agent: helper}. Raises UsageError for unknown names, ModelError for those that can't be loaded."""
        return {}

    def load(self, config: RunConfig[O]) -> Rows:
        """The rows of the configuration's `configs`. Raises UsageError for names that are none."""
        from evenhand.flow.rows import packaged_rows

        return Rows(packaged_rows(self.card, config))

    def picture(self, row: Row) -> bytes | None:
        """What a row shows, as PNG or JPEG; None where it shows nothing."""
        return None

    def score(self, predictions: pd.DataFrame, config: RunConfig[O]) -> dict[str, Any]:
        """`metrics` of results.json: `n`, `n_read`, `unread_rate`, `warnings`, figures. By default the mean value."""
        from evenhand.report.mean_value import score

        return score(self, predictions)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        """What the report shows. By default the mean value and a few examples."""
        from evenhand.report.mean_value import findings

        return findings(self, predictions, results)

    def headline(self, metrics: Mapping[str, Any]) -> float | None:
        """How far a run's `score` is from no bias, in one figure: 0 is best. None where it is not known."""
        value: float | None = metrics.get("mean_value")
        return value

    def figures(self, metrics: Mapping[str, Any]) -> tuple[Figure, ...]:
        """The headline figures of a run's `score`, as few as say what it measures."""
        if "mean_value" not in metrics:
            return ()
        return (Figure.of(metrics, "mean_value", name="mean value", chance=None, digits=self.card.digits + 2),)

    def constant(self, metrics: Mapping[str, Any]) -> tuple[str, ...]:
        """What of a run's `score` is of answers that are always the same, and so says nothing: "" for all of it, else
        words in the names of its figures, such as a scale. By default as `constant_answer` tells.
        """
        found = metrics.get("constant_answer")
        if isinstance(found, Mapping):
            return tuple(str(part) for part, constant in found.items() if constant)
        return ("",) if found else ()

    def comparison(self) -> Comparison:
        return PairedMeans(self)

    def collected(self, results: Results, predictions: pd.DataFrame) -> Collection:
        """What others collect of a run: figures by task, as `evenhand submit` sends them. By default the headline.

        Raises UsageError for a run whose figures can't be told apart by task.
        """
        from evenhand.collected import headline

        return headline(self, results)

    def task_in_words(self, task: str) -> str:
        """A task of `collected` as people read it: "certainty-no_contact" is "certainty, no contact"."""
        return task.replace("-", ", ").replace("_", " ")

    def collects(self) -> tuple[Definition, ...]:
        """The figures that `collected` has of any run; a leaderboard refuses what calls itself one and differs. By
        default none is known before a run.
        """
        return ()

    def single_answer(self, prediction: Mapping[str, Any]) -> SingleAnswer | None:
        """Of a row that is a question with options; None where it is unread, or rows are something else."""
        return None

    def hub_tasks(self) -> HubTasks | None:
        """Of a benchmark whose questions each have one right answer; None: the Hub's form holds no such score."""
        return None

    def controls(self, before: Run, after: Run) -> Controls | None:
        """Of a benchmark that tells whether a training took bias away or taught a habit, what it says on the model's
        card; None: it's no such benchmark.
        """
        return None

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """What of it a profile asks a model, where that is not what a run asks by default; options: those given."""
        return Part()

    def differs(self, config: RunConfig[O]) -> tuple[str, ...]:
        """In what a filled configuration is not as in the paper though an option would bring it nearer, in a few words
        each ("option order balanced"). Published figures stand only where there is nothing of the kind.

        That not all rows are asked, and rehearsals, are known without it.
        """
        return ()

    def published(self, config: RunConfig[O]) -> dict[str, Any]:
        """The paper's figures, where this filled configuration asks all rows and `differs` in nothing; else empty."""
        return {}

    # For whoever asks without a run

    def asking(self, *, seed: int = 0, run: int = 0, protocol: str | None = None, **options: object) -> Asking[O]:
        """How rows are asked by default; options: the benchmark's own, by name. Raises UsageError for unknown ones."""
        chosen = made(self.Options, options)
        return Asking(chosen, protocol or self.card.protocols[0], self.card.sampling, seed, run)
