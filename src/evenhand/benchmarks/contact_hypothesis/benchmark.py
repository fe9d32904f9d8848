"""Social bias under intergroup contact (Raj et al., "Breaking Bias, Building Bridges", AIES 2024).

Each prompt set asks one question three times: after no contact, after positive and after negative contact. The paper
scores the two options of the question's scale instead of generating, and takes the one with the higher mean
log-probability per token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Comparison, Figure, HubTasks, Row, Rows, Target
from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import NEW
from evenhand.benchmarks.contact_hypothesis.options import ContactOptions
from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS, STEM
from evenhand.benchmarks.contact_hypothesis.published import PUBLISHED
from evenhand.benchmarks.contact_hypothesis.questions import check_asking, check_models, question_request
from evenhand.benchmarks.forced_format import UNLIKE_THE_PAPER
from evenhand.benchmarks.option_order import unlike_in_options
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Reply, Request, Sampling

if TYPE_CHECKING:
    import datasets
    import pandas as pd

    from evenhand.collected import Collection, Definition, SingleAnswer
    from evenhand.flow.results import Results
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
        cluster="situation",
        interval="Student's t in log-odds, errors clustered by situation and by descriptor",
        design=("scale", "template", "situation", "principle", "scenario", "action", "scale × action", "axis"),
        protocols=("choose", "generate"),
        sampling=Sampling(max_new_tokens=16),
        shares=True,
    )
    Options = ContactOptions

    def ask(self, row: Row, how: Asking[ContactOptions]) -> list[Request]:
        """The paper's prompt after each contact, in each order of the options."""
        return [_request(row, contact, swapped, how) for contact in CONTACTS for swapped in how.options.swaps]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[ContactOptions]) -> list[Prediction]:
        """One prediction for each contact; `biased` is None where no answer, or more than one, was given."""
        from evenhand.benchmarks.contact_hypothesis.reading import predictions

        return predictions(row, replies, how)

    def value(self, prediction: Mapping[str, Any]) -> float | None:
        """Probability of the biased answer, in [0, 1]; of what was generated, 1 for biased and 0 for unbiased.

        None where the answer is unread. `score` and `comparison` count answers, as the paper does; this is smoother.
        """
        biased = prediction["biased"]
        if biased is None:
            return None
        probability = prediction.get("probability", 1.0)  # of the answer given
        return float(probability if biased else 1 - probability)

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

    def score(self, predictions: pd.DataFrame, config: RunConfig[ContactOptions]) -> dict[str, Any]:
        from evenhand.benchmarks.contact_hypothesis.scoring import score

        return score(predictions, config)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.contact_hypothesis.findings import findings

        return findings(predictions, results)

    def headline(self, metrics: Mapping[str, Any]) -> float | None:
        """Percentage of biased responses."""
        percentage: float | None = metrics["biased_percentage"]["overall"]
        return percentage

    def figures(self, metrics: Mapping[str, Any]) -> tuple[Figure, ...]:
        """Of each scale: their answers are other words, and a model may be constant on one of them."""
        return tuple(
            Figure.of(group, "biased_percentage", "overall", name=f"{scale}: biased answers, %", chance=50.0)
            for scale, group in metrics["by"]["scale"].items()
        )

    def hub_tasks(self) -> HubTasks:
        from evenhand.benchmarks.contact_hypothesis.hub_tasks import hub_tasks

        return hub_tasks()

    def collects(self) -> tuple[Definition, ...]:
        from evenhand.benchmarks.contact_hypothesis.collected import BIASED

        return (BIASED,)

    def collected(self, results: Results, predictions: pd.DataFrame) -> Collection:
        from evenhand.benchmarks.contact_hypothesis.collected import collection

        return collection(self.card, results, predictions)

    def single_answer(self, prediction: Mapping[str, Any]) -> SingleAnswer | None:
        from evenhand.benchmarks.contact_hypothesis.collected import single_answer

        return single_answer(prediction)

    def comparison(self) -> Comparison:
        from evenhand.benchmarks.contact_hypothesis.comparison import BiasedPercentages

        return BiasedPercentages()

    def published(self, config: RunConfig[ContactOptions]) -> dict[str, Any]:
        return {} if config.limit is not None or self.differs(config) else PUBLISHED

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
