"""`evenhand train implicit-bias`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.options import TuningOptions, check_method
from evenhand.trainers.processes import is_main, n_processes
from evenhand.trainers.progress import OnProgress, TrainingBar, unheard
from evenhand.trainers.told_assignments import Data, Row, Source, Told, told

if TYPE_CHECKING:
    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation
    from evenhand.report.tables import Table
    from evenhand.trainers.fine_tuning import Tuned

SOURCE = "Borah & Mihalcea, EMNLP Findings 2024, section 6.1 and appendix H; mistral's hyperparameters as published"
CAUTION = "who can say why a story is biased may still give tasks by stereotype (evenhand run implicit_bias)"
EPOCHS: dict[Data, float] = {"full": 3.0, "half": 2.0}  # appendix H.2, of mistral; the published code has 3 for either
LEARNED = {  # in which layout the loss is of what
    "chat": "the reason and the token that ends it",  # as OpenAI's fine-tuning, which the paper used on gpt-35-turbo
    "published": "all tokens",  # as the published code for mistral: TRL's, given whole texts
}


@dataclass(frozen=True)
class ReasonOptions(TuningOptions):
    """The published run of mistral: LoRA r 64, alpha 16, dropout 0.1 on query and value projections, 1e-3 constant,
    4 examples a step; but not packed, and on weights of 4 bits only with --quantization 4bit.
    """

    data: Data = option("full", "full: stories with bias and without, half: those without alone")
    layout: Literal["chat", "published"] = option(
        "chat",
        "chat: system message, story, reason (Figures 12 and 13) in the model's own template; published: the plain one "
        "in which mistral was tuned",
    )
    source: Source = option("evenhand", "whose stories; official: the published fine-tuning files")
    every_line: bool = option(
        False, "the published file's further 76 lines, too, which tell a scenario both ways in one text"
    )
    packed: bool = option(
        False,
        "examples one after another, cut into texts of --max-length tokens, as published: then an epoch is few steps",
    )
    max_length: int = option(2048, "tokens of an example, or of a text where they are packed", least=8, metavar="N")
    limit: int | None = option(None, "stories for training, drawn", least=1, metavar="N")
    merge: bool = option(False, "full weights beside the adapter, in the folder merged")

    # As of all recipes, and as published: rank 64, alpha 16, dropout 0.1; seed 42 is transformers' own there.
    targets: str = option(  # the published LoraConfig names none
        "default",
        "the layers that adapters stand in: default (query and value projections, as published), all-linear, or names "
        "with commas",
    )
    learning_rate: float = option(1e-3, "constant", above=0, metavar="X")  # appendix H.2
    epochs: float | None = option(  # type: ignore[assignment]
        None, "passes over the examples; by default 3 of full data and 2 of half", above=0, metavar="N"
    )
    batch_size: int = option(4, "examples a forward pass", least=1, metavar="N")  # published code
    accumulation: int = option(1, "passes a step", least=1, metavar="N")  # published code
    clip: float = option(1.0, "the gradient's norm", above=0, metavar="X")  # transformers' default, left as it is there


class ImplicitBiasTrainer:
    """Fine-tuning on told assignments: to a story the model learns to write the reason why implicit bias is present or
    absent in it, never an assignment.
    """

    name = "implicit-bias"
    source = SOURCE
    Options = ReasonOptions

    def train(self, options: ReasonOptions, output: Path, on_progress: OnProgress | None = None) -> Table:
        """on_progress: None is a bar on standard error. Raises UsageError for bad input, and a folder in use."""
        with TrainingBar() as bar:
            heard = on_progress or (bar.update if is_main() else unheard)
            return table_of(train(options, output, heard), output)

    def plan(self, options: ReasonOptions) -> list[str]:
        """What it would take, in sentences; nothing is written. Raises UsageError for bad input."""
        with TrainingBar() as bar:
            return planned(options, bar.update)


@dataclass(frozen=True)
class _Prepared:
    """examples: one a story; learned: what the model is given. end: the token that ends a reason, as it is written.

    how: the options, with all defaults filled in.
    """

    how: ReasonOptions
    checkpoint: Checkpoint
    stories: Told
    examples: Sequence[Continuation]
    learned: Sequence[Continuation]
    end: str | None


def train(options: ReasonOptions, output: Path, on_progress: OnProgress) -> dict[str, Any]:
    """The checkpoint in output; returns what its training.json says. Goes on where a training was cut off."""
    _check(options)
    from evenhand.trainers.saving import save
    from evenhand.trainers.training_folder import begun, refuse_other
    from evenhand.training_record import RECORD

    asked = {**asdict(options), "plan": False}
    refuse_other(asked, output, RECORD)
    prepared = _prepared(options, on_progress)
    from evenhand.trainers.fine_tuning import fine_tune, remove_unfinished
    from evenhand.trainers.told_measures import HeldOut, evenly_drawn

    checkpoint = prepared.checkpoint
    held_out = evenly_drawn(prepared.stories.held_out, options.measured, options.seed)
    with begun(asked, output, RECORD):
        measure = HeldOut(held_out, options.layout, checkpoint)
        tuned = fine_tune(checkpoint, prepared.learned, prepared.how, output, on_progress, measure)
        record = _record(prepared, tuned)
        if is_main():
            save(tuned, checkpoint, options.model, record, output, options.merge)
            remove_unfinished(output)
    return record


def planned(options: ReasonOptions, on_progress: OnProgress) -> list[str]:
    _check(options)
    prepared = _prepared(options, on_progress)
    from evenhand.trainers.planning import plan

    return plan(prepared.checkpoint, prepared.learned, prepared.how, on_progress).lines()


def _prepared(options: ReasonOptions, on_progress: OnProgress) -> _Prepared:
    from evenhand.trainers.reading import base_of, one_after_another

    on_progress("reading the stories", 0, 0)
    stories = told(options.data, options.source, options.every_line, options.limit, options.seed)
    checkpoint = base_of(options)
    examples, end = read_stories(stories.train, options, checkpoint)
    longest = min(options.max_length, checkpoint.context or options.max_length)
    how = replace(
        options,
        epochs=options.epochs or EPOCHS[options.data],
        packing="padded" if options.packed else options.packing,  # texts that begin anywhere share nothing
    )
    learned = one_after_another(examples, longest) if options.packed else examples
    return _Prepared(how, checkpoint, stories, examples, learned, end)


def read_stories(
    stories: Sequence[Row], options: ReasonOptions, checkpoint: Checkpoint
) -> tuple[list[Continuation], str | None]:
    """Each story with its reason, as the backend that writes reads them, and the token that ends a reason.

    The prompt is what `evenhand run implicit_bias_understanding --asks reason` asks, the reason its target. Behind it
    stands the token that the chat template puts behind an answer (the tokenizer's end of text, in the plain layout):
    else a model would not learn where a reason ends, and would write on. Raises UsageError for what is too long.
    """
    from evenhand.benchmarks import get_benchmark
    from evenhand.models.end_of_answer import end_of_answer
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.reading import answered, whole

    benchmark = get_benchmark("implicit_bias_understanding")
    how = benchmark.asking(protocol="generate", asks="reason", layout=options.layout)
    targets = [target for row in stories for target in benchmark.targets(row, how)]
    reader = TextReader(checkpoint.tokenizer, checkpoint.context)
    end = end_of_answer(checkpoint.tokenizer, template=options.layout == "chat")
    asked = [replace(target.request, choices=(target.ideal,)) for target in targets]
    examples = answered(asked, reader, options.model, end)
    longest = max(examples, key=lambda each: len(each.prompt + each.answer), default=None)
    if longest and not options.packed and (n := len(longest.prompt + longest.answer)) > options.max_length:
        raise UsageError(f"a story has {n:,} tokens with its reason, more than --max-length {options.max_length:,}")
    if options.layout == "published":
        examples = [whole(each) for each in examples]
    return examples, None if end is None else str(checkpoint.tokenizer.convert_ids_to_tokens(end))


def _check(options: ReasonOptions) -> None:
    """Raises UsageError for what is missing, and for options that don't go together."""
    if not options.model:
        raise UsageError("--model names what is tuned: embedded, a Hub id, or a local folder")
    check_method(options, merge=options.merge)
    if options.packed and options.layout == "chat":
        raise UsageError(
            "--packed is of the layout whose loss is of all tokens: --layout published is accepted with it, or no "
            "--packed with --layout chat"
        )
    if options.packed and options.packing == "tree":
        raise UsageError("--packed leaves texts that share no beginning: --packing tree would do nothing, leave it out")
    if util.find_spec("trl") is None:
        raise UsageError("tuning needs TRL, which is not installed; run: pip install 'evenhand[train]'")


def _record(prepared: _Prepared, tuned: Tuned) -> dict[str, Any]:
    from evenhand.models.prefix_tree import distinct_tokens

    how, stories, examples, learned = prepared.how, prepared.stories, prepared.examples, prepared.learned
    ids = [row["id"] for row in stories.train]
    return {
        "trainer": ImplicitBiasTrainer.name,
        "source": SOURCE,
        "measured_by": _asking(how),
        "caution": CAUTION,
        "recipe": {name: value for name, value in asdict(how).items() if name != "plan"},
        "data": {
            "dataset": "implicit_bias",
            "config": f"finetune_{how.data}",
            "cut": stories.what,
            "stories": len(stories.train),
            "biased": sum(bool(row["biased"]) for row in stories.train),
            "held_out": {"stories": len(stories.held_out)},
            "examples": len(learned),
            "packed": how.packed,
            "tokens": sum(len(each.prompt) + len(each.answer) for each in examples),
            "distinct_tokens": distinct_tokens(learned),
            "learned": LEARNED[how.layout],
            "learned_tokens": sum(len(each.answer) for each in learned),
            "end": prepared.end,
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


def _asking(how: ReasonOptions) -> str:
    return f"evenhand run implicit_bias_understanding --protocol generate --asks reason --layout {how.layout}"


def table_of(record: dict[str, Any], output: Path) -> Table:
    from evenhand.report.tables import Cell, Table
    from evenhand.trainers.over_steps import before_and_after

    losses, data, recipe = record["losses"], record["data"], record["recipe"]
    tail = losses[-10:]
    packed = f"{data['examples']:,} packed texts" if data["packed"] else "not packed"
    rows = (
        ("stories, biased ones", f"{data['stories']:,}, {data['biased']:,}"),
        ("cut", data["cut"]),
        ("examples", f"{packed}; a reason ends with {data['end'] or 'nothing'}"),
        ("tokens, learned", f"{data['tokens']:,}, {data['learned_tokens']:,} ({data['learned']})"),
        ("epochs, steps, batches", f"{recipe['epochs']:g}, {record['steps']:,}, {record['packing']}"),
        ("loss of the first step, mean of the last ten", f"{losses[0]:.3f}, {sum(tail) / len(tail):.3f}"),
        *before_and_after(record["measured"], digits=2),
    )
    note = f"{record['note']}. " if record["note"] else ""
    note += (
        f"To measure it on stories of scenarios that it was not trained on: {record['measured_by']} --model {output}"
    )
    return Table("Fine-tuning on told assignments", ("", ""), tuple((Cell(a), Cell(b)) for a, b in rows), note)
