"""How fast a server is asked: so many requests, and so many tokens, a minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_MINUTE = 60.0  # seconds


class Pace:
    """Of all threads together. None: as fast as they come.

    Requests are spaced evenly, for servers hold "600 a minute" to ten a second. What tokens cost is known after a
    reply: the next request waits until they would have been read and written at that speed.
    """

    def __init__(
        self,
        requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._of_request = _MINUTE / requests_a_minute if requests_a_minute else 0.0
        self._of_token = _MINUTE / tokens_a_minute if tokens_a_minute else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._next_request = self._next_tokens = self._held_until = clock()

    def wait(self, stop: threading.Event) -> None:
        """Until the next request may be sent, or `stop` is set."""
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
        """No further request is sent before that."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock() + seconds)

    def spent(self, tokens: int) -> None:
        with self._lock:
            self._next_tokens = max(self._clock(), self._next_tokens) + self._of_token * tokens
