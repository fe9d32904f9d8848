"""What a server's tokens cost, by a table that a person keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from evenhand.models.errors import ModelError

_COLUMNS = ("model", "input", "output", "currency")
_PRICED = 1_000_000  # tokens: what prices are of


@dataclass(frozen=True)
class Price:
    """Of a million tokens that are read, and that are written."""

    read: float
    written: float
    currency: str

    def of(self, read: float, written: float) -> float:
        return (self.read * read + self.written * written) / _PRICED


def price_of(model: str, file: str) -> Price:
    """From a table with a row for each model: model, input, output (of a million tokens), currency.

    Raises UsageError for a file that can't be read, ModelError where it has no such model once, or no such prices.
    """
    from evenhand.paths import typed_path
    from evenhand.row_files.rows import read_rows

    rows = read_rows(Path(typed_path(file)), "price", "prices", edited=True)
    missing = [name for name in _COLUMNS if name not in rows.columns]
    if missing:
        raise ModelError(
            f"--prices {file} has no column {missing[0]}; accepted: {', '.join(_COLUMNS)} (prices of a million tokens)"
        )
    names, *values = (rows.words(name) for name in _COLUMNS)
    found = [value for name, *value in zip(names, *values) if name == model]
    if len(found) != 1:
        raise ModelError(f"--prices {file} has {len(found) or 'no'} rows of {model!r}; give it one")
    read, written, currency = found[0]
    try:
        price = Price(float(read), float(written), currency)
    except ValueError:
        price = Price(math.nan, math.nan, "")
    if not (0 <= price.read < math.inf and 0 <= price.written < math.inf and currency):
        raise ModelError(
            f"--prices {file}: {read!r}, {written!r}, {currency!r} came for {model!r}; two numbers of 0 or "
            "more and a currency's name are accepted"
        )
    return price
