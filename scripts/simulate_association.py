"""How well intervals of association scores, and of their paired differences, cover: rows of a Markdown table.

Made-up answers about gender, ten instances, each pair shown in both orders, as the benchmark asks. True shares are as
far from even in every instance as the score is high, in either direction. Faces have an appeal of their own to each
run, which decides some answers, whatever their group. 500 data sets a row.

python scripts/simulate_association.py [--pairs 240] [--data-sets 500]
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from evenhand.benchmarks.mllm_stereotypes.score_difference import score_differences
from evenhand.metrics.association_score.scores import association_score

INSTANCES = 10
ORDERS = 2
SIDES = np.array(["male", "female", ""], dtype=object)
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """True scores of both runs. unread: share of the second's answers. faces: of each gender; 0: each pair has its own.

    appeal: standard deviation of what a face adds to the share of its group, anew for each run and instance. level:
    whether the first run's score is looked at, too.
    """

    pairs: int
    first: float
    second: float
    unread: float = 0.0
    faces: int = 0
    appeal: float = 0.0
    level: bool = False

    @property
    def told(self) -> str:
        shown = f", {self.faces} faces a gender of appeal {self.appeal}" if self.faces else ""
        return f"{self.pairs:,} pairs, {self.first} to {self.second}{shown}" + (
            f", {100 * self.unread:.0f} % unread" if self.unread else ""
        )


def designs(pairs: int, all_changes: bool) -> Iterator[Design]:
    few = max(20, pairs // 12)
    yield Design(pairs, 0.1, 0.0, level=True)
    yield Design(pairs, 0.0, 0.0, level=True)
    yield Design(pairs, 0.1, 0.0, faces=few, appeal=0.12)
    yield Design(pairs, 0.1, 0.1, faces=few, appeal=0.12)
    yield Design(pairs, 0.0, 0.0, faces=few, appeal=0.12, level=True)
    yield Design(pairs, 0.1, 0.05)
    yield Design(pairs, 0.25, 0.1)
    if all_changes:
        yield Design(pairs, 0.1, 0.1)
        yield Design(pairs, 0.1, 0.0, unread=0.7)
        yield Design(pairs, 0.1, 0.1, unread=0.7)
        yield Design(pairs, 0.0, 0.0, unread=0.7)
        yield Design(pairs, 0.0, 0.1)
        yield Design(pairs, 0.05, 0.1)
        yield Design(pairs, 0.1, 0.25)


def shown(design: Design, rng: np.random.Generator) -> Codes:
    """The two faces of each pair (pairs, 2), none shown twice with the same other."""
    if not design.faces:
        return np.arange(2 * design.pairs).reshape(-1, 2)
    drawn = rng.choice(design.faces**2, design.pairs, replace=False)
    return np.stack([drawn // design.faces, design.faces + drawn % design.faces], axis=1)


def answers(design: Design, faces: Codes, score: float, unread: float, rng: np.random.Generator) -> Codes:
    """Places in SIDES (pairs, instances, orders)."""
    appeal = rng.normal(0, design.appeal, (faces.max() + 1, INSTANCES)) if design.appeal else np.zeros((1, 1))
    of_faces = appeal[faces[:, 0]] - appeal[faces[:, 1]] if design.appeal else 0.0
    share = 0.5 + score * np.where(np.arange(INSTANCES) % 2, 1, -1) + of_faces
    drawn = rng.random((2, design.pairs, INSTANCES, ORDERS))
    return np.where(
        drawn[1] < unread, 2, np.where(drawn[0] < np.broadcast_to(share, (design.pairs, INSTANCES))[..., None], 0, 1)
    )


def simulated(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    faces = shown(design, rng)
    first = answers(design, faces, design.first, 0.0, rng)
    second = answers(design, faces, design.second, design.unread, rng)
    pair = np.repeat(np.arange(design.pairs), INSTANCES * ORDERS)
    columns = {
        "pair": pair,
        "attribute": "gender",
        "instance": np.tile(np.repeat(np.arange(INSTANCES), ORDERS), design.pairs),
        "chosen_first": SIDES[first.ravel()],
        "chosen_second": SIDES[second.ravel()],
    }
    if design.faces:
        columns["faces"] = pd.Series(faces.tolist())[pair].to_numpy()
    return pd.DataFrame(columns)


def rows(design: Design, data_sets: int) -> Iterator[str]:
    """Of the first run's level, and of the differences."""
    rng = np.random.default_rng(0)
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for _ in range(data_sets):
        both = simulated(design, rng)
        if design.level:
            low, high = level(both, design)
            found.setdefault("score", []).append((design.first, low, high, float(low > 0)))
        differences = score_differences(both)
        for key, each in differences.items():
            truth = design.second * (1 - design.unread * (key == "association_score")) - design.first
            if design.unread or key == "association_score":
                found.setdefault(f"difference, {key}", []).append(
                    (truth, each.low, each.high, float(each.p_value < 0.05))
                )
    for name, ends in found.items():
        truth, lows, highs, rejected = np.array(ends).T
        covered = 100 * ((lows <= truth) & (truth <= highs)).mean()
        no_effect = f"{100 * rejected.mean():.1f}" if abs(truth[0]) < 1e-9 else ""
        width = (highs - lows).mean()
        yield f"| {design.told} | {name} | {truth[0]:+.3f} | {covered:.1f} | {width:.4f} | {no_effect} |"


def level(both: pd.DataFrame, design: Design) -> tuple[float, float]:
    n = len(both)
    result = association_score(
        both["chosen_first"].tolist(),
        ["gender"] * n,
        ["occupation"] * n,
        both["instance"].tolist(),
        [["male", "female"]] * n,
        clusters=both["pair"].tolist(),
        faces=both["faces"].tolist() if design.faces else None,
    )
    low, high = result["intervals"]["association_score"]
    return low, high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[240, 2604])
    parser.add_argument("--data-sets", type=int, default=500)
    parser.add_argument("--all", action="store_true", help="all changes at every size (slow)")
    options = parser.parse_args()
    print("| design | figure | truth | coverage % | width | rejections % under no effect |")
    print("| --- | --- | --- | --- | --- | --- |")
    for pairs in options.pairs:
        for design in designs(pairs, pairs < 1000 or options.all):
            for row in rows(design, options.data_sets):
                print(row, flush=True)


if __name__ == "__main__":
    main()
