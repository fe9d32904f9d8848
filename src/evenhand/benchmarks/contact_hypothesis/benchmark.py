"""Social bias under intergroup contact (Raj et al., "Breaking Bias, Building Bridges", AIES 2024).

Each prompt set asks one question three times: after no contact, after positive and after negative contact. The paper
scores the two options of the question's scale instead of generating, and takes the one with the higher mean
log-probability per token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from evenhand.benchmark import Benchmark, Card, Row, Rows, Target
from evenhand.benchmarks.contact_hypothesis.comparing import ContactComparing, ContactPublishing
from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import NEW
from evenhand.benchmarks.contact_hypothesis.figures import FIGURES, LAYOUT
from evenhand.benchmarks.contact_hypothesis.options import ContactOptions
from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS, STEM
from evenhand.benchmarks.contact_hypothesis.questions import check_asking, check_models, forced, question_request
from evenhand.benchmarks.forced_format import UNLIKE_THE_PAPER
from evenhand.benchmarks.option_order import unlike_in_options
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Reply, Request, Sampling

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results, RunWarning
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings


OWN_LAYOUT = "prompts in the model's own template, not in LLaMA-2's (--layout published)"


class ContactHypothesis(Benchmark[ContactOptions]):
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
    figures = FIGURES
    layout = LAYOUT
    comparing = ContactComparing()
    publishing = ContactPublishing()

    def ask(self, row: Row, how: Asking[ContactOptions]) -> list[Request]:
        """The paper's prompt after each contact, in each order of the options."""
        return [_request(row, contact, swapped, how) for contact in CONTACTS for swapped in how.options.swaps]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[ContactOptions]) -> list[Prediction]:
        """One prediction for each contact; `biased` is None where no answer, or more than one, was given."""
        from evenhand.benchmarks.contact_hypothesis.reading import predictions

        return predictions(row, replies, how)

    def targets(self, row: Row, how: Asking[ContactOptions]) -> list[Target]:
        """One for each contact, in the paper's order of contacts and options.

        Ideal is what the paper's Table 2 calls unbiased ("Bias Evaluation", the definition for all pairs of contact and
        action): the affirming option for a positive action, the declining one for a negative action, whatever the
        contact. Social Contact Debiasing tunes on just these ("Debiasing Approach").
        """
        affirming, declining = row["options"]
        ideal, opposite = (affirming, declining) if row["action"] == "positive" else (declining, affirming)
        return [Target(_request(row, contact, False, how), ideal, opposite) for contact in CONTACTS]

    def check(self, config: RunConfig[ContactOptions]) -> None:
        check_asking(config)

    def load(self, config: RunConfig[ContactOptions]) -> Rows:
        """Plausible prompt sets, unless all are asked for; each of a positive action has its twin of a negative one.

        Of what is held out from a training, those of the configurations asked for.
        """
        from evenhand.benchmarks.contact_hypothesis.debiasing.held_out import held_out_rows
        from evenhand.benchmarks.contact_hypothesis.plausible import plausible_rows
        from evenhand.flow.rows import check_configs, load_config, packaged_rows

        def plausible(rows: datasets.Dataset) -> datasets.Dataset:
            return rows if config.options.all_rows else plausible_rows(rows)

        setting = config.options.held_out
        if setting is None:
            return Rows(plausible(packaged_rows(self.card, config)))
        check_configs(self.card, config)
        return Rows(
            held_out_rows(
                setting,
                config.options.held_out_seed,
                config.configs,
                cache(lambda name: plausible(load_config(self.card, name, config.source, {}))),
            )
        )

    def filled(self, config: RunConfig[ContactOptions]) -> RunConfig[ContactOptions]:
        """The test of setting 2 is the new half."""
        new = config.options.held_out == "2" and not config.configs
        return super().filled(replace(config, configs=NEW) if new else config)

    def fitted(self, config: RunConfig[ContactOptions], models: Mapping[str, Model]) -> RunConfig[ContactOptions]:
        """As it is. Raises UsageError where a model can't take prompts to the letter, or keep to a schema, and must."""
        check_models(config.options, models)
        return config

    def prepare(self, predictions: pd.DataFrame) -> pd.DataFrame:
        from evenhand.benchmarks.contact_hypothesis.reading import prepared

        return prepared(predictions)

    def warnings(
        self, predictions: pd.DataFrame, table: FigureTable, config: RunConfig[ContactOptions]
    ) -> list[RunWarning]:
        from evenhand.benchmarks.contact_hypothesis.warnings import warnings

        return warnings(predictions, config)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.contact_hypothesis.examples import examples

        found = super().findings(predictions, results)
        return replace(found, sentences=(*found.sentences, *forced(results)), examples=examples(predictions))

    def differs(self, config: RunConfig[ContactOptions]) -> tuple[str, ...]:
        others = [name for name in config.configs if name not in self.card.default_configs]
        return (
            *([f"{', '.join(others)}: prompt sets that Table 3 is not of"] if others else []),
            *([] if config.source == "official" else ["descriptors of ours in place of HolisticBias's"]),
            *([] if config.options.all_rows else ["implausible crossings left out (--all-rows asks them)"]),
            *([] if config.options.held_out is None else [f"what setting {config.options.held_out} holds out alone"]),
            *config.unlike(self.card),
            *([UNLIKE_THE_PAPER] if config.options.constrain else []),
            *([] if config.options.layout == "published" else [OWN_LAYOUT]),
            *unlike_in_options(config.options),
        )


def _request(row: Row, contact: str, swapped: bool, how: Asking[ContactOptions]) -> Request:
    """The paper's prompt; swapped: both options in the other order, in the instruction and in the question's stem."""
    question = row[contact].replace(*STEM[row["scale"]]) if swapped and row["scale"] in STEM else row[contact]
    name = f"{row['id']}/{contact}" + ("/swapped" if swapped else "") + run_name(how.run)
    return question_request(name, question, row["options"], swapped, how)
