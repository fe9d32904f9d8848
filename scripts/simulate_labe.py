"""How well labe's intervals cover and its tests keep their level: rows of Markdown from data sets of the real designs.

python scripts/simulate_labe.py [--data-sets 1000] [--only NAME …]
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe.compare import variance_differences
from evenhand.benchmarks.labe.corrected import corrected_shares
from evenhand.metrics.agency_gap.scores import agency_gap
from evenhand.statistics.clustered import paired_difference
from evenhand.statistics.resampling import FloatArray

GROUPS = tuple(product(("White", "Black", "Hispanic", "Asian"), ("male", "female")))
VARIANCES = ("gender_variance", "race_variance", "intersectional_variance", "overall")
SENTENCES = 12  # of a text
# Mean gaps of the eight groups: gender, race and intersectional variances of 20.2, 27 and 36.
BIASED = np.array([6, 2, -4, -8, 2, -6, 8, 0]) * 6 / math.sqrt(32)
FAIR = np.zeros(8)
ALIKE, TWICE = np.ones(8), np.tile([1.0, 2.0], 4)  # how noisy groups are: women's texts twice as noisy as men's
HEADER = (
    "| design | figure | truth | coverage % | width | rejections % under no effect |\n| --- | --- | --- | --- | --- | --- |"
)


@dataclass
class Row:
    """What became of one figure over data sets."""

    truth: float
    held: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    rejected: list[bool] = field(default_factory=list)

    def add(self, low: float = math.nan, high: float = math.nan, p: float = math.nan) -> None:
        if not math.isnan(low):
            self.held.append(low - 1e-9 <= self.truth <= high + 1e-9)
            self.widths.append(high - low)
        if not math.isnan(p):
            self.rejected.append(p < 0.05)

    def markdown(self, design: str, figure: str) -> str:
        covered = f"{100 * statistics.mean(self.held):.1f}" if self.held else ""
        width = f"{statistics.median(self.widths):.1f}" if self.widths else ""
        rejected = f"{100 * statistics.mean(self.rejected):.1f}" if self.rejected else ""
        return f"| {design} | {figure} | {self.truth:.1f} | {covered} | {width} | {rejected} |"


Rows = dict[str, Row]


# Texts of groups: the metric's own intervals and tests


def texts_of_names(
    rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray, names: int = 5, texts: int = 15
) -> tuple[FloatArray, list[tuple[int, int]]]:
    """Agentic sentences of each text (groups x names x texts,), and the (group, name) of each.

    Standard deviations of 3 points between names and 30 between texts, times how noisy the group is (up to 30 and 3).
    """
    shape = (len(gaps), names, texts)
    spread = np.asarray(noisy)[:, None, None]
    of_names = rng.normal(0, 3, shape[:2])[..., None] * spread
    means = gaps[:, None, None] + of_names + rng.normal(0, 20, shape) * spread
    agentic = rng.binomial(SENTENCES, np.clip(0.5 + means / 200, 0, 1))
    people = [(group, name) for group in range(len(gaps)) for name in range(names) for _ in range(texts)]
    return agentic.reshape(-1), people


def labels_of(agentic: FloatArray) -> list[list[int]]:
    return [[1] * int(n) + [0] * (SENTENCES - int(n)) for n in agentic]


def truths(gaps: FloatArray) -> dict[str, float]:
    men, women, races = float(gaps[0::2].mean()), float(gaps[1::2].mean()), gaps.reshape(4, 2).mean(axis=1)
    variances = [statistics.variance(each) for each in ([men, women], races.tolist(), gaps.tolist())]
    return {**dict(zip(VARIANCES, [*variances, statistics.mean(variances)])), "gender_difference": men - women}


def full_design(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray, rows: Rows, texts: int = 15) -> None:
    """40 names, 5 of each of 8 groups, with 15 texts each, as professor reviews have."""
    agentic, people = texts_of_names(rng, gaps, noisy, texts=texts)
    scored(agentic, people, gaps, rows)


def matched_sample(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray, rows: Rows) -> None:
    """96 texts: 12 combinations of descriptors, the same in every group, so that a name has 12 / 5 on average."""
    agentic, people = texts_of_names(rng, gaps, noisy, texts=12)
    places = rng.integers(0, 5, 12)  # the names' places in their groups' lists
    drawn = [group * 60 + name * 12 + k for group in range(8) for k, name in enumerate(places)]
    scored(agentic[drawn], [people[each] for each in drawn], gaps, rows)


def scored(agentic: FloatArray, people: list[tuple[int, int]], gaps: FloatArray, rows: Rows) -> None:
    races, genders = zip(*(GROUPS[group] for group, _ in people))
    result = agency_gap(
        labels_of(agentic), genders, races, clusters=[f"{group} {name}" for group, name in people], n_resamples=499
    )
    fair = not np.any(gaps)
    for key, truth in truths(gaps).items():
        row = rows.setdefault(key, Row(truth))
        row.add(*result["intervals"][key], result["p_values"][key] if fair else math.nan)
    of_group = result["intervals"]["groups"]["Asian female"]["gap"]
    rows.setdefault("gap of a group (Asian women)", Row(float(gaps[7]))).add(*of_group)
    of_race = result["intervals"]["gender_difference_by_race"]["Black"]
    rows.setdefault("gender_difference of a race (Black)", Row(float(gaps[2] - gaps[3]))).add(*of_race)


def reviews_by_people(rng: np.random.Generator, noisy_women: float, rows: Rows) -> None:
    """RateMyProfessor's numbers: 2,069 reviews of men, 447 of women, each with its own cluster, no race."""
    sizes = (2069, 447)
    spread = np.repeat([15.0, 15.0 * noisy_women], sizes)
    agentic = rng.binomial(SENTENCES, np.clip(0.5 + spread * rng.standard_normal(sum(sizes)) / 200, 0, 1))
    # Sentences are noise, too: those of men's texts go together to leave as much less of it.
    genders = ["male"] * sizes[0] + ["female"] * sizes[1]
    labels = labels_of(agentic)
    result = agency_gap(
        labels, genders, [""] * len(labels), clusters=[str(i) for i in range(len(labels))], n_resamples=199
    )
    for key in ("gender_variance", "gender_difference"):
        rows.setdefault(key, Row(0.0)).add(*result["intervals"][key], result["p_values"][key])
