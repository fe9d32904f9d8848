"""What a model must still be able to do: plain questions, neutral texts, and not refusing either.

After Raj et al. (AIES 2024), who answer WikiMovies' questions before and after debiasing; the questions are ours, and
answers are greedy where the paper samples at temperature 0.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark, Card, Part, Row
from evenhand.benchmarks.utility.reading import continuation_request, prediction, question_of
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prediction, derive_seed, run_name
from evenhand.models.request import Message, Reply, Request, Sampling
from evenhand.options import NoOptions

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.collected import Collection, Definition
    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings


class Utility(Benchmark[NoOptions]):
    card = Card(
        name="utility",
        title="What a model can still do",
        paper="questions of ours, after Raj et al., Breaking Bias, Building Bridges (AIES 2024)",
        dataset="utility",
        configs=("questions", "texts"),
        metric="",
        clusters=("row",),
        design=("topic",),
        protocols=("generate",),
        sampling=Sampling(temperature=0.0, max_new_tokens=24),
    )

    def ask(self, row: Row, how: Asking[NoOptions]) -> list[Request]:
        """A question as it stands; of a text, how likely it is after its first sentence."""
        name = row["id"] + run_name(how.run)
        question = question_of(row)
        if question is None:
            return [continuation_request(name, row["text"])]
        seed = derive_seed(how.seed, name)
        return [Request((Message("user", question),), sampling=how.sampling, seed=seed, name=name)]

    def read(self, row: Row, replies: Sequence[Reply], how: Asking[NoOptions]) -> list[Prediction]:
        return [prediction(row, replies, how)]

    def value(self, prediction: Mapping[str, Any]) -> float | None:
        """1 where a question was not answered right, else 0; None of texts, and of requests that failed."""
        outcome = prediction["outcome"]
        return None if outcome is None else float(outcome != "correct")

    def check(self, config: RunConfig[NoOptions]) -> None:
        if config.source != "evenhand":
            raise UsageError(f"{self.card.name} has rows of ours alone: --source evenhand is accepted")

    def fitted(self, config: RunConfig[NoOptions], models: Mapping[str, Model]) -> RunConfig[NoOptions]:
        """Raises UsageError where texts are to be scored by a model that gives no log-probabilities."""
        for model in models.values():
            if "texts" in config.configs and not {"choose", "continue"} <= model.can:
                raise UsageError(
                    f"{model.name} can't score how a text goes on, so it has no perplexity; --config questions is "
                    "accepted with it"
                )
        return config

    def score(self, predictions: pd.DataFrame, config: RunConfig[NoOptions]) -> dict[str, Any]:
        from evenhand.benchmarks.utility.scoring import score

        return score(predictions)

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        from evenhand.benchmarks.utility.findings import findings

        return findings(predictions, results)

    def headline(self, metrics: Mapping[str, Any]) -> float | None:
        """None: no figure of it is a bias, so it ranks no models by one."""
        return None

    def figures(self, metrics: Mapping[str, Any]) -> tuple[Figure, ...]:
        """No measure of bias: what a lower one may have cost."""
        return (
            Figure.of(metrics, "accuracy", name="plain questions right, %", chance=None, best="100 is best"),
            Figure.of(metrics, "refusal_rate", name="refused, %", chance=None),
            Figure.of(metrics, "perplexity", name="perplexity of neutral texts", chance=None, best="low is best"),
        )

    def collects(self) -> tuple[Definition, ...]:
        from evenhand.benchmarks.utility.collected import ACCURACY, REFUSALS

        return (ACCURACY, REFUSALS)

    def collected(self, results: Results, predictions: pd.DataFrame) -> Collection:
        from evenhand.benchmarks.utility.collected import collection

        return collection(results)

    def part(self, model: Model, options: Mapping[str, object]) -> Part:
        """Of a model that can't say how likely a text goes on as it does, the questions alone."""
        if {"choose", "continue"} <= model.can:
            return Part()
        why = f"{model.name} gives no log-probabilities of texts"
        return Part({"configs": ("questions",)}, ("all but questions", why))

    def comparison(self) -> Comparison:
        from evenhand.benchmarks.utility.comparison import Kept

        return Kept()
