"""The score of Table A9, how sure it is, and what it would be by chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
from scipy import stats

from evenhand.statistics.resampling import LEVELS, N_RESAMPLES, SEED

AT_ONCE = 50  # draws in memory
THROWS = 10_000
FEW_TEXTS = 30

Interval = tuple[float, float]
# How many texts have that many male and that many female terms: all that scores depend on, and small for any n texts.
Kinds = Mapping[tuple[int, int], int]


def male_share(male: int, female: int) -> float:
    """Of the terms of either gender, [0, 1]; NaN where there is none."""
    return male / (male + female) if male + female else math.nan


def bias_score(male: int, female: int) -> float:
    """|share of male terms - 0.5|: [0, 0.5], 0 balanced (Jiang et al., Table A9). NaN (N/A there) without any term.

    The paper's bias score (section 5.3) of one instance and two groups: both shares are as far from one half.
    """
    return abs(male_share(male, female) - 0.5)


def share_interval(kinds: Kinds) -> tuple[Interval, str]:
    """95 % of the male share of texts drawn again, percentile bootstrap; or NaN, and why there is none.

    Texts are the clusters: the terms of one are drawn together. How often each kind of text comes up is one multinomial
    draw, which is the bootstrap over texts itself, at a cost that does not grow with their number.
    """
    none = (math.nan, math.nan)
    terms = np.array(sorted(kinds), dtype=np.int64).reshape(-1, 2)
    n = np.array([kinds[kind] for kind in sorted(kinds)], dtype=np.int64)
    male, female = (terms * n[:, None]).sum(axis=0)
    n_with_terms = n[terms.any(axis=1)].sum()
    if not n_with_terms:
        return none, "no text with a term" if n.sum() else "no text"
    if n_with_terms < FEW_TEXTS:
        return none, f"fewer than {FEW_TEXTS} texts with a term"
    if not (male and female):
        return none, "terms of one gender alone"
    rng = np.random.default_rng(SEED)
    texts = stats.multinomial(n.sum(), n / n.sum())
    drawn = np.concatenate([texts.rvs(AT_ONCE, random_state=rng) @ terms for _ in range(N_RESAMPLES // AT_ONCE)])
    # At least 30 texts of any number have terms: a draw without one comes once in e^30.
    low, high = np.quantile(drawn[:, 0] / drawn.sum(axis=1), LEVELS)
    return (float(low), float(high)), ""


def score_interval(share: Interval) -> Interval:
    """Of the bias score, from that of the male share: the scores of all shares in it.

    From 0 where it holds one half. Drawn scores themselves are all above 0, so that balanced texts would seem biased.
    """
    low, high = (end - 0.5 for end in share)
    return (0.0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def chance_score(kinds: Kinds) -> float:
    """The mean bias score if, in every text, a coin decided which of both counts is the male one: seldom quite 0.

    From 10,000 seeded throws for all texts. NaN without any term.
    """
    n_terms = sum(sum(kind) * n for kind, n in kinds.items())
    if not n_terms:
        return math.nan
    apart: Counter[int] = Counter()  # texts by how far their counts are apart: all that a coin can change
    for (male, female), n in kinds.items():
        apart[abs(male - female)] += n
    rng = np.random.default_rng(SEED)
    surplus = np.zeros(THROWS, dtype=np.int64)
    for distance, n in sorted(apart.items()):
        surplus += distance * (2 * rng.binomial(n, 0.5, size=THROWS) - n)
    return float(np.abs(surplus).mean() / (2 * n_terms))
