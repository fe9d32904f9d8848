"""Columns beside a metric's predictions, as codes.

A metric that is published has a copy of this file beside it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

IntArray = npt.NDArray[np.int64]


def refuse_other_length(values: Collection[object], name: str, n: int) -> None:
    """Raise ValueError unless these are n values; the characters of a text are none."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise ValueError(f"{name} is {values!r}; give a list with a value for each of the {n} predictions")
    if len(values) != n:
        raise ValueError(f"{name} has {len(values)} values for {n} predictions")


def distinct(values: Iterable[object], n: int) -> tuple[IntArray, list[object]]:
    """Return (codes of n hashable values, the different values in order of appearance); code -1 is None or NaN."""
    codes, found = pd.factorize(np.fromiter(values, dtype=object, count=n))
    return codes, list(found)


def paired(codes: IntArray, others: IntArray) -> tuple[IntArray, list[tuple[int, int]]]:
    """Return (codes of the pairs of two codes, the different pairs in order of appearance)."""
    width = int(others.max(initial=0)) + 1
    pairs, found = pd.factorize(codes * width + others)
    return pairs, [divmod(pair, width) for pair in found.tolist()]


def coded(
    values: Collection[object], name: str, n: int, missing: str = "None", short_first: bool = False
) -> tuple[IntArray, list[str]]:
    """Return (codes of n values, names): values distinguished by their text, None and NaN by `missing`.

    Names are sorted, short ones first where asked for (run 2 before run 10), so that seeded draws don't depend on the
    order of rows. Raises ValueError for another number of values, and for lists and objects.
    """
    refuse_other_length(values, name, n)
    for kind in set(map(type, values)):
        if issubclass(kind, list | tuple | Mapping | np.ndarray):
            row, value = next((row, value) for row, value in enumerate(values) if type(value) is kind)
            raise ValueError(f"row {row}: {name} has {value!r}; give texts or numbers")
    codes, found = distinct(values, n)
    texts = [*map(str, found), *[missing] * bool((codes < 0).any())]  # code -1 is the last
    names = sorted(dict.fromkeys(texts))
    if short_first:
        names.sort(key=len)
    place = {text: code for code, text in enumerate(names)}
    return np.array([place[text] for text in texts], dtype=np.int64)[codes], names


def columns_of(by: object, name: str = "by") -> Mapping[str, Collection[object]]:
    """Return {column: values}, none for None. Raises ValueError for anything else."""
    if by is None:
        return {}
    if not isinstance(by, Mapping):
        raise ValueError(f"{name} is {by!r}; give {{column: list}}")
    return by


def numbers(
    values: Collection[object], name: str, n: int, least: float, most: float, of: str
) -> npt.NDArray[np.float64]:
    """Return n numbers as floats, None as NaN. of: what they are, for errors.

    Raises ValueError for another number of values, and naming the row for what is no number from `least` to `most`.
    """
    refuse_other_length(values, name, n)
    kinds = (int, float, np.integer, np.floating)
    for row, value in enumerate(values):
        number = isinstance(value, kinds) and not isinstance(value, bool)
        if value is not None and not (number and (math.isnan(value) or least <= value <= most)):  # type: ignore[arg-type,operator]
            found = float(value) if number else value  # type: ignore[arg-type]
            raise ValueError(f"row {row}: {name} is {found!r}; {of} from {least} to {most}, None if unknown")
    return np.array([math.nan if value is None else value for value in values], dtype=float)


class TextColumns:
    """Mixin of an `evaluate.Metric` whose features are texts, which refuses anything else."""

    info: Any

    def add_batch(self, *, predictions: Any = None, references: Any = None, **columns: Any) -> None:
        """Check the rows: evaluate would take numbers for texts, and what it can't read for missing."""
        for name, rows in (("predictions", predictions), ("references", references)):
            if rows is not None:
                refuse_other_than_texts(rows, self.info.features[name], name)
        super().add_batch(predictions=predictions, references=references, **columns)  # type: ignore[misc]

    def add(self, *, prediction: Any = None, reference: Any = None, **columns: Any) -> None:
        """Add a batch of one."""
        self.add_batch(predictions=[prediction], references=[reference], **columns)


def codes_of(values: Collection[object], accepted: Sequence[str], name: str, n: int) -> IntArray:
    """Codes (n,) into `accepted`. Raises ValueError for another value."""
    codes, names = coded(values, name, n)
    if unknown := [value for value in names if value not in accepted]:
        listed = ", ".join(each or "''" for each in accepted)
        raise ValueError(f"unknown {name} {unknown[0]!r}; accepted: {listed}")
    return np.array([accepted.index(value) for value in names], dtype=np.int64)[codes]


def refuse_other_than_texts(rows: Iterable[object], feature: object, name: str) -> None:
    """Raise ValueError naming the first row that is not as `feature` says: texts, lists of texts, or objects of these.

    evaluate looks at the first row alone, reads numbers as texts in others, and what it can't read as missing.
    feature: of datasets. name: of the column, for errors.
    """
    values, places = [*rows], None
    if hasattr(feature, "feature"):  # a list
        kinds = {kind for kind in set(map(type, values)) if not issubclass(kind, list | tuple | np.ndarray)}
        _refuse_kinds(values, places, kinds, f"{name} has", "no list of texts")
        places = [row for row, value in enumerate(values) for _ in value]  # type: ignore[attr-defined]
        values = [*chain.from_iterable(values)]  # type: ignore[arg-type]
    elif isinstance(feature, Mapping):
        for row, value in enumerate(values):
            if not isinstance(value, Mapping) or not feature.keys() <= value.keys():
                raise ValueError(f"row {row}: {name} has {value!r}, no object with {', '.join(feature)}")
        for key, of in feature.items():
            refuse_other_than_texts((value[key] for value in values), of, key)  # type: ignore[index]
        return
    kinds = {kind for kind in set(map(type, values)) if not issubclass(kind, str)}
    _refuse_kinds(values, places, kinds, f"{name} has", "no text; what is unread or unknown is ''")


def _refuse_kinds(
    values: Sequence[object], rows: Sequence[int] | None, kinds: Collection[type], what: str, why: str
) -> None:
    if kinds:
        place = next(place for place, value in enumerate(values) if type(value) in kinds)
        raise ValueError(f"row {rows[place] if rows else place}: {what} {values[place]!r}, {why}")
