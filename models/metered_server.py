"""One server, asked at the pace that is allowed, with what it answers counted, and read or asked again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from evenhand.models import api_keys
from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.openai_http import Answer, JsonServer, Passing, Stopped, Unreachable
from evenhand.models.openai_replies import Malformed, Withheld, failure, usage_of
from evenhand.models.pace import Pace
from evenhand.models.spending import Spending, Usage

T = TypeVar("T")
_BESIDE = ("/tokenize", "/detokenize")  # /v1; they cost nothing, and aren't counted
_NOTHING = Usage(0, 0)


@dataclass(frozen=True)
class MeteredServer:
    server: JsonServer
    spending: Spending
    pace: Pace

    def ask(
        self,
        path: str,
        body: Mapping[str, object],
        about: str,
        stop: threading.Event,
        aside: list[Usage] | None = None,
    ) -> Answer:
        """Once. aside: what was set aside for this request and others; a further attempt takes what limits still have.

        Where the server asks to wait, nobody asks it anything before that time.
        Raises as `JsonServer.ask`, Stopped, and LimitReached.
        """
        if path in _BESIDE:
            return self.server.ask(path, body, about=about, beside=True)
        self.pace.wait(stop)
        if stop.is_set():
            raise Stopped
        most = self.spending.most(body)
        if aside is not None and most in aside:
            aside.remove(most)
        else:
            self.spending.hold([most], stop, patient=aside is None)
        took: Usage | None = None  # of an answer that nobody saw to its end
        try:
            answer = self.server.ask(path, body, about=about)
            took = usage_of(answer.content) or (None if _is_good(answer) else _NOTHING)
        except Passing as error:
            if error.pause:
                self.pace.hold(error.pause)
            if not error.lost:
                took = _NOTHING
            raise
        except Unreachable:
            took = _NOTHING
            raise
        finally:
            self.spending.settle(most, took)
            if took is not None:
                self.pace.spent(took.read + took.written)
        return answer

    @contextmanager
    def set_aside(self, bodies: Sequence[Mapping[str, object]], stop: threading.Event) -> Iterator[list[Usage]]:
        """What requests with these bodies may take, all together or, by LimitReached, none."""
        left = [self.spending.most(body) for body in bodies]
        self.spending.hold(left, stop)
        try:
            yield left
        finally:
            self.spending.release(left)

    def patiently(
        self,
        path: str,
        body: Mapping[str, object],
        read: Callable[[object], T],
        about: str,
        stop: threading.Event,
        aside: list[Usage] | None = None,
    ) -> T:
        """What `read` makes of an answer's content, asked for until there is one."""
        return self.server.patiently(lambda: self.read(self.ask(path, body, about, stop, aside), read, about), stop)

    def read(self, answer: Answer, read: Callable[[object], T], about: str) -> T:
        """Raises Unanswerable where this request fails for good, ModelError where all would, Passing where asking again
        may help."""
        reason = failure(answer)
        if reason is not None:
            raise Unanswerable(reason, f"the server {self.server.described(answer)}")
        must_be_good(self.server, answer, about)
        try:
            return read(answer.content)
        except Malformed as error:
            said = self.server.cleaned(answer.message) or "nothing"
            what = f"{about}: {self.server.url} answered with what is no completion, {error}: {said}"
            raise Passing(what, pause=0 if isinstance(error, Withheld) else None, lasting=True) from None


def must_be_good(server: JsonServer, answer: Answer, about: str) -> None:
    """Raises ModelError for any status but 2xx, with what to do where that is known."""
    if _is_good(answer):
        return
    advice = {
        401: "; " + api_keys.advice(server.key),
        403: "; " + api_keys.advice(server.key),
        404: "; does the URL end where its API begins (…/v1), and does it serve the model named after #?",
    }.get(answer.status, "")
    raise ModelError(f"{about}: {server.url} {server.described(answer)}{advice}")


def _is_good(answer: Answer) -> bool:
    return 200 <= answer.status < 300
