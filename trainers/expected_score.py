"""`evenhand train expected-score`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.trainers.benchmark_rows import BenchmarkOptions, BenchmarkRecipe, TrainingRows, text_benchmark
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Prepared, fingerprint

if TYPE_CHECKING:
    from evenhand.models.loading import Checkpoint

LEAST = 0.001  # of the first value: a decrease that counts


@dataclass(frozen=True)
class ExpectedScoreOptions(BenchmarkOptions):
    """Options of expected-score; a step has the questions of batch_size groups."""

    aggregate: Literal["mean", "sum"] | None = option(
        None, "of an option's log-probabilities, as in scoring (default: mean; of ranked assignments sum)"
    )
    divergence: float = option(
        0.1, "coefficient of the divergence from the base model, at 64 positions in the prompts of a pass",
        least=0, metavar="X",
    )  # fmt: skip
    patience: int = option(
        0, "stop after this many measurements without a lower value on held-out rows; 0: never", least=0
    )
    margin: float | None = option(
        None, "stop when the perplexity of neutral text grew by this percentage", above=0, metavar="PERCENT"
    )
    batch_size: int = option(
        2,
        "groups per forward pass: of contact_hypothesis six questions each; of ranked assignments a scenario with its "
        "counterparts, where each question takes a pass",
        least=1,
    )
    accumulation: int = option(1, "passes per step", least=1, metavar="N")


class ExpectedScoreTrainer(BenchmarkRecipe[ExpectedScoreOptions]):
    """Minimizes the expected value of a benchmark's answers, and the divergence from the base model.

    Where a question offers options, the probability of each is known and differentiable: nothing is sampled. Questions
    come in groups in which each option is the biased one equally often, so that a constant answer does not pay. Of
    ranked assignments, a scenario is asked with its men and women on every seat in turn.
    """

    name = "expected-score"
    title = "Expected score"
    source = "evenhand; the expected value of an answer, in place of a reward of sampled ones"
    Options = ExpectedScoreOptions

    def check(self, options: ExpectedScoreOptions) -> None:
        super().check(options)
        protocol = scoring_protocol(options.benchmark)
        if protocol is None:
            raise UsageError(
                f"{options.benchmark} offers no options to choose from, so it has no expected value; use "
                "evenhand train reward"
            )
        if protocol == "rank" and options.aggregate == "mean":
            raise UsageError(f"--aggregate mean: {options.benchmark} ranks assignments by the sum; leave it out")
        if not options.measure_every and (options.patience or options.margin is not None):
            raise UsageError("--patience and --margin need measurements; leave out --measure-every 0")

    def prepare(self, options: ExpectedScoreOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.examples import load_base
        from evenhand.trainers.losses import ExpectedValueLoss
        from evenhand.trainers.questions import group_questions
        from evenhand.trainers.supervised import make_supervised

        checkpoint = load_base(options)
        on_progress(f"reading the rows of {options.benchmark}", 0, 0)
        benchmark, protocol = text_benchmark(options.benchmark), scoring_protocol(options.benchmark)
        options = replace(options, aggregate=options.aggregate or ("sum" if protocol == "rank" else "mean"))
        rows, reader = options.training_rows(), TextReader.of(checkpoint)
        balanced = group_questions(benchmark, rows.train, options.asking(protocol), reader, options.model, options.seed)
        questions = [question for group in balanced.groups for question in group.questions]
        data = {
            "dataset": benchmark.card.dataset,
            **rows.data,
            "questions": len(questions),
            "groups": len(balanced.groups),
            "left_out": balanced.left_out,
            "by_chance": fmean(fmean(question.values) for question in questions),
            "ids_sha256": fingerprint(row["id"] for row in rows.train),
        }
        loss = ExpectedValueLoss(str(options.aggregate))
        return Prepared(
            options,
            checkpoint,
            balanced.groups,
            data=data,
            method=lambda setup, examples: make_supervised(setup, examples, loss),
            stop=EarlyStop(options.patience, options.margin),
            datasets=(benchmark.card.dataset,),
            **self.measurements(options, rows, checkpoint),
        )

    def measurements(self, options: ExpectedScoreOptions, rows: TrainingRows, checkpoint: Checkpoint) -> dict[str, Any]:
        found = super().measurements(options, rows, checkpoint)
        if scoring_protocol(options.benchmark) != "rank":
            return found
        from evenhand.trainers.measures import MeanExpected, draw_evenly
        from evenhand.trainers.questions import draw_place, value_questions

        benchmark, how = text_benchmark(options.benchmark), options.asking("rank")
        questions = [
            each
            for row in draw_evenly(rows.held_out, benchmark.card.design, options.measured, options.seed)
            for each in value_questions(benchmark, row, how, draw_place(benchmark, row, how, options.seed))
            if each.matters
        ]
        return {**found, "measure": MeanExpected(questions, str(options.aggregate), checkpoint)}

    def summarize(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        return (
            ("rows, questions", f"{data['rows']:,}, {data['questions']:,} in {data['groups']:,} groups"),
            ("questions left out, without a counterpart", f"{data['left_out']:,}"),
            ("cut", data["cut"]),
            ("expected value by chance", f"{data['by_chance']:.3f}"),
            ("tokens, distinct", f"{data['tokens']:,}, {data['distinct_tokens']:,}"),
        )

    def measured_by(self, record: Mapping[str, Any]) -> str:
        name = record["recipe"]["benchmark"]
        protocol = scoring_protocol(name)
        first = text_benchmark(name).card.protocols[0]
        return super().measured_by(record) + ("" if protocol == first else f" --protocol {protocol}")


def scoring_protocol(benchmark: str) -> Literal["choose", "rank"] | None:
    """Return the protocol in which the benchmark's answers have probabilities, if any."""
    protocols = text_benchmark(benchmark).card.protocols
    return "choose" if "choose" in protocols else "rank" if "rank" in protocols else None


@dataclass(frozen=True)
class EarlyStop:
    """Ends a training by its measurements.

    Attributes:
        patience: measurements in a row without a lower value on held-out rows; 0: any number.
        margin: percentage by which the perplexity may grow, which must stay finite; None: any.
    """

    patience: int
    margin: float | None

    def __call__(self, measured: Sequence[Mapping[str, Any]]) -> bool:
        from evenhand.trainers.measures import MADE_SMALL, PERPLEXITY

        first, last = measured[0][PERPLEXITY], measured[-1][PERPLEXITY]
        if self.margin is not None and not last <= (1 + self.margin / 100) * first:
            return True
        values = [next((each[name] for name in MADE_SMALL if name in each), None) for each in measured]
        known = [value for value in values if value is not None]
        if not 0 < self.patience < len(known):
            return False
        return bool(min(known[-self.patience :]) > min(known[: -self.patience]) - LEAST * known[0])
