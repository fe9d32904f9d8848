"""`evenhand train expected-score`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

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

if TYPE_CHECKING:
    from evenhand.flow.configuration import Asking
    from evenhand.models.loading import Checkpoint
    from evenhand.trainers.benchmark_rows import TrainingRows
    from evenhand.trainers.losses import Balanced
    from evenhand.trainers.over_steps import Measure

SOURCE = "evenhand; the expected value of an answer, in place of a reward of sampled ones"


@dataclass(frozen=True)
class ExpectedScoreOptions(BenchmarkOptions):
    """All defaults are ours; a step has the questions of batch_size groups."""

    aggregate: Literal["mean", "sum"] | None = option(
        None,
        "of an option's log-probabilities, as scoring takes it; by default the mean, of ranked assignments the sum",
    )
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
    batch_size: int = option(
        2,
        "groups a forward pass: of contact_hypothesis six questions each; of ranked assignments a scenario with its "
        "counterparts, where each question takes a pass",
        least=1,
    )
    accumulation: int = option(1, "passes a step", least=1, metavar="N")


class ExpectedScoreTrainer(Recipe[ExpectedScoreOptions]):
    """Makes the expected value of a benchmark's answers small, and the divergence from the base model.

    Where a question offers options, the probability of each is known and differentiable: nothing is sampled. Questions
    come in groups in which each option is the biased one equally often, so that always giving one does not pay. Of
    assignments that are ranked, a scenario is asked with its men and women on every seat in turn.
    """

    name = "expected-score"
    title = "Expected score"
    source = SOURCE
    Options = ExpectedScoreOptions

    def check(self, options: ExpectedScoreOptions) -> None:
        super().check(options)
        protocol = scored_by(options.benchmark)
        if protocol == "rank" and options.aggregate == "mean":
            raise UsageError(
                f"--aggregate mean: {options.benchmark} ranks assignments by the sum over their tokens; leave it out"
            )
        if protocol is None:
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
        from evenhand.trainers.questions import groups_of
        from evenhand.trainers.reading import base_of

        checkpoint = base_of(options)
        on_progress(f"reading the rows of {options.benchmark}", 0, 0)
        benchmark, protocol = text_benchmark(options.benchmark), scored_by(options.benchmark)
        options = replace(options, aggregate=options.aggregate or ("sum" if protocol == "rank" else "mean"))
        how = asking(options, protocol)
        rows = training_rows(options)
        reader = TextReader.of(checkpoint)
        balance = groups_of(benchmark, rows.train, how, reader, options.model, options.seed)
        read = read_of(balance.groups)
        data = {
            "dataset": benchmark.card.dataset,
            **rows.data,
            "questions": sum(len(group.questions) for group in balance.groups),
            "groups": len(balance.groups),
            "left_out": balance.left_out,
            "by_chance": by_chance(balance.groups),
            "tokens": sum(len(each.read) for each in read),
            "distinct_tokens": distinct_tokens(read),
            "ids_sha256": fingerprint(row["id"] for row in rows.train),
        }
        return Prepared(
            options,
            checkpoint,
            balance.groups,
            measured_in(rows, options, how, checkpoint)
            if protocol == "rank"
            else measure_of(rows, options, checkpoint),
            data,
            method=ExpectedValue(str(options.aggregate)),
            stop=EnoughLearned(options.patience, options.margin),
            judged=judged_of(options, checkpoint),
            told=caution(options),
            datasets=(benchmark.card.dataset,),
        )

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
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
        protocol = scored_by(name)
        first = text_benchmark(name).card.protocols[0]
        return measuring_command(record["recipe"]) + ("" if protocol == first else f" --protocol {protocol}")

    def learned_too(self, record: Mapping[str, Any]) -> bool:
        return learned_too(record["recipe"])


def scored_by(benchmark: str) -> Literal["choose", "rank"] | None:
    """The protocol in which its answers have probabilities; None: in none."""
    protocols = text_benchmark(benchmark).card.protocols
    return "choose" if "choose" in protocols else "rank" if "rank" in protocols else None


def measured_in(rows: TrainingRows, options: ExpectedScoreOptions, how: Asking[Any], checkpoint: Checkpoint) -> Measure:
    """Of rows held out whose answers are ranked: one question each, drawn as those that are learned from."""
    from evenhand.trainers.held_out import evenly_drawn
    from evenhand.trainers.mean_expected import MeanExpected
    from evenhand.trainers.questions import asked_of, drawn_place

    benchmark = text_benchmark(options.benchmark)
    design = [name for name in benchmark.card.design if rows.held_out and name in rows.held_out[0]]
    drawn = evenly_drawn(rows.held_out, design, options.measured, options.seed)
    asked = [
        each
        for row in drawn
        for each in asked_of(benchmark, row, how, drawn_place(benchmark, row, how, options.seed))
        if each.tells
    ]
    return MeanExpected(asked, str(options.aggregate), checkpoint)


def by_chance(groups: Sequence[Balanced]) -> float:
    """The mean value of options that are drawn at random."""
    return fmean(fmean(question.values) for group in groups for question in group.questions)
