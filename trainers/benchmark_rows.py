"""Which rows of a benchmark are trained on, and which are held out; what trainers of any benchmark share."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from evenhand.benchmark import Row
from evenhand.benchmarks.contact_hypothesis.cuts import NEW, Descriptors, Setting, cut, select_plausible
from evenhand.errors import EvenhandError, UsageError
from evenhand.options import fields_of, option
from evenhand.trainers.options import SEED, TuningOptions
from evenhand.trainers.recipe import Recipe

if TYPE_CHECKING:
    import datasets

    from evenhand.benchmark import Benchmark
    from evenhand.flow.configuration import Asking
    from evenhand.models.loading import Checkpoint

CONTACT, STORIES = "contact_hypothesis", "implicit_bias_understanding"
VALIDATION_SHARE = 1 / 10  # of clusters, where a benchmark has no cut of its own
CAUTION = {"caution": "a rule that holds for these questions alone scores well on all of them"}

Data = Literal["full", "half"]
Source = Literal["evenhand", "official"]


@dataclass(frozen=True)
class BenchmarkOptions(TuningOptions):
    """Options of trainers that learn from any benchmark's rows."""

    benchmark: str = option(CONTACT, "benchmark to learn from (evenhand list shows all)", metavar="NAME")
    setting: Setting = option(
        "disjoint",
        "training and test rows of contact_hypothesis: a setting of Table 6, or disjoint, whose test shares neither "
        "situations nor groups with the training",
    )
    layout: Literal["chat", "published"] = option("chat", "of the prompts, as in evenhand run")
    config: tuple[str, ...] = option((), "dataset configurations, except for contact_hypothesis", metavar="NAME")
    source: Source = option("evenhand", "whose data; official: the published files")
    descriptors: Descriptors = option("evenhand", "of contact_hypothesis, as in evenhand run")
    all_rows: bool = option(False, "of contact_hypothesis: include prompt sets that contradict themselves")
    limit: int | None = option(None, "rows to train on, drawn by the seed", least=1, metavar="N")

    def training_rows(self) -> TrainingRows:
        """Cut contact_hypothesis by its setting, stories by their splits, and other benchmarks by cluster."""
        benchmark = text_benchmark(self.benchmark)
        if self.benchmark == CONTACT:
            if self.config:
                raise UsageError(f"--config: for {CONTACT}, --setting says which rows are trained on; leave it out")
            return cut_contact(self.setting, self.source, self.descriptors, self.all_rows, self.limit, self.seed)
        given = ["--descriptors"] * (self.descriptors != "evenhand") + ["--all-rows"] * self.all_rows
        for flag in given + ["--setting"] * (self.setting != BenchmarkOptions().setting):
            raise UsageError(f"{flag} is for {CONTACT}, not {self.benchmark}; leave it out")
        if self.benchmark == STORIES and not self.config:
            return cut_stories("full", self.source, False, self.limit, self.seed)
        rows = cut_by_cluster(benchmark, self.seed, self.config, self.source)
        what = f"{rows.what}; evenhand run {self.benchmark} asks what was learned, too"
        return replace(rows, train=rows.train[: self.limit], what=what)

    def asking(self, protocol: str | None = None) -> Asking[Any]:
        """Return how the benchmark asks; protocol: by default scored options, where it has them."""
        benchmark = text_benchmark(self.benchmark)
        protocols = benchmark.card.protocols
        chosen = protocol or ("choose" if "choose" in protocols else protocols[0])
        if any(each.name == "layout" for each in fields_of(benchmark.Options)):
            return benchmark.asking(protocol=chosen, layout=self.layout)
        if self.layout != "chat":
            raise UsageError(f"--layout {self.layout}: {self.benchmark} has none; leave it out")
        return benchmark.asking(protocol=chosen)


@dataclass(frozen=True)
class TrainingRows:
    """what: the cut in a sentence. test: number of rows left for a test, where the cut has one."""

    train: Sequence[Row]
    held_out: Sequence[Row]
    what: str
    test: int | None = None

    @property
    def data(self) -> dict[str, Any]:
        """For training.json."""
        test = {} if self.test is None else {"test": self.test}
        return {"cut": self.what, "rows": len(self.train), "held_out": {"validation": len(self.held_out), **test}}


def contact_rows(
    source: str, descriptors: str = "evenhand", all_rows: bool = False
) -> Callable[[str], datasets.Dataset]:
    """Return what loads a configuration of contact_hypothesis; all_rows: with self-contradicting prompt sets.

    The new half is always evenhand's: the authors' is not published.
    """
    from evenhand.library import load_dataset

    if source == "official" and descriptors != "evenhand":
        raise UsageError(f"--descriptors {descriptors} is for evenhand's prompt sets; leave out --source official")

    def load(config: str) -> datasets.Dataset:
        origin = "evenhand" if config in NEW else source
        rows = load_dataset(CONTACT, config, split="test", source=origin, descriptors=descriptors)
        return rows if all_rows else select_plausible(rows)

    return load


def cut_contact(
    setting: Setting, source: str, descriptors: str, all_rows: bool, limit: int | None, seed: int
) -> TrainingRows:
    """Cut contact_hypothesis by a setting."""
    drawn = cut(setting, contact_rows(source, descriptors, all_rows), seed)
    return TrainingRows(drawn.train[:limit], drawn.validation, drawn.what, len(drawn.test))


def held_out_command(recipe: Mapping[str, Any]) -> str:
    """Return the command that asks the prompt sets that a recipe's setting leaves for the test."""
    seed = "" if recipe["seed"] == SEED else f" --held-out-seed {recipe['seed']}"
    layout = f" --layout {recipe['layout']}" if "layout" in recipe else ""
    own = recipe["source"] == "evenhand" or recipe["setting"] == "2"  # the authors' new half is not published
    source = "" if own else f" --source {recipe['source']}"
    if recipe.get("descriptors", "evenhand") != "evenhand":
        source += f" --descriptors {recipe['descriptors']}"
    whole = " --all-rows" if recipe.get("all_rows") else ""  # a cut of other rows would be another
    return f"evenhand run {CONTACT} --held-out {recipe['setting']}{seed}{layout}{source}{whole}"


def cut_stories(data: Data, source: Source, every_line: bool, limit: int | None, seed: int) -> TrainingRows:
    """Draw stories about assignments; full: by stereotype and even, half: even ones alone.

    Held-out stories are of other scenarios; there are none where the published file of them is not at hand.
    """
    from evenhand.benchmarks.implicit_bias.understanding.benchmark import N_STORIES, N_TRAINING_STORIES, Understanding
    from evenhand.flow.rows import load_config

    if every_line and (source, data) != ("official", "full"):
        raise UsageError("--every-line is for --source official --data full; leave it out")
    card = Understanding.card
    rows: list[Row] = list(load_config(replace(card, split="train"), f"finetune_{data}", source, {}))
    try:
        held_out = list(load_config(card, "finetune_full", source, {}))
    except EvenhandError:
        if source == "evenhand":
            raise
        held_out = []
    if source == "official":
        whole, rows, held_out = len(rows), rows if every_line else rows[:N_TRAINING_STORIES], held_out[:N_STORIES]
        what = f"{len(rows)} of {whole} lines of the published file"
    else:
        n, others = (len({row["scenario_id"] for row in some}) for some in (rows, held_out))
        what = f"{n} scenarios, {others} others held out"
    if limit is not None and limit < len(rows):
        drawn = random.Random(f"told {seed}").sample(range(len(rows)), limit)
        rows = [rows[place] for place in sorted(drawn)]
        what += f"; {limit} stories drawn"
    return TrainingRows(rows, held_out, what)


def cut_by_cluster(
    benchmark: Benchmark[Any], seed: int, configs: Sequence[str] = (), source: str = "evenhand"
) -> TrainingRows:
    """Hold out a tenth of a benchmark's clusters, or of its rows where they have no cluster.

    Training rows are in an order of the seed; rows that are drawn together (bbq's fillings of a template) follow each
    other, so that the first ones have their counterparts. configs: of the dataset, by default all.
    """
    from evenhand.flow.configuration import run_config

    config = run_config(benchmark.card.name, configs=tuple(configs), source=source)
    rows: list[Row] = list(benchmark.load(benchmark.configuring.filled(config)).rows)
    cluster = benchmark.card.cluster if rows and benchmark.card.cluster in rows[0] else "id"
    names = sorted({str(row[cluster]) for row in rows})
    rng = random.Random(f"held out {seed}")
    rng.shuffle(names)
    held = set(names[: max(1, round(VALIDATION_SHARE * len(names)))])
    sets: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if str(row[cluster]) not in held:
            sets.setdefault(tuple(row[name] for name in benchmark.card.together or ("id",)), []).append(row)
    shuffled = list(sets.values())
    rng.shuffle(shuffled)
    what = f"{', '.join(configs) or 'all configurations'}; a tenth, by {cluster}, held out"
    train = [row for each in shuffled for row in each]
    return TrainingRows(train, [row for row in rows if str(row[cluster]) in held], what)


def text_benchmark(name: str) -> Benchmark[Any]:
    """Return the benchmark. Raises UsageError for an unknown name, and for a benchmark with pictures."""
    from evenhand.benchmarks import get_benchmark

    found: Benchmark[Any] = get_benchmark(name)
    if found.card.sees:
        raise UsageError(f"--benchmark {name} shows pictures, and only text models are trained; choose another")
    return found


B = TypeVar("B", bound=BenchmarkOptions)


class BenchmarkRecipe(Recipe[B], Generic[B]):
    """A trainer that learns from any benchmark's rows."""

    def measurements(self, options: B, rows: TrainingRows, checkpoint: Checkpoint) -> dict[str, Any]:
        """Return fields of `Prepared`: what is measured on held-out rows, and asked at the end."""
        from evenhand.trainers.measures import (
            CONTACT_DESIGN,
            Controls,
            HeldOut,
            contact_figures,
            draw_evenly,
            value_figures,
        )

        contact, benchmark = options.benchmark == CONTACT, text_benchmark(options.benchmark)
        design = CONTACT_DESIGN if contact else benchmark.card.design
        drawn = draw_evenly(rows.held_out, design, options.measured, options.seed)
        figures = contact_figures if contact else value_figures
        return {
            "measure": HeldOut(benchmark, drawn, options.asking(), figures, checkpoint),
            "judge": Controls(options.layout, checkpoint) if contact else None,
            "caution": {} if contact else CAUTION,
        }

    def measured_by(self, record: Mapping[str, Any]) -> str:
        recipe = record["recipe"]
        if recipe["benchmark"] == CONTACT:
            return held_out_command(recipe)
        layout = " --layout published" if recipe["layout"] == "published" else ""
        return f"evenhand run {recipe['benchmark']}{layout}"

    def asks_trained_rows(self, record: Mapping[str, Any]) -> bool | None:
        return record["recipe"]["benchmark"] not in (CONTACT, STORIES)

    def check_padded(self, options: B) -> None:
        """Raise UsageError for options that would do nothing for a method with batches of its own."""
        if options.packing == "tree":
            raise UsageError(f"--packing tree: the batches of {self.name} are padded; leave it out")
        if options.divergence:
            raise UsageError(f"--divergence: {self.name} stays near its base by --beta; leave it out")
