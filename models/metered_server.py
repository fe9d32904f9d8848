"""Asks one server at the allowed pace and within limits, counts and reads its answers, and repeats failed attempts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer, JsonServer, Retryable, Stopped, Unreachable
from evenhand.models.openai_replies import Malformed, Withheld, failure, usage_of
from evenhand.models.server_fields import ServerFields
from evenhand.models.spending import Pace, Spending, Usage

T = TypeVar("T")
CHAT = "/chat/completions"
_BESIDE = ("/tokenize", "/detokenize")  # /v1; they cost nothing, and aren't counted
_NOTHING = Usage(0, 0)


@dataclass(frozen=True)
class MeteredServer:
    server: JsonServer
    spending: Spending
    pace: Pace
    extra: Mapping[str, object] = field(default_factory=dict)
    """Fields of every chat completion."""
    fields: ServerFields = field(default_factory=ServerFields)

    @property
    def template_variables(self) -> dict[str, object]:
        """Variables of the chat template, of which servers take reasoning_effort to be one."""
        given = self.extra.get("chat_template_kwargs")
        variables = dict(given) if isinstance(given, Mapping) else {}
        return variables | {name: value for name, value in self.extra.items() if name == "reasoning_effort"}


@dataclass(frozen=True)
class Asker:
    """Asks a server about one thing until there is an answer.

    about: for messages. stop: once set, it asks no more. held: what is held for requests that belong together; further
    attempts take what limits leave.
    """

    metered: MeteredServer
    about: str
    stop: threading.Event
    held: list[Usage] | None = None

    def __call__(self, path: str, body: Mapping[str, object], read: Callable[[object], T]) -> T:
        """What `read` makes of the answer's content.

        Raises Unanswerable where this request fails for good, ModelError where all would, LimitReached, Stopped.
        """
        return self.metered.server.patiently(lambda: self._read(self.attempt(path, body), read), self.stop)

    @contextmanager
    def together(self, bodies: Sequence[Mapping[str, object]]) -> Iterator[Asker]:
        """Hold what requests with these bodies may take, so that no limit ends them midway. Raises LimitReached."""
        spending = self.metered.spending
        held = [spending.most(body) for body in bodies]
        spending.hold(held, self.stop)
        try:
            yield replace(self, held=held)
        finally:
            spending.release(held)

    def attempt(self, path: str, values: Mapping[str, object]) -> Answer:
        """Ask once. A chat completion is sent again without the fields that the server refuses."""
        server, fields, extra = self.metered.server, self.metered.fields, self.metered.extra
        if path in _BESIDE:
            if "messages" in values and extra:  # as chat completions lay out the prompt
                values = {**values, "chat_template_kwargs": self.metered.template_variables}
            return server.ask(path, values, about=self.about, beside=True)
        if path != CHAT:
            return self._counted(path, values)
        while True:
            body = fields.body({**values, **extra})
            answer = self._counted(path, body)
            refusal = f"{self.about}: {server.url} {server.described(answer)}"
            if failure(answer) != "not_understood" or not fields.adapt(answer, body, refusal):
                return answer

    def _counted(self, path: str, body: Mapping[str, object]) -> Answer:
        server, spending, pace = self.metered.server, self.metered.spending, self.metered.pace
        pace.wait(self.stop)
        if self.stop.is_set():
            raise Stopped
        most = spending.most(body)
        if self.held is not None and most in self.held:
            self.held.remove(most)
        else:
            spending.hold([most], self.stop, patient=self.held is None)
        took: Usage | None = None
        try:
            answer = server.ask(path, body, about=self.about)
            took = usage_of(answer.content) or (None if answer.good else _NOTHING)
        except (Retryable, Unreachable) as error:
            took = None if error.lost else _NOTHING
            pace.hold(error.pause or 0)
            raise
        finally:
            spending.settle(most, took)
            pace.spent(took.read + took.written if took else 0)
        return answer

    def _read(self, answer: Answer, read: Callable[[object], T]) -> T:
        server = self.metered.server
        reason = failure(answer)
        if reason is not None:
            raise Unanswerable(reason, f"the server {server.described(answer)}")
        server.check(answer, self.about)
        try:
            return read(answer.content)
        except Malformed as error:
            said = server.cleaned(answer.message) or "nothing"
            what = f"{self.about}: {server.url} gave a malformed answer, {error}: {said}"
            raise Retryable(what, pause=0 if isinstance(error, Withheld) else None, lasting=True) from None
