"""Controls of contact_hypothesis: do its answers come from less bias, or from a learned polarity?

There the ideal answer depends on the action alone, so yes to whatever sounds kind and no to whatever sounds unkind has
the best score. These questions, asked in the same words, are about things, about people of no group, about kind actions
that are unwise and unkind ones that are right, about experiences that should be heeded, and about the same people in
other words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark import Card, Row, Rows, Target
from evenhand.benchmarks.contact_controls.figures import FIGURES, LAYOUT, constant_answer
from evenhand.benchmarks.contact_controls.publishing import ControlsPublishing
from evenhand.benchmarks.contact_hypothesis.questions import (
    QuestionBenchmark,
    QuestionConfiguring,
    QuestionOptions,
    question_request,
)
from evenhand.benchmarks.option_order import with_order_effects
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Reply, Request, Sampling

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings


class ContactControlsConfiguring(QuestionConfiguring[QuestionOptions]):
    def check(self, config: RunConfig[QuestionOptions], models: Mapping[str, Model] | None = None) -> None:
        if config.source != "evenhand":
            raise UsageError(f"{self.card.name} has no official data; use --source evenhand")
        super().check(config, models)


class ContactControls(QuestionBenchmark[QuestionOptions]):
    card = Card(
        name="contact_controls",
        title="What is right, or what sounds kind",
        paper="evenhand's controls for Raj et al., Breaking Bias, Building Bridges (AIES 2024)",
        dataset="contact_controls",
        configs=("controls",),
        metric="",
        clusters=("item",),
        design=("kind", "action", "agrees", "kind × action × agrees"),
        protocols=("choose", "generate"),
        sampling=Sampling(max_new_tokens=16),
    )
    Options = QuestionOptions
    Configuring = ContactControlsConfiguring
    figures = FIGURES
    layout = LAYOUT
    publishing = ControlsPublishing()

    def ask(self, row: Row, how: Asking[QuestionOptions]) -> list[Request]:
        """The question behind its statement, if it has one, in each order of the options."""
        return [_request(row, swapped, how) for swapped in how.options.swaps]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[QuestionOptions]) -> list[Prediction]:
        """One prediction; what was answered is None where neither option, or no single one, was given.

        Written answers are read as those of contact_hypothesis are, and left unread where an item has other options.
        """
        from evenhand.benchmarks.contact_controls.reading import read_item

        return [read_item(row, replies, how)]

    def targets(self, row: Row, how: Asking[QuestionOptions]) -> list[Target]:
        """What is right, in the paper's order of the options. Whoever tunes on it has no controls left."""
        first, second = row["options"]
        return [Target(_request(row, False, how), row["ideal"], second if row["ideal"] == first else first)]

    def load(self, config: RunConfig[QuestionOptions]) -> Rows:
        """All items that the protocol can read."""
        from evenhand.benchmarks.contact_controls.reading import scale_of
        from evenhand.flow.rows import packaged_rows

        rows = packaged_rows(self.card, config)
        if config.protocol != "generate":
            return Rows(rows)
        read = [place for place, options in enumerate(rows["options"]) if scale_of(options)]
        left_out = len(rows) - len(read)
        note = f"{left_out} items with other options than Yes and No are left out: written answers to them are not read"
        return Rows(rows.select(read), (note,) if left_out else ())

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Add each item's `part` and `cell`, and what the order of the options decides, where both were asked."""
        from evenhand.benchmarks.contact_controls.reading import add_cells

        predictions = add_cells(predictions).assign(no_is_right=predictions["ideal"] != predictions["affirming"])
        return with_order_effects(
            predictions, "first_option_probability_paper_order", "first_option_probability_swapped"
        )

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[QuestionOptions]
    ) -> list[RunWarning]:
        from evenhand.flow.results import RunWarning

        word = constant_answer(table)
        text = (
            f"Nearly every answer is {word!r} where that was an option: the score is then the share of items of which "
            "it is wrong, whatever the model knows."
        )
        return [RunWarning("constant_answer", text)] if word else []

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.contact_controls.reading import choose_examples
        from evenhand.benchmarks.contact_controls.verdict import verdict_sentence

        found = super().findings(predictions, results)
        verdict = [verdict_sentence(results.figures)] if results.n_read else []
        sentences = (*found.sentences, *verdict)
        return replace(found, sentences=sentences, examples=tuple(choose_examples(predictions)))


def _request(row: Row, swapped: bool, how: Asking[QuestionOptions]) -> Request:
    name = row["id"] + ("/swapped" if swapped else "") + run_name(how.run)
    return question_request(name, f"{row['statement']} {row['question']}".strip(), row["options"], swapped, how)
