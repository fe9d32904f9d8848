"""Simulate how often evenhand gate passes a candidate that is worse by just its margin, or as good as its base.

The package's decision judges simulated changes of rows, second minus first, at a margin of 5 points of 100. False
passes: the true difference is the margin. Enough clusters: the median of what pilots of the design's size ask for,
where the truth is 0; power: how often that many pass. Prints Markdown rows; the standard error of 5 % is 0.7 points at
1,000 data sets, of 80 % 1.3.
"""

import math
from dataclasses import dataclass
from statistics import median
from typing import Literal

import numpy as np
import pandas as pd
from simulating import print_header, print_row, simulation_parser

from evenhand.statistics import clustered
from evenhand.statistics.clustered import paired_difference
from evenhand.statistics.non_inferiority import Worsening, worsening
from evenhand.statistics.resampling import FloatArray

MARGIN, MOST = 5.0, 100.0
DESCRIPTORS = 600  # of leaning changes
PILOTS = 51


@dataclass(frozen=True)
class Design:
    """How rows change.

    flips: both ways; spread: so do clusters, each at its own rate; rare: few clusters change, wholly and for the worse;
    mixed: a tenth of clusters get worse, the others a little better; crossed: rows cluster twice; leaning: rows cluster
    twice, too, and what mostly rises in one half of the clusters, a stratum, mostly falls in the other, as where a
    model affirms more than its base whatever is asked (contact_hypothesis: 60 situations of two actions).
    """

    kind: Literal["flips", "spread", "rare", "mixed", "crossed", "leaning"]
    n_clusters: int
    n_rows: int

    def draw(self, worse_by: float, rng: np.random.Generator) -> tuple[FloatArray, pd.Series | None]:
        """Changes of rows in points, (clusters, rows), and the other clusters of rows that cluster twice."""
        shape, of_clusters, share = (self.n_clusters, self.n_rows), (self.n_clusters, 1), worse_by / MOST
        if self.kind == "flips":
            return flips(rng, np.full(shape, 0.2 + share)), None
        if self.kind == "spread":
            rates = 0.2 + share + rng.uniform(-0.2, 0.2, of_clusters)
            return flips(rng, np.broadcast_to(rates, shape)), None
        if self.kind == "rare":
            return MOST * np.repeat(rng.random(of_clusters) < share, self.n_rows, axis=1), None
        if self.kind == "mixed":
            hit = rng.random(of_clusters) < 0.1
            fell, rose = rng.random(shape) < (0.06 - share) / 0.9, rng.random(shape) < 0.6
            return MOST * np.where(hit, rose.astype(float), -fell.astype(float)), None
        if self.kind == "crossed":
            rates = 0.25 + share + rng.uniform(-0.12, 0.12, of_clusters) + rng.uniform(-0.12, 0.12, self.n_rows)
            return flips(rng, rates, 0.25), pd.Series(np.tile(np.arange(self.n_rows), self.n_clusters))
        crossed = rng.integers(DESCRIPTORS, size=shape)
        moved = share + rng.uniform(-0.12, 0.12, of_clusters) + rng.uniform(-0.12, 0.12, DESCRIPTORS)[crossed]
        leaning = np.where(np.arange(self.n_clusters)[:, None] % 2, 0.15, -0.15)
        drawn = rng.random(shape)
        changes = MOST * ((drawn < 0.3 + leaning + moved / 2).astype(float) - (drawn > 0.7 + leaning + moved / 2))
        return changes, pd.Series(crossed.ravel())

    def judge(self, worse_by: float, rng: np.random.Generator) -> Worsening:
        changes, crossed = self.draw(worse_by, rng)
        change = pd.Series(changes.ravel())
        clusters = np.repeat(np.arange(self.n_clusters), self.n_rows)
        ways = (pd.Series(clusters), pd.Series(clusters % 2) if self.kind == "leaning" else None, crossed)
        difference = paired_difference(0 * change, change, *ways, within=(0.0, MOST))
        return worsening(difference, 1.0, MOST, change, *ways)

    def passed(self, worse_by: float, data_sets: int, rng: np.random.Generator) -> str:
        """In percent of the data sets."""
        n = sum(self.judge(worse_by, rng).high <= MARGIN for _ in range(data_sets))
        return f"{100 * n / data_sets:.1f}"

    def enough(self, rng: np.random.Generator) -> "Design | None":
        """This design with as many clusters as its pilots ask for; leaning: with more rows a cluster, as all exist."""
        pilots = [self.judge(0.0, rng) for _ in range(PILOTS)]
        if self.kind != "leaning":
            asked = [n for pilot in pilots if (n := pilot.enough_clusters(MARGIN))]
            return Design(self.kind, int(median(asked)), self.n_rows)
        rows = median(pilot.enough_rows(MARGIN, self.n_clusters) or math.inf for pilot in pilots)
        return Design(self.kind, self.n_clusters, math.ceil(rows / self.n_clusters)) if math.isfinite(rows) else None


def flips(rng: np.random.Generator, rise: FloatArray, fall: float = 0.2) -> FloatArray:
    """Changes of rows that rise and fall at these rates."""
    drawn = rng.random(rise.shape)
    return np.asarray(MOST * ((drawn < rise).astype(float) - (drawn > 1 - fall)))


DESIGNS = (
    *(Design("flips", n, rows) for n, rows in ((20, 10), (60, 5), (200, 1))),
    *(Design("spread", n, rows) for n, rows in ((20, 10), (60, 5), (200, 3))),
    *(Design("rare", n, rows) for n, rows in ((15, 10), (60, 5), (150, 1))),
    *(Design("mixed", n, rows) for n, rows in ((15, 10), (60, 5), (150, 2))),
    *(Design("crossed", n, rows) for n, rows in ((20, 10), (60, 10))),
    *(Design("leaning", n, rows) for n, rows in ((60, 7), (60, 20))),
)


def simulate(design: Design, data_sets: int) -> tuple[str, str, str]:
    """False passes, enough clusters, power."""
    rng = np.random.default_rng(0)
    false = design.passed(MARGIN, data_sets, rng)
    if design.kind in ("rare", "crossed"):  # without rare changes nothing varies; crossed clusters have other sizes
        return false, "", ""
    enough = design.enough(rng)
    if enough is None:
        return false, "none", ""
    size = f"{enough.n_clusters} of {enough.n_rows}" if design.kind == "leaning" else f"{enough.n_clusters:,}"
    return false, size, enough.passed(0.0, data_sets, rng)


def main() -> None:
    options = simulation_parser(__doc__, 1000, (design.kind for design in DESIGNS)).parse_args()
    clustered.PERMUTATIONS = 9  # their p-values decide nothing here
    print_header("changes", "false passes, %", "enough clusters", "power, %")
    for design in DESIGNS:
        if design.kind in options.only:
            name = f"{design.kind}, {design.n_clusters} clusters of {design.n_rows}"
            print_row(name, *simulate(design, options.data_sets))


if __name__ == "__main__":
    main()
