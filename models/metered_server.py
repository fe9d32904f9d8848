"""Asks one server at the allowed pace and within limits, counts and reads its answers, and repeats failed attempts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer, JsonServer, Retryable, Stopped, Unreachable
from evenhand.models.openai_replies import Malformed, Withheld, failure, read_usage
from evenhand.models.server_fields import ServerFields
from evenhand.models.spending import Pace, Spending, Usage

T = TypeVar("T")
CHAT = "/chat/completions"
_BESIDE = ("/tokenize", "/detokenize")  # /v1; they cost nothing, and aren't counted
_NOTHING = Usage(0, 0)


@dataclass(frozen=True)
class Asker:
    """Asks a server about one thing until there is an answer.

    Args:
        extra: fields of every chat completion.
        fields: what the server takes.
        about: what is asked, for messages.
        stop: once set, it asks no more.
        held: what is held for requests that belong together; further attempts take what limits leave.
    """

    server: JsonServer
    spending: Spending
    pace: Pace
    extra: Mapping[str, object] = field(default_factory=dict)
    fields: ServerFields = field(default_factory=ServerFields)
    about: str = "a request"
    stop: threading.Event = field(default_factory=threading.Event)
    held: list[Usage] | None = None

    def __call__(self, path: str, body: Mapping[str, object], read: Callable[[object], T]) -> T:
        """Return what `read` makes of the answer's content.

        Raises Unanswerable where this request fails for good, ModelError where all would, LimitReached, Stopped.
        """
        return self.server.patiently(lambda: self._read(self._attempt(path, body), read), self.stop)

    @contextmanager
    def together(self, bodies: Sequence[Mapping[str, object]]) -> Iterator[Asker]:
        """Hold what requests with these bodies may take, so that no limit ends them midway. Raises LimitReached."""
        held = [self.spending.most(body) for body in bodies]
        self.spending.hold(held, self.stop)
        try:
            yield replace(self, held=held)
        finally:
            self.spending.release(held)

    def _attempt(self, path: str, values: Mapping[str, object]) -> Answer:
        """Ask once. A chat completion is sent again without the fields that the server refuses."""
        if path in _BESIDE:
            if "messages" in values and self.extra:  # as chat completions lay out the prompt, reasoning_effort included
                given = self.extra.get("chat_template_kwargs")
                effort = {name: value for name, value in self.extra.items() if name == "reasoning_effort"}
                every = (given if isinstance(given, dict) else {}) | effort
                values = {**values, "chat_template_kwargs": {**every, **values.get("chat_template_kwargs", {})}}  # type: ignore[dict-item]
            return self.server.ask(path, values, about=self.about, beside=True)
        if path != CHAT:
            return self._counted(path, values)
        while True:
            body = self.fields.body({**values, **self.extra})
            answer = self._counted(path, body)
            refusal = f"{self.about}: {self.server.url} {self.server.described(answer)}"
            if failure(answer) != "not_understood" or not self.fields.adapt(answer, body, refusal):
                return answer

    def _counted(self, path: str, body: Mapping[str, object]) -> Answer:
        self.pace.wait(self.stop)
        if self.stop.is_set():
            raise Stopped
        most = self.spending.most(body)
        if self.held is not None and most in self.held:
            self.held.remove(most)
        else:
            self.spending.hold([most], self.stop, patient=self.held is None)
        took: Usage | None = None
        try:
            answer = self.server.ask(path, body, about=self.about)
            took = read_usage(answer.content) or (None if answer.good else _NOTHING)
        except (Retryable, Unreachable) as error:
            took = None if error.lost else _NOTHING
            self.pace.hold(error.pause or 0)
            raise
        finally:
            self.spending.settle(most, took)
            self.pace.spent(took.read + took.written if took else 0)
        return answer

    def _read(self, answer: Answer, read: Callable[[object], T]) -> T:
        reason = failure(answer)
        if reason is not None:
            raise Unanswerable(reason, f"the server {self.server.described(answer)}")
        self.server.check(answer, self.about)
        try:
            return read(answer.content)
        except Malformed as error:
            said = self.server.cleaned(answer.message) or "nothing"
            what = f"{self.about}: {self.server.url} gave a malformed answer, {error}: {said}"
            raise Retryable(what, pause=0 if isinstance(error, Withheld) else None, lasting=True) from None
