"""What a server was asked for, what that cost, and limits on both."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.models.errors import LimitReached
from evenhand.models.openai_http import Stopped
from evenhand.models.prices import Price
from evenhand.models.server_options import ServerOptions

_LOOKS_UP = 0.2  # seconds, from a wait for others, whether anybody waits for this


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer: read of its prompt, and written."""

    read: int
    written: int


class Spending:
    """Of one model, in this command. Safe in threads.

    What a request may take at most is held before it is sent, and given back when it is known what it took: no limit is
    passed, however many are under way.
    """

    def __init__(self, options: ServerOptions, price: Price | None):
        self._options, self.price = options, price
        self._changed = threading.Condition()
        self.requests = self.read = self.written = 0
        self._held: list[Usage] = []
        self._longest = 0  # tokens read by one request
        self._reckoned = 0  # answers

    @property
    def cost(self) -> float | None:
        return None if self.price is None else self.price.of(self.read, self.written)

    def most(self, body: Mapping[str, object]) -> Usage:
        """That a request with this body may take: a token for each of its bytes, or as many as one before it read, and
        all that it may write. Of a prompt that comes as tokens, these."""
        prompt = body.get("prompt")
        written = body.get("max_tokens", body.get("max_completion_tokens"))
        limit = written if isinstance(written, int) else 0
        if isinstance(prompt, (tuple, list)):
            return Usage(len(prompt), limit)
        return Usage(max(self._longest, len(json.dumps(body))), limit)

    def hold(self, each: Sequence[Usage], stop: threading.Event, patient: bool = True) -> None:
        """For requests that are about to be sent. Where they may pass a limit with those under way, it waits for these.

        Raises LimitReached where they may pass it alone, or where nobody waits (patient), and Stopped.
        """
        with self._changed:
            while (limit := self._passed_by(each)) is not None:
                if not patient or not self._held:
                    raise self._reached(limit, each)
                self._changed.wait(_LOOKS_UP)
                if stop.is_set():
                    raise Stopped
            self._held.extend(each)

    def settle(self, held: Usage, took: Usage | None) -> None:
        """One was sent. took: None where nobody says how much: the most is reckoned."""
        with self._changed:
            self._held.remove(held)
            self.requests += 1
            if took is None:
                self._reckoned += 1
            else:
                self._longest = max(self._longest, took.read)
            self.read += (took or held).read
            self.written += (took or held).written
            self._changed.notify_all()

    def release(self, held: Sequence[Usage]) -> None:
        """They were not sent."""
        with self._changed:
            for each in held:
                self._held.remove(each)
            self._changed.notify_all()

    def in_words(self) -> str:
        """ "64 requests, 12,345 tokens read, 678 written, 0.0123 USD"."""
        said = f"{self.requests:,} requests, {self.read:,} tokens read, {self.written:,} written"
        cost = "" if self.price is None else f", {self.cost:.4g} {self.price.currency}"
        lost = f" ({self._reckoned:,} answers that were lost, or did not say, at their most)" if self._reckoned else ""
        return said + cost + lost

    def _passed_by(self, each: Sequence[Usage]) -> str | None:
        """The flag of a limit that these may pass, with all that is under way."""
        options, every = self._options, [*self._held, *each]
        read = self.read + sum(one.read for one in every)
        written = self.written + sum(one.written for one in every)
        if options.max_requests is not None and self.requests + len(every) > options.max_requests:
            return "max-requests"
        if options.max_total_tokens is not None and read + written > options.max_total_tokens:
            return "max-total-tokens"
        if options.max_cost is not None and self.price and self.price.of(read, written) > options.max_cost:
            return "max-cost"
        return None

    def _reached(self, flag: str, each: Sequence[Usage]) -> LimitReached:
        options, price = self._options, self.price
        read, written = sum(one.read for one in each), sum(one.written for one in each)
        if flag == "max-requests":
            limit, more = f"{options.max_requests:,}", f"{len(each):,} requests" if each[1:] else "a request"
        elif flag == "max-total-tokens":
            limit, more = f"{options.max_total_tokens:,}", f"up to {read + written:,} tokens"
        else:
            assert price is not None
            limit, more = f"{options.max_cost:g} {price.currency}", f"up to {price.of(read, written):.4g}"
        return LimitReached(
            f"--{flag} {limit} would be passed: this command took {self.in_words()}, and what comes next takes {more}; "
            f"a larger --{flag} goes further. Every answer is stored."
        )
