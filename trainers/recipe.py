"""What every trainer of the command line does: check options, prepare examples, train, save, and report."""

from __future__ import annotations

import hashlib
import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import util
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evenhand.errors import UsageError
from evenhand.models.template_settings import today, without_unused
from evenhand.paths import typed_path
from evenhand.trainers.options import TuningOptions, check_options
from evenhand.trainers.processes import check_measuring, is_main, n_processes, passes_each
from evenhand.trainers.progress import OnProgress, TrainingBar, unheard
from evenhand.training_record import from_anywhere, without_folders

if TYPE_CHECKING:
    from evenhand.models.loading import Checkpoint
    from evenhand.report.tables import Table
    from evenhand.trainers.callbacks import Measure, Stop
    from evenhand.trainers.run import Tuned

O = TypeVar("O", bound=TuningOptions)  # noqa: E741 - the trainer's own options
NO_TEMPLATE = "the model has no chat template: with --layout chat its prompts are plain paragraphs, as when measured"
OF_THE_PAPERS = (  # options that a paper's training decides
    *("method", "quantization", "rank", "alpha", "dropout", "targets", "learning_rate", "schedule", "warmup", "epochs"),
    *("max_steps", "max_tokens", "limit", "batch_size", "accumulation", "clip", "divergence", "seed"),
)


def published_values(options: type[TuningOptions], **others: Any) -> dict[str, Any]:
    """Return a published training's values by option: the defaults here, and those that differ."""
    return {each.name: each.default for each in fields(options) if each.name in OF_THE_PAPERS} | others


@dataclass(frozen=True)
class Prepared:
    """What is trained on what, and how.

    Attributes:
        how: the options, with all defaults filled in.
        data: what the examples are, for training.json.
        method: makes the trainer; by default of supervised training.
        stop: whether the training ends, by all measurements so far.
        judge: what is asked of the trained model at the end.
        caution: why the figures may mislead.
        datasets: whose rows are learned from.
    """

    how: TuningOptions
    checkpoint: Checkpoint
    examples: Sequence[Any]
    measure: Measure
    data: Mapping[str, Any]
    method: Callable[..., Any] | None = None
    stop: Stop | None = None
    judge: Callable[..., Mapping[str, Any]] | None = None
    caution: Mapping[str, str] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What to know before it begins; no full stop."""
        how, n = self.how, len(self.examples) * self.how.answers_each
        plain = self.checkpoint.tokenizer.chat_template is None and getattr(how, "layout", None) == "chat"
        few = 0 < n < how.batch_size * how.accumulation
        steps = how.count_steps(len(self.examples))
        batch = f"--batch-size {how.batch_size} x --accumulation {how.accumulation}"
        notes = (
            NO_TEMPLATE if plain else "",
            f"a step has all {n} examples, fewer than {batch}" if few else "",
            f"the learning rate rises until the end: --warmup {how.warmup} of {steps} steps"
            if how.warmup >= steps
            else "",
        )
        return ". ".join(filter(None, notes))


class Recipe(ABC, Generic[O]):
    """A trainer of the command line: it prepares examples and says how to measure what was learned."""

    name: str
    title: str
    source: str
    Options: type[O]
    loss_falls = True  # where something is learned

    def check(self, options: O) -> None:
        """Raise UsageError for missing options, and for options that exclude each other."""
        check_options(options)
        if util.find_spec("trl") is None:
            raise UsageError("training needs TRL, which is not installed; run: pip install 'evenhand[train]'")

    @abstractmethod
    def prepare(self, options: O, on_progress: OnProgress) -> Prepared:
        """Read examples and held-out rows. Raises UsageError for what can't be read, or can't be learned from."""

    @abstractmethod
    def summarize(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Return names and values of what was learned from, for the command's table."""

    @abstractmethod
    def measured_by(self, record: Mapping[str, Any]) -> str:
        """Return the command, without --model, that measures the checkpoint."""

    def published(self, recipe: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of the paper's own training, by option; recipe: of this one."""
        return {}

    def compared(self, recipe: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values of this training that are no options, by their names in `published`."""
        return {}

    def asks_trained_rows(self, record: Mapping[str, Any]) -> bool | None:
        """Whether that command also asks rows that were learned from; None: it isn't known."""
        return False

    def over_steps(self, log: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
        """Return figures of each step besides the loss, by name."""
        return {}

    def note(self, log: Sequence[Mapping[str, float]]) -> str:
        """Return what to say of a training by its log; no full stop."""
        return ""

    def train(self, options: O, output: Path, on_progress: OnProgress | None = None) -> Table:
        """Train into output; on_progress: by default a bar on standard error."""
        with TrainingBar() as bar:
            record = self.tune(options, output, on_progress or (bar.update if is_main() else unheard))
        return self._table(record, output)

    def plan(self, options: O) -> list[str]:
        """Say what a training would take; nothing is written."""
        self.check(options)
        with TrainingBar() as bar:
            prepared = self._prepare(options, bar.update)
            from evenhand.trainers.run import plan

            return plan(prepared, bar.update)

    def tune(self, options: O, output: Path, on_progress: OnProgress = unheard) -> dict[str, Any]:
        """Train into output, or resume a training that was interrupted there; return its training.json."""
        self.check(options)
        check_measuring(options.measure_every)
        passes_each(options.accumulation)
        from evenhand.trainers.training_folder import begun, begun_date, check_place, refuse_other
        from evenhand.training_record import RECORD

        options = replace(options, date=options.date or begun_date(output) or today())
        asked = {**asdict(options), "plan": False, "processes": n_processes()}
        refuse_other(asked, output, RECORD)
        if is_main():
            check_place(output)
        prepared = self._prepare(options, on_progress)
        from evenhand.trainers.run import fine_tune, quiet_libraries
        from evenhand.trainers.saving import Base, save

        asked |= {"learned from": prepared.data, "base": prepared.checkpoint.identity}
        with begun(asked, output, RECORD), quiet_libraries():
            done = fine_tune(prepared, output, on_progress)
            record = self._record(prepared, done)
            if is_main():
                base = Base(from_anywhere(options.model), prepared.checkpoint.identity, options.base_id)
                record = save(done, prepared.checkpoint, base, record, output, options.merge)
        return record

    def _prepare(self, options: O, on_progress: OnProgress) -> Prepared:
        if options.model != "embedded" and not typed_path(options.model).exists():
            on_progress(f"{options.model} is no local folder: asking the Hub", 0, 0)
        prepared = self.prepare(options, on_progress)
        prepared = replace(prepared, data={**prepared.data, **_describe_examples(prepared)})
        if prepared.note:
            on_progress(prepared.note, 0, 0)
        return prepared

    def _record(self, prepared: Prepared, done: Tuned) -> dict[str, Any]:
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.callbacks import read_measurements, sum_tokens

        date = TextReader.of(prepared.checkpoint).layout.chat.date
        recipe = {name: value for name, value in asdict(prepared.how).items() if name != "plan"}
        recipe = without_unused(recipe | {"date": date})
        here = {name: without_folders(value) for name, value in recipe.items()}
        here["targets"] = ",".join(done.adapted_layers) or None
        here |= {name: without_folders(value) for name, value in self.compared(recipe, prepared.data).items()}
        log = [each for each in done.log if "loss" in each]
        losses = [float(each["loss"]) for each in log]
        published = self.published(recipe)
        record = {
            "trainer": self.name,
            "source": self.source,
            **prepared.caution,
            "recipe": recipe,
            "adapted_layers": done.adapted_layers,
            "otherwise_than_published": {
                name: {"here": here.get(name), "published": value}
                for name, value in published.items()
                if here.get(name) != value
            }
            if published
            else None,
            "data": dict(prepared.data),
            "steps": done.steps,
            "processes": n_processes(),
            "packing": done.packing,
            "computed_tokens": sum_tokens(done.log),
            "note": ". ".join(filter(None, (prepared.note, done.note, self.note(log), self._rise(losses)))),
            "seconds_since_last_start": done.seconds,
            "losses": losses,
            "over_steps": self.over_steps(log),
            "measured": read_measurements(done.log),
            "judged": done.judged and dict(done.judged),
        }
        return {**record, "measured_by": self.measured_by(record)}

    def _rise(self, losses: Sequence[float]) -> str:
        """Say that the loss ended above its beginning; no full stop."""
        last = losses[1:][-10:]
        if not self.loss_falls or not last or fmean(last) <= losses[0]:
            return ""
        advice = "; try a lower --learning-rate or --clip" if fmean(last) > 1.1 * losses[0] else ""
        return (
            f"the loss did not fall: it was {losses[0]:.3f} at the first step, and {fmean(last):.3f} in the mean of "
            f"the last {len(last)}{advice}"
        )

    def _table(self, record: Mapping[str, Any], output: Path) -> Table:
        from evenhand.report.tables import Cell, Table
        from evenhand.trainers.card import before_and_after, name_differences

        losses, last = record["losses"], record["losses"][1:][-10:]
        tokens, differences = record["computed_tokens"], record["otherwise_than_published"]
        rows = {
            **dict(self.summarize(record)),
            "adapters in": ", ".join(record["adapted_layers"]),
            "otherwise than published": name_differences(differences) if differences else "",
            "steps, batches": f"{record['steps']:,}, {record['packing']}",
            "tokens computed to learn, otherwise": f"{tokens['learned']:,}, {tokens['otherwise']:,}",
            f"loss of the first step{f', mean of the last {len(last)}' if last else ''}": f"{losses[0]:.3f}"
            + (f", {fmean(last):.3f}" if last else ""),
            **{f"held out: {name}": f"{a} before, {b} after" for name, a, b in before_and_after(record["measured"])},
            "controls": record["judged"]["sentence"] if record["judged"] else "",
        }
        which = {True: " (it learned from some of these rows)", False: " on what it was not trained on", None: ""}
        note = f"{record['note']}. " if record["note"] else ""
        note += f"To measure it{which[self.asks_trained_rows(record)]}:"
        command = f"{record['measured_by']} --model {shlex.quote(str(output))}"
        shown = tuple((Cell(name), Cell(value)) for name, value in rows.items() if value)
        return Table(self.title, ("", ""), shown, note, command)


def fingerprint(ids: Iterable[str]) -> str:
    """Hash ids in any order: sha256, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()


def _describe_examples(prepared: Prepared) -> dict[str, Any]:
    """Count the examples' tokens, and identify them: by the datasets' versions, and a hash of all tokens in order."""
    from evenhand.library import dataset_names, dataset_version
    from evenhand.models.prefix_tree import distinct_tokens
    from evenhand.trainers.packing import continuations_of

    examples, read = hashlib.sha256(), continuations_of(prepared.examples)
    for each in prepared.examples:
        examples.update(f"{each!r}\n".encode())
    packaged = [name for name in prepared.datasets if name in dataset_names()]
    return {
        "tokens": sum(len(each.read) for each in read),
        "distinct_tokens": distinct_tokens(read),
        "rows_versions": {name: dataset_version(name) for name in packaged},
        "examples_sha256": examples.hexdigest(),
    }
