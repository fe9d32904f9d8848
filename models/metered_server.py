"""Asks one server at the allowed pace and within limits, counts and reads its answers, and repeats failed attempts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer, JsonServer, Retryable, Stopped, Unreachable
from evenhand.models.openai_replies import Malformed, Withheld, failure, usage_of
from evenhand.models.pace import Pace
from evenhand.models.server_fields import ServerFields
from evenhand.models.spending import Spending, Usage

T = TypeVar("T")
CHAT = "/chat/completions"
_BESIDE = ("/tokenize", "/detokenize")  # /v1; they cost nothing, and aren't counted
_NOTHING = Usage(0, 0)


@dataclass(frozen=True)
class MeteredServer:
    server: JsonServer
    spending: Spending
    pace: Pace
    fields: ServerFields = field(default_factory=ServerFields)

    def ask(
        self,
        path: str,
        values: Mapping[str, object],
        about: str,
        stop: threading.Event,
        held: list[Usage] | None = None,
    ) -> Answer:
        """Make one attempt. A chat completion is sent again without the fields that the server refuses.

        Args:
            held: what is held for this request and others that belong to it; further attempts take what limits leave.

        Raises Stopped, LimitReached, and what `JsonServer.ask` and `ServerFields.adapt` raise.
        """
        if path in _BESIDE:
            return self.server.ask(path, values, about=about, beside=True)
        if path != CHAT:
            return self._ask(path, values, about, stop, held)
        while True:
            body = self.fields.body(values)
            answer = self._ask(path, body, about, stop, held)
            refusal = f"{about}: {self.server.url} {self.server.described(answer)}"
            if failure(answer) != "not_understood" or not self.fields.adapt(answer, body, refusal):
                return answer

    def _ask(
        self, path: str, body: Mapping[str, object], about: str, stop: threading.Event, held: list[Usage] | None
    ) -> Answer:
        self.pace.wait(stop)
        if stop.is_set():
            raise Stopped
        most = self.spending.most(body)
        if held is not None and most in held:
            held.remove(most)
        else:
            self.spending.hold([most], stop, patient=held is None)
        took: Usage | None = None
        try:
            answer = self.server.ask(path, body, about=about)
            took = usage_of(answer.content) or (None if answer.good else _NOTHING)
        except (Retryable, Unreachable) as error:
            if isinstance(error, Unreachable) or not error.lost:
                took = _NOTHING
            if isinstance(error, Retryable) and error.pause:
                self.pace.hold(error.pause)
            raise
        finally:
            self.spending.settle(most, took)
            if took is not None:
                self.pace.spent(took.read + took.written)
        return answer

    def read(self, answer: Answer, read: Callable[[object], T], about: str) -> T:
        """Raises Unanswerable where this request fails for good, ModelError where all would, Retryable where another
        attempt may succeed."""
        reason = failure(answer)
        if reason is not None:
            raise Unanswerable(reason, f"the server {self.server.described(answer)}")
        self.server.check(answer, about)
        try:
            return read(answer.content)
        except Malformed as error:
            said = self.server.cleaned(answer.message) or "nothing"
            what = f"{about}: {self.server.url} gave a malformed answer, {error}: {said}"
            raise Retryable(what, pause=0 if isinstance(error, Withheld) else None, lasting=True) from None


@dataclass(frozen=True)
class Asker:
    """Asks a server about one thing until there is an answer. about: for messages. stop: once set, it asks no more."""

    metered: MeteredServer
    about: str
    stop: threading.Event
    held: list[Usage] | None = None

    def __call__(self, path: str, body: Mapping[str, object], read: Callable[[object], T]) -> T:
        """What `read` makes of the answer's content."""

        def attempt() -> T:
            answer = self.metered.ask(path, body, self.about, self.stop, self.held)
            return self.metered.read(answer, read, self.about)

        return self.metered.server.patiently(attempt, self.stop)

    @contextmanager
    def together(self, bodies: Sequence[Mapping[str, object]]) -> Iterator[Asker]:
        """Hold what requests with these bodies may take, so that no limit ends them midway. Raises LimitReached."""
        spending = self.metered.spending
        held = [spending.most(body) for body in bodies]
        spending.hold(held, self.stop)
        try:
            yield Asker(self.metered, self.about, self.stop, held)
        finally:
            spending.release(held)
