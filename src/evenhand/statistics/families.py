"""p-values of one family of tests, adjusted for there being so many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that control the family-wise error rate (Holm 1979). NaN stays NaN and counts as no test."""
    return _adjusted(p_values, "holm")


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return the adjusted p-values that control the false discovery rate. NaN stays NaN and counts as no test."""
    return _adjusted(p_values, "fdr_bh")


def _adjusted(p_values: Sequence[float], method: str) -> list[float]:
    from statsmodels.stats.multitest import multipletests

    adjusted = np.array(p_values, dtype=float)
    tested = ~np.isnan(adjusted)
    if tested.any():
        adjusted[tested] = multipletests(adjusted[tested], method=method)[1]
    return [float(p) for p in adjusted]
