"""`evenhand train social-contact`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import NEW, Cut, Row, Setting, cut
from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.options import TuningOptions, check_method
from evenhand.trainers.processes import is_main, n_processes
from evenhand.trainers.progress import OnProgress, TrainingBar, unheard

if TYPE_CHECKING:
    import datasets

    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation
    from evenhand.report.tables import Table
    from evenhand.trainers.fine_tuning import Tuned
    from evenhand.trainers.instructions import Mixed

SOURCE = "Raj et al., AIES 2024, Debiasing Approach; hyperparameters as in the published code"


@dataclass(frozen=True)
class SocialContactOptions(TuningOptions):
    """The published run: LoRA r 64, alpha 16, dropout 0.1 on query and value projections, 3e-4 constant, clip 0.3, one
    epoch, 6 × 2 examples a step, seed 42.
    """

    targets: str = option(
        "default",
        "the layers that adapters stand in: default (query and value projections, as published), all-linear, or names "
        "with commas",
    )
    setting: Setting = option("1", "what is for training and what for the test, as in Table 6; disjoint is ours")
    layout: Literal["chat", "published"] = option("chat", "of the prompts, as evenhand run contact_hypothesis has it")
    source: Literal["evenhand", "official"] = option("evenhand", "whose descriptors")
    all_rows: bool = option(False, "prompt sets, too, whose descriptor and situation contradict each other")
    limit: int | None = option(None, "prompt sets for training, drawn; each gives three examples", least=1, metavar="N")
    mix: str = option(
        "none",
        "none, or a file of general instructions with answers that are learned, too (the published code mixes in 4,140 "
        "of alpaca-cleaned, of which the paper doesn't speak)",
        metavar="FILE",
    )
    mix_limit: int = option(4140, "instructions of that file, drawn", least=1, metavar="N")
    merge: bool = option(False, "full weights beside the adapter, in the folder merged")


class SocialContactTrainer:
    """Social Contact Debiasing (SCD): each prompt set gives three examples (no, positive and negative contact) with the
    unbiased answer of Table 2; the loss is of the answer alone.
    """

    name = "social-contact"
    source = SOURCE
    Options = SocialContactOptions

    def train(self, options: SocialContactOptions, output: Path, on_progress: OnProgress | None = None) -> Table:
        """on_progress: None is a bar on standard error. Raises UsageError for bad input, and a folder in use."""
        with TrainingBar() as bar:
            heard = on_progress or (bar.update if is_main() else unheard)
            return table_of(train(options, output, heard), output)

    def plan(self, options: SocialContactOptions) -> list[str]:
        """What it would take, in sentences; nothing is written. Raises UsageError for bad input."""
        with TrainingBar() as bar:
            return planned(options, bar.update)


@dataclass(frozen=True)
class _Prepared:
    """What is learned, from whom: examples are of rows, three each, and then of `mixed`."""

    checkpoint: Checkpoint
    drawn: Cut
    rows: Sequence[Row]
    examples: Sequence[Continuation]
    mixed: Mixed | None


def train(options: SocialContactOptions, output: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The checkpoint in output; returns what its training.json says. Goes on where a training was cut off."""
    _check(options)
    from evenhand.trainers.saving import save
    from evenhand.trainers.training_folder import begun, refuse_other
    from evenhand.training_record import RECORD

    asked = {**asdict(options), "plan": False}
    refuse_other(asked, output, RECORD)
    prepared = _prepared(options, on_progress)
    from evenhand.trainers.fine_tuning import fine_tune, remove_unfinished
    from evenhand.trainers.social_contact_measures import HeldOut, evenly_drawn

    held_out = evenly_drawn(prepared.drawn.validation, options.measured, options.seed)
    with begun(asked, output, RECORD):
        measure = HeldOut(held_out, options.layout, prepared.checkpoint)
        tuned = fine_tune(prepared.checkpoint, prepared.examples, options, output, on_progress, measure)
        record = _record(options, prepared, tuned)
        if is_main():
            save(tuned, prepared.checkpoint, options.model, record, output, options.merge)
            remove_unfinished(output)
    return record


def planned(options: SocialContactOptions, on_progress: OnProgress) -> list[str]:
    _check(options)
    prepared = _prepared(options, on_progress)
    from evenhand.trainers.planning import plan

    return plan(prepared.checkpoint, prepared.examples, options, on_progress).lines()


def _check(options: SocialContactOptions) -> None:
    if not options.model:
        raise UsageError("--model names what is tuned: embedded, a Hub id, or a local folder")
    check_method(options, merge=options.merge)
    if util.find_spec("trl") is None:
        raise UsageError("tuning needs TRL, which is not installed; run: pip install 'evenhand[train]'")


def _prepared(options: SocialContactOptions, on_progress: OnProgress) -> _Prepared:
    on_progress("reading the prompt sets", 0, 0)
    drawn = cut(options.setting, _rows(options), options.seed)
    rows = drawn.train[: options.limit]
    checkpoint = checkpoint_of(options)
    examples = _examples(rows, options, checkpoint)
    if options.mix == "none":
        return _Prepared(checkpoint, drawn, rows, examples, None)
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.instructions import mixed

    reader = TextReader(checkpoint.tokenizer, checkpoint.context)
    further = mixed(Path(options.mix), options.mix_limit, options.seed, reader, options.layout == "chat")
    return _Prepared(checkpoint, drawn, rows, [*examples, *further.examples], further)


def examples_of(options: SocialContactOptions) -> list[Continuation]:
    """What is learned from the prompt sets, in the order of the cut: three examples of each."""
    rows = cut(options.setting, _rows(options), options.seed).train[: options.limit]
    return _examples(rows, options, checkpoint_of(options))


def _rows(options: SocialContactOptions) -> Callable[[str], datasets.Dataset]:
    """A configuration's prompt sets, as the benchmark asks them."""
    from evenhand.benchmarks.contact_hypothesis.plausible import plausible_rows
    from evenhand.library import load_dataset

    def load(config: str) -> datasets.Dataset:
        rows = load_dataset("contact_hypothesis", config, split="test", source=options.source)
        return rows if options.all_rows else plausible_rows(rows)

    return load


def checkpoint_of(options: SocialContactOptions) -> Checkpoint:
    """What is tuned, as the backend that scores loads it. Raises UsageError for an adapter."""
    from evenhand.trainers.reading import base_of

    return base_of(options)


def _examples(rows: Sequence[Row], options: SocialContactOptions, checkpoint: Checkpoint) -> list[Continuation]:
    """Three of each row, as the backend that scores reads them. Raises UsageError where a prompt can't be read."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.flow.configuration import Asking
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.reading import answered

    benchmark = get_benchmark("contact_hypothesis")
    how = Asking(replace(benchmark.Options(), layout=options.layout), "choose", benchmark.card.sampling)
    targets = [target for row in rows for target in benchmark.targets(row, how)]
    asked = [replace(target.request, choices=(target.ideal,)) for target in targets]
    reader = TextReader(checkpoint.tokenizer, checkpoint.context)
    return answered(asked, reader, options.model, end=None)  # as published: an answer is scored, and none is written


def _record(options: SocialContactOptions, prepared: _Prepared, tuned: Tuned) -> dict[str, Any]:
    from evenhand.models.prefix_tree import distinct_tokens

    ids = [row["id"] for row in prepared.rows]
    drawn, further = prepared.drawn, prepared.mixed
    return {
        "trainer": SocialContactTrainer.name,
        "source": SOURCE,
        "recipe": {name: value for name, value in asdict(options).items() if name != "plan"},
        "data": {
            "dataset": "contact_hypothesis",
            "cut": drawn.what,
            "prompt_sets": len(ids),
            "held_out": {"validation": len(drawn.validation), "test": len(drawn.test)},
            "examples": len(prepared.examples),
            "mixed": further
            and {"examples": len(further.examples), "left_out": further.left_out, "sha256": further.sha256},
            "tokens": sum(len(each.read) for each in prepared.examples),
            "distinct_tokens": distinct_tokens(prepared.examples),
            "ids_sha256": hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest(),
        },
        "steps": tuned.steps,
        "processes": n_processes(),
        "packing": tuned.packing,
        "note": tuned.note,
        "seconds_since_last_start": tuned.seconds,
        "losses": list(tuned.losses),
        "measured": [{"step": each.step, **each.figures} for each in tuned.measured],
    }


def table_of(record: dict[str, Any], output: Path) -> Table:
    from evenhand.report.tables import Cell, Table

    losses, data = record["losses"], record["data"]
    tail = losses[-10:]
    rows = (
        ("prompt sets, examples", f"{data['prompt_sets']:,}, {data['examples']:,}"),
        ("cut", data["cut"]),
        ("tokens, distinct", f"{data['tokens']:,}, {data['distinct_tokens']:,}"),
        ("steps, batches", f"{record['steps']:,}, {record['packing']}"),
        ("loss of the first step, mean of the last ten", f"{losses[0]:.3f}, {sum(tail) / len(tail):.3f}"),
        *_before_and_after(record["measured"]),
    )
    note = f"{record['note']}. " if record["note"] else ""
    note += (
        "To measure it on situations that it was not trained on: evenhand run contact_hypothesis --config "
        f"{' '.join(NEW)} --layout {record['recipe']['layout']} --model {output}"
    )
    return Table("Social Contact Debiasing", ("", ""), tuple((Cell(a), Cell(b)) for a, b in rows), note)


def _before_and_after(measured: Sequence[dict[str, float]]) -> list[tuple[str, str]]:
    """Of what is held out: before the first step, and after the last."""
    if len(measured) < 2:
        return []
    first, last = measured[0], measured[-1]
    return [
        (f"held out: {name}", f"{first[name]:.1f} before, {last[name]:.1f} after")
        for name in first
        if name != "step" and name in last
    ]
