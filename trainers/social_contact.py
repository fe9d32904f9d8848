"""`evenhand train social-contact`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import NEW, Cut, Row, Setting, cut
from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.options import TuningOptions, check_method
from evenhand.trainers.progress import OnProgress, TrainingBar

if TYPE_CHECKING:
    import datasets

    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation
    from evenhand.report.tables import Table
    from evenhand.trainers.fine_tuning import Tuned

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
            return table_of(train(options, output, on_progress or bar.update), output)


def train(options: SocialContactOptions, output: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The checkpoint in output; returns what its training.json says. Goes on where a training was cut off."""
    if not options.model:
        raise UsageError("--model names what is tuned: embedded, a Hub id, or a local folder")
    check_method(options, merge=options.merge)
    from evenhand.trainers.saving import RECORD, save
    from evenhand.trainers.training_folder import begun, refuse_other

    refuse_other(asdict(options), output, RECORD)
    if util.find_spec("trl") is None:
        raise UsageError("tuning needs TRL, which is not installed; run: pip install 'evenhand[train]'")
    from evenhand.trainers.fine_tuning import fine_tune, remove_unfinished

    on_progress("reading the prompt sets", 0, 0)
    drawn = cut(options.setting, _rows(options), options.seed)
    rows = drawn.train[: options.limit]
    checkpoint = _checkpoint(options)
    examples = _examples(rows, options, checkpoint)
    with begun(asdict(options), output, RECORD):
        tuned = fine_tune(checkpoint, examples, options, output, on_progress)
        record = _record(options, drawn, rows, examples, tuned)
        save(tuned, checkpoint, options.model, record, output, options.merge)
        remove_unfinished(output)
    return record


def _rows(options: SocialContactOptions) -> Callable[[str], datasets.Dataset]:
    """A configuration's prompt sets, as the benchmark asks them."""
    from evenhand.benchmarks.contact_hypothesis.plausible import plausible_rows
    from evenhand.library import load_dataset

    def load(config: str) -> datasets.Dataset:
        rows = load_dataset("contact_hypothesis", config, split="test", source=options.source)
        return rows if options.all_rows else plausible_rows(rows)

    return load


def _checkpoint(options: SocialContactOptions) -> Checkpoint:
    from evenhand.models.registry import Loading
    from evenhand.models.transformers_backend import TransformersOptions, checkpoint_of

    loading = Loading(revision=options.revision, dtype=options.dtype)
    found = checkpoint_of(options.model, loading, TransformersOptions(quantization=options.quantization))
    if found.adapter is not None:
        raise UsageError(f"{options.model} is an adapter; tune its base, or merge it first (peft's merge_and_unload)")
    return found


def _examples(rows: Sequence[Row], options: SocialContactOptions, checkpoint: Checkpoint) -> list[Continuation]:
    """Three of each row, as the backend that scores reads them. Raises UsageError where a prompt can't be read."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.flow.configuration import Asking
    from evenhand.models.errors import Unanswerable
    from evenhand.models.text_reader import TextReader

    benchmark = get_benchmark("contact_hypothesis")
    how = Asking(replace(benchmark.Options(), layout=options.layout), "choose", benchmark.card.sampling)
    targets = [target for row in rows for target in benchmark.targets(row, how)]
    asked = [replace(target.request, choices=(target.ideal,)) for target in targets]
    reader = TextReader(checkpoint.tokenizer, checkpoint.context)

    def read() -> Iterator[Continuation]:
        for found in reader.continuations(asked):
            if isinstance(found, Unanswerable):
                raise UsageError(f"{options.model} can't be tuned on these prompts: {found}")
            yield from found

    return list(read())


def _record(
    options: SocialContactOptions,
    drawn: Cut,
    rows: Sequence[Row],
    examples: Sequence[Continuation],
    tuned: Tuned,
) -> dict[str, Any]:
    from evenhand.models.prefix_tree import distinct_tokens

    ids = [row["id"] for row in rows]
    return {
        "trainer": SocialContactTrainer.name,
        "source": SOURCE,
        "recipe": asdict(options),
        "data": {
            "dataset": "contact_hypothesis",
            "cut": drawn.what,
            "prompt_sets": len(rows),
            "held_out": {"validation": len(drawn.validation), "test": len(drawn.test)},
            "examples": len(examples),
            "tokens": sum(len(each.read) for each in examples),
            "distinct_tokens": distinct_tokens(examples),
            "ids_sha256": hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest(),
        },
        "steps": tuned.steps,
        "packing": tuned.packing,
        "note": tuned.note,
        "seconds_since_last_start": tuned.seconds,
        "losses": list(tuned.losses),
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
    )
    note = f"{record['note']}. " if record["note"] else ""
    note += (
        "To measure it on situations that it was not trained on: evenhand run contact_hypothesis --config "
        f"{' '.join(NEW)} --layout {record['recipe']['layout']} --model {output}"
    )
    return Table("Social Contact Debiasing", ("", ""), tuple((Cell(a), Cell(b)) for a, b in rows), note)
