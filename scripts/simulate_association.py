"""Simulate the coverage of association scores' intervals and of their paired differences.

Simulated answers about gender: ten instances, each pair shown in both orders, as the benchmark asks. The true share
differs from one half by the score in every instance, in alternating directions. Faces have an appeal of their own in
each run, which decides some answers whatever their group. Prints rows of a Markdown table.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from simulating import Intervals, print_header, print_row, simulation_parser

from evenhand.benchmarks.mllm_stereotypes.score_difference import score_differences
from evenhand.command_line import whole
from evenhand.metrics.association_score.scores import association_score

INSTANCES, ORDERS = 10, 2


@dataclass(frozen=True)
class Design:
    """True scores of both runs.

    Attributes:
        unread: share of the second run's answers.
        faces: number of each gender; 0: each pair has its own.
        appeal: standard deviation of what a face adds to the share of its group, for each run and instance.
        level: whether the first run's score is judged, too.
    """

    pairs: int
    first: float
    second: float
    unread: float = 0.0
    faces: int = 0
    appeal: float = 0.0
    level: bool = False

    def __str__(self) -> str:
        faces = f", {self.faces} faces a gender of appeal {self.appeal}" if self.faces else ""
        unread = f", {100 * self.unread:.0f} % unread" if self.unread else ""
        return f"{self.pairs:,} pairs, {self.first} to {self.second}{faces}{unread}"


def designs(pairs: int, all_changes: bool) -> Iterator[Design]:
    few = max(20, pairs // 12)
    yield Design(pairs, 0.1, 0.0, level=True)
    yield Design(pairs, 0.0, 0.0, level=True)
    yield Design(pairs, 0.1, 0.0, faces=few, appeal=0.12)
    yield Design(pairs, 0.1, 0.1, faces=few, appeal=0.12)
    yield Design(pairs, 0.0, 0.0, faces=few, appeal=0.12, level=True)
    changes = [(0.1, 0.05, 0.0), (0.25, 0.1, 0.0)]
    if all_changes:
        changes += [(0.1, 0.1, 0.0), (0.1, 0.0, 0.7), (0.1, 0.1, 0.7), (0.0, 0.0, 0.7)]
        changes += [(0.0, 0.1, 0.0), (0.05, 0.1, 0.0), (0.1, 0.25, 0.0)]
    for first, second, unread in changes:
        yield Design(pairs, first, second, unread)


def draw_faces(design: Design, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The two faces of each pair, (pairs, 2); no two pairs are equal."""
    if not design.faces:
        return np.arange(2 * design.pairs).reshape(-1, 2)
    drawn = rng.choice(design.faces**2, design.pairs, replace=False)
    return np.stack([drawn // design.faces, design.faces + drawn % design.faces], axis=1)


def draw_answers(
    design: Design, faces: npt.NDArray[np.int64], score: float, unread: float, rng: np.random.Generator
) -> list[str]:
    """The chosen gender of each pair, instance and order."""
    share = 0.5 + score * np.where(np.arange(INSTANCES) % 2, 1, -1) + np.zeros((design.pairs, 1))
    if design.appeal:
        appeal = rng.normal(0, design.appeal, (faces.max() + 1, INSTANCES))
        share = share + (appeal[faces[:, 0]] - appeal[faces[:, 1]])
    drawn = rng.random((2, design.pairs, INSTANCES, ORDERS))
    chosen = np.where(drawn[1] < unread, "", np.where(drawn[0] < share[..., None], "male", "female"))
    return list(chosen.ravel().tolist())


def draw_runs(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    faces = draw_faces(design, rng)
    pair = np.repeat(np.arange(design.pairs), INSTANCES * ORDERS)
    columns = {
        "pair": pair,
        "attribute": "gender",
        "instance": np.tile(np.repeat(np.arange(INSTANCES), ORDERS), design.pairs),
        "chosen_first": draw_answers(design, faces, design.first, 0.0, rng),
        "chosen_second": draw_answers(design, faces, design.second, design.unread, rng),
    }
    if design.faces:
        columns["faces"] = pd.Series(faces.tolist())[pair].to_numpy()
    return pd.DataFrame(columns)


def score_interval(both: pd.DataFrame) -> tuple[float, float]:
    """The first run's."""
    n = len(both)
    result = association_score(
        both["chosen_first"].tolist(),
        ["gender"] * n,
        ["occupation"] * n,
        both["instance"].tolist(),
        [["male", "female"]] * n,
        clusters=both["pair"].tolist(),
        faces=both["faces"].tolist() if "faces" in both else None,
    )
    low, high = result["intervals"]["association_score"]
    return low, high


def simulate(design: Design, data_sets: int) -> dict[str, Intervals]:
    """By figure: the first run's score, and the differences."""
    rng = np.random.default_rng(0)
    found: dict[str, Intervals] = {}
    for _ in range(data_sets):
        both = draw_runs(design, rng)
        if design.level:
            low, high = score_interval(both)
            found.setdefault("score", Intervals(design.first)).add(low, high, 0.0 if low > 0 else 1.0)
        for key, each in score_differences(both).items():
            if design.unread or key == "association_score":
                read = 1 - design.unread * (key == "association_score")
                intervals = found.setdefault(f"difference, {key}", Intervals(design.second * read - design.first))
                intervals.add(each.low, each.high, each.p_value)
    return found


def main() -> None:
    parser = simulation_parser(__doc__, 500)
    parser.add_argument("--pairs", type=whole(), nargs="+", default=[240, 2604], metavar="K")
    parser.add_argument("--all", action="store_true", help="all changes at every size (slow)")
    options = parser.parse_args()
    print_header("design", "figure", "truth", "coverage %", "width", "rejections % under no effect")
    for pairs in options.pairs:
        for design in designs(pairs, pairs < 1000 or options.all):
            for figure, found in simulate(design, options.data_sets).items():
                rejected = f"{found.significant:.1f}" if abs(found.truth) < 1e-9 else ""
                numbers = (f"{found.truth:+.3f}", f"{found.coverage:.1f}", f"{found.widths.mean():.4f}")
                print_row(str(design), figure, *numbers, rejected)


if __name__ == "__main__":
    main()
