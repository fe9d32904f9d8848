"""What a server was asked for, what that cost, and limits on both."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.models.errors import LimitReached, ModelError
from evenhand.models.openai_http import Stopped
from evenhand.models.server_options import ServerOptions

_COLUMNS = ("model", "input", "output", "currency")
_PRICED = 1_000_000  # tokens that a price is of
_LOOKS_UP = 0.2  # seconds between two looks at `stop`


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
    """Read a model's price from a table with the columns model, input and output (of a million tokens), currency.

    Raises UsageError for a file that can't be read, ModelError where it doesn't have the model once, with such prices.
    """
    from evenhand.paths import typed_path
    from evenhand.row_files.rows import read_rows

    rows = read_rows(Path(typed_path(file)), "price", "prices", edited=True)
    if missing := [name for name in _COLUMNS if name not in rows.columns]:
        raise ModelError(f"--prices {file} has no column {missing[0]}; expected: {', '.join(_COLUMNS)}")
    found = [row for name, *row in zip(*(rows.words(name) for name in _COLUMNS)) if name == model]
    if len(found) != 1:
        raise ModelError(f"--prices {file} has {len(found) or 'no'} rows of {model!r}; expected one")
    read, written, currency = found[0]
    try:
        price = Price(float(read), float(written), currency)
    except ValueError:
        price = Price(math.nan, math.nan, "")
    if not (0 <= price.read < math.inf and 0 <= price.written < math.inf and currency):
        raise ModelError(
            f"--prices {file}: {model!r} has {read!r}, {written!r}, {currency!r}; expected two numbers of 0 or more "
            "and a currency's name"
        )
    return price


class Spending:
    """Requests and tokens of one model in this command. Safe in threads.

    What a request may take at most is held before it is sent, and given back when it is known what it took: no limit is
    exceeded, however many requests run.
    """

    def __init__(self, options: ServerOptions, price: Price | None):
        self._options, self.price = options, price
        self._changed = threading.Condition()
        self.requests = self.read = self.written = 0
        self._held: list[Usage] = []
        self._longest = 0  # tokens read by one request
        self._uncounted = 0  # answers

    def most(self, body: Mapping[str, object]) -> Usage:
        """What a request with this body may take: its prompt's tokens, or else one for each of its bytes (and no fewer
        than an earlier request read); and all that it may write."""
        prompt = body.get("prompt")
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        written = limit if isinstance(limit, int) else 0
        if isinstance(prompt, (tuple, list)):
            return Usage(len(prompt), written)
        return Usage(max(self._longest, len(json.dumps(body))), written)

    def hold(self, each: Sequence[Usage], stop: threading.Event, patient: bool = True) -> None:
        """Hold what requests may take. Where a limit may be exceeded together with running ones, wait for these.

        Raises LimitReached where these requests may exceed it alone, or are not to wait (patient), and Stopped.
        """
        with self._changed:
            while (limit := self._exceeded(each)) is not None:
                if not patient or not self._held:
                    read, written = sum(one.read for one in each), sum(one.written for one in each)
                    raise LimitReached(
                        f"{limit} would be exceeded: this command took {self.in_words()}; next: "
                        f"{self._in_words(len(each), read, written)} at most. A larger limit goes further."
                    )
                self._changed.wait(_LOOKS_UP)
                if stop.is_set():
                    raise Stopped
            self._held.extend(each)

    def settle(self, held: Usage, took: Usage | None) -> None:
        """Count a request that was sent. took: None where it is not known: then all that was held counts."""
        with self._changed:
            self.requests += 1
            if took is None:
                self._uncounted += 1
            else:
                self._longest = max(self._longest, took.read)
            self.read += (took or held).read
            self.written += (took or held).written
        self.release([held])

    def release(self, held: Sequence[Usage]) -> None:
        """Give back what is held."""
        with self._changed:
            for each in held:
                self._held.remove(each)
            self._changed.notify_all()

    def in_words(self) -> str:
        """ "64 requests, 12,345 tokens read, 678 written, 0.0123 USD"."""
        lost = f" ({self._uncounted:,} lost or uncounted answers at their most)" if self._uncounted else ""
        return self._in_words(self.requests, self.read, self.written) + lost

    def _in_words(self, requests: int, read: int, written: int) -> str:
        cost = f", {self.price.of(read, written):.4g} {self.price.currency}" if self.price else ""
        return f"{requests:,} requests, {read:,} tokens read, {written:,} written{cost}"

    def _exceeded(self, each: Sequence[Usage]) -> str | None:
        """The limit that these may exceed together with all that run."""
        options, every = self._options, [*self._held, *each]
        read = self.read + sum(one.read for one in every)
        written = self.written + sum(one.written for one in every)
        cost = self.price.of(read, written) if self.price else 0.0
        totals = {
            "max_requests": self.requests + len(every),
            "max_total_tokens": read + written,
            "max_cost": cost,
        }
        for name, total in totals.items():
            limit = getattr(options, name)
            if limit is not None and total > limit:
                return f"--{name.replace('_', '-')} {limit:,}"
        return None
