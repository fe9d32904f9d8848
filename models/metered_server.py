"""One server, asked at the pace that is allowed, with what it answers counted, and read or asked again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from evenhand.models import api_keys
from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.openai_http import Answer, JsonServer, Passing, Stopped
from evenhand.models.openai_replies import Malformed, Withheld, failure, usage_of
from evenhand.models.pace import Pace
from evenhand.models.spending import Spending

T = TypeVar("T")
_BESIDE = ("/tokenize", "/detokenize")  # /v1; they cost nothing, and aren't counted


@dataclass(frozen=True)
class MeteredServer:
    server: JsonServer
    spending: Spending
    pace: Pace

    def ask(self, path: str, body: Mapping[str, object], about: str, stop: threading.Event) -> Answer:
        """Once. Raises as `JsonServer.ask`, Stopped, and ModelError where an answer does not say what limits count."""
        if path in _BESIDE:
            return self.server.ask(path, body, about=about, beside=True)
        self.pace.wait(stop)
        if stop.is_set():
            raise Stopped
        usage = None
        self.spending.begin()
        try:
            answer = self.server.ask(path, body, about=about)
            usage = usage_of(answer.content)
        finally:
            self.spending.end(usage)
        if usage is not None:
            self.pace.spent(usage.read + usage.written)
        elif self.spending.counts_tokens and isinstance(answer.content, dict) and answer.content.get("choices"):
            raise ModelError(
                f"{about}: {self.server.url} does not say how many tokens its answers take (usage), so that neither "
                "--max-cost nor --max-total-tokens can be kept; --max-requests can"
            )
        return answer

    def patiently(
        self, path: str, body: Mapping[str, object], read: Callable[[object], T], about: str, stop: threading.Event
    ) -> T:
        """What `read` makes of an answer's content, asked for until there is one."""
        return self.server.patiently(lambda: self.read(self.ask(path, body, about, stop), read, about), stop)

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
            raise Passing(what, pause=0 if isinstance(error, Withheld) else None) from None


def must_be_good(server: JsonServer, answer: Answer, about: str) -> None:
    """Raises ModelError for any status but 2xx, with what to do where that is known."""
    if 200 <= answer.status < 300:
        return
    advice = {
        401: "; " + api_keys.advice(server.key),
        403: "; " + api_keys.advice(server.key),
        404: "; does the URL end where its API begins (…/v1), and does it serve the model named after #?",
    }.get(answer.status, "")
    raise ModelError(f"{about}: {server.url} {server.described(answer)}{advice}")
