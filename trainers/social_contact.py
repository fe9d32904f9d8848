"""`evenhand train social-contact`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmarks.contact_hypothesis.cuts import N_TRAIN, Descriptors, Setting
from evenhand.benchmarks.contact_hypothesis.questions import instruction_layout
from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.paths import typed_path
from evenhand.trainers.benchmark_rows import CONTACT, Source, cut_contact, held_out_command
from evenhand.trainers.options import PUBLISHED_TARGETS, TuningOptions
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Prepared, Recipe, fingerprint, published_values

if TYPE_CHECKING:
    from evenhand.benchmark import Row
    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation


@dataclass(frozen=True)
class SocialContactOptions(TuningOptions):
    """The published run: LoRA r 64, alpha 16, dropout 0.1 on query and value projections, 3e-4 constant, clip 0.3, one
    epoch, 6 × 2 examples a step, seed 42.
    """

    targets: str = option("default", PUBLISHED_TARGETS)
    setting: Setting = option("1", "training and test rows: a setting of Table 6, or disjoint, which is evenhand's")
    layout: Literal["chat", "published"] = option(
        "chat",
        "of the prompts; published: learned in the published training's layout, Alpaca's, and measured in that of "
        "the published evaluation, as evenhand run contact_hypothesis --layout published asks",
    )
    source: Source = option("evenhand", "whose prompt sets; official: the authors', read at run time")
    descriptors: Descriptors = option("evenhand", "in evenhand's prompt sets, as in evenhand run")
    all_rows: bool = option(False, "include prompt sets that contradict themselves")
    limit: int | None = option(
        None, "prompt sets to train on, drawn by the seed; each gives three examples", least=1, metavar="N"
    )
    counter_examples: bool = option(
        False,
        "add 240 questions about no group, in half of which what sounds kind is wrong or what sounds unkind right: "
        "without them nothing in the examples tells what is right from what sounds kind",
    )
    mix: str = option(
        "none",
        "none, or a file of general instructions with answers to learn, too (the published code mixes in 4,140 of "
        "alpaca-cleaned, which the paper doesn't mention)",
        metavar="FILE",
    )
    mix_limit: int = option(4140, "instructions to draw from that file", least=1, metavar="N", needs="mix")


BASE = "meta-llama/Llama-2-13b-chat-hf"
PUBLISHED = published_values(  # by the published code
    SocialContactOptions,
    base=BASE,
    quantization="4bit",
    targets="q_proj,v_proj",
    layout="published",
    source="official",
    prompt_sets=N_TRAIN,
    left_out="none",
    mix="4,140 of alpaca-cleaned",
    counter_examples=False,
)


class SocialContactTrainer(Recipe[SocialContactOptions]):
    """Social Contact Debiasing (SCD): each prompt set gives three examples (no, positive and negative contact) with the
    unbiased answer of Table 2; the loss is of the answer alone.
    """

    name = "social-contact"
    title = "Social Contact Debiasing"
    source = "Raj et al., AIES 2024, Debiasing Approach"
    Options = SocialContactOptions

    def check(self, options: SocialContactOptions) -> None:
        super().check(options)
        if options.mix == "none" and options.mix_limit != SocialContactOptions().mix_limit:
            raise UsageError(f"--mix-limit {options.mix_limit} needs a file of instructions, --mix FILE")

    def prepare(self, options: SocialContactOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.benchmarks import get_benchmark
        from evenhand.library import load_dataset
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.examples import load_base, read_instructions
        from evenhand.trainers.measures import CONTACT_DESIGN, Controls, HeldOut, contact_figures, draw_evenly

        checkpoint = load_base(options)
        mixed = None
        if options.mix != "none":
            mixed = read_instructions(
                typed_path(options.mix),
                options.mix_limit,
                options.seed,
                TextReader.of(checkpoint),
                template=options.layout == "chat",
                layout=instruction_layout(),
            )
            if mixed.note:
                on_progress(mixed.note, 0, 0)
        on_progress("reading the prompt sets", 0, 0)
        rows = cut_contact(
            options.setting, options.source, options.descriptors, options.all_rows, options.limit, options.seed
        )
        counter: list[Continuation] = []
        if options.counter_examples:
            further = load_dataset("contact_controls", "counter_examples", split="train")
            counter = contact_examples(list(further), options, checkpoint, "contact_controls")
        examples = [
            *contact_examples(rows.train, options, checkpoint),
            *counter,
            *(mixed.examples if mixed else ()),
        ]
        data = {
            "dataset": CONTACT,
            "cut": rows.what,
            "prompt_sets": len(rows.train),
            "held_out": {"validation": len(rows.held_out), "test": rows.test},
            "examples": len(examples),
            "counter_examples": len(counter) or None,
            "mixed": mixed and {"examples": len(mixed.examples), "left_out": mixed.left_out, "sha256": mixed.sha256},
            "ids_sha256": fingerprint(row["id"] for row in rows.train),
        }
        benchmark = get_benchmark(CONTACT)
        how = benchmark.asking(protocol="choose", layout=options.layout)
        held_out = draw_evenly(rows.held_out, CONTACT_DESIGN, options.measured, options.seed)
        return Prepared(
            options,
            checkpoint,
            examples,
            HeldOut(benchmark, held_out, how, contact_figures, checkpoint),
            data,
            judge=Controls(options.layout, checkpoint),
            datasets=(CONTACT, *(["contact_controls"] if counter else [])),
        )

    def published(self, recipe: Mapping[str, Any]) -> Mapping[str, Any]:
        setting = {"setting": "one of Table 6"} if recipe["setting"] == "disjoint" else {}
        return PUBLISHED | setting

    def compared(self, recipe: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        base = recipe["base_id"] or recipe["model"]
        whole = recipe["all_rows"] or recipe["source"] == "official"
        return {
            "base": BASE if base.rstrip("/").endswith(BASE.rpartition("/")[2]) else base,
            "prompt_sets": data["prompt_sets"],
            "left_out": "none" if whole else "implausible crossings",
        }

    def summarize(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        yield "prompt sets, examples", f"{data['prompt_sets']:,}, {data['examples']:,}"
        yield "cut", data["cut"]
        if data["mixed"]:
            yield "general instructions, left out", "{examples:,}, {left_out:,}".format(**data["mixed"])
        yield "tokens, distinct", f"{data['tokens']:,}, {data['distinct_tokens']:,}"

    def measured_by(self, record: Mapping[str, Any]) -> str:
        return held_out_command(record["recipe"])


def contact_examples(
    rows: Sequence[Row], options: SocialContactOptions, checkpoint: Checkpoint, benchmark: str = CONTACT
) -> list[Continuation]:
    """Read the ideal answers to what a benchmark asks about these rows, as the backend that scores reads them.

    The published training's layout is another than the published evaluation's.
    """
    from evenhand.benchmarks import get_benchmark
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.examples import read_targets

    found = get_benchmark(benchmark)
    layout = "training" if options.layout == "published" else options.layout
    how = found.asking(protocol="choose", layout=layout)
    # As published without an end: an answer is scored, and none is written.
    return read_targets(found, rows, how, TextReader.of(checkpoint), options.model, end=None)
