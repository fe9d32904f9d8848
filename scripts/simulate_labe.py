"""How well labe's intervals cover and its tests keep their level: rows of Markdown from data sets of the real designs.

python scripts/simulate_labe.py [--data-sets 1000] [--only full reviews …]
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe.corrected import corrections
from evenhand.benchmarks.labe.paired_variances import variance_differences
from evenhand.figure import Estimate
from evenhand.metrics.agency_gap.scores import agency_gap
from evenhand.statistics.clustered import paired_difference
from evenhand.statistics.resampling import FloatArray

GROUPS = tuple(product(("White", "Black", "Hispanic", "Asian"), ("male", "female")))
VARIANCES = ("gender_variance", "race_variance", "intersectional_variance", "overall")
SENTENCES = 12  # of a text
N_RESAMPLES = 499
# Mean gaps of the eight groups: gender, race and intersectional variances of 20.2, 27 and 36.
BIASED = np.array([6, 2, -4, -8, 2, -6, 8, 0]) * 6 / math.sqrt(32)
FAIR = np.zeros(8)
ALIKE = np.ones(8)  # how noisy groups are
NOISY = {
    "women's texts twice as noisy": np.tile([1.0, 2.0], 4),
    "two races' texts twice as noisy": np.repeat([1.0, 2.0], 4),
    "one group's texts three times as noisy": np.array([1, 1, 1, 1, 1, 1, 1, 3.0]),
}
HEADER = "| design | figure | truth | coverage % | width | rejections % under no effect |\n" + 6 * "| --- " + "|"


@dataclass
class Row:
    """What became of one figure over data sets."""

    truth: float
    held: list[bool] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    rejected: list[bool] = field(default_factory=list)

    def add(self, low: float = math.nan, high: float = math.nan, p: float = math.nan) -> None:
        if not math.isnan(low):
            self.held.append(bool(low - 1e-9 <= self.truth <= high + 1e-9))
            self.widths.append(high - low)
        if not math.isnan(p):
            self.rejected.append(bool(p < 0.05))

    def markdown(self, design: str, figure: str) -> str:
        covered = f"{100 * statistics.mean(self.held):.1f}" if self.held else ""
        width = f"{statistics.median(self.widths):.1f}" if self.widths else ""
        rejected = f"{100 * statistics.mean(self.rejected):.1f}" if self.rejected else ""
        return f"| {design} | {figure} | {self.truth:.1f} | {covered} | {width} | {rejected} |"


Rows = dict[str, Row]


# Texts of groups: the metric's own intervals and tests


@dataclass(frozen=True)
class Texts:
    """Agentic sentences and sentences of each text, its group and its name's place: all (texts,)."""

    agentic: FloatArray
    n: FloatArray
    group: FloatArray
    name: FloatArray

    def at(self, chosen: object) -> Texts:
        return Texts(*(each[chosen] for each in (self.agentic, self.n, self.group, self.name)))

    @property
    def labels(self) -> list[list[int]]:
        return [[1] * int(k) + [0] * int(n - k) for k, n in zip(self.agentic, self.n)]

    @property
    def clusters(self) -> list[str]:
        return [f"{group} {name}" for group, name in zip(self.group, self.name)]


def texts_of_names(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray, names: int, texts: int) -> Texts:
    """Standard deviations of 3 points between names and 20 between texts of 12 sentences, as noisy as the group is.

    A group that is twice as noisy has texts of a fourth as many sentences, too.
    """
    shape = (len(gaps), names, texts)
    spread = np.asarray(noisy)[:, None, None]
    means = gaps[:, None, None] + (rng.normal(0, 3, shape[:2])[..., None] + rng.normal(0, 20, shape)) * spread
    n = np.broadcast_to(np.round(SENTENCES / spread**2), shape).astype(int)
    agentic = rng.binomial(n, np.clip(0.5 + means / 200, 0, 1))
    group, name, _ = np.indices(shape)
    return Texts(*(each.reshape(-1) for each in (agentic, n, group, name)))


def truths(gaps: FloatArray) -> dict[str, float]:
    men, women, races = float(gaps[0::2].mean()), float(gaps[1::2].mean()), gaps.reshape(4, 2).mean(axis=1)
    variances = [statistics.variance(each) for each in ([men, women], races.tolist(), gaps.tolist())]
    return {**dict(zip(VARIANCES, [*variances, statistics.mean(variances)])), "gender_difference": men - women}


def full_design(rng: np.random.Generator, rows: Rows, gaps: FloatArray, noisy: FloatArray) -> None:
    """40 names, 5 of each of 8 groups, with 15 texts each, as professor reviews have."""
    scored(texts_of_names(rng, gaps, noisy, names=5, texts=15), gaps, rows)


def matched_sample(rng: np.random.Generator, rows: Rows, gaps: FloatArray, noisy: FloatArray) -> None:
    """96 texts: 12 combinations of descriptors, the same in every group; a name has some of its group's 12."""
    texts = texts_of_names(rng, gaps, noisy, names=5, texts=12)
    places = rng.integers(0, 5, 12)  # the names' places in their groups' lists
    scored(texts.at([group * 60 + name * 12 + k for group in range(8) for k, name in enumerate(places)]), gaps, rows)


def unbalanced(rng: np.random.Generator, rows: Rows, gaps: FloatArray, noisy: FloatArray) -> None:
    """Files of texts: groups of 12 to 4 names, of which the small ones are the noisy ones."""
    texts = texts_of_names(rng, gaps, noisy, names=12, texts=6)
    scored(texts.at(texts.name < np.array([12, 12, 8, 8, 6, 6, 4, 4])[texts.group]), gaps, rows)


def scored(texts: Texts, gaps: FloatArray, rows: Rows) -> None:
    races, genders = zip(*(GROUPS[group] for group in texts.group))
    result = agency_gap(texts.labels, genders, races, clusters=texts.clusters, n_resamples=N_RESAMPLES)
    fair = not np.any(gaps)
    for key, truth in truths(gaps).items():
        p = result["p_values"][key] if fair else math.nan
        rows.setdefault(key, Row(truth)).add(*result["intervals"][key], p)
    of_group = result["intervals"]["groups"]["Asian female"]["gap"]
    rows.setdefault("gap of a group", Row(float(gaps[7]))).add(*of_group)
    of_race = result["intervals"]["gender_difference_by_race"]["Black"]
    rows.setdefault("gender_difference of a race", Row(float(gaps[2] - gaps[3]))).add(*of_race)


def single_texts(rng: np.random.Generator, rows: Rows, gaps: FloatArray, noisy: FloatArray) -> None:
    """40 texts, each of a name of its own, 5 of each group: nothing but the 5 shows how noisy a group is."""
    scored(texts_of_names(rng, gaps, noisy, names=5, texts=1), gaps, rows)


def reviews_by_people(rng: np.random.Generator, rows: Rows, women: float) -> None:
    """RateMyProfessor's numbers: 2,069 reviews of men, 447 of women, without names. women: how noisy theirs are."""
    texts = texts_of_names(rng, np.zeros(2), np.array([1.0, women]), names=2069, texts=1)
    texts = texts.at((texts.group == 0) | (texts.name < 447))
    genders = [GROUPS[group][1] for group in texts.group]
    result = agency_gap(texts.labels, genders, [""] * len(genders), clusters=texts.clusters, n_resamples=199)
    for key in ("gender_variance", "gender_difference"):
        rows.setdefault(key, Row(0.0)).add(*result["intervals"][key], result["p_values"][key])


# Two runs


def two_runs(rng: np.random.Generator, rows: Rows, first: FloatArray, second: FloatArray, texts: int) -> None:
    """Both on the same prompts: gaps with a correlation of 0.5 between the runs, by name and by text."""
    people = 5 * len(first)
    means = np.repeat([first, second], 5, axis=1)[..., None]
    gaps = means + _alike(rng, (people, 1), 3) + _alike(rng, (people, texts), 30)
    group = np.repeat(np.arange(people) // 5, texts)
    races, genders = zip(*(GROUPS[each] for each in group))
    columns = {"race": races, "gender": genders, "cluster": np.repeat(np.arange(people), texts).astype(str)}
    table = pd.DataFrame({**columns, "id": range(len(group)), "text_type": "", "run": 0, "classifier": ""})
    runs = [table.assign(gap=each.reshape(-1)) for each in gaps]
    same = np.array_equal(first, second)
    for key, found in variance_differences(*runs).items():
        truth = truths(second)[key] - truths(first)[key]
        rows.setdefault(f"{key.removesuffix('_variance')} variance, B minus A", Row(truth)).add(
            found.low, found.high, found.p_value if same else math.nan
        )
    one = group == 7
    mean = paired_difference(*(run["gap"][one] for run in runs), table["cluster"][one])
    rows.setdefault("gap of a group, B minus A", Row(float(second[7] - first[7]))).add(mean.low, mean.high)


def _alike(rng: np.random.Generator, shape: tuple[int, ...], deviation: float) -> FloatArray:
    """Both runs' noise, (2, …), with a correlation of 0.5."""
    noise: FloatArray = deviation * math.sqrt(0.5) * (rng.standard_normal(shape) + rng.standard_normal((2, *shape)))
    return noise


# People's labels


def corrected(rng: np.random.Generator, rows: Rows, rates: tuple[float, float], share: float, n_labels: int) -> None:
    """40 names with 4 texts of 12 sentences, of which people labelled some; the classifier errs at random."""
    sensitivity, specificity = rates
    means = np.clip(share + rng.normal(0, 0.03, (40, 1)) + rng.normal(0, 0.1, (40, 4)), 0, 1)
    true = rng.random((40, 4, SENTENCES)) < means[..., None]
    seen = np.where(rng.random(true.shape) < np.where(true, sensitivity, specificity), true, ~true)
    names = np.repeat(np.arange(40), 4)
    races, genders = zip(*(GROUPS[name // 5] for name in names))
    sentences = [[f"{text} {k}" for k in range(SENTENCES)] for text in range(160)]
    table = pd.DataFrame({"race": races, "gender": genders, "cluster": names.astype(str), "classifier": "c"})
    said = np.full(true.size, math.nan)
    drawn = rng.choice(true.size, n_labels, replace=False)
    said[drawn] = true.reshape(-1)[drawn]
    columns = {"agentic": seen.astype(float), "labelled": said}
    lists = {column: list(of.reshape(160, SENTENCES)) for column, of in columns.items()}
    table = table.assign(text_type="t", sentences=sentences, gap=0.0, **lists)
    found = {tuple(groups.values()): each for groups, each in corrections(table).estimates("corrected")}
    for group, figure in ((("t",), "share, all texts"), (("t", "Asian", "female"), "share of a group")):
        of = found.get(group, Estimate(math.nan))
        rows.setdefault(f"{figure}, corrected", Row(100 * share)).add(of.low, of.high)


# All of it

Design = Callable[[np.random.Generator, Rows], None]


def designs() -> dict[str, Design]:
    small_noisy = np.array([1, 1, 1.3, 1.3, 1.5, 1.5, 2, 2])
    both = {"full": ("40 names x 15 texts", full_design), "matched": ("96 matched texts", matched_sample)}
    found: dict[str, Design] = {}
    for key, (name, of) in both.items():
        found[f"{key}: {name}, fair"] = partial(of, gaps=FAIR, noisy=ALIKE)
        for told, noisy in NOISY.items():
            found[f"{key}: {name}, fair, {told}"] = partial(of, gaps=FAIR, noisy=noisy)
        found[f"{key}: {name}, biased"] = partial(of, gaps=BIASED, noisy=ALIKE)
    found["files: 12 to 4 names a group, small ones up to twice as noisy, fair"] = partial(
        unbalanced, gaps=FAIR, noisy=small_noisy
    )
    one_noisy = np.array([1, 1, 1, 1, 1, 1, 1, 4.0])
    for told, noisy in (("as noisy", ALIKE), ("one group's four times as noisy", one_noisy)):
        found[f"single: 40 names x 1 text, fair, {told}"] = partial(single_texts, gaps=FAIR, noisy=noisy)
    for women, told in ((1.0, "as noisy"), (2.0, "twice as noisy"), (0.5, "half as noisy")):
        found[f"reviews: 2,069 of men, 447 of women, {told}, fair"] = partial(reviews_by_people, women=women)
    for texts, named in ((15, "40 names x 15 texts"), (3, "40 names x 3 texts")):
        found[f"compare: {named}, both biased alike"] = partial(two_runs, first=BIASED, second=BIASED, texts=texts)
        found[f"compare: {named}, bias taken away"] = partial(two_runs, first=BIASED, second=FAIR, texts=texts)
    for rates, share, n in (((0.9, 0.9), 0.5, 200), ((0.8, 0.7), 0.4, 100), ((0.95, 0.85), 0.8, 100)):
        told = f"sensitivity {rates[0]}, specificity {rates[1]}, {n} labels"
        found[f"labels: {told}"] = partial(corrected, rates=rates, share=share, n_labels=n)
    return found


def simulated(design: Design, n: int, seed: int = 0) -> Rows:
    rows: Rows = {}
    for rng in np.random.default_rng(seed).spawn(n):
        design(rng, rows)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows of Markdown: coverage of intervals and level of tests.")
    parser.add_argument("--data-sets", type=int, default=1000, metavar="N", help="of each design (default: 1000)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="designs that begin so")
    arguments = parser.parse_args()
    print(HEADER, flush=True)
    for name, design in designs().items():
        if not arguments.only or name.startswith(tuple(arguments.only)):
            for figure, row in simulated(design, arguments.data_sets).items():
                print(row.markdown(name.partition(": ")[2], figure), flush=True)


if __name__ == "__main__":
    main()
