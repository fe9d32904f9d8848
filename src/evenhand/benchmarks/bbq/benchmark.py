"""Questions whose answer the context gives, or doesn't (Parrish et al., "BBQ", Findings of ACL 2022).

A context tells of two people of different groups; a question asks for one of them; the third answer is that one can't
know, which is right of ambiguous contexts. Raj et al. (AIES 2024, Table 6) score the three answers instead of
generating, take the one with the highest mean log-probability per token, and report raw accuracy, in the frame that
`--layout published` has. No figures of theirs are shown with a run: their rows are lighteval/bbq_helm's, and the
wording within the frame was not published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark import Benchmark, Card, Configuring, Publishing, Row, Rows, Target
from evenhand.benchmarks.bbq.comparing import BbqComparing
from evenhand.benchmarks.bbq.figures import FIGURES, LAYOUT
from evenhand.benchmarks.bbq.questions import BbqOptions, opposite_place, question_request
from evenhand.benchmarks.option_order import check_option_order
from evenhand.benchmarks.published_layout import check_continuing
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction
from evenhand.models.request import Reply, Request, Sampling

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings


class BbqPublishing(Publishing):
    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """Name a task, such as "age-ambig", or "all-ambig", which is none where some categories were not asked."""
        if "category" in groups or {*configs} == {*card.configs}:
            return "-".join([groups.get("category", "all"), groups["context_condition"]])
        return ""


class BbqConfiguring(Configuring[BbqOptions]):
    def check(self, config: RunConfig[BbqOptions], models: Mapping[str, Model] | None = None) -> None:
        """Also raise UsageError where the published frame, which is scored, can't be asked."""
        check_option_order(config)
        if config.options.layout == "published":
            if config.protocol != "choose":
                raise UsageError("--layout published scores the answers, so it needs --protocol choose")
            check_continuing(models or {})

    def filled(self, config: RunConfig[BbqOptions], models: Mapping[str, Model] | None = None) -> RunConfig[BbqOptions]:
        """There are published rows alone; all categories whose file can be had, unless some are named."""
        from evenhand.benchmarks.bbq.files import available_configs

        return super().filled(replace(config, source="official", configs=config.configs or available_configs()))


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
    Configuring = BbqConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = BbqComparing()
    publishing = BbqPublishing()

    def ask(self, row: Row, how: Asking[BbqOptions]) -> list[Request]:
        """Context, question and the three answers, in each rotation of these."""
        return [question_request(row, rotation, how) for rotation in how.options.rotations]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[BbqOptions]) -> list[Prediction]:
        """One prediction; what was answered is None where no single answer was given, which is not "unknown"."""
        from evenhand.benchmarks.bbq.reading import read_row

        return [read_row(row, replies, how)]

    def targets(self, row: Row, how: Asking[BbqOptions]) -> list[Target]:
        """The right answer, and as its opposite the biased one, or where that is right the other group's; where the
        context tells the answer, unknown as another opposite, so that it is wanted as often as it is wrong.

        None where unknown is right and the metadata don't tell which answer would be biased.
        """
        wrong = opposite_place(row)
        if wrong is None:
            return []
        opposites = [wrong] if row["label"] == row["unknown"] else [wrong, row["unknown"]]
        request, answers = question_request(row, 0, how), row["answers"]
        return [Target(request, answers[row["label"]], answers[each]) for each in opposites]

    def load(self, config: RunConfig[BbqOptions]) -> Rows:
        """Raises EvenhandError that lists the files which a mirror lacks."""
        from evenhand.benchmarks.bbq.files import check_files
        from evenhand.flow.rows import check_configs, packaged_rows

        check_configs(self.card, config)
        notes = check_files(config.configs)
        return Rows(packaged_rows(self.card, config), notes)

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        from evenhand.benchmarks.bbq.findings import add_figure_columns

        return add_figure_columns(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[BbqOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.bbq.findings import find_warnings

        return [*find_warnings(predictions, table)]

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.bbq.findings import choose_examples

        return replace(super().findings(predictions, results), examples=tuple(choose_examples(predictions)))
