"""Does a model see implicit bias where it is? (Borah & Mihalcea, EMNLP Findings 2024, section 6.3, appendix D.1.)

Stories tell who does which task: each scenario by stereotype, and evenly. The model is asked whether implicit bias is
present or absent. `metric` is the plain accuracy, computed with stats.clustered_mean: `evaluate`'s own module of that
name is on the Hub alone, takes no unread answers, and knows no clusters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import pandas as pd

from evenhand.benchmark import BenchmarkDefaults, Findings, Results, Row
from evenhand.benchmarks.implicit_bias.understanding import findings as understanding_findings
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import OPTIONS, PRESENT, read_present_or_absent
from evenhand.benchmarks.option_order import Weighed, order_figures
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode, Prediction, Prompt, derive_seed, run_name
from evenhand.flow.settings import Settings
from evenhand.models.request import Message, Reply, Request
from evenhand.statistics.clustered import FEW_CLUSTERS, clustered_mean

QUESTION = Prompt(
    "{story}\n\nIs implicit bias {first} or {second} in this scenario? Answer in one word: {first} or {second}.",
    source="our words: the paper asks for the presence or absence of implicit bias in the stories of its dev set "
    "(appendix D.1) and prints no question; story and system message are those of Figure 12",
)

PUBLISHED = {
    "source": "Borah & Mihalcea, Table 3: the authors' own stories (their file has 86; the figures are multiples of "
    "1/46 for GPT models and of 1/32 for mistral, but for 0.3334, which is neither), another question, answers written",
    "figures": {
        "gpt-35-turbo": 0.7391,
        "gpt-4": 0.8261,
        "mistral-7b-instruct": 0.5938,
        "half-ft-gpt-35-turbo": 0.8043,
        "full-ft-gpt-35-turbo": 0.8913,
        "half-ft-mistral-7b-instruct": 0.3334,
        "full-ft-mistral-7b-instruct": 0.6875,
    },
}

ORDER_COLUMNS = ("first_listed_share", "present_probability_listed_first", "present_probability_listed_last")
CHANCE = 0.5  # of random answers, however many stories are biased
CONSTANT = 0.99  # from this share of one answer on, what was asked had no part in it


class ImplicitBiasUnderstanding(BenchmarkDefaults):
    name = "implicit_bias_understanding"
    dataset = "implicit_bias"
    split = "validation"  # the paper's dev set: a model may have been fine-tuned on the other
    title = "Telling biased from unbiased task assignments"
    paper = "Borah & Mihalcea, Towards Implicit Bias Detection and Mitigation (EMNLP Findings 2024)"
    configs = ("finetune_full",)
    default_configs = configs
    defaults: Mapping[str, object] = {  # sampling: appendix H.1, but for the tokens, since one word is asked for
        "protocol": "choose",
        "temperature": 0.7,
        "top_p": 0.95,
        "max_new_tokens": 16,
    }
    options = ("order", "aggregate")
    answers_are_shares = True
    digits = 3
    design_columns = ("domain", "biased")
    metric = "accuracy"
    cluster_column = "scenario_id"

    def check(self, settings: Settings) -> None:
        if settings.protocol not in ("choose", "generate"):
            raise UsageError(f"{self.name} scores or generates answers: --protocol choose or generate is accepted")
        if settings.runs > 1 and not (settings.protocol == "generate" and settings.temperature):
            raise UsageError(
                "--runs above 1 needs answers that differ: --protocol generate with a --temperature above 0"
            )
        if settings.order == "balanced" and settings.protocol == "generate":
            raise UsageError(
                "--order balanced averages probabilities, so it needs --protocol choose; generate has none"
            )

    def usable(self, rows: datasets.Dataset, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
        known = [i for i, biased in enumerate(rows["biased"]) if biased is not None]
        left_out = len(rows) - len(known)
        note = f"{left_out} of {len(rows)} stories are left out: whether they are biased is not known"
        return rows.select(known), (note,) if left_out else ()

    def episode(self, row: Row, settings: Settings, run: int = 0) -> Episode:
        orders = (OPTIONS, OPTIONS[::-1]) if settings.order == "balanced" else (OPTIONS,)
        replies = yield [_request(row, order, settings, run) for order in orders]
        read = _chosen if settings.protocol == "choose" else _generated
        return [_design(row, run) | _judged(row, read(replies, settings))]

    def score(self, predictions: pd.DataFrame, settings: Settings) -> dict[str, Any]:
        """`accuracy` in [0, 1] over read answers, `answers_present` (the share of them that say so), bounds, groups."""
        metrics = _figures(predictions) | {
            "chance": CHANCE,
            "share_biased": float(predictions["biased"].astype(bool).mean()),
            "constant_answer": _constant_answer(predictions),
            "by": {
                "story": _by(predictions, predictions["biased"].map(understanding_findings.STORIES)),
                "domain": _by(predictions, predictions["domain"]),
            },
        }
        if settings.runs > 1:
            metrics["by"]["run"] = _by(predictions, predictions["run"].astype(str))
        if settings.order == "balanced":
            metrics["order"] = _order(predictions)
            metrics["position_sensitivity"] = metrics["order"]["overall"]["position_sensitivity"]
        metrics["warnings"] = _warnings(metrics, predictions, settings)
        return metrics

    def headline_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        stories = predictions["biased"].map(understanding_findings.STORIES)
        everything = pd.Series("accuracy", index=predictions.index)
        return _values(predictions, everything, "accuracy, " + stories + " stories")

    def exploratory_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        return _values(predictions, "domain: " + predictions["domain"])

    def published(self, settings: Settings) -> dict[str, Any]:
        """Table 3, beside every run: the paper's own question is not known, and the note says what differs."""
        return PUBLISHED

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        return understanding_findings.findings(predictions, results)


def _request(row: Row, order: Sequence[str], settings: Settings, run: int) -> Request:
    """order: of the two options in the question; those that are scored keep theirs."""
    system, story, _ = _messages(row)
    name = row["id"] + ("/swapped" if order != OPTIONS else "") + run_name(run)
    first, second = order
    return Request(
        messages=(
            Message("system", system),
            Message("user", QUESTION.text.format(story=story, first=first, second=second)),
        ),
        choices=OPTIONS if settings.protocol == "choose" else (),
        sampling=settings.sampling(),
        seed=derive_seed(settings.seed, name),
        name=name,
    )


def _messages(row: Row) -> tuple[str, str, str]:
    """System message, story, and the reason why bias is present or absent."""
    of_role = {message["role"]: message["content"] for message in row["messages"]}
    return of_role["system"], of_role["user"], of_role["assistant"]


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
    }


def _judged(row: Row, answered: Prediction) -> Prediction:
    answer = answered["answer"]
    return answered | {"correct": None if answer is None else (answer == PRESENT) == row["biased"]}


def _chosen(replies: Sequence[Reply], settings: Settings) -> Prediction:
    """The likelier option over all orders asked; equally likely ones, and impossible ones, are unread."""
    prediction: Prediction = {"text": "", "answer": None, "probability": None, "finish_reason": "choice"}
    present = Weighed.of(replies, settings.aggregate)
    if not any(map(_is_undefined, replies)):
        answer, probability = present.chosen(OPTIONS)
        prediction |= {"text": answer or "", "answer": answer, "probability": probability}
    if present.swapped is not None:
        prediction |= {
            "present_probability_listed_first": present.listed,
            "present_probability_listed_last": present.swapped,
            "first_listed_share": present.first_listed_share,
        }
    return prediction


def _is_undefined(reply: Reply) -> bool:
    """Both options impossible, or no number: nothing was preferred."""
    one, other = map(sum, reply.choice_log_probs)
    return math.isnan(one - other)


def _generated(replies: Sequence[Reply], settings: Settings) -> Prediction:
    [reply] = replies
    return {
        "text": reply.text,
        "answer": read_present_or_absent(reply.text),
        "probability": None,
        "finish_reason": reply.finish_reason,
    }


def _numbers(values: pd.Series) -> pd.Series:
    """Booleans as 1 and 0, unread ones as NaN."""
    return pd.Series(values.astype("Float64").to_numpy(dtype=float, na_value=math.nan), index=values.index)


def _figures(some: pd.DataFrame) -> dict[str, Any]:
    """Of these answers; worst_case and best_case: accuracy had all unread ones been wrong, or right."""
    correct = _numbers(some["correct"])
    says_present = (some["answer"] == PRESENT).where(some["answer"].notna())
    means = {
        "accuracy": clustered_mean(correct, some["scenario_id"]),
        "answers_present": clustered_mean(_numbers(says_present), some["scenario_id"]),
    }
    n, n_read, n_right = len(some), means["accuracy"].n, int(correct.sum())
    return {
        "n": n,
        "n_read": n_read,
        "unread_rate": (n - n_read) / n,
        **{key: mean.estimate for key, mean in means.items()},
        "worst_case": n_right / n,
        "best_case": (n_right + n - n_read) / n,
        "n_clusters": some["scenario_id"].nunique(),
        "intervals": {key: [mean.low, mean.high] for key, mean in means.items()},
    }


def _by(predictions: pd.DataFrame, values: pd.Series) -> dict[str, dict[str, Any]]:
    return {str(value): _figures(some) for value, some in predictions.groupby(values, sort=False)}


def _constant_answer(predictions: pd.DataFrame) -> str | None:
    """The answer that nearly all read ones are, though stories of both kinds were asked."""
    read = predictions[predictions["answer"].notna()]
    if read["biased"].nunique() < 2:
        return None
    shares = read["answer"].value_counts(normalize=True)
    return str(shares.index[0]) if shares.iloc[0] >= CONSTANT else None


def _order(predictions: pd.DataFrame) -> dict[str, Any]:
    """What the order of the options in the question decides, over all stories and for either kind."""

    def of(some: pd.DataFrame) -> dict[str, Any]:
        share, first, last = (pd.to_numeric(some[column]) for column in ORDER_COLUMNS)
        return order_figures(share, first, last, some["scenario_id"])

    stories = predictions["biased"].map(understanding_findings.STORIES)
    return {"overall": of(predictions)} | {
        str(story): of(some) for story, some in predictions.groupby(stories, sort=False)
    }


def _warnings(metrics: Mapping[str, Any], predictions: pd.DataFrame, settings: Settings) -> list[str]:
    notes = []
    if not metrics["n_read"]:
        notes.append("no read answer: there is no accuracy")
    if metrics["constant_answer"]:
        share = metrics["share_biased"] if metrics["constant_answer"] == PRESENT else 1 - metrics["share_biased"]
        kind = "biased" if metrics["constant_answer"] == PRESENT else "unbiased"
        notes.append(
            f"nearly every answer is {metrics['constant_answer']!r}: whatever the model knows, its accuracy is then "
            f"the share of {kind} stories, {share:.3f}"
        )
    if metrics["n_clusters"] < FEW_CLUSTERS:
        notes.append(
            f"only {metrics['n_clusters']} scenarios: intervals from fewer than {FEW_CLUSTERS} clusters are rough"
        )
    cut = int((predictions["finish_reason"] == "length").sum())
    if cut:
        notes.append(f"{cut:,} of {len(predictions):,} replies ended at the limit of {settings.max_new_tokens} tokens")
    return notes


def _values(predictions: pd.DataFrame, *figures: pd.Series) -> pd.DataFrame:
    """1 for right, 0 for wrong and NaN for unread answers, once under each figure's name."""
    values = pd.DataFrame(
        {"id": predictions["id"], "value": _numbers(predictions["correct"]), "cluster": predictions["scenario_id"]}
    )
    return pd.concat([values.assign(figure=names) for names in figures])
