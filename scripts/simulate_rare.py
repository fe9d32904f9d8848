"""Simulate the coverage of intervals where few clusters carry what is measured, or where rows cluster twice.

Rates of clusters follow a beta distribution: shares, paired differences, and shares corrected by people's labels. Where
rows cluster twice, the log-odds of an answer are a constant plus what either cluster adds. Prints Markdown rows.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy import special
from simulating import Intervals, print_row, simulation_parser

from evenhand.benchmarks.labe.corrected import share_seen
from evenhand.statistics import clustered
from evenhand.statistics.crossed import errors, influences
from evenhand.statistics.misclassification import Judged
from evenhand.statistics.resampling import FloatArray, ratio

CLUSTERS = (6, 12, 30, 60, 200)
ROWS, TIMES, ALIKE = 5, 10, 0.2
TEXTS, SENTENCES = 4, 12
MEANS = ((0.02, 0.3, False), (0.04, 0.7, False), (0.04, 0.7, True), (0.4, 0.3, True), (0.93, 0.5, True))
CHANGES = ((0.0, 0.03, False), (0.0, 0.03, True), (0.02, 0.05, True), (0.3, 0.6, True), (0.05, 0.05, False))
SHARES = (  # true share, correlation within a name, sensitivity, specificity, labels
    (0.05, 0.5, 1.0, 1.0, 200),
    (0.05, 0.5, 0.9, 0.95, 200),
    (0.3, 0.2, 0.85, 0.9, 200),
    (0.05, 0.05, 0.9, 0.95, 400),
)
TWICE = (  # situations, descriptors, how many of them each situation has, share, and which way has correlation 0.5
    (60, 40, 8, 0.03, "situations"),
    (60, 40, 8, 0.05, "situations"),
    (30, 25, 4, 0.08, "situations"),
    (20, 46, 5, 0.1, "situations"),
    (60, 12, 6, 0.05, "descriptors"),
)
MIXED = ((12, 27), (20, 54), (25, 48), (32, 12), (60, 9))  # clusters, rows of each
CROSSED = ((60, 40, ""), (60, 40, "situations"), (60, 40, "both"), (20, 20, "both"), (12, 30, "situations"))
SPREADS = ((0.8, 0.8), (0.01, 0.8), (0.8, 0.01))

Interval = tuple[float, float]
Cell = tuple[float, Callable[[np.random.Generator], Interval]]  # the truth, and what judges one data set


def draw_rates(share: float, correlation: float, n: int, rng: np.random.Generator) -> FloatArray:
    """Of n clusters, whose rows have this intraclass correlation."""
    whole = 1 / correlation - 1
    return rng.beta(share * whole, (1 - share) * whole, n)


def draw_answers(share: float, correlation: float, codes: FloatArray, n: int, rng: np.random.Generator) -> pd.Series:
    """1 or 0 for each row. codes: each row's cluster, of n."""
    if not share:
        return pd.Series(np.zeros(len(codes)))
    drawn = rng.random(len(codes))
    return pd.Series(1.0 * (drawn < draw_rates(share, correlation, n, rng)[codes]))


def difference_interval(before: pd.Series, after: pd.Series, *ways: FloatArray | None) -> Interval:
    """ways: each row's cluster, stratum and other cluster."""
    series = (None if way is None else pd.Series(way) for way in ways)
    found = clustered.paired_difference(before, after, *series, within=(0.0, 1.0))
    return found.low, found.high


def judge_mean(rng: np.random.Generator, share: float, correlation: float, uneven: bool, n: int) -> Interval:
    """uneven: half of the clusters have 2 rows, the others 15."""
    sizes = np.where(np.arange(n) < n // 2, 2, 15) if uneven else np.full(n, ROWS)
    codes = np.repeat(np.arange(n), sizes)
    found = clustered.clustered_mean(draw_answers(share, correlation, codes, n, rng), pd.Series(codes), (0.0, 1.0))
    return found.low, found.high


def judge_difference(rng: np.random.Generator, before: float, after: float, uneven: bool, n: int) -> Interval:
    sizes = np.full(n, ROWS)
    sizes[: max(1, n // 6)] *= TIMES if uneven else 1
    codes = np.repeat(np.arange(n), sizes)
    return difference_interval(*(draw_answers(each, ALIKE, codes, n, rng) for each in (before, after)), codes)


def judge_mixed(rng: np.random.Generator, whole: float, here_and_there: float, n: int, rows: int) -> Interval:
    """A difference from never: some clusters change wholly, and of all others about one row in all."""
    rate = np.where(rng.random(n) < whole, 1.0, here_and_there)
    after = pd.Series(1.0 * (rng.random(n * rows) < np.repeat(rate, rows)))
    return difference_interval(after * 0, after, np.repeat(np.arange(n), rows))


def judge_twice(rng: np.random.Generator, n: int, others: int, drawn: int, share: float, way: str) -> Interval:
    """A difference from never, of rows that cluster twice."""
    situation = np.repeat(np.arange(n), drawn)
    other = np.concatenate([rng.choice(others, drawn, replace=False) for _ in range(n)])
    codes, clusters = (situation, n) if way == "situations" else (other, others)
    after = draw_answers(share, 0.5, codes, clusters, rng)
    return difference_interval(after * 0, after, situation, None, other)


def judge_corrected(
    rng: np.random.Generator,
    share: float,
    correlation: float,
    sensitivity: float,
    specificity: float,
    n_labels: int,
    n: int,
) -> Interval:
    """NaN where labels and answers contradict each other."""
    true = rng.binomial(SENTENCES, np.repeat(draw_rates(share, correlation, n, rng), TEXTS))
    seen = rng.binomial(true, sensitivity) + rng.binomial(SENTENCES - true, 1 - specificity)
    positive = max(10, rng.binomial(n_labels, share))
    negative = n_labels - positive
    judged = Judged(positive, rng.binomial(positive, sensitivity), negative, rng.binomial(negative, specificity))
    names = pd.Series(np.repeat(np.arange(n), TEXTS))
    sentences = pd.Series(np.full(len(names), SENTENCES))
    return judged.interval(share_seen(pd.Series(seen / SENTENCES), sentences, names, names * 0, judged))


def judge_crossed(
    rng: np.random.Generator, constant: float, spreads: tuple[float, float], n: int, others: int, uneven: str
) -> Interval:
    """A share of rows that cluster twice."""
    cells = np.full(n, min(others, 6))
    cells[: max(1, n // 6)] = others if uneven else cells[0]
    situation = np.repeat(np.arange(n), cells)
    other = np.concatenate([rng.choice(others, k, replace=False) for k in cells])
    if uneven == "both":
        kept = (other < max(2, others // 6)) | (rng.random(len(other)) < 0.3)
        situation, other = situation[kept], other[kept]
    odds = constant + rng.normal(0, spreads[0], n)[situation] + rng.normal(0, spreads[1], others)[other]
    parts = rng.binomial(3, special.expit(odds))[:, None].astype(float)
    wholes = np.full_like(parts, 3)
    ways = (np.unique(each, return_inverse=True)[1] for each in (situation, other))
    found = errors(influences(parts, wholes), wholes, *ways)
    [(low, high)] = found.interval_of_shares(ratio(parts.sum(axis=0), wholes.sum(axis=0)))
    return low, high


def rows(part: str) -> Iterator[tuple[str, list[Cell]]]:
    """Each row's name and its cells."""
    if part == "means":
        for share, correlation, uneven in MEANS:
            judge = partial(judge_mean, share=share, correlation=correlation, uneven=uneven)
            name = f"{100 * share:.0f} %, correlation {correlation}{', uneven' if uneven else ''}"
            yield name, [(share, partial(judge, n=n)) for n in CLUSTERS]
    if part == "differences":
        for before, after, uneven in CHANGES:
            judge = partial(judge_difference, before=before, after=after, uneven=uneven)
            sizes = ", a sixth of the clusters ten times as large" if uneven else ""
            name = f"{100 * before:.0f} to {100 * after:.0f} %{sizes}"
            yield name, [(after - before, partial(judge, n=n)) for n in CLUSTERS]
    if part == "mixed":
        cells: list[Cell] = []
        for n, of_each in MIXED:
            whole, rate = 1.5 / n, 1.2 / (n * of_each)
            judge = partial(judge_mixed, whole=whole, here_and_there=rate, n=n, rows=of_each)
            cells.append((whole + (1 - whole) * rate, judge))
        yield "0 in most clusters, all in 1.5 of them", cells
    if part == "twice":
        for n, others, drawn, share, way in TWICE:
            name = f"0 to {100 * share:.0f} %, {n} situations × {drawn} of {others} descriptors, correlated by {way}"
            yield name, [(share, partial(judge_twice, n=n, others=others, drawn=drawn, share=share, way=way))]
    if part == "corrected":
        for share, correlation, sensitivity, specificity, labels in SHARES:
            rates = {"sensitivity": sensitivity, "specificity": specificity}
            judge = partial(judge_corrected, share=share, correlation=correlation, **rates, n_labels=labels)
            name = (
                f"{100 * share:.0f} %, correlation {correlation}, sensitivity {sensitivity}, specificity {specificity}"
            )
            yield f"{name}, {labels} labels", [(share, partial(judge, n=n)) for n in CLUSTERS]
    if part == "crossed":
        for constant, spreads in product((0.0, -3.5), SPREADS):
            drawn = np.random.default_rng(9).normal(0, math.hypot(*spreads), 2_000_000)
            truth = float(special.expit(constant + drawn).mean())
            judge = partial(judge_crossed, constant=constant, spreads=spreads)
            name = f"{100 * truth:.1f} %, standard deviations {spreads[0]} and {spreads[1]}"
            cells = [(truth, partial(judge, n=n, others=others, uneven=uneven)) for n, others, uneven in CROSSED]
            yield name, cells


COLUMNS = {
    "means": CLUSTERS,
    "differences": CLUSTERS,
    "mixed": MIXED,
    "twice": ("coverage",),
    "corrected": CLUSTERS,
    "crossed": CROSSED,
}


def main() -> None:
    options = simulation_parser(__doc__, 200, COLUMNS).parse_args()
    clustered.PERMUTATIONS = 9  # p-values are not judged
    for part in options.only:
        print(f"{part}: {', '.join(map(str, COLUMNS[part]))}")
        rng = np.random.default_rng(4)
        for name, cells in rows(part):
            every = []
            for truth, judge in cells:
                rng = np.random.default_rng(3) if part == "crossed" else rng
                found = Intervals(truth)
                for _ in range(options.data_sets):
                    found.add(*judge(rng))
                every.append(found)
            contradicted = sum(options.data_sets - len(each.ends) for each in every)
            note = f" (contradicted: {contradicted})" if part == "corrected" else ""
            print_row(name + note, *(f"{each.coverage:.1f}" for each in every))


if __name__ == "__main__":
    main()
