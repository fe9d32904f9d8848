"""The metrics of a run: how often answers are against what is right, and how often they follow polarity.

Where polarity gives the ideal answer (the agreeing items) both say the same; where it doesn't (the differing ones) they
part, and tell one from the other.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from evenhand.benchmarks.contact_controls.cells import AGREEING, CELLS, DIFFERING
from evenhand.benchmarks.contact_controls.polarity import verdict_of
from evenhand.benchmarks.contact_hypothesis.options import QuestionOptions
from evenhand.benchmarks.position_sensitivity import order_figures
from evenhand.flow.configuration import RunConfig
from evenhand.statistics.clustered import clustered_mean
from evenhand.statistics.resampling import about_clusters, n_clusters_of

PERCENT = (0.0, 100.0)
PARTS = {True: AGREEING, False: DIFFERING}
ORDER_COLUMNS = ("first_listed_share", "first_option_probability_paper_order", "first_option_probability_swapped")
CHANCE = 50.0  # of random answers, and of constant ones where all items are asked
CONSTANT = 0.99  # from this share of one answer on, what was asked had no part in it


def score(predictions: pd.DataFrame, config: RunConfig[QuestionOptions]) -> dict[str, Any]:
    """Percentages of read answers, overall and in `by` kind, part, action and cell (action × part); `polarity`: what
    `verdict_of` says.
    """
    part = predictions["agrees"].astype(bool).map(PARTS)
    cell = pd.Series([CELLS[each] for each in zip(predictions["action"], part)], predictions.index)
    metrics = _figures(predictions) | {
        "chance": CHANCE,
        "constant_answer": _constant_answer(predictions),
        "by": {
            "kind": _by(predictions, predictions["kind"]),
            "part": _by(predictions, part),
            "action": _by(predictions, predictions["action"]),
            "cell": _by(predictions, cell),
            "options": _by(predictions, predictions["options"]),
        },
    }
    metrics["polarity"] = verdict_of(metrics)
    if config.options.order == "balanced":
        metrics["order"] = _order(predictions)
        metrics["position_sensitivity"] = metrics["order"]["overall"]["position_sensitivity"]
    metrics["warnings"] = _warnings(metrics)
    return metrics


def percent(values: pd.Series) -> pd.Series:
    """Booleans as 100 and 0, unread ones as NaN."""
    known = values.astype("boolean").astype("Float64").to_numpy(dtype=float, na_value=math.nan)
    return pd.Series(100 * known, index=values.index)


def _figures(some: pd.DataFrame) -> dict[str, Any]:
    """Of these items, in percent of read answers, with 95 % intervals over items.

    n_of: how many are of either part. worst_case, best_case: `against_ideal` had all unread answers been wrong, or
    right. constant: `against_ideal` of a model that always says yes, or always no.
    """
    against, follows = percent(some["against_ideal"]), percent(some["follows_polarity"])
    agrees = some["agrees"].astype(bool)
    means = {
        "against_ideal": clustered_mean(against, some["item"], PERCENT),
        "affirming": clustered_mean(percent(some["affirms"]), some["item"], PERCENT),
    }
    parts = {
        name: clustered_mean(follows[agrees == value], some["item"][agrees == value], PERCENT)
        for value, name in PARTS.items()
    }
    n, n_read, n_against = len(some), means["against_ideal"].n, float((against == 100).sum())
    right_to_affirm = 100 * float((some["ideal"] == some["affirming"]).mean())
    return {
        "n": n,
        "n_read": n_read,
        "n_of": {name: int((agrees == value).sum()) for value, name in PARTS.items()},
        "unread_rate": (n - n_read) / n,
        **{key: mean.estimate for key, mean in means.items()},
        "follows_polarity": {name: mean.estimate for name, mean in parts.items()},
        "worst_case": 100 * (n_against + n - n_read) / n,
        "best_case": 100 * n_against / n,
        "constant": {"affirming": 100 - right_to_affirm, "declining": right_to_affirm},
        **n_clusters_of(some["item"].factorize()[0], some["answer"].notna().to_numpy()),
        "intervals": {
            **{key: [mean.low, mean.high] for key, mean in means.items()},
            "follows_polarity": {name: [mean.low, mean.high] for name, mean in parts.items()},
        },
    }


def _by(predictions: pd.DataFrame, values: pd.Series) -> dict[str, dict[str, Any]]:
    return {str(value): _figures(some) for value, some in predictions.groupby(values, sort=False)}


def _constant_answer(predictions: pd.DataFrame) -> str | None:
    """The word that nearly all read answers are, of the two that most items have, though either was right of some."""
    read = predictions[predictions["answer"].notna()]
    read = read[read["options"].isin(read["options"].mode().head(1))]
    if read["ideal"].nunique() < 2:
        return None
    shares = read["answer"].value_counts(normalize=True)
    return str(shares.index[0]) if shares.iloc[0] >= CONSTANT else None


def _order(predictions: pd.DataFrame) -> dict[str, Any]:
    """What the order of the options decides, overall and for each kind, where both orders were asked."""

    def of(some: pd.DataFrame) -> dict[str, Any]:
        share, listed, swapped = (pd.to_numeric(some[column]) for column in ORDER_COLUMNS)
        return order_figures(share, listed, swapped, some["item"])

    return {"overall": of(predictions)} | {
        str(kind): of(some) for kind, some in predictions.groupby("kind", sort=False)
    }


def _warnings(metrics: dict[str, Any]) -> list[str]:
    if not metrics["n_read"]:
        return ["no read answer: there is no score"]
    notes = about_clusters(metrics["n_clusters"])
    if metrics["constant_answer"]:
        notes.append(
            f"nearly every answer is {metrics['constant_answer']!r} where that was an option: the score is then the "
            "share of items of which it is wrong, whatever the model knows"
        )
    return notes
