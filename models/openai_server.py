"""Any server that speaks OpenAI's API: vLLM, SGLang, TGI, llama.cpp, Ollama, OpenAI, Azure."""

from __future__ import annotations

import json
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from evenhand.models import server_choices
from evenhand.models.ctrl_c import ctrl_c_calls
from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.failures import Failures
from evenhand.models.metered_server import MeteredServer
from evenhand.models.only_model import only_model
from evenhand.models.openai_http import Answer, JsonServer
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import completion_tokens, read_reply, refuses_schema, wants_other_limit
from evenhand.models.pace import Pace
from evenhand.models.prices import price_of
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Reply, Request
from evenhand.models.server_choices import ServerChoices, Together
from evenhand.models.server_options import DEFAULT_OPTIONS, ServerOptions
from evenhand.models.server_tokens import Ask
from evenhand.models.spending import Spending, Usage

if TYPE_CHECKING:
    from evenhand.models.registry import Loading

T = TypeVar("T")
_Done: TypeAlias = "tuple[int, Reply | Unanswerable, int]"  # place, reply, tokens written
_Come: TypeAlias = "queue.SimpleQueue[_Done | BaseException | None]"
_BATCHES = 8  # a call; it ends with its slowest request, for which the others' connections then wait
_SEEDS = 2**31 - 1  # below it, a seed fits every integer that servers keep it in; a prime, so that all its bits count


class OpenAIServer:
    """One model of a server, at its URL up to /v1 ("http://localhost:8000/v1").

    model: as the server lists it; None: the only one that it lists. batch_size: requests that it answers at once, each
    over a connection that is kept. Which key it is sent: `api_keys`. It can "choose" where the server says how likely
    given tokens are, which is tried when it is first of interest: `server_choices`.

    Raises ModelError for a URL that is none, for a key that can't be sent, for prices that can't be read, and, where no
    model is named, for a server that can't be reached or lists another number of models.
    """

    whole_calls = False

    def __init__(
        self, url: str, model: str | None = None, *, batch_size: int = 16, options: ServerOptions = DEFAULT_OPTIONS
    ):
        if batch_size < 1:
            raise ModelError(f"batch size {batch_size} came; 1 or more is accepted")
        self._server = JsonServer(url, options, connections=batch_size)
        if model and self._server.key.stands_in(model):
            raise ModelError("the model's name holds the key of its server: leave it out, it is sent by itself")
        self._limit = "max_tokens"
        self.batch_size = batch_size
        self.name = model or only_model(self._server)
        self._failures = Failures(self.identity)
        if options.max_cost is not None and options.prices is None:
            raise ModelError("--max-cost needs --prices FILE, a table of what tokens cost")
        self._options = options
        self.spending = Spending(options, price_of(self.name, options.prices) if options.prices else None)
        pace = Pace(options.requests_per_minute, options.tokens_per_minute)
        self._metered = MeteredServer(self._server, self.spending, pace)

    @cached_property
    def can(self) -> frozenset[Ability]:
        """Tries the server. Raises ModelError where it can't be reached."""
        always: frozenset[Ability] = frozenset({"generate", "see", "constrain"})
        return always if isinstance(self._choices, str) else always | {"choose"}

    @property
    def scoring_way(self) -> str:
        """How options are scored, or why they can't be."""
        return self._choices if isinstance(self._choices, str) else self._choices.in_words

    @property
    def took(self) -> str:
        """By this command."""
        return f"{self.name}: {self.spending.in_words()}"

    @cached_property
    def _choices(self) -> ServerChoices | str:
        asking = self._asking("how options are scored", threading.Event())
        return server_choices.found(self.name, self._options.tokenizer, *asking, self._lives)

    def _lives(self) -> bool:
        try:
            self._server.patiently(lambda: self._server.ask("/models", about="the list of models"))
        except ModelError:
            return False
        return True

    def _asking(self, about: str, stop: threading.Event) -> tuple[Ask, Together]:
        """By which choices are scored: one request after the other, and some that belong together."""

        def ask(
            path: str, body: Mapping[str, object], read: Callable[[object], T], aside: list[Usage] | None = None
        ) -> T:
            return self._metered.patiently(path, body, read, about, stop, aside)

        @contextmanager
        def together(bodies: Sequence[Mapping[str, object]]) -> Iterator[Ask]:
            with self._metered.set_aside(bodies, stop) as aside:
                yield partial(ask, aside=aside)

        return ask, together

    @property
    def identity(self) -> str:
        return f"{self._server.url}#{self.name}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity!r})"

    def close(self) -> None:
        self.__dict__.setdefault("_choices", "it was let go before that was tried")
        self._server.close()

    def at_once(self, kind: Kind) -> int:
        return self.batch_size * _BATCHES

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """Each is sent by itself, `batch_size` of them at once. How a text is drawn is the server's affair.

        A temperature of None leaves the sampling to the server; a top_k of its own applies where a request has none.
        Where the iterator is closed early, or Ctrl-C comes, no further request and no further attempt begins, and
        nothing is waited for. In a process's first thread, all that was received before Ctrl-C is given before
        KeyboardInterrupt is raised.

        Raises ModelError for what every request would meet, for requests that score choices where the server does not
        say how likely they are, for those without a template (chat completions put every prompt into the model's own),
        and LimitReached. Those under way are then waited for, and come before it.
        """
        if any(request.choices for request in requests) and isinstance(self._choices, str):
            raise ModelError(
                f"{self.identity} scores no options: {self._choices}. Let it write its answers (--protocol generate), "
                "or give the checkpoint itself as --model"
            )
        if not all(request.template for request in requests):
            raise ModelError(
                f"{self.identity}: a server's chat completions put every prompt into the model's own template, and "
                "these go without one; give the checkpoint itself as --model"
            )
        waiting = deque(enumerate(requests))
        done: _Come = queue.SimpleQueue()
        stop = threading.Event()
        threads = [
            # Daemons: a process that is told to stop does not wait for a server's answers.
            threading.Thread(target=self._work, args=(waiting, done, stop), daemon=True)
            for _ in range(min(self.batch_size, len(requests)))
        ]
        working = len(threads)
        errors: list[Exception] = []
        try:
            with ctrl_c_calls(lambda: done.put(KeyboardInterrupt())):
                for thread in threads:
                    thread.start()
                while working:
                    try:
                        came = done.get(timeout=0.5)  # not for ever: some systems deliver Ctrl-C between waits only
                    except queue.Empty:
                        continue
                    if came is None:
                        working -= 1
                    elif isinstance(came, Exception):
                        errors.append(came)
                    elif isinstance(came, BaseException):
                        raise came
                    else:
                        place, reply, tokens = came
                        on_tokens(tokens)
                        if isinstance(reply, Unanswerable):
                            reply = self._failures.reply(requests[place], reply)
                        yield place, reply
        finally:
            stop.set()
        if errors:
            raise errors[0]

    def _work(
        self,
        waiting: deque[tuple[int, Request]],
        done: _Come,
        stop: threading.Event,
    ) -> None:
        """One of many at once. An error that every request would meet is put for the caller's thread to raise; None is
        put at the end."""
        try:
            while not stop.is_set():
                try:
                    place, request = waiting.popleft()
                except IndexError:
                    return
                try:
                    done.put((place, *self._reply(request, stop)))
                except Unanswerable as error:
                    done.put((place, error, 0))
        except Exception as error:
            done.put(error)
            stop.set()
        finally:
            done.put(None)

    def _reply(self, request: Request, stop: threading.Event) -> tuple[Reply, int]:
        """And how many tokens were written. Raises Unanswerable where this one request fails for good."""
        if request.choices:
            return Reply(finish_reason="choice", choice_log_probs=self._log_probs(request, stop)), 0
        messages = chat_messages(request.messages)
        return self._server.patiently(lambda: self._attempt(request, messages, stop), stop)

    def _log_probs(self, request: Request, stop: threading.Event) -> tuple[tuple[float, ...], ...]:
        assert not isinstance(self._choices, str)
        return self._choices.log_probs(request, *self._asking(f"request {request.name!r}", stop))

    def _attempt(self, request: Request, messages: list[dict[str, object]], stop: threading.Event) -> tuple[Reply, int]:
        about = f"request {request.name!r}"
        answer = self._ask(request, messages, about, stop)
        if wants_other_limit(answer):
            self._limit = "max_completion_tokens"
            answer = self._ask(request, messages, about, stop)
        if request.schema is not None and refuses_schema(answer):
            raise ModelError(
                f"{about}: {self._server.url} {self._server.described(answer)}; it was asked to keep to a JSON schema "
                "(response_format json_schema), as vLLM, llama.cpp and OpenAI do, and this server or model does not: "
                "leave --constrain out, or ask one that does"
            )
        reply = self._metered.read(answer, lambda content: read_reply(content, request.sampling.stop), about)
        return replace(reply, text=self._server.key.masked_reply(reply.text)), completion_tokens(answer.content)

    def _ask(self, request: Request, messages: list[dict[str, object]], about: str, stop: threading.Event) -> Answer:
        sampling = request.sampling
        body: dict[str, object] = {"model": self.name, "messages": messages, self._limit: sampling.max_new_tokens}
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
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": json.loads(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return self._metered.ask("/chat/completions", body, about, stop)


class ServerBackend:
    """Servers, by their URL: "http://HOST:PORT/v1#NAME", or without "#NAME" where one model is served."""

    Options: type = ServerOptions
    ACCEPTED: str = "a server (http://HOST:PORT/v1#NAME)"

    def load(self, name: str, loading: Loading, options: ServerOptions) -> OpenAIServer:
        """Raises ModelError as OpenAIServer does, and for a revision."""
        if loading.revision is not None:
            came = f"revision {loading.revision!r} came for a server, which serves what it has loaded"
            raise ModelError(f"{came}: leave it out")
        url, _, served = name.partition("#")
        return OpenAIServer(url, served or None, batch_size=loading.batch_size, options=options)
