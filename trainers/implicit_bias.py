"""`evenhand train implicit-bias`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.benchmark_rows import STORIES, Data, Source, cut_stories
from evenhand.trainers.options import PUBLISHED_TARGETS, TuningOptions
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Prepared, Recipe, fingerprint, published_values

if TYPE_CHECKING:
    from evenhand.benchmark import Row
    from evenhand.models.loading import Checkpoint
    from evenhand.models.prefix_tree import Continuation

CAUTION = {
    "caution": "who can say why a story is biased may still give tasks by stereotype (evenhand run implicit_bias)"
}
EPOCHS: dict[Data, float] = {"full": 3.0, "half": 2.0}  # appendix H.2, of mistral; the published code has 3 for either
LEARNED = {  # by layout, what the loss is of
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
        "chat: system message, story, reason (Figures 12 and 13) in the model's template; published: the plain layout "
        "in which mistral was trained",
    )
    source: Source = option("evenhand", "whose stories; official: the published fine-tuning files")
    every_line: bool = option(
        False, "include the published file's further 76 lines, which tell a scenario both ways in one text"
    )
    packed: bool = option(
        False, "join examples, and cut them into texts of --max-length tokens, as published: an epoch is few steps"
    )
    max_length: int = option(2048, "tokens of an example, or of a packed text", least=8, metavar="N")
    limit: int | None = option(None, "stories to train on, drawn by the seed", least=1, metavar="N")

    targets: str = option("default", PUBLISHED_TARGETS)  # the published LoraConfig names none
    learning_rate: float = option(1e-3, "peak learning rate", above=0, most=1, metavar="X")  # appendix H.2
    epochs: float | None = option(  # type: ignore[assignment]
        None, "passes over the examples (default: 3 of full data, 2 of half)", above=0, metavar="N"
    )
    batch_size: int = option(4, "examples per forward pass", least=1, metavar="N")  # published code
    accumulation: int = option(1, "passes per step", least=1, metavar="N")  # published code
    clip: float = option(1.0, "maximum norm of the gradient", above=0, metavar="X")  # transformers' default


PUBLISHED = published_values(  # of mistral, by appendix H.2 and the published code
    ReasonOptions,
    quantization="4bit",
    targets="q_proj,v_proj",
    layout="published",
    packed=True,
    max_length=2048,
    source="official",
)


class ImplicitBiasTrainer(Recipe[ReasonOptions]):
    """Fine-tuning on stories about assignments: the model learns to write why implicit bias is present or absent in a
    story, never an assignment.
    """

    name = "implicit-bias"
    title = "Fine-tuning on stories about assignments"
    source = "Borah & Mihalcea, EMNLP Findings 2024, section 6.1 and appendix H"
    Options = ReasonOptions

    def check(self, options: ReasonOptions) -> None:
        super().check(options)
        if options.packed and options.layout == "chat":
            raise UsageError("--packed needs --layout published, whose loss is of all tokens")
        if options.packed and options.packing == "tree":
            raise UsageError("--packing tree: packed texts share no beginning; leave it out")

    def prepare(self, options: ReasonOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.trainers.examples import load_base, pack
        from evenhand.trainers.measures import STORY_DESIGN, HeldOutStories, draw_evenly

        checkpoint = load_base(options)
        on_progress("reading the stories", 0, 0)
        rows = cut_stories(options.data, options.source, options.every_line, options.limit, options.seed)
        examples, end = read_stories(rows.train, options, checkpoint)
        if options.packed:
            examples = pack(examples, min(options.max_length, checkpoint.context or options.max_length))
        how = replace(
            options,
            epochs=options.epochs or EPOCHS[options.data],
            packing="padded" if options.packed else options.packing,
        )
        data = {
            "dataset": "implicit_bias",
            "config": f"finetune_{how.data}",
            "cut": rows.what,
            "stories": len(rows.train),
            "biased": sum(bool(row["biased"]) for row in rows.train),
            "held_out": {"stories": len(rows.held_out)},
            "examples": len(examples),
            "packed": how.packed,
            "learned": LEARNED[how.layout],
            "learned_tokens": sum(len(each.answer) for each in examples),
            "end": end,
            "ids_sha256": fingerprint(row["id"] for row in rows.train),
        }
        held_out = draw_evenly(rows.held_out, STORY_DESIGN, options.measured, options.seed)
        measure = HeldOutStories(held_out, options.layout, checkpoint)
        return Prepared(how, checkpoint, examples, measure, data, caution=CAUTION, datasets=("implicit_bias",))

    def published(self, recipe: Mapping[str, Any]) -> Mapping[str, Any]:
        return PUBLISHED | {"epochs": EPOCHS[recipe["data"]]}

    def summarize(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
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
        return f"evenhand run {STORIES} --protocol generate --asks reason --layout {layout}"


def read_stories(
    stories: Sequence[Row], options: ReasonOptions, checkpoint: Checkpoint
) -> tuple[list[Continuation], str | None]:
    """Read each story with its reason, and return the token that ends a reason.

    The prompt is what `evenhand run implicit_bias_understanding --asks reason` asks, the reason its target. Behind it
    stands the token that the chat template puts behind an answer (the tokenizer's end of text, in the plain layout), so
    that the model learns where a reason ends. Raises UsageError for what is too long.
    """
    from evenhand.benchmarks import get_benchmark
    from evenhand.models.text_reader import TextReader
    from evenhand.trainers.examples import learn_whole, read_targets

    benchmark, reader = get_benchmark(STORIES), TextReader.of(checkpoint)
    how = benchmark.asking(protocol="generate", asks="reason", layout=options.layout)
    end = reader.end_of_answer(template=options.layout == "chat")
    examples = read_targets(benchmark, stories, how, reader, options.model, end)
    longest = max((len(each.prompt + each.answer) for each in examples), default=0)
    if longest > options.max_length and not options.packed:
        raise UsageError(
            f"a story has {longest:,} tokens with its reason, more than --max-length {options.max_length:,}"
        )
    if options.layout == "published":
        examples = [learn_whole(each) for each in examples]
    return examples, None if end is None else str(checkpoint.tokenizer.convert_ids_to_tokens(end))
