"""How well intervals cover that few clusters carry, or whose rows cluster twice.

python scripts/simulate_rare.py [--data-sets N] [--only means differences mixed twice corrected crossed]

Rates of clusters are drawn from a beta distribution, and each answer by itself: differences between a run and another
(`paired_difference`), and shares as a classifier sees them, corrected by people's labels. Where rows cluster twice, the
log-odds of an answer are a constant plus what either cluster adds. Printed: Markdown rows.
"""

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from evenhand.benchmarks.labe.corrected import share_seen
from evenhand.command_line import ScriptHelp, whole
from evenhand.statistics import clustered
from evenhand.statistics.crossed import errors, influences
from evenhand.statistics.misclassification import Judged
from evenhand.statistics.resampling import ratio

CLUSTERS = (6, 12, 30, 60, 200)
ROWS, TIMES, ALIKE = 5, 10, 0.2
TEXTS, SENTENCES = 4, 12
MEANS = ((0.02, 0.3, False), (0.04, 0.7, False), (0.04, 0.7, True), (0.4, 0.3, True), (0.93, 0.5, True))
CHANGES = ((0.0, 0.03, False), (0.0, 0.03, True), (0.02, 0.05, True), (0.3, 0.6, True), (0.05, 0.05, False))
SHARES = (  # true share, alike within a name by, sensitivity, specificity, labels
    (0.05, 0.5, 1.0, 1.0, 200),
    (0.05, 0.5, 0.9, 0.95, 200),
    (0.3, 0.2, 0.85, 0.9, 200),
    (0.05, 0.05, 0.9, 0.95, 400),
)
TWICE = (  # situations, descriptors, how many of them each situation has, share, and which way it is alike by 0.5
    (60, 40, 8, 0.03, "situations"),
    (60, 40, 8, 0.05, "situations"),
    (30, 25, 4, 0.08, "situations"),
    (20, 46, 5, 0.1, "situations"),
    (60, 12, 6, 0.05, "descriptors"),
)
MIXED = ((12, 27), (20, 54), (25, 48), (32, 12), (60, 9))  # clusters, rows of each
CROSSED = ((60, 40, ""), (60, 40, "situations"), (60, 40, "both"), (20, 20, "both"), (12, 30, "situations"))
SPREADS = ((0.8, 0.8), (0.01, 0.8), (0.8, 0.01))
Floats = npt.NDArray[np.float64]


def rates(share: float, alike: float, n: int, rng: np.random.Generator) -> Floats:
    """Of n clusters, whose rows have this intraclass correlation."""
    whole = 1 / alike - 1
    return rng.beta(share * whole, (1 - share) * whole, n)


def means(data_sets: int) -> Iterator[str]:
    """Shares; uneven: half of the clusters have 2 rows, the others 15."""
    rng = np.random.default_rng(4)
    for share, alike, uneven in MEANS:
        covered = []
        for n in CLUSTERS:
            sizes = np.where(np.arange(n) < n // 2, 2, 15) if uneven else np.full(n, ROWS)
            codes, held = pd.Series(np.repeat(np.arange(n), sizes)), 0
            for _ in range(data_sets):
                answers = pd.Series(1.0 * (rng.random(len(codes)) < rates(share, alike, n, rng)[codes]))
                found = clustered.clustered_mean(answers, codes, (0.0, 1.0))
                held += found.low <= share <= found.high
            covered.append(100 * held / data_sets)
        yield _row(f"{100 * share:.0f} %, alike by {alike}{', uneven' if uneven else ''}", covered)


def differences(data_sets: int) -> Iterator[str]:
    clustered.PERMUTATIONS = 9  # intervals alone are looked at
    rng = np.random.default_rng(4)
    for before, after, uneven in CHANGES:
        covered = []
        for n in CLUSTERS:
            sizes = np.full(n, ROWS)
            sizes[: max(1, n // 6)] *= TIMES if uneven else 1
            held = 0
            for _ in range(data_sets):
                runs = [_answers(each, sizes, rng) for each in (before, after)]
                codes = pd.Series(np.repeat(np.arange(n), sizes))
                found = clustered.paired_difference(*runs, codes, within=(0.0, 1.0))
                held += found.low <= after - before <= found.high
            covered.append(100 * held / data_sets)
        told = ", a sixth of the clusters ten times as large" if uneven else ""
        yield _row(f"{100 * before:.0f} to {100 * after:.0f} %{told}", covered)


def mixed(data_sets: int) -> Iterator[str]:
    """Differences from never where one or two clusters change wholly, and of all others about one row in all."""
    rng, covered = np.random.default_rng(4), []
    for n, rows in MIXED:
        whole, here_and_there = 1.5 / n, 1.2 / (n * rows)
        truth, held = whole + (1 - whole) * here_and_there, 0
        codes = pd.Series(np.repeat(np.arange(n), rows))
        for _ in range(data_sets):
            rate = np.where(rng.random(n) < whole, 1.0, here_and_there)
            after = pd.Series(1.0 * (rng.random(n * rows) < np.repeat(rate, rows)))
            found = clustered.paired_difference(after * 0, after, codes, within=(0.0, 1.0))
            held += found.low <= truth <= found.high
        covered.append(100 * held / data_sets)
    yield _row("0 in most clusters, all in 1.5 of them", covered)


def _answers(share: float, sizes: npt.NDArray[np.int64], rng: np.random.Generator) -> pd.Series:
    """Of clusters of these sizes, 1 in as many as the share."""
    if not share:
        return pd.Series(np.zeros(sizes.sum()))
    drawn = rng.random(sizes.sum())
    return pd.Series(1.0 * (drawn < np.repeat(rates(share, ALIKE, len(sizes), rng), sizes)))


def twice(data_sets: int) -> Iterator[str]:
    """Differences from never of rows that cluster twice."""
    rng = np.random.default_rng(4)
    for n, others, drawn, share, way in TWICE:
        held = 0
        for _ in range(data_sets):
            situation = np.repeat(np.arange(n), drawn)
            other = np.concatenate([rng.choice(others, drawn, replace=False) for _ in range(n)])
            of = (situation, n) if way == "situations" else (other, others)
            after = pd.Series(1.0 * (rng.random(len(situation)) < rates(share, 0.5, of[1], rng)[of[0]]))
            ways = pd.Series(situation), None, pd.Series(other)
            found = clustered.paired_difference(after * 0, after, *ways, within=(0.0, 1.0))
            held += found.low <= share <= found.high
        told = f"0 to {100 * share:.0f} %, {n} situations × {drawn} of {others} descriptors, alike by {way}"
        yield _row(told, [100 * held / data_sets])


def corrected(data_sets: int) -> Iterator[str]:
    rng = np.random.default_rng(4)
    for share, alike, sensitivity, specificity, n_labels in SHARES:
        covered, contradicted = [], 0
        for n in CLUSTERS:
            held = given = 0
            for _ in range(data_sets):
                true = rng.binomial(SENTENCES, np.repeat(rates(share, alike, n, rng), TEXTS))
                seen = rng.binomial(true, sensitivity) + rng.binomial(SENTENCES - true, 1 - specificity)
                positive = max(10, rng.binomial(n_labels, share))
                negative = n_labels - positive
                judged = Judged(
                    positive, rng.binomial(positive, sensitivity), negative, rng.binomial(negative, specificity)
                )
                names = pd.Series(np.repeat(np.arange(n), TEXTS))
                sentences = pd.Series(np.full(len(names), SENTENCES))
                low, high = judged.interval(
                    share_seen(pd.Series(seen / SENTENCES), sentences, names, names * 0, judged)
                )
                given += not math.isnan(low)
                held += low <= share <= high
            covered.append(100 * held / max(1, given))
            contradicted += data_sets - given
        told = f"{100 * share:.0f} %, alike by {alike}, sensitivity {sensitivity}, specificity {specificity}"
        yield _row(f"{told}, {n_labels} labels (contradicted: {contradicted})", covered)


def crossed(data_sets: int) -> Iterator[str]:
    for constant in (0.0, -3.5):
        for spreads in SPREADS:
            drawn = np.random.default_rng(9).normal(0, math.hypot(*spreads), 2_000_000)
            truth = float(special.expit(constant + drawn).mean())
            covered = [_crossed(constant, spreads, truth, *design, data_sets) for design in CROSSED]
            yield _row(f"{100 * truth:.1f} %, standard deviations {spreads[0]} and {spreads[1]}", covered)


def _crossed(
    constant: float, spreads: tuple[float, float], truth: float, n: int, others: int, uneven: str, data_sets: int
) -> float:
    rng, held = np.random.default_rng(3), 0
    for _ in range(data_sets):
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
        held += low <= truth <= high
    return 100 * held / data_sets


def _row(name: str, covered: list[float]) -> str:
    return f"| {name} | {' | '.join(f'{each:.1f}' for each in covered)} |"


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "means": means,
    "differences": differences,
    "mixed": mixed,
    "twice": twice,
    "corrected": corrected,
    "crossed": crossed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--data-sets", type=whole(), default=200, metavar="N", help="a row")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    arguments = parser.parse_args()
    for name in arguments.only:
        told = {"crossed": CROSSED, "mixed": MIXED, "twice": ("coverage",)}.get(name, CLUSTERS)
        print(f"{name}: {', '.join(map(str, told))}")
        for row in PARTS[name](arguments.data_sets):
            print(row, flush=True)


if __name__ == "__main__":
    main()
