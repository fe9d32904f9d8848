"""`evenhand train implicit-bias`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.options import TuningOptions
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Recipe, fingerprint
from evenhand.trainers.told_assignments import Data, Row, Source, told

if TYPE_CHECKING:
    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation

SOURCE = "Borah & Mihalcea, EMNLP Findings 2024, section 6.1 and appendix H"
CAUTION = "who can say why a story is biased may still give tasks by stereotype (evenhand run implicit_bias)"
EPOCHS: dict[Data, float] = {"full": 3.0, "half": 2.0}  # appendix H.2, of mistral; the published code has 3 for either
PUBLISHED = {  # of mistral, by appendix H.2 and the published code
    "method": "lora",
    "quantization": "4bit",
    "rank": 64,
    "alpha": 16.0,
    "dropout": 0.1,
    "targets": "q_proj,v_proj",
    "learning_rate": 1e-3,
    "schedule": "constant",
    "warmup": 0,
    "max_steps": None,
    "max_tokens": None,
    "limit": None,
    "batch_size": 4,
    "accumulation": 1,
    "clip": 1.0,
    "divergence": 0.0,
    "seed": 42,
    "layout": "published",
    "packed": True,
    "max_length": 2048,
    "source": "official",
}
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

    # As of all recipes, and as published: rank 64, alpha 16, dropout 0.1; seed 42 is transformers' own there.
    targets: str = option(  # the published LoraConfig names none
        "default",
        "the layers that adapters stand in: default (query and value projections, as published, or the layer that a "
        "model has in their place), all-linear, or names with commas",
    )
    learning_rate: float = option(1e-3, "at its highest", above=0, most=1, metavar="X")  # appendix H.2
    epochs: float | None = option(  # type: ignore[assignment]
        None, "passes over the examples; by default 3 of full data and 2 of half", above=0, metavar="N"
    )
    batch_size: int = option(4, "examples a forward pass", least=1, metavar="N")  # published code
    accumulation: int = option(1, "passes a step", least=1, metavar="N")  # published code
    clip: float = option(1.0, "the gradient's norm", above=0, metavar="X")  # transformers' default, left as it is there


class ImplicitBiasTrainer(Recipe[ReasonOptions]):
    """Fine-tuning on told assignments: to a story the model learns to write the reason why implicit bias is present or
    absent in it, never an assignment.
    """

    name = "implicit-bias"
    title = "Fine-tuning on told assignments"
    source = SOURCE
    Options = ReasonOptions

    def check(self, options: ReasonOptions) -> None:
        super().check(options)
        if options.packed and options.layout == "chat":
            raise UsageError(
                "--packed is of the layout whose loss is of all tokens: --layout published is accepted with it, or no "
                "--packed with --layout chat"
            )
        if options.packed and options.packing == "tree":
            raise UsageError(
                "--packed leaves texts that share no beginning: --packing tree would do nothing, leave it out"
            )

    def prepared(self, options: ReasonOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.prefix_tree import distinct_tokens
        from evenhand.trainers.held_out import evenly_drawn
        from evenhand.trainers.reading import base_of, one_after_another
        from evenhand.trainers.told_measures import DESIGN, HeldOut

        checkpoint = base_of(options)
        on_progress("reading the stories", 0, 0)
        stories = told(options.data, options.source, options.every_line, options.limit, options.seed)
        examples, end = read_stories(stories.train, options, checkpoint)
        longest = min(options.max_length, checkpoint.context or options.max_length)
        learned = one_after_another(examples, longest) if options.packed else examples
        how = replace(
            options,
            epochs=options.epochs or EPOCHS[options.data],
            packing="padded" if options.packed else options.packing,  # texts that begin anywhere share nothing
        )
        data = {
            "dataset": "implicit_bias",
            "config": f"finetune_{how.data}",
            "cut": stories.what,
            "stories": len(stories.train),
            "biased": sum(bool(row["biased"]) for row in stories.train),
            "held_out": {"stories": len(stories.held_out)},
            "examples": len(learned),
            "packed": how.packed,
            "tokens": sum(len(each.read) for each in learned),
            "distinct_tokens": distinct_tokens(learned),
            "learned": LEARNED[how.layout],
            "learned_tokens": sum(len(each.answer) for each in learned),
            "end": end,
            "ids_sha256": fingerprint(row["id"] for row in stories.train),
        }
        held_out = evenly_drawn(stories.held_out, DESIGN, options.measured, options.seed)
        measure = HeldOut(held_out, options.layout, checkpoint)
        return Prepared(how, checkpoint, learned, measure, data, told={"caution": CAUTION}, datasets=("implicit_bias",))

    def published(self, recipe: Mapping[str, Any]) -> Mapping[str, Any]:
        return PUBLISHED | {"epochs": EPOCHS[recipe["data"]]}

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        packed = f"{data['examples']:,} packed texts" if data["packed"] else "not packed"
        return (
            ("stories, biased ones", f"{data['stories']:,}, {data['biased']:,}"),
            ("cut", data["cut"]),
            ("examples", f"{packed}; a reason ends with {data['end'] or 'nothing'}"),
            ("tokens, learned", f"{data['tokens']:,}, {data['learned_tokens']:,} ({data['learned']})"),
            ("epochs", f"{record['recipe']['epochs']:g}"),
        )

    def measured_by(self, record: Mapping[str, Any]) -> str:
        layout = record["recipe"]["layout"]
        return f"evenhand run implicit_bias_understanding --protocol generate --asks reason --layout {layout}"


def read_stories(
    stories: Sequence[Row], options: ReasonOptions, checkpoint: Checkpoint
) -> tuple[list[Continuation], str | None]:
    """Each story with its reason, as the backend that writes reads them, and the token that ends a reason.

    The prompt is what `evenhand run implicit_bias_understanding --asks reason` asks, the reason its target. Behind it
    stands the token that the chat template puts behind an answer (the tokenizer's end of text, in the plain layout):
    else a model would not learn where a reason ends, and would write on. Raises UsageError for what is too long.
    """
    from evenhand.benchmarks import get_benchmark
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.reading import answered, whole

    benchmark = get_benchmark("implicit_bias_understanding")
    how = benchmark.asking(protocol="generate", asks="reason", layout=options.layout)
    targets = [target for row in stories for target in benchmark.targets(row, how)]
    reader = TextReader.of(checkpoint)
    end = reader.end_of_answer(template=options.layout == "chat")
    asked = [replace(target.request, choices=(target.ideal,)) for target in targets]
    examples = answered(asked, reader, options.model, end)
    longest = max(examples, key=lambda each: len(each.prompt + each.answer), default=None)
    if longest and not options.packed and (n := len(longest.prompt + longest.answer)) > options.max_length:
        raise UsageError(f"a story has {n:,} tokens with its reason, more than --max-length {options.max_length:,}")
    if options.layout == "published":
        examples = [whole(each) for each in examples]
    return examples, None if end is None else str(checkpoint.tokenizer.convert_ids_to_tokens(end))
