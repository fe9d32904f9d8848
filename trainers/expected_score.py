"""`evenhand train expected-score`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.benchmark_rows import (
    BenchmarkOptions,
    asking,
    caution,
    judged_of,
    learned_too,
    measure_of,
    measuring_command,
    text_benchmark,
    training_rows,
)
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Recipe, fingerprint

SOURCE = "evenhand; the expected value of an answer, in place of a reward of sampled ones"


@dataclass(frozen=True)
class ExpectedScoreOptions(BenchmarkOptions):
    """All defaults are ours; a step has the questions of batch_size groups."""

    aggregate: Literal["mean", "sum"] = option("mean", "of an option's log-probabilities, as scoring takes it")
    divergence: float = option(
        0.1,
        "coefficient of the divergence from the base model, taken at 64 places within the prompts of a pass",
        least=0,
        metavar="X",
    )
    patience: int = option(
        0,
        "measurements on what is held out, in a row, without a smaller value, after which it stops; 0: never",
        least=0,
    )
    margin: float | None = option(
        None, "percent by which perplexity of neutral text may grow before it stops", above=0, metavar="PERCENT"
    )
    batch_size: int = option(2, "groups a forward pass; of contact_hypothesis each has six questions", least=1)
    accumulation: int = option(1, "passes a step", least=1, metavar="N")


class ExpectedScoreTrainer(Recipe[ExpectedScoreOptions]):
    """Makes the expected value of a benchmark's answers small, and the divergence from the base model.

    Where a question offers options, the probability of each is known and differentiable: nothing is sampled. Questions
    come in groups in which each option is the biased one equally often, so that always giving one does not pay.
    """

    name = "expected-score"
    title = "Expected score"
    source = SOURCE
    Options = ExpectedScoreOptions

    def check(self, options: ExpectedScoreOptions) -> None:
        super().check(options)
        if "choose" not in text_benchmark(options.benchmark).card.protocols:
            raise UsageError(
                f"{options.benchmark} offers no options to choose from: it has no expected value; evenhand train "
                "reward learns from what is written"
            )
        if not options.measure_every and (options.patience or options.margin is not None):
            raise UsageError("--patience and --margin need measurements, and --measure-every 0 makes none")

    def prepared(self, options: ExpectedScoreOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.prefix_tree import distinct_tokens
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.batches import read_of
        from evenhand.trainers.expected_value import EnoughLearned, ExpectedValue
        from evenhand.trainers.questions import asked_of, balanced
        from evenhand.trainers.reading import base_of

        checkpoint = base_of(options)
        on_progress(f"reading the rows of {options.benchmark}", 0, 0)
        benchmark, how = text_benchmark(options.benchmark), asking(options, "choose")
        rows = training_rows(options)
        reader = TextReader(checkpoint.tokenizer, checkpoint.context)
        balance = balanced((asked_of(benchmark, row, how) for row in rows.train), reader, options.model, options.seed)
        read = read_of(balance.groups)
        data = {
            "dataset": benchmark.card.dataset,
            **rows.data,
            "questions": sum(len(group.questions) for group in balance.groups),
            "groups": len(balance.groups),
            "left_out": balance.left_out,
            "tokens": sum(len(each.read) for each in read),
            "distinct_tokens": distinct_tokens(read),
            "ids_sha256": fingerprint(row["id"] for row in rows.train),
        }
        return Prepared(
            options,
            checkpoint,
            balance.groups,
            measure_of(rows, options, checkpoint),
            data,
            method=ExpectedValue(options.aggregate),
            stop=EnoughLearned(options.patience, options.margin),
            judged=judged_of(options, checkpoint),
            told=caution(options),
        )

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        return (
            ("rows, questions", f"{data['rows']:,}, {data['questions']:,} in {data['groups']:,} groups"),
            ("questions left out, without a counterpart", f"{data['left_out']:,}"),
            ("cut", data["cut"]),
            ("tokens, distinct", f"{data['tokens']:,}, {data['distinct_tokens']:,}"),
        )

    def measured_by(self, record: Mapping[str, Any]) -> str:
        return measuring_command(record["recipe"])

    def learned_too(self, record: Mapping[str, Any]) -> bool:
        return learned_too(record["recipe"])
