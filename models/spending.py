"""What a server was asked for, what that cost by a table of prices, and limits on both."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from pathlib import Path

from evenhand.models.errors import ModelError
from evenhand.models.server_options import ServerOptions

_COLUMNS = ("model", "input", "output", "currency")
_PRICED = 1_000_000  # tokens: what prices are of


class LimitReached(ModelError):
    """The run stops here, and goes on with a larger limit."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer: read of its prompt, and written."""

    read: int
    written: int


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


class Spending:
    """Of one model, in this command. Safe in threads."""

    def __init__(self, options: ServerOptions, price: Price | None):
        self._options, self.price = options, price
        self._lock = threading.Lock()
        self.requests = self.read = self.written = 0
        self._answered = self._under_way = 0

    @property
    def cost(self) -> float | None:
        return None if self.price is None else self.price.of(self.read, self.written)

    def check(self) -> None:
        """Raises LimitReached where one request more, by the mean of those before it, would exceed a limit."""
        options = self._options
        with self._lock:
            if options.max_requests is not None and self.requests >= options.max_requests:
                raise self._reached("max-requests", f"{options.max_requests:,}")
            if not self._answered:
                return
            share = 1 + (self._under_way + 1) / self._answered  # those under way are expected to cost as much
            if options.max_total_tokens is not None and (self.read + self.written) * share > options.max_total_tokens:
                raise self._reached("max-total-tokens", f"{options.max_total_tokens:,}")
            if options.max_cost is not None and self.price and (self.cost or 0) * share > options.max_cost:
                raise self._reached("max-cost", f"{options.max_cost:g} {self.price.currency}")

    def begin(self) -> None:
        """A request is sent."""
        with self._lock:
            self.requests += 1
            self._under_way += 1

    def end(self, usage: Usage | None) -> None:
        """It was answered, or failed: None. Raises ModelError for an answer that does not say what its limits count."""
        with self._lock:
            self._under_way -= 1
            if usage is not None:
                self._answered += 1
                self.read += usage.read
                self.written += usage.written

    @property
    def counts_tokens(self) -> bool:
        """Whether answers that don't say how many tokens they took can't be borne."""
        return self._options.max_total_tokens is not None or self._options.max_cost is not None

    def in_words(self) -> str:
        """ "64 requests, 12,345 tokens read, 678 written, 0.0123 USD"."""
        said = f"{self.requests:,} requests, {self.read:,} tokens read, {self.written:,} written"
        return said if self.price is None else f"{said}, {self.cost:.4g} {self.price.currency}"

    def _reached(self, flag: str, limit: str) -> LimitReached:
        return LimitReached(
            f"--{flag} {limit} is reached ({self.in_words()}, in this command). Every answer is stored: the same "
            f"command with a larger --{flag} goes on from here, and asks nothing twice."
        )
