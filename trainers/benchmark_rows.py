"""Which of a benchmark's rows are learned from, and which are held out, in recipes that take any benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmark import Row
from evenhand.benchmarks.contact_hypothesis.cuts import Setting, cut
from evenhand.errors import UsageError
from evenhand.options import fields_of, option
from evenhand.trainers.contact_rows import contact_rows, held_out_command
from evenhand.trainers.options import TuningOptions

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark
    from evenhand.flow.configuration import Asking
    from evenhand.models.loading import Checkpoint
    from evenhand.trainers.over_steps import Measure

CONTACT = "contact_hypothesis"


@dataclass(frozen=True)
class BenchmarkOptions(TuningOptions):
    """Of recipes that learn from any benchmark's rows."""

    benchmark: str = option(CONTACT, "whose questions are learned from (evenhand list shows all)", metavar="NAME")
    setting: Setting = option(
        "disjoint",
        "of contact_hypothesis, what is for training and what for the test: as in Table 6, or disjoint, whose test "
        "shares neither situations nor groups with it",
    )
    layout: Literal["chat", "published"] = option("chat", "of the prompts, as evenhand run has it")
    config: tuple[str, ...] = option((), "of the benchmark's dataset, but for contact_hypothesis", metavar="NAME")
    source: Literal["evenhand", "official"] = option("evenhand", "whose data")
    all_rows: bool = option(False, "of contact_hypothesis, contradicting prompt sets, too")
    limit: int | None = option(None, "rows for training, drawn", least=1, metavar="N")


@dataclass(frozen=True)
class TrainingRows:
    """what: the cut in a sentence. test: rows that neither train nor measure; None where there are none for it."""

    train: Sequence[Row]
    held_out: Sequence[Row]
    test: int | None
    what: str

    @property
    def data(self) -> dict[str, Any]:
        """For training.json."""
        test = {} if self.test is None else {"test": self.test}
        return {"cut": self.what, "rows": len(self.train), "held_out": {"validation": len(self.held_out), **test}}


def training_rows(options: BenchmarkOptions) -> TrainingRows:
    """contact_hypothesis by its setting, stories of told assignments by their splits, others by a draw of clusters.

    Raises UsageError for a benchmark that is none, shows pictures, or has no rows without more being said.
    """
    benchmark = text_benchmark(options.benchmark)
    if options.benchmark == CONTACT:
        if options.config:
            raise UsageError(f"--config: of {CONTACT} the --setting says which rows are learned; leave it out")
        drawn = cut(options.setting, contact_rows(options.source, options.all_rows), options.seed)
        return TrainingRows(drawn.train[: options.limit], drawn.validation, len(drawn.test), drawn.what)
    of_contact = {"--all-rows": options.all_rows, "--setting": options.setting != BenchmarkOptions().setting}
    for flag in (flag for flag, given in of_contact.items() if given):
        raise UsageError(f"{flag} is of {CONTACT} and would do nothing with {options.benchmark}; leave it out")
    if options.benchmark == "implicit_bias_understanding" and not options.config:
        from evenhand.trainers.told_assignments import told

        stories = told("full", options.source, False, options.limit, options.seed)
        return TrainingRows(stories.train, stories.held_out, None, stories.what)
    from evenhand.trainers.cluster_cut import cut_by_cluster

    train, held_out, what = cut_by_cluster(benchmark, options.seed, options.config, options.source)
    what += f"; evenhand run {options.benchmark} asks what was learned, too"
    return TrainingRows(train[: options.limit], held_out, None, what)


def text_benchmark(name: str) -> Benchmark[Any]:
    """Raises UsageError for a name that is none, and for a benchmark with pictures."""
    from evenhand.benchmarks import get_benchmark

    found: Benchmark[Any] = get_benchmark(name)
    if found.card.sees:
        raise UsageError(f"--benchmark {name} shows pictures, and text models are tuned here; choose another")
    return found


def asking(options: BenchmarkOptions, protocol: str | None = None) -> Asking[Any]:
    """How the benchmark asks. protocol: by default scored options, where it can. Raises UsageError for a layout that it
    has not."""
    benchmark = text_benchmark(options.benchmark)
    protocols = benchmark.card.protocols
    chosen = protocol or ("choose" if "choose" in protocols else protocols[0])
    if any(each.name == "layout" for each in fields_of(benchmark.Options)):
        return benchmark.asking(protocol=chosen, layout=options.layout)
    if options.layout != "chat":
        raise UsageError(f"--layout {options.layout}: {options.benchmark} has none; leave it out")
    return benchmark.asking(protocol=chosen)


def measure_of(rows: TrainingRows, options: BenchmarkOptions, checkpoint: Checkpoint) -> Measure:
    """Of the rows held out: contact_hypothesis has figures of its own, others their mean value."""
    from evenhand.trainers.held_out import evenly_drawn

    if options.benchmark == CONTACT:
        from evenhand.trainers.social_contact_measures import DESIGN, HeldOut

        drawn = evenly_drawn(rows.held_out, DESIGN, options.measured, options.seed)
        return HeldOut(drawn, options.layout, checkpoint)
    from evenhand.trainers.mean_value import MeanValue

    design = [
        name for name in text_benchmark(options.benchmark).card.design if rows.held_out and name in rows.held_out[0]
    ]
    drawn = evenly_drawn(rows.held_out, design, options.measured, options.seed)
    return MeanValue(options.benchmark, drawn, asking(options), checkpoint)


def judged_of(options: BenchmarkOptions, checkpoint: Checkpoint) -> Callable[..., Mapping[str, Any]] | None:
    """What a tuned model is asked at the end, where there are controls."""
    if options.benchmark != CONTACT:
        return None
    from evenhand.trainers.social_contact_measures import Controls

    return Controls(options.layout, checkpoint)


def caution(options: BenchmarkOptions) -> dict[str, str]:
    """Of training.json: why the figures may mislead, where there are no controls."""
    told = "a rule that holds for these questions alone scores well on all of them"
    return {} if options.benchmark == CONTACT else {"caution": told}


def learned_too(recipe: Mapping[str, Any]) -> bool:
    """Whether `measuring_command` asks what was learned from, too: of benchmarks that have no cut of their own."""
    return recipe["benchmark"] not in (CONTACT, "implicit_bias_understanding")


def measuring_command(recipe: Mapping[str, Any]) -> str:
    """The command that measures what was learned, but for its --model."""
    if recipe["benchmark"] == CONTACT:
        return held_out_command(recipe)
    layout = " --layout published" if recipe["layout"] == "published" else ""
    return f"evenhand run {recipe['benchmark']}{layout}"


def check_method_alone(options: TuningOptions, name: str) -> None:
    """Raises UsageError for options of recipes that learn given answers, which would do nothing here."""
    if options.packing == "tree":
        raise UsageError(f"--packing tree: {name} has batches that are padded; leave it out")
    if options.divergence:
        raise UsageError(f"--divergence would do nothing: {name} stays near its base by --beta; leave it out")
