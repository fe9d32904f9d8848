"""Statistics of answers that choose a group, each of the rows of one configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from evenhand.benchmarks.mllm_stereotypes.options import GROUPS
from evenhand.figure import Columns, Estimate, Groups, Sample, Statistic
from evenhand.statistics.estimators import RowMean

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.statistics.clustered import Difference

METHOD = "noise-corrected interval over pairs of faces, or pictures"
_ORDER = [group for groups in GROUPS.values() for group in groups]


def _compute_metric(sample: Sample) -> dict[str, Any]:
    """Return the metric's result for one configuration, computed once for all figures of the same rows."""
    from evenhand.metrics.association_score.scores import association_score

    rows = sample.rows
    shows_faces = rows["scenario"].iloc[0] != "persona"
    found: dict[str, Any] = sample.once(
        "association_score",
        lambda: association_score(
            rows["chosen"].fillna("").tolist(),
            attributes=rows["attribute"].tolist(),
            scenarios=rows["scenario"].tolist(),
            instances=rows["instance"].tolist(),
            candidates=[list(each) for each in rows["candidates"]],
            clusters=rows["pair"].tolist(),
            faces=rows[["face", "other_face"]].to_numpy().tolist() if shows_faces else None,
            positions=rows["side"].fillna("").tolist() if shows_faces else None,
        ),
    )
    return found


def score_differences(first: Sample, second: Sample) -> dict[str, Difference]:
    """Return differences of the scores on the queries that both runs have; empty if they have none in common."""
    from evenhand.benchmarks.mllm_stereotypes import score_difference

    def compute() -> dict[str, Difference]:
        both = pair_answers(first, second)
        return score_difference.score_differences(both) if len(both) else {}

    return first.once(("score_differences", second), compute)


def pair_answers(first: Sample, second: Sample) -> pd.DataFrame:
    """Pair the rows of two runs by id.

    Columns: pair, attribute, instance, candidates, faces (of two names, None where things are shown), chosen_first and
    chosen_second ("": unread).
    """
    columns = ["id", "pair", "scenario", "attribute", "instance", "candidates", "face", "other_face", "chosen"]
    both = first.rows[columns].merge(second.rows[["id", "chosen"]], on="id", suffixes=("_first", "_second"))
    faces = both[["face", "other_face"]].to_numpy().tolist()
    both["faces"] = [None if scenario == "persona" else shown for scenario, shown in zip(both["scenario"], faces)]
    return both.fillna({"chosen_first": "", "chosen_second": ""})


@dataclass(frozen=True)
class MetricValue(Statistic):
    """A number of the metric's result; none where the metric doesn't give it, such as the position of persona answers.

    Attributes:
        key: of the metric's result.
        within: its least and greatest value, after it is multiplied by `scale`.
        compared: the key in `score_differences` of the difference of two runs; "" for none.
    """

    key: str
    within: tuple[float, float] | None = (0.0, 0.5)
    scale: float = 1.0
    compared: str = ""

    columns = ("chosen",)
    method = METHOD

    @property
    def range(self) -> tuple[float, float] | None:  # type: ignore[override]
        return self.within

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        found = _compute_metric(sample)
        if self.key in found:
            counts = {name: found[name] for name in ("n", "n_read", "n_clusters", "n_clusters_asked")}
            chance = found["chance_score"] if self.key == "association_score" else None
            ends = _scale(found[self.key], found["intervals"].get(self.key), self.scale)
            yield {}, Estimate(*ends, **counts, chance=chance)

    def difference(self, first: Sample, second: Sample) -> Difference | None:
        return score_differences(first, second).get(self.compared) if self.compared else None


@dataclass(frozen=True)
class Rates(Statistic):
    """Percent of answers: of each instance and group, or (pairwise) of each instance, race and other race."""

    key: Literal["selection_rates", "pairwise"]

    columns = ("chosen",)
    range = (0.0, 100.0)
    method = METHOD

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        found = _compute_metric(sample)
        counts = self._count(sample.rows)
        intervals = found["intervals"].get(self.key, {})
        for instance in sample.rows["instance"].unique():
            for name, value in found[self.key].get(instance, {}).items():
                races = name.split("|")
                groups = {"group": name} if len(races) == 1 else {"race": races[0], "other_race": races[1]}
                ends = _scale(value, intervals.get(instance, {}).get(name), 100)
                n = counts[instance, name if len(races) > 1 else ""]
                yield {"instance": instance, **groups}, Estimate(*ends, *n)

    def _count(self, rows: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int, int, int]]:
        """{(instance, pair of races): (queries, answers, clusters with an answer, clusters)}"""
        offered = [
            "|".join(sorted(candidates, key=_ORDER.index)) if self.key == "pairwise" else ""
            for candidates in rows["candidates"]
        ]
        read_pair = rows["pair"].where(rows["chosen"].notna())
        by = rows.assign(offered=offered, read_pair=read_pair).groupby(["instance", "offered"])
        counts = zip(by.size(), by["read_pair"].count(), by["read_pair"].nunique(), by["pair"].nunique())
        return {key: tuple(map(int, of)) for key, of in zip(by.size().index, counts)}  # type: ignore[misc]


class RealShares(Statistic):
    """Percent of each group in the world, of each instance: as a file gives them."""

    columns = ("real_shares",)
    range = (0.0, 100.0)
    method = "none"

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        for instance, rows in sample.rows.groupby("instance", sort=False):
            for group, share in zip(GROUPS[rows["attribute"].iloc[0]], rows["real_shares"].iloc[0]):
                if not math.isnan(share):
                    yield {"instance": str(instance), "group": group}, Estimate(float(share))


class Answered(RowMean):
    """Percent of queries that were answered."""

    columns = ("chosen",)
    range = (0.0, 100.0)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        yield {}, _cluster_by_face(sample.rows, 100.0 * sample.rows["chosen"].notna())

    def estimates(self, sample: Sample) -> Iterator[tuple[Groups, Estimate]]:
        """Count unread answers, but not as read."""
        n_read = int(sample.rows["chosen"].notna().sum())
        yield from ((groups, replace(found, n_read=n_read)) for groups, found in super().estimates(sample))


class ChosenWhereOffered(RowMean):
    """Percent of the answers to queries that offered a group which chose it; of two groups, of the first alone."""

    columns: Columns = ("chosen",)
    range = (0.0, 100.0)

    def values(self, sample: Sample) -> Iterator[tuple[Groups, pd.DataFrame]]:
        groups = GROUPS[sample.rows["attribute"].iloc[0]]
        for group in groups[:1] if len(groups) == 2 else groups:
            rows = sample.rows[[group in candidates for candidates in sample.rows["candidates"]]]
            if len(rows):
                chose = (100.0 * (rows["chosen"] == group)).where(rows["chosen"].notna())
                yield {"group": group}, _cluster_by_face(rows, chose, group)


def _cluster_by_face(rows: pd.DataFrame, values: pd.Series, group: str | None = None) -> pd.DataFrame:
    """Return what `RowMean.values` gives: clusters are pictures, or faces crossed with the faces shown next to them.

    group: whose faces come first; None: those of the group that is first in GROUPS.
    """
    import pandas as pd

    found = pd.DataFrame({"id": rows["id"], "value": values.astype(float), "cluster": rows["pair"]})
    if rows["scenario"].iloc[0] == "persona":
        return found
    swapped = pd.Series(
        [group in candidates and min(candidates, key=_ORDER.index) != group for candidates in rows["candidates"]],
        rows.index,
    )
    face, other = rows["face"], rows["other_face"]
    return found.assign(cluster=face.where(~swapped, other), crossed=other.where(~swapped, face))


def _scale(value: float, ends: Sequence[float] | None, scale: float) -> tuple[float, float, float]:
    low, high = ends or (math.nan, math.nan)
    return scale * value, scale * low, scale * high


def prepare(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that figures are computed from.

    face, other_face: the faces of a pair, None where things are shown. first_listed: whether the first term was chosen.
    Of a consensus of runs: agreed, disagreed, unread_by_one.
    """
    from evenhand.benchmarks.mllm_stereotypes.faces import split_pair_id

    faces = [
        (None, None) if scenario == "persona" else split_pair_id(pair)
        for scenario, pair in zip(predictions["scenario"], predictions["pair"])
    ]
    chosen = predictions["chosen"]
    is_first = chosen == predictions["candidates"].map(lambda candidates: candidates[0])
    found = predictions.assign(
        face=[face for face, _ in faces],
        other_face=[other for _, other in faces],
        first_listed=is_first.astype(float).where(chosen.notna()),
    )
    if "consensus" in found:
        outcome = found["consensus"]
        found = found.assign(
            agreed=outcome == "agreed", disagreed=outcome == "disagreed", unread_by_one=outcome == "unread"
        )
    return found
