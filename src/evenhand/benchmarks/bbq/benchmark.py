"""Questions whose answer the context gives, or doesn't (Parrish et al., "BBQ", Findings of ACL 2022).

A context tells of two people of different groups; a question asks for one of them; the third answer is that one can't
know, which is right of ambiguous contexts. Raj et al. (AIES 2024, Table 6) score the three answers instead of
generating, take the one with the highest mean log-probability per token, and report raw accuracy; no
figures of theirs stand beside a run, for the prompt of that table is nowhere printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark import Benchmark, Card, Row, Rows, Target
from evenhand.benchmarks.bbq.comparing import BbqComparing, BbqPublishing
from evenhand.benchmarks.bbq.figures import FIGURES, LAYOUT
from evenhand.benchmarks.bbq.options import BbqOptions, listed
from evenhand.benchmarks.bbq.prompts import ANSWER, QUESTION
from evenhand.benchmarks.bbq.roles import opposite
from evenhand.benchmarks.option_order import check_option_order
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, derive_seed, run_name
from evenhand.models.request import Message, Reply, Request, Sampling

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.report.findings import Findings


class Bbq(Benchmark[BbqOptions]):
    card = Card(
        name="bbq",
        title="Stereotypes in answers to questions",
        paper="Parrish et al., BBQ (Findings of ACL 2022)",
        dataset="bbq",
        configs=(
            "age", "disability_status", "gender_identity", "nationality", "physical_appearance", "race_ethnicity",
            "race_x_ses", "race_x_gender", "religion", "ses", "sexual_orientation",
        ),
        metric="bbq_bias",
        clusters=("template",),
        # An item has either polarity in either context, so that a draw of items keeps these even.
        design=("category", "template", "alignment"),
        together=("item",),
        protocols=("choose", "generate"),
        sampling=Sampling(max_new_tokens=32),
    )  # fmt: skip
    Options = BbqOptions
    figures = FIGURES
    layout = LAYOUT
    comparing = BbqComparing()
    publishing = BbqPublishing()

    def ask(self, row: Row, how: Asking[BbqOptions]) -> list[Request]:
        """Context, question and the three answers, in each rotation of these."""
        return [_request(row, rotation, how) for rotation in how.options.rotations]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[BbqOptions]) -> list[Prediction]:
        """One prediction; what was answered is None where no single answer was given, which is not "unknown"."""
        from evenhand.benchmarks.bbq.reading import prediction

        return [prediction(row, replies, how)]

    def targets(self, row: Row, how: Asking[BbqOptions]) -> list[Target]:
        """The right answer, and as its opposite the biased one, or where that is right the other group's; where the
        context tells the answer, unknown as another opposite, so that it is wanted as often as it is wrong.

        None where unknown is right and the metadata don't tell which answer would be biased.
        """
        wrong = opposite(row)
        if wrong is None:
            return []
        opposites = [wrong] if row["label"] == row["unknown"] else [wrong, row["unknown"]]
        request, answers = _request(row, 0, how), row["answers"]
        return [Target(request, answers[row["label"]], answers[each]) for each in opposites]

    def check(self, config: RunConfig[BbqOptions]) -> None:
        check_option_order(config)

    def filled(self, config: RunConfig[BbqOptions]) -> RunConfig[BbqOptions]:
        """There are published rows alone; all categories whose file can be had, unless some are named."""
        from evenhand.benchmarks.bbq.files import at_hand

        return super().filled(replace(config, source="official", configs=config.configs or at_hand()))

    def load(self, config: RunConfig[BbqOptions]) -> Rows:
        """Raises EvenhandError that lists the files which a mirror lacks."""
        from evenhand.benchmarks.bbq.files import check_at_hand, notes
        from evenhand.flow.rows import check_configs, packaged_rows

        check_configs(self.card, config)
        check_at_hand(config.configs)
        return Rows(packaged_rows(self.card, config), notes(config.configs))

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        from evenhand.benchmarks.bbq.reading import prepared

        return prepared(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[BbqOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.bbq.warnings import warnings

        return warnings(predictions, table)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.bbq.examples import examples

        return replace(super().findings(predictions, results), examples=tuple(examples(predictions)))

    def count_read(self, predictions: pd.DataFrame, table: FigureTable) -> tuple[int, int]:
        """Of both kinds of context."""
        whole = table.row("accuracy")
        return whole.n, whole.n_read

    def distance(self, table: FigureTable) -> float:
        """The larger of the two bias scores, without its sign; the report says in which contexts it is."""
        scores = [abs(row.value) for row in table.rows("bias_score", "context_condition")]
        return max((score for score in scores if not math.isnan(score)), default=math.nan)


def _request(row: Row, rotation: int, how: Asking[BbqOptions]) -> Request:
    """rotation: by how many places the answers are listed later; those that are scored keep their order."""
    name = row["id"] + (f"/rotation-{rotation}" if rotation else "") + run_name(how.run)
    answers = [answer.strip() for answer in row["answers"]]
    first, second, third = (answers[place] for place in listed(rotation))
    asked = QUESTION.text.format(
        context=row["context"].strip(), question=row["question"].strip(), first=first, second=second, third=third
    )
    chooses = how.protocol == "choose"
    return Request(
        messages=(Message("user", asked if chooses else asked + ANSWER.text),),
        choices=tuple(answers) if chooses else (),
        sampling=how.sampling,
        seed=derive_seed(how.seed, name),
        name=name,
    )
