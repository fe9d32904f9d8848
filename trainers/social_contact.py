"""`evenhand train social-contact`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmarks.contact_hypothesis.cuts import Row, Setting, cut
from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.paths import typed_path
from evenhand.trainers.contact_rows import contact_rows, held_out_command
from evenhand.trainers.options import TuningOptions
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Recipe, fingerprint

if TYPE_CHECKING:
    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation
    from evenhand.trainers.instructions import Mixed

SOURCE = "Raj et al., AIES 2024, Debiasing Approach"
PUBLISHED = {  # by the published code; its training, of Llama-2-13b-chat, was in another layout than its scoring
    "method": "lora",
    "quantization": "4bit",
    "rank": 64,
    "alpha": 16.0,
    "dropout": 0.1,
    "targets": "q_proj,v_proj",
    "learning_rate": 3e-4,
    "schedule": "constant",
    "warmup": 0,
    "epochs": 1.0,
    "max_steps": None,
    "max_tokens": None,
    "limit": None,
    "batch_size": 6,
    "accumulation": 2,
    "clip": 0.3,
    "divergence": 0.0,
    "seed": 42,
    "layout": "Alpaca's",
    "source": "official",
    "mix": "4,140 of alpaca-cleaned",
    "counter_examples": False,
}


@dataclass(frozen=True)
class SocialContactOptions(TuningOptions):
    """The published run: LoRA r 64, alpha 16, dropout 0.1 on query and value projections, 3e-4 constant, clip 0.3, one
    epoch, 6 × 2 examples a step, seed 42.
    """

    targets: str = option(
        "default",
        "the layers that adapters stand in: default (query and value projections, as published, or the layer that a "
        "model has in their place), all-linear, or names with commas",
    )
    setting: Setting = option("1", "what is for training and what for the test, as in Table 6; disjoint is ours")
    layout: Literal["chat", "published"] = option(
        "chat",
        "of the prompts, as evenhand run contact_hypothesis has it; published: the [INST] layout that was scored "
        "(the published training had Alpaca's, which nothing here scores)",
    )
    source: Literal["evenhand", "official"] = option("evenhand", "whose descriptors")
    all_rows: bool = option(False, "prompt sets, too, whose descriptor and situation contradict each other")
    limit: int | None = option(None, "prompt sets for training, drawn; each gives three examples", least=1, metavar="N")
    counter_examples: bool = option(
        False,
        "240 further questions about no group, in half of which what sounds kind is wrong or what sounds unkind right: "
        "without them nothing in the examples tells what is right from what sounds kind",
    )
    mix: str = option(
        "none",
        "none, or a file of general instructions with answers that are learned, too (the published code mixes in 4,140 "
        "of alpaca-cleaned, of which the paper doesn't speak)",
        metavar="FILE",
    )
    mix_limit: int = option(4140, "instructions of that file, drawn", least=1, metavar="N", needs="mix")


class SocialContactTrainer(Recipe[SocialContactOptions]):
    """Social Contact Debiasing (SCD): each prompt set gives three examples (no, positive and negative contact) with the
    unbiased answer of Table 2; the loss is of the answer alone.
    """

    name = "social-contact"
    title = "Social Contact Debiasing"
    source = SOURCE
    Options = SocialContactOptions

    def check(self, options: SocialContactOptions) -> None:
        super().check(options)
        if options.mix == "none" and options.mix_limit != SocialContactOptions().mix_limit:
            raise UsageError(
                f"--mix-limit {options.mix_limit} would do nothing with --mix none; name the file that so many "
                "instructions are drawn from, or leave it out"
            )

    def prepared(self, options: SocialContactOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.prefix_tree import distinct_tokens
        from evenhand.trainers.held_out import evenly_drawn
        from evenhand.trainers.reading import base_of
        from evenhand.trainers.social_contact_measures import DESIGN, Controls, HeldOut

        checkpoint = base_of(options)
        further = _mixed(options, checkpoint)
        if further and further.told:
            on_progress(further.told, 0, 0)
        on_progress("reading the prompt sets", 0, 0)
        drawn = cut(options.setting, contact_rows(options.source, options.all_rows), options.seed)
        rows = drawn.train[: options.limit]
        learned = _examples(rows, options, checkpoint)
        counter = _counter_examples(options, checkpoint) if options.counter_examples else []
        examples = [*learned, *counter, *(further.examples if further else ())]
        data = {
            "dataset": "contact_hypothesis",
            "cut": drawn.what,
            "prompt_sets": len(rows),
            "held_out": {"validation": len(drawn.validation), "test": len(drawn.test)},
            "examples": len(examples),
            "counter_examples": len(counter) or None,
            "mixed": further
            and {"examples": len(further.examples), "left_out": further.left_out, "sha256": further.sha256},
            "tokens": sum(len(each.read) for each in examples),
            "distinct_tokens": distinct_tokens(examples),
            "ids_sha256": fingerprint(row["id"] for row in rows),
        }
        held_out = evenly_drawn(drawn.validation, DESIGN, options.measured, options.seed)
        measure, judged = HeldOut(held_out, options.layout, checkpoint), Controls(options.layout, checkpoint)
        datasets = ("contact_hypothesis", *(["contact_controls"] if counter else []))
        return Prepared(options, checkpoint, examples, measure, data, judged=judged, datasets=datasets)

    def published(self, recipe: Mapping[str, Any]) -> Mapping[str, Any]:
        return PUBLISHED

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        return (
            ("prompt sets, examples", f"{data['prompt_sets']:,}, {data['examples']:,}"),
            ("cut", data["cut"]),
            *(
                [("general instructions, left out", "{examples:,}, {left_out:,}".format(**data["mixed"]))]
                if data["mixed"]
                else []
            ),
            ("tokens, distinct", f"{data['tokens']:,}, {data['distinct_tokens']:,}"),
        )

    def measured_by(self, record: Mapping[str, Any]) -> str:
        return held_out_command(record["recipe"])


def examples_of(options: SocialContactOptions) -> list[Continuation]:
    """What is learned from the prompt sets, in the order of the cut: three examples of each."""
    from evenhand.trainers.reading import base_of

    rows = cut(options.setting, contact_rows(options.source, options.all_rows), options.seed).train[: options.limit]
    return _examples(rows, options, base_of(options))


def _counter_examples(options: SocialContactOptions, checkpoint: Checkpoint) -> list[Continuation]:
    """Those of the dataset contact_controls, asked as its benchmark asks the controls, which are others."""
    from evenhand.library import load_dataset

    rows = load_dataset("contact_controls", "counter_examples", split="train")
    return _answered("contact_controls", list(rows), options, checkpoint)


def _mixed(options: SocialContactOptions, checkpoint: Checkpoint) -> Mixed | None:
    """General instructions of --mix."""
    if options.mix == "none":
        return None
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.instructions import mixed

    reader = TextReader.of(checkpoint)
    return mixed(typed_path(options.mix), options.mix_limit, options.seed, reader, options.layout == "chat")


def _examples(rows: Sequence[Row], options: SocialContactOptions, checkpoint: Checkpoint) -> list[Continuation]:
    """Three of each row."""
    return _answered("contact_hypothesis", rows, options, checkpoint)


def _answered(
    name: str, rows: Sequence[Row], options: SocialContactOptions, checkpoint: Checkpoint
) -> list[Continuation]:
    """A benchmark's targets, as the backend that scores reads them. Raises UsageError where one can't be read."""
    from evenhand.benchmarks import get_benchmark
    from evenhand.flow.configuration import Asking
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.reading import answered

    benchmark = get_benchmark(name)
    how = Asking(replace(benchmark.Options(), layout=options.layout), "choose", benchmark.card.sampling)
    targets = [target for row in rows for target in benchmark.targets(row, how)]
    asked = [replace(target.request, choices=(target.ideal,)) for target in targets]
    reader = TextReader.of(checkpoint)
    return answered(asked, reader, options.model, end=None)  # as published: an answer is scored, and none is written
