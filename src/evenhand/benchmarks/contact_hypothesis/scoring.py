"""The metrics of a run: the packaged metric's, and what the order of the options decides."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evenhand.benchmarks.contact_hypothesis.options import ContactOptions
from evenhand.benchmarks.contact_hypothesis.uneven_actions import notes
from evenhand.benchmarks.position_sensitivity import order_figures
from evenhand.flow.configuration import RunConfig
from evenhand.metrics.contact_bias.scores import contact_bias

BY = ("scale", "axis", "scenario", "principle", "action")


def score(predictions: pd.DataFrame, config: RunConfig[ContactOptions]) -> dict[str, Any]:
    by = {name: _values(predictions[name]) for name in BY}
    by["axis × scenario"] = _values(predictions["axis"] + " × " + predictions["scenario"])
    metrics: dict[str, Any] = contact_bias(
        _values(predictions["answer"].fillna("")),  # not the text: what was cut off before an answer is unread
        scales=by["scale"],
        contacts=_values(predictions["contact"]),
        actions=by["action"],
        clusters=_values(predictions["situation"]),
        strata=by["action"],
        crossed=_values(predictions["descriptor"]),
        pairs=_values(predictions["row"]),
        probabilities=predictions["probability"].tolist() if config.protocol == "choose" else None,
        by=by,
    )
    metrics["warnings"] += [*_cut_off(predictions, config), *notes(metrics)]
    if config.options.order == "balanced":
        metrics["order"] = _order(predictions)
        metrics["position_sensitivity"] = metrics["order"]["overall"]["position_sensitivity"]
    return metrics


def _cut_off(predictions: pd.DataFrame, config: RunConfig[ContactOptions]) -> list[str]:
    cut = int((predictions["answer"].isna() & (predictions["finish_reason"] == "length")).sum())
    if not cut:
        return []
    return [
        f"{cut:,} of {len(predictions):,} replies ended at the limit of {config.max_new_tokens} tokens before they "
        "came to an answer, and are unread; a higher --max-new-tokens lets them come to one"
    ]


def _values(column: pd.Series) -> list[Any]:
    """Equal values are one object: a list of texts of their own would take several times the memory."""
    codes, found = pd.factorize(column, use_na_sentinel=False)
    different = found.tolist()
    return [different[code] for code in codes]


def _order(predictions: pd.DataFrame) -> dict[str, Any]:
    """What the order of the options decides, overall and for each scale, where both orders were asked."""

    def of(some: pd.DataFrame) -> dict[str, Any]:
        paper, swapped = some["affirming_probability_paper_order"], some["affirming_probability_swapped"]
        return order_figures(some["first_listed_share"], paper, swapped, some["situation"])

    return {"overall": of(predictions)} | {
        str(scale): of(some) for scale, some in predictions.groupby("scale", sort=False)
    }
