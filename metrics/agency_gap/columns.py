"""Columns beside a metric's predictions, as codes.

Metrics stand alone on the Hub, so each metric's folder has a copy of this file; `python scripts/copy_into_metrics.py`
renews them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

IntArray = npt.NDArray[np.int64]


def refuse_other_length(values: Collection[object], name: str, n: int) -> None:
    """Raises ValueError unless there are n values."""
    if len(values) != n:
        raise ValueError(f"{name} has {len(values)} values for {n} predictions")


def distinct(values: Iterable[object], n: int) -> tuple[IntArray, list[object]]:
    """(codes of n values, the different values in order of appearance); code -1 is None or NaN."""
    codes, found = pd.factorize(np.fromiter(values, dtype=object, count=n))
    return codes, list(found)


def paired(codes: IntArray, others: IntArray) -> tuple[IntArray, list[tuple[int, int]]]:
    """(codes of the pairs of two codes, the different pairs in order of appearance)."""
    width = int(others.max(initial=0)) + 1
    pairs, found = pd.factorize(codes * width + others)
    return pairs, [divmod(pair, width) for pair in found.tolist()]


def coded(
    values: Collection[object], name: str, n: int, missing: str = "None", short_first: bool = False
) -> tuple[IntArray, list[str]]:
    """(codes of n values, names): values told apart by their text, None and NaN by `missing`.

    Names are sorted, short ones first where asked for (run 2 before run 10), so that seeded draws don't depend on the
    order of rows. Raises ValueError for another number of values.
    """
    refuse_other_length(values, name, n)
    codes, found = distinct(values, n)
    texts = [*map(str, found), *[missing] * bool((codes < 0).any())]  # code -1 is the last
    names = sorted(dict.fromkeys(texts))
    if short_first:
        names.sort(key=len)
    place = {text: code for code, text in enumerate(names)}
    return np.array([place[text] for text in texts], dtype=np.int64)[codes], names
