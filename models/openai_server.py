"""Any server that speaks OpenAI's chat completions: vLLM, TGI, llama.cpp, Ollama, OpenAI, Azure."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Sequence

from evenhand.models.errors import ModelError, PromptTooLong
from evenhand.models.openai_http import KEY_VARIABLES, Answer, JsonServer, Stopped
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import (
    Malformed,
    is_filtered,
    is_too_long,
    read_reply,
    tokens_and_context,
    wants_other_limit,
)
from evenhand.models.request import Reply, Request

logger = logging.getLogger(__name__)

_BATCHES_OF_TEXTS = 4  # a call; it ends with its slowest request, and an interrupted one is lost
_MOST_NAMED = 20  # models of a server
_SEEDS = 2**31 - 1  # below it, a seed fits every integer that servers keep it in; a prime, so that all its bits count


class OpenAIServer:
    """One model of a server, at its URL up to /v1 ("http://localhost:8000/v1").

    model: as the server lists it; None: the only one that it lists. batch_size: requests that it answers at once.
    The key is the environment's EVENHAND_API_KEY or, where that is not set, OPENAI_API_KEY; an empty one is not sent.
    attempts, backoff, timeout: as JsonServer says.

    Raises ModelError for a URL that is none, and, where no model is named, for a server that can't be reached or lists
    another number of models.
    """

    box_scale = None  # of the boxes that its model draws: which model that is, nobody knows

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        batch_size: int = 16,
        attempts: int = 6,
        backoff: float = 1.0,
        timeout: float = 600.0,
    ):
        if batch_size < 1:
            raise ModelError(f"batch size {batch_size} came; 1 or more is accepted")
        key = next((os.environ[name].strip() for name in KEY_VARIABLES if name in os.environ), "")
        self._server = JsonServer(url, key, attempts=attempts, backoff=backoff, timeout=timeout)
        self._limit = "max_tokens"
        self.batch_size = batch_size
        self.requests_at_once = self.texts_at_once = batch_size * _BATCHES_OF_TEXTS
        self.model = model or self._only_model()

    @property
    def identity(self) -> str:
        return f"{self._server.url}#{self.model}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity!r})"

    def choose(self, requests: Sequence[Request]) -> list[Reply]:
        """Raises ModelError: few servers tell how likely a given text is, and none of them alike."""
        raise ModelError(
            f"{self.identity}: servers score no options here; let it write its answers (--protocol generate), or give "
            "the checkpoint itself as --model"
        )

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Each is sent by itself, `batch_size` of them at once. How a text is drawn is the server's affair.

        A temperature of None leaves the sampling to the server; a top_k of its own applies where a request has none.
        What the server's content filter refuses is an empty text, and a warning in the log counts them.

        Raises ModelError or PromptTooLong for the first request that fails for good. No further one is then begun,
        those under way are waited for, and what they and earlier ones of this call were answered is lost: its caller
        asks all of them again.
        """
        outcomes: list[Reply | None] = [None] * len(requests)
        failures: list[Exception] = []
        waiting = deque(enumerate(requests))
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                try:
                    i, request = waiting.popleft()
                except IndexError:
                    return
                try:
                    outcomes[i] = self._reply(request, stop)
                except Stopped:
                    return
                except Exception as error:  # raised again below, in the caller's thread
                    failures.append(error)
                    stop.set()

        # Daemons: a process that is told to stop does not wait for a server's answers.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self.batch_size, len(requests)))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.5)  # not for ever: some systems deliver Ctrl-C between waits only
        finally:
            stop.set()
        if failures:
            raise failures[0]
        filtered = sum(reply is None for reply in outcomes)
        if filtered:
            logger.warning("%s: the content filter refused %d of %d requests", self.identity, filtered, len(requests))
        return [reply or Reply() for reply in outcomes]

    def _reply(self, request: Request, stop: threading.Event) -> Reply | None:
        """None where the server's content filter refused."""
        about = f"request {request.name!r}"
        answer = self._ask(request, about, stop)
        if wants_other_limit(answer):
            self._limit = "max_completion_tokens"
            answer = self._ask(request, about, stop)
        if is_filtered(answer):
            return None
        if is_too_long(answer):
            raise self._too_long(answer, request)
        self._must_be_good(answer, about)
        try:
            return read_reply(answer.content, request.sampling.stop)
        except Malformed as error:
            raise ModelError(
                f"{about}: {self._server.url} answered with what is no chat completion, {error}: "
                f"{self._server.cleaned(answer.message) or 'nothing'}"
            ) from None

    def _ask(self, request: Request, about: str, stop: threading.Event) -> Answer:
        return self._server.ask("/chat/completions", self._body(request, about), about=about, stop=stop)

    def _body(self, request: Request, about: str) -> dict[str, object]:
        sampling = request.sampling
        try:
            messages = chat_messages(request.messages)
        except ModelError as error:
            raise ModelError(f"{about}: {error}") from None
        body: dict[str, object] = {"model": self.model, "messages": messages, self._limit: sampling.max_new_tokens}
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if sampling.temperature != 0:  # something is drawn
            body["seed"] = request.seed % _SEEDS
        if sampling.temperature:
            body["top_p"] = sampling.top_p
            if sampling.top_k > 0:
                body["top_k"] = sampling.top_k  # not among OpenAI's own; vLLM, llama.cpp and others take it
        return body

    def _must_be_good(self, answer: Answer, about: str) -> None:
        """Raises ModelError for any status but 2xx, with what to do where that is known."""
        if 200 <= answer.status < 300:
            return
        advice = {
            401: f"; set {KEY_VARIABLES[0]} (or {KEY_VARIABLES[1]}) to a key that it accepts",
            403: f"; set {KEY_VARIABLES[0]} (or {KEY_VARIABLES[1]}) to a key that it accepts",
            404: "; does the URL end where its API begins (…/v1), and does it serve the model named after #?",
        }.get(answer.status, "")
        raise ModelError(f"{about}: {self._server.url} {self._server.described(answer)}{advice}")

    def _too_long(self, answer: Answer, request: Request) -> ModelError:
        known = tokens_and_context(answer, request.sampling.max_new_tokens)
        if known:
            return PromptTooLong(request.name, *known)
        return ModelError(
            f"request {request.name!r} exceeds the model's context window; nothing was cut. Use a model with a longer "
            f"context, or fewer new tokens. {self._server.url} {self._server.described(answer)}"
        )

    def _only_model(self) -> str:
        url = self._server.url
        answer = self._server.ask("/models", about="the list of models")
        self._must_be_good(answer, "the list of models")
        data = answer.content.get("data") if isinstance(answer.content, dict) else None
        if not isinstance(data, list):
            raise ModelError(f"{url}/models lists no models in OpenAI's form; name one: {url}#NAME")
        ids = [each.get("id") for each in data if isinstance(each, dict)]
        names = sorted({name for name in ids if isinstance(name, str) and name})
        if len(names) != 1:
            some = ", ".join(map(self._server.cleaned, names[:_MOST_NAMED])) or "none"
            more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
            raise ModelError(f"{url} serves {len(names):,} models, not one ({some}{more}); name one: {url}#NAME")
        if not names[0].isprintable() or self._server.knows(names[0]):
            raise ModelError(f"{url} lists a model whose name can't be kept; name one: {url}#NAME")
        return names[0]
