"""What a run's answers score: the metric of each configuration, and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.benchmarks.mllm_stereotypes.faces.pairs import faces_of
from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares
from evenhand.metrics.association_score.scores import association_score

NAMED = 5  # of those that a warning names


def score(predictions: pd.DataFrame, real_shares: Path | None) -> dict[str, Any]:
    """Each configuration's figures under `configs`; those of the only one at the top, too.

    real_shares: a file of shares in the world, which are kept beside the figures.
    """
    scored = {str(config): _of_config(of) for config, of in predictions.groupby("config", sort=False)}
    n, n_read = (sum(of[key] for of in scored.values()) for key in ("n", "n_read"))
    whole: dict[str, Any] = {"n": n, "n_read": n_read, "unread_rate": 1 - n_read / n}
    alone = len(scored) == 1
    if alone:
        [whole] = ({**of} for of in scored.values())
    whole["configs"] = scored
    whole["rehearsal"] = bool(predictions["rehearsal"].any())
    whole["warnings"] = [
        note if alone else f"{config}: {note}" for config, of in scored.items() for note in of["warnings"]
    ]
    if real_shares:
        whole["real_shares"] = read_real_shares(real_shares)
        whole["warnings"] += _unasked(whole["real_shares"], predictions["instance"].unique())
    return whole


def _of_config(predictions: pd.DataFrame) -> dict[str, Any]:
    """The metric's result for one configuration, and for pictures of things how often the first listed was chosen."""
    scenarios = predictions["scenario"].tolist()
    candidates = [list(each) for each in predictions["candidates"]]
    chosen = predictions["chosen"].fillna("").tolist()
    of_faces = scenarios[0] != "persona"
    scored: dict[str, Any] = association_score(
        chosen,
        attributes=predictions["attribute"].tolist(),
        scenarios=scenarios,
        instances=predictions["instance"].tolist(),
        candidates=candidates,
        clusters=predictions["pair"].tolist(),
        faces=[faces_of(pair) for pair in predictions["pair"]] if of_faces else None,
        positions=predictions["side"].fillna("").tolist() if of_faces else None,
        by={"shared": predictions["shared"].tolist()} if of_faces else None,
    )
    if not of_faces:
        read = [(offered[0], group) for offered, group in zip(candidates, chosen) if group]
        scored["first_listed_share"] = sum(first == group for first, group in read) / len(read) if read else None
    return scored


def _unasked(shares: Iterable[str], asked: Sequence[str]) -> list[str]:
    """What is said of shares in the world that stand beside nothing: a name may be written otherwise."""
    unasked = sorted(set(shares) - set(asked))
    if not unasked:
        return []
    more = f" and {len(unasked) - NAMED:,} more" if len(unasked) > NAMED else ""
    return [
        f"real shares that are not shown, for nothing was asked about these: {', '.join(unasked[:NAMED])}{more}; asked "
        f"about were {', '.join(asked)}"
    ]
