"""What a server was asked for and what that cost; limits on both, and on how fast it is asked."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
    """Prices of a million tokens that are read, and that are written."""

    read: float
    written: float
    currency: str

    def cost(self, used: Usage) -> float:
        return (self.read * used.read + self.written * used.written) / _PRICED


def find_price(model: str, file: str) -> Price:
    """Read a model's price from a table with the columns model, input and output (of a million tokens), currency.

    Raises UsageError for a file that can't be read, ModelError where it doesn't have the model once, with such prices.
    """
    from evenhand.paths import typed_path
    from evenhand.row_files.rows import read_rows

    rows = read_rows(Path(typed_path(file)), "price", "prices", edited=True)
    table = zip(*(rows.words(name) for name in _COLUMNS)) if {*_COLUMNS} <= {*rows.columns} else ()
    found = [row for row in table if row[0] == model]
    with suppress(ValueError):
        [(_, read, written, currency)] = found
        price = Price(float(read), float(written), currency)
        if 0 <= price.read < math.inf and 0 <= price.written < math.inf and currency:
            return price
    raise ModelError(
        f"--prices {file} must have one row for {model!r}, with the columns {', '.join(_COLUMNS)}: two prices of a "
        f"million tokens, 0 or more, and a currency's name; got {found or 'no such row'}"
    )


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
        """Return what a request with this body may take.

        Its prompt's tokens, or else one for each of its bytes (and no fewer than an earlier request read); and all that
        it may write.
        """
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
                    raise LimitReached(
                        f"{limit} would be exceeded: this command took {self.in_words()}; next: "
                        f"{self._in_words(len(each), _sum(each))} at most. A larger limit goes further."
                    )
                self._changed.wait(_LOOKS_UP)
                if stop.is_set():
                    raise Stopped
            self._held.extend(each)

    def settle(self, held: Usage, took: Usage | None) -> None:
        """Count a request that was sent. took: None where it is not known: then all that was held counts."""
        with self._changed:
            self.requests += 1
            self._uncounted += took is None
            self._longest = max(self._longest, took.read if took else 0)
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
        return self._in_words(self.requests, Usage(self.read, self.written)) + lost

    def _in_words(self, requests: int, used: Usage) -> str:
        cost = f", {self.price.cost(used):.4g} {self.price.currency}" if self.price else ""
        return f"{requests:,} requests, {used.read:,} tokens read, {used.written:,} written{cost}"

    def _exceeded(self, each: Sequence[Usage]) -> str | None:
        """The limit that these may exceed together with all that run."""
        used = _sum([Usage(self.read, self.written), *self._held, *each])
        totals = {
            "max_requests": self.requests + len(self._held) + len(each),
            "max_total_tokens": used.read + used.written,
            "max_cost": self.price.cost(used) if self.price else 0.0,
        }
        for name, total in totals.items():
            limit = getattr(self._options, name)
            if limit is not None and total > limit:
                return f"--{name.replace('_', '-')} {limit:,}"
        return None


def _sum(each: Sequence[Usage]) -> Usage:
    return Usage(sum(one.read for one in each), sum(one.written for one in each))


class Pace:
    """How fast a server is asked, by all threads together. None: without a limit.

    Requests are spaced evenly: servers take "600 a minute" as ten a second. How many tokens a request takes is known
    after its reply: the next request waits until they would have been read and written at that speed.
    """

    def __init__(
        self,
        requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._of_request = 60.0 / requests_a_minute if requests_a_minute else 0.0
        self._of_token = 60.0 / tokens_a_minute if tokens_a_minute else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._next_request = self._next_tokens = self._held_until = clock()

    def wait(self, stop: threading.Event) -> None:
        """Wait until the next request may be sent, or `stop` is set."""
        while True:
            with self._lock:
                now = self._clock()
                turn = max(now, self._next_request, self._next_tokens, self._held_until)
                self._next_request = turn + self._of_request
            if turn > now:
                stop.wait(turn - now)
            if stop.is_set() or turn >= self._held_until:
                return  # else the server asked to wait longer in the meantime

    def hold(self, seconds: float) -> None:
        """Send no further request before so many seconds have passed."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)

    def spent(self, tokens: int) -> None:
        with self._lock:
            self._next_tokens = max(self._clock(), self._next_tokens) + self._of_token * tokens
