"""What every recipe of fine-tuning does: it checks, prepares, tunes and saves; or says beforehand what that takes."""

from __future__ import annotations

import hashlib
import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib import util
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evenhand.errors import UsageError
from evenhand.models.template_settings import today, without_unused
from evenhand.paths import typed_path
from evenhand.trainers.options import TuningOptions, check_base_id, check_method
from evenhand.trainers.otherwise import otherwise_than, told
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.processes import check_measuring, is_main, launched_otherwise, n_processes, passes_each
from evenhand.trainers.progress import OnProgress, TrainingBar, unheard
from evenhand.trainers.quiet import quiet_libraries
from evenhand.training_record import from_anywhere, without_folders

if TYPE_CHECKING:
    from evenhand.report.tables import Table
    from evenhand.trainers.fine_tuning import Tuned

O = TypeVar("O", bound=TuningOptions)  # noqa: E741 - the recipe's own options


class Recipe(ABC, Generic[O]):
    """A trainer of the command line. A recipe prepares; the rest is the same for all."""

    name: str
    title: str
    source: str
    Options: type[O]
    loss_falls = True  # where something is learned

    def check(self, options: O) -> None:
        """Raises UsageError for what is missing, and for options that don't go together."""
        if not options.model:
            raise UsageError("--model names what is tuned: embedded, a Hub id, or a local folder")
        check_base_id(options)
        check_method(options)
        if util.find_spec("trl") is None:
            raise UsageError("tuning needs TRL, which is not installed; run: pip install 'evenhand[train]'")

    @abstractmethod
    def prepared(self, options: O, on_progress: OnProgress) -> Prepared:
        """Raises UsageError for what can't be read, or can't be learned from."""

    @abstractmethod
    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """What was learned from, as the command says it: a name, a value."""

    def published(self, recipe: Mapping[str, Any]) -> Mapping[str, Any]:
        """Of the paper's own training, what its code and its text say, by names of the options. recipe: this one."""
        return {}

    def over_steps(self, logs: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
        """What the trainer's log tells besides the loss, of each step, by name."""
        return {}

    def note(self, logs: Sequence[Mapping[str, float]]) -> str:
        """What is to be said of a training when it is done, by its log; no full stop."""
        return ""

    @abstractmethod
    def measured_by(self, record: Mapping[str, Any]) -> str:
        """The command, but for its --model, that measures the checkpoint."""

    def learned_too(self, record: Mapping[str, Any]) -> bool | None:
        """Whether that command asks rows, too, that were learned from; None: nobody knows."""
        return False

    def train(self, options: O, output: Path, on_progress: OnProgress | None = None) -> Table:
        """on_progress: None is a bar on standard error. Raises UsageError for bad input, and a folder in use."""
        with TrainingBar() as bar:
            heard = on_progress or (bar.update if is_main() else unheard)
            return self._table(self.tuned(options, output, heard), output)

    def plan(self, options: O) -> list[str]:
        """What it would take, in sentences; nothing is written. Raises UsageError for bad input."""
        self.check(options)
        with TrainingBar() as bar:
            prepared = self._prepared(options, bar.update)
            from evenhand.trainers.planning import plan

            with quiet_libraries():
                return plan(prepared, bar.update).lines()

    def tuned(self, options: O, output: Path, on_progress: OnProgress = unheard) -> dict[str, Any]:
        """The checkpoint in output; returns what its training.json says. Goes on where a training was cut off."""
        self.check(options)
        check_measuring(options.measure_every)
        if said := launched_otherwise():
            on_progress(said, 0, 0)
        passes_each(options.accumulation)
        from evenhand.trainers.training_folder import begun, begun_date, check_place, refuse_other
        from evenhand.training_record import RECORD

        options = replace(options, date=options.date or begun_date(output) or today())
        asked = {**asdict(options), "plan": False, "processes": n_processes()}
        refuse_other(asked, output, RECORD)
        if is_main():
            check_place(output)
        prepared = self._prepared(options, on_progress)
        from evenhand.trainers.fine_tuning import fine_tune
        from evenhand.trainers.full_disk import full_disk_explained
        from evenhand.trainers.saving import Base, save

        read = {"learned from": prepared.data, "base": prepared.checkpoint.identity}
        with begun({**asked, **read}, output, RECORD), full_disk_explained(output), quiet_libraries():
            done = fine_tune(prepared, output, on_progress)
            record = self._record(prepared, done)
            if is_main():
                base = Base(from_anywhere(options.model), prepared.checkpoint.identity, options.base_id)
                record = save(done, prepared.checkpoint, base, record, output, options.merge)
        return record

    def _prepared(self, options: O, on_progress: OnProgress) -> Prepared:
        if options.model != "embedded" and not typed_path(options.model).exists():
            on_progress(f"no folder {options.model} is here: the Hub is asked for it", 0, 0)
        prepared = self.prepared(options, on_progress)
        prepared = replace(prepared, data={**prepared.data, **_versions_of(prepared)})
        if prepared.note:
            on_progress(prepared.note, 0, 0)
        return prepared

    def _record(self, prepared: Prepared, done: Tuned) -> dict[str, Any]:
        from evenhand.models.text_reader import TextReader

        date = TextReader.of(prepared.checkpoint).layout.chat.date
        recipe = {name: value for name, value in asdict(prepared.how).items() if name != "plan"}
        recipe = without_unused(recipe | {"date": date})
        here = {name: without_folders(value) for name, value in recipe.items()} | {
            "targets": ",".join(done.adapted) or None
        }
        published = self.published(recipe)
        record = {
            "trainer": self.name,
            "source": self.source,
            **prepared.told,
            "recipe": recipe,
            "adapted_layers": list(done.adapted),
            "otherwise_than_published": otherwise_than(published, here) if published else None,
            "data": dict(prepared.data),
            "steps": done.steps,
            "processes": n_processes(),
            "packing": done.packing,
            "computed_tokens": asdict(done.computed),
            "note": ". ".join(filter(None, (prepared.note, done.note, self.note(done.logs), self._rise(done.losses)))),
            "seconds_since_last_start": done.seconds,
            "losses": list(done.losses),
            "over_steps": self.over_steps(done.logs),
            "measured": [{"step": each.step, **each.figures} for each in done.measured],
            "judged": done.judged and dict(done.judged),
        }
        return {**record, "measured_by": self.measured_by(record)}

    def _rise(self, losses: Sequence[float]) -> str:
        """Where the loss ended above its beginning; no full stop."""
        last = losses[1:][-10:]
        if not self.loss_falls or not last or fmean(last) <= losses[0]:
            return ""
        advice = "; a lower --learning-rate or --clip may help" if fmean(last) > 1.1 * losses[0] else ""
        return (
            f"the loss did not fall: it was {losses[0]:.3f} at the first step, and {fmean(last):.3f} in the mean "
            f"of the last {len(last)}{advice}"
        )

    def _table(self, record: Mapping[str, Any], output: Path) -> Table:
        from evenhand.report.tables import Cell, Table
        from evenhand.trainers.before_and_after import before_and_after

        losses = record["losses"]
        tail = losses[1:][-10:]
        last = (f", mean of the last {len(tail)}", f", {sum(tail) / len(tail):.3f}") if tail else ("", "")
        rows = (
            *self.lines(record),
            *([("adapters in", ", ".join(record["adapted_layers"]))] if record["adapted_layers"] else []),
            *(
                [("otherwise than published", told(otherwise))]
                if (otherwise := record["otherwise_than_published"])
                else []
            ),
            ("steps, batches", f"{record['steps']:,}, {record['packing']}"),
            ("tokens computed to learn, otherwise", "{learned:,}, {otherwise:,}".format(**record["computed_tokens"])),
            (f"loss of the first step{last[0]}", f"{losses[0]:.3f}{last[1]}"),
            *(
                (f"held out: {name}", f"{before} before, {after} after")
                for name, before, after in before_and_after(record["measured"])
            ),
            *([("controls", record["judged"]["sentence"])] if record["judged"] else []),
        )
        note = f"{record['note']}. " if record["note"] else ""
        which = {True: " (it learned from some of these rows)", False: " on what it was not trained on", None: ""}[
            self.learned_too(record)
        ]
        note += f"To measure it{which}:"
        command = f"{record['measured_by']} --model {shlex.quote(str(output))}"
        return Table(self.title, ("", ""), tuple((Cell(a), Cell(b)) for a, b in rows), note, command)


def fingerprint(ids: Iterable[str]) -> str:
    """Of the rows that are learned from, in whatever order: sha256, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()


def _versions_of(prepared: Prepared) -> dict[str, Any]:
    """What tells these examples from any others, for training.json, and for what goes on with a training.

    examples_sha256: of all that is read and answered, in order: texts that are asked in other words have other tokens.
    """
    from evenhand.library import dataset_names, dataset_version

    of_examples = hashlib.sha256()
    for each in prepared.examples:
        of_examples.update(f"{each!r}\n".encode())
    packaged = [name for name in prepared.datasets if name in dataset_names()]
    return {
        "rows_versions": {name: dataset_version(name) for name in packaged},
        "examples_sha256": of_examples.hexdigest(),
    }
