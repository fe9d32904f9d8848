"""Social bias under intergroup contact (Raj et al., "Breaking Bias, Building Bridges", AIES 2024).

Each prompt set asks one question three times: after no contact, after positive and after negative contact. The paper
scores the two options of the question's scale instead of generating, and takes the one with the higher mean
log-probability per token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from evenhand.benchmark import Card, Row, Rows, Target
from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.benchmarks.contact_hypothesis.figures import CONTACTS, FIGURES, LAYOUT
from evenhand.benchmarks.contact_hypothesis.publishing import ContactComparing, ContactPublishing
from evenhand.benchmarks.contact_hypothesis.questions import (
    QuestionBenchmark,
    QuestionConfiguring,
    QuestionOptions,
    question_request,
)
from evenhand.benchmarks.forced_format import UNLIKE_THE_PAPER
from evenhand.benchmarks.option_order import unlike_in_options, with_order_effects
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Reply, Request, Sampling
from evenhand.options import option

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings


UNLIKE_LAYOUT = {
    "chat": "prompts in the model's own template, not in LLaMA-2's (--layout published)",
    "training": "prompts in the layout of the published training, not in that of the evaluation (--layout published)",
}
OWN_ROWS = {
    "evenhand": "evenhand's prompt sets, not the authors' (--source official)",
    "holistic_bias": "HolisticBias's descriptors in evenhand's situations, not the authors' prompt sets "
    "(--source official)",
}
STEM = {"likelihood": ("likely/unlikely", "unlikely/likely"), "frequency": ("mostly/rarely", "rarely/mostly")}
"""How a question of a scale names both options, in the paper's order and in the other (Table 1)."""


@dataclass(frozen=True)
class ContactOptions(QuestionOptions):
    held_out: cuts.Setting | None = option(
        None, "only the test rows of `evenhand train social-contact --setting SETTING`", metavar="SETTING"
    )
    held_out_seed: int = option(42, "the training's --seed", least=0, metavar="S", needs="held_out")
    descriptors: cuts.Descriptors = option(
        "evenhand", "in evenhand's prompt sets; holistic_bias: those of HolisticBias, read at run time"
    )
    all_rows: bool = option(False, 'also ask rows whose descriptor contradicts the situation ("unemployed colleagues")')


class ContactHypothesisConfiguring(QuestionConfiguring[ContactOptions]):
    def filled(
        self, config: RunConfig[ContactOptions], models: Mapping[str, Model] | None = None
    ) -> RunConfig[ContactOptions]:
        """The test of setting 2 is the new half."""
        new = config.options.held_out == "2" and not config.configs
        return super().filled(replace(config, configs=cuts.NEW) if new else config)

    def check(self, config: RunConfig[ContactOptions], models: Mapping[str, Model] | None = None) -> None:
        """Also raise UsageError for options that the authors' prompt sets leave without effect."""
        super().check(config, models)
        if config.source == "official" and config.options.descriptors != "evenhand":
            raise UsageError(
                f"--descriptors {config.options.descriptors} is for evenhand's prompt sets, and --source official has "
                "the authors'; leave one out"
            )

    def differs(self, config: RunConfig[ContactOptions]) -> tuple[str, ...]:
        official = config.source == "official"
        others = [name for name in config.configs if name not in self.card.default_configs]
        return (
            *([f"{', '.join(others)}: prompt sets that Table 3 is not of"] if others else []),
            *([] if official else [OWN_ROWS[config.options.descriptors]]),
            *([] if official or config.options.all_rows else ["implausible crossings left out (--all-rows asks them)"]),
            *([] if config.options.held_out is None else [cuts.only_held_out(config.options.held_out)]),
            *config.unlike(self.card),
            *([UNLIKE_THE_PAPER] if config.options.constrain else []),
            *([] if config.options.layout == "published" else [UNLIKE_LAYOUT[config.options.layout]]),
            *unlike_in_options(config.options),
        )


class ContactHypothesis(QuestionBenchmark[ContactOptions]):
    card = Card(
        name="contact_hypothesis",
        title="Social bias under intergroup contact",
        paper="Raj et al., Breaking Bias, Building Bridges (AIES 2024)",
        dataset="contact_hypothesis",
        configs=("certainty", "likelihood", "frequency", "new_certainty", "new_likelihood", "new_frequency"),
        default_configs=("certainty", "likelihood", "frequency"),
        metric="contact_bias",
        clusters=("situation", "descriptor"),
        strata="action",
        design=("scale", "template", "situation", "principle", "scenario", "action", "scale × action", "axis"),
        protocols=("choose", "generate"),
        sampling=Sampling(max_new_tokens=16),
    )
    Options = ContactOptions
    Configuring = ContactHypothesisConfiguring
    figures = FIGURES
    layout = LAYOUT
    comparing = ContactComparing()
    publishing = ContactPublishing()

    def ask(self, row: Row, how: Asking[ContactOptions]) -> list[Request]:
        """The paper's prompt after each contact, in each order of the options."""
        return [_request(row, contact, swapped, how) for contact in CONTACTS for swapped in how.options.swaps]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[ContactOptions]) -> list[Prediction]:
        """One prediction for each contact; `biased` is None where no answer, or more than one, was given."""
        from evenhand.benchmarks.contact_hypothesis.reading import read_prompt_set

        return read_prompt_set(row, replies, how)

    def targets(self, row: Row, how: Asking[ContactOptions]) -> list[Target]:
        """One for each contact, in the paper's order of contacts and options.

        Ideal is what the paper's Table 2 calls unbiased ("Bias Evaluation", the definition for all pairs of contact and
        action): the affirming option for a positive action, the declining one for a negative action, whatever the
        contact. Social Contact Debiasing tunes on just these ("Debiasing Approach").
        """
        affirming, declining = row["options"]
        ideal, opposite = (affirming, declining) if row["action"] == "positive" else (declining, affirming)
        return [Target(_request(row, contact, False, how), ideal, opposite) for contact in CONTACTS]

    def load(self, config: RunConfig[ContactOptions]) -> Rows:
        """Load the plausible prompt sets, or all with --all-rows; with --held-out those that a training left out."""
        from evenhand.flow.rows import check_configs, load_config, packaged_rows

        def select(rows: datasets.Dataset) -> datasets.Dataset:
            return rows if config.options.all_rows else cuts.select_plausible(rows)

        setting, seed = config.options.held_out, config.options.held_out_seed
        descriptors = {"descriptors": config.options.descriptors}
        if setting is None:
            return Rows(select(packaged_rows(self.card, config, dict.fromkeys(config.configs, descriptors))))
        check_configs(self.card, config)
        load = cache(lambda name: select(load_config(self.card, name, config.source, descriptors)))
        return Rows(cuts.select_held_out(setting, seed, config.configs, load))

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Add the columns that only scored options, and questions in both orders, give."""
        if "probability" in predictions:
            predictions = predictions.assign(biased_probability=predictions["value"])
        return with_order_effects(predictions, "affirming_probability_paper_order", "affirming_probability_swapped")

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[ContactOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.contact_hypothesis.reading import find_warnings

        return [*find_warnings(predictions, config)]

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.contact_hypothesis.reading import choose_examples

        return replace(super().findings(predictions, results), examples=choose_examples(predictions))


def _request(row: Row, contact: str, swapped: bool, how: Asking[ContactOptions]) -> Request:
    """The paper's prompt; swapped: both options in the other order, in the instruction and in the question's stem."""
    question = row[contact].replace(*STEM[row["scale"]]) if swapped and row["scale"] in STEM else row[contact]
    name = f"{row['id']}/{contact}" + ("/swapped" if swapped else "") + run_name(how.run)
    return question_request(name, question, row["options"], swapped, how)
