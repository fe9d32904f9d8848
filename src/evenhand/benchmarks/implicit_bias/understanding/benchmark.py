"""Does a model see implicit bias where it is? (Borah & Mihalcea, EMNLP Findings 2024, section 6.3, appendix D.1.)

Stories tell who does which task: each scenario by stereotype, and evenly. The model is asked whether implicit bias is
present or absent, or is given the story alone, to which it writes a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Row, Rows, Target
from evenhand.benchmarks.implicit_bias.published import RUNS, unlike_in_runs
from evenhand.benchmarks.implicit_bias.understanding.options import UnderstandingOptions, check_asked
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import (
    ABSENT,
    OPTIONS,
    PRESENT,
    read_present_or_absent,
)
from evenhand.benchmarks.implicit_bias.understanding.prompts import PUBLISHED_LAYOUT, QUESTION, REASONS
from evenhand.benchmarks.implicit_bias.understanding.published import N_STORIES, PUBLISHED
from evenhand.benchmarks.option_order import (
    Weighed,
    check_option_order,
    finish_reason,
    unlike_in_options,
)
from evenhand.benchmarks.published_layout import check_continuing
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, derive_seed, run_name
from evenhand.models.request import Message, Reply, Request, Sampling

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings


class Understanding(Benchmark[UnderstandingOptions]):
    card = Card(
        name="implicit_bias_understanding",
        title="Telling biased from unbiased task assignments",
        paper="Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)",
        dataset="implicit_bias",
        split="validation",  # the paper's dev set: a model may have been fine-tuned on the other
        configs=("finetune_full",),
        metric="",
        clusters=("scenario_id",),
        design=("domain", "biased"),
        protocols=("choose", "generate"),
        sampling=Sampling(0.7, 0.95, max_new_tokens=500),  # appendix H.1; a model tuned on reasons writes them
        runs=RUNS,
    )
    Options = UnderstandingOptions

    def ask(self, row: Row, how: Asking[UnderstandingOptions]) -> list[Request]:
        """The question about the story, in each order of the options; or the story alone."""
        return [_request(row, swapped, how) for swapped in how.options.swaps]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[UnderstandingOptions]) -> list[Prediction]:
        """One prediction; `answer` and `correct` are None where neither option, or no single one, was given."""
        read = _chosen(replies, how.options.aggregate) if how.protocol == "choose" else _generated(replies)
        answer = read["answer"]
        return [_design(row, how.run) | read | {"correct": None if answer is None else answer == _truth(row)}]

    def value(self, prediction: Mapping[str, Any]) -> float | None:
        """1 for a wrong answer, 0 for a right one, None for an unread one: one minus accuracy is made small."""
        return None if prediction["correct"] is None else float(not prediction["correct"])

    def targets(self, row: Row, how: Asking[UnderstandingOptions]) -> list[Target]:
        """The word that is true of the story, asked in the paper's order of the options; or, to the story alone, the
        reason that stands with it, on which the paper tunes.
        """
        ideal = _truth(row)
        opposite = ABSENT if ideal == PRESENT else PRESENT
        request = _request(row, False, how)
        if how.options.asks == "word":
            return [Target(request, ideal, opposite)]
        return [Target(request, _messages(row)[2], REASONS[opposite])]

    def check(self, config: RunConfig[UnderstandingOptions]) -> None:
        check_option_order(config)
        check_asked(config)

    def fitted(
        self, config: RunConfig[UnderstandingOptions], models: Mapping[str, Model]
    ) -> RunConfig[UnderstandingOptions]:
        """As it is. Raises UsageError where a prompt is to be sent to the letter, and a model can't take one."""
        if config.options.layout == "published":
            check_continuing(models)
        return config

    def load(self, config: RunConfig[UnderstandingOptions]) -> Rows:
        from evenhand.flow.rows import packaged_rows

        rows = of_known_bias(packaged_rows(self.card, config))
        return of_the_paper(rows) if config.source == "official" else rows

    def score(self, predictions: pd.DataFrame, config: RunConfig[UnderstandingOptions]) -> dict[str, Any]:
        from evenhand.benchmarks.implicit_bias.understanding.scoring import score

        return score(predictions, config)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.implicit_bias.understanding.findings import findings

        return findings(predictions, results)

    def headline(self, metrics: Mapping[str, Any]) -> float | None:
        """One minus accuracy."""
        accuracy: float | None = metrics["accuracy"]
        return None if accuracy is None else 1 - accuracy

    def figures(self, metrics: Mapping[str, Any]) -> tuple[Figure, ...]:
        return (Figure.of(metrics, "accuracy", name="accuracy", chance=0.5, digits=2, best="1 is best"),)

    def comparison(self) -> Comparison:
        from evenhand.benchmarks.implicit_bias.understanding.comparison import Accuracies

        return Accuracies()

    def published(self, config: RunConfig[UnderstandingOptions]) -> dict[str, Any]:
        """Table 3, of the same stories; the paper's own question is not known, and the note says so."""
        return {} if config.limit is not None or self.differs(config) else PUBLISHED

    def differs(self, config: RunConfig[UnderstandingOptions]) -> tuple[str, ...]:
        return (
            *([] if config.source == "official" else ["stories of ours in place of the authors'"]),
            *config.unlike(replace(self.card, protocols=("generate",))),  # Table 3's answers were written
            *unlike_in_options(config.options),
            *unlike_in_runs(config),
        )


def of_known_bias(rows: datasets.Dataset) -> Rows:
    """Stories of which it is known whether they are biased, and how many others there are."""
    known = [i for i, biased in enumerate(rows["biased"]) if biased is not None]
    left_out = len(rows) - len(known)
    note = f"{left_out} of {len(rows)} stories are left out: whether they are biased is not known"
    return Rows(rows.select(known), (note,) if left_out else ())


def of_the_paper(stories: Rows) -> Rows:
    """Those of the authors' file that Table 3 is of: its first ones."""
    others = len(stories.rows) - N_STORIES
    if others <= 0:
        return stories
    note = f"{others} of the authors' {len(stories.rows)} stories are left out: the paper's are the first {N_STORIES}"
    return replace(stories, rows=stories.rows.select(range(N_STORIES)), notes=(*stories.notes, note))


def _request(row: Row, swapped: bool, how: Asking[UnderstandingOptions]) -> Request:
    """swapped: the two options in the other order in the question; those that are scored keep theirs."""
    system, text, _ = _messages(row)
    name = row["id"] + ("/swapped" if swapped else "") + run_name(how.run)
    if how.options.asks == "word":
        first, second = OPTIONS[::-1] if swapped else OPTIONS
        text = QUESTION.text.format(story=text, first=first, second=second)
    published = how.options.layout == "published"
    return Request(
        messages=(
            (Message("user", PUBLISHED_LAYOUT.text.format(story=text)),)
            if published
            else (Message("system", system), Message("user", text))
        ),
        choices=OPTIONS if how.protocol == "choose" else (),
        sampling=how.sampling,
        seed=derive_seed(how.seed, name),
        name=name,
        template=not published,
    )


def _messages(row: Row) -> tuple[str, str, str]:
    """System message, story, and the reason why bias is present or absent."""
    of_role = {message["role"]: message["content"] for message in row["messages"]}
    return of_role["system"], of_role["user"], of_role["assistant"]


def _truth(row: Row) -> str:
    return PRESENT if row["biased"] else ABSENT


def _design(row: Row, run: int) -> Prediction:
    _, story, reason = _messages(row)
    return {
        "id": row["id"] + run_name(run),
        "row": row["id"],
        "scenario_id": row["scenario_id"],
        "domain": row["domain"],
        "run": run,
        "story": story,
        "reason": reason,
        "biased": row["biased"],
        "first_named": row.get("first_named", ""),
    }


def _chosen(replies: Sequence[Reply], aggregate: str) -> Prediction:
    """The likelier option over all orders asked; equally likely ones, and impossible ones, are unread."""
    present = Weighed.of(replies, aggregate)
    answer, probability = present.chosen(OPTIONS)
    prediction: Prediction = {
        "text": answer or "",
        "answer": answer,
        "probability": probability,
        "finish_reason": finish_reason(replies),
    }
    if present.swapped is not None:
        prediction |= {
            "present_probability_listed_first": present.listed,
            "present_probability_listed_last": present.swapped,
            "first_listed_share": present.first_listed_share,
        }
    return prediction


def _generated(replies: Sequence[Reply]) -> Prediction:
    reply = replies[0]
    return {
        "text": reply.text,
        "answer": read_present_or_absent(reply.text),
        "probability": None,
        "finish_reason": reply.finish_reason,
    }
