"""Any server that speaks OpenAI's API: vLLM, SGLang, TGI, llama.cpp, Ollama, OpenAI, Azure."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from evenhand.errors import UsageError
from evenhand.models.ctrl_c import call_on_ctrl_c
from evenhand.models.errors import LimitReached, ModelError, Unanswerable
from evenhand.models.failures import Failures
from evenhand.models.metered_server import CHAT, Asker
from evenhand.models.openai_http import JsonServer
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import ReplyReader, completion_tokens
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Reply, Request
from evenhand.models.server_choices import (
    TRIAL,
    CompletionChoices,
    NoTopLogProbs,
    TopChoices,
    describe_top_scores,
    find_way,
    is_certain,
)
from evenhand.models.server_oddities import Oddities
from evenhand.models.server_options import DEFAULT_OPTIONS, ServerOptions
from evenhand.models.spending import Pace, Spending, find_price
from evenhand.models.template_settings import NO_SETTINGS, THINKING_SWITCHES, TemplateSettings

if TYPE_CHECKING:
    from evenhand.models.registry import Loading

_Done: TypeAlias = "tuple[int, Reply | Unanswerable, int] | BaseException | None"
"""Place, reply and tokens written; an error that every request would meet; None where a thread ends."""

CERTAIN = "one option has all of the probability in every request: probabilities are the server's choice alone"
_BATCHES = 8  # in a call, which ends with its slowest request
_SEEDS = 2**31 - 1  # below it, a seed fits every integer that servers keep it in; a prime, so that all its bits count


class OpenAIServer:
    """One model of a server, at its URL up to /v1 ("http://localhost:8000/v1").

    Args:
        model: its name on the server; None: the only one that the server lists.
        batch_size: concurrent requests.
        template: settings of its chat template, whose variables are sent as chat_template_kwargs with those of
            `options`; its date is the server's own, but for prompts that a tokenizer here lays out.

    Raises:
        ModelError: for an invalid URL, a key that can't be sent, prices that can't be read, and, where no model is
            named, a server that can't be reached or lists another number of models.
    """

    whole_calls = False

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        batch_size: int = 16,
        options: ServerOptions = DEFAULT_OPTIONS,
        template: TemplateSettings = NO_SETTINGS,
    ):
        if batch_size < 1:
            raise ModelError(f"the batch size must be 1 or more, got {batch_size}")
        if options.max_cost is not None and options.prices is None:
            raise ModelError("--max-cost needs --prices FILE, a table of what tokens cost")
        if options.tokenizer and options.chat_template_kwargs:
            raise ModelError("--tokenizer lays out prompts here, without --chat-template-kwargs: use --template-option")
        self._server = JsonServer(url, options)
        self.batch_size = batch_size
        self.name = model or _only_model(self._server)
        variables = {**template.variables, **json.loads(options.chat_template_kwargs or "{}")}
        self._given = [*variables]
        off = any(variables.get(name) is False for name in THINKING_SWITCHES) or options.reasoning_effort == "none"
        self._oddities = Oddities(self.name, no_thoughts=off)
        self._reader = ReplyReader(self._oddities)
        extra = {"chat_template_kwargs": variables, "reasoning_effort": options.reasoning_effort}
        self._extra = {name: value for name, value in extra.items() if value}
        self._failures = Failures(self.identity)
        self._options, self._template = options, template
        self.spending = Spending(options, find_price(self.name, options.prices) if options.prices else None)
        pace = Pace(options.requests_per_minute, options.tokens_per_minute)
        self._ask = Asker(self._server, self.spending, pace, self._extra, about="how options are scored")

    @cached_property
    def can(self) -> frozenset[Ability]:
        """Tries the server. Raises ModelError where it can't be reached."""
        scores: Ability = "choose" if isinstance(self._choices, CompletionChoices) else "choose_one_token"
        return frozenset({"generate", "see", "constrain", scores})

    @property
    def scoring_way(self) -> str:
        """How options are scored, or why they are not scored unless that is asked for."""
        return str(self._choices)

    @property
    def took(self) -> str:
        """What this command took."""
        return f"{self.name}: {self.spending.in_words()}"

    @property
    def warnings(self) -> list[tuple[str, str]]:
        """(code, text) of each field that was left out, and of what is odd about the replies."""
        refused = {f"refused_{name}": note for name, note in self._ask.fields.notes.copy().items()}
        notes = (refused | self._oddities.notes.copy()).items()
        return [(code, f"{self.name}: {self._server.key.masked(note)}") for code, note in notes]

    def check_one_token(self) -> None:
        """Try to score options of one token each. Raises UsageError where the server gives no top_logprobs."""
        try:
            self._choices.log_probs(TRIAL, self._ask)
        except (NoTopLogProbs, Unanswerable) as error:
            raise UsageError(f"{self.identity}: --protocol choose scores options, and {error}") from None

    def score_warnings(self, scored: Iterable[Reply]) -> list[tuple[str, str]]:
        """(code, text) of the way in which choices were scored, if it is not the paper's."""
        if isinstance(self._choices, CompletionChoices):
            found = [each.choice_log_probs for each in scored if each.choice_log_probs]
            certain = [("certain", f"{self.name}: {CERTAIN}")] if found and all(map(is_certain, found)) else []
            return [*(("scored_after", f"{self.name}: {note}") for note in self._choices.reader.notes), *certain]
        return [("top_logprobs", f"{self.name}: {describe_top_scores(scored)}")]

    @cached_property
    def _choices(self) -> CompletionChoices | TopChoices:
        return find_way(
            self.name, self._options.tokenizer, self._ask, self._lives, self._template, self._given, self._oddities
        )

    def _lives(self) -> bool:
        try:
            self._server.patiently(lambda: self._server.ask("/models", about="the list of models"))
        except ModelError:
            return False
        return True

    @property
    def identity(self) -> str:
        extra = f" {json.dumps(self._extra, sort_keys=True)}" if self._extra else ""
        return f"{self._server.url}#{self.name}{extra}"

    def close(self) -> None:
        self.__dict__.setdefault("_choices", TopChoices(self.name, "it was closed before that was tried"))
        self._server.close()

    def at_once(self, kind: Kind) -> int:
        return self.batch_size * _BATCHES

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """Send each request alone, `batch_size` of them concurrently. How a text is drawn is up to the server.

        A temperature of None leaves the sampling to the server; a top_k of its own applies where a request has none.
        Where the iterator is closed early, or Ctrl-C is pressed, no further request and no further attempt begins. In a
        process's main thread, all that was received before Ctrl-C is given before KeyboardInterrupt is raised.

        Raises:
            ModelError: for what every request would meet, after the answers of running requests; and for requests
                without a template: chat completions put every prompt into the model's own.
        """
        if not all(request.template for request in requests):
            raise ModelError(
                f"{self.identity}: a server's chat completions put every prompt into the model's own template, and "
                "these go without one; give the checkpoint itself as --model"
            )
        if any(request.choices for request in requests):
            _ = self._choices  # tried once, before threads need it
        waiting = enumerate(requests)  # shared by the threads
        done: queue.SimpleQueue[_Done] = queue.SimpleQueue()
        stop, limited = threading.Event(), threading.Event()  # limited: no further request; running ones end

        def work() -> None:
            try:
                for place, request in waiting:
                    if stop.is_set() or limited.is_set():
                        return
                    try:
                        done.put((place, *self._reply(request, stop)))
                    except Unanswerable as error:
                        done.put((place, error, 0))
            except LimitReached as error:
                done.put(error)
                limited.set()
            except Exception as error:
                done.put(error)
                stop.set()
            finally:
                done.put(None)

        # Daemons: a process that ends does not wait for a server's answers.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self.batch_size, len(requests)))]
        working = len(threads)
        errors: list[Exception] = []
        try:
            with call_on_ctrl_c(lambda: done.put(KeyboardInterrupt())):
                for thread in threads:
                    thread.start()
                while working:
                    try:
                        ended = done.get(timeout=0.5)  # some systems deliver Ctrl-C between two waits only
                    except queue.Empty:
                        continue
                    if ended is None:
                        working -= 1
                    elif isinstance(ended, Exception):
                        errors.append(ended)
                    elif isinstance(ended, BaseException):
                        raise ended
                    else:
                        place, reply, tokens = ended
                        on_tokens(tokens)
                        if isinstance(reply, Unanswerable):
                            reply = self._failures.reply(requests[place], reply)
                        yield place, reply
        finally:
            stop.set()
        if errors:
            raise errors[0]

    def _reply(self, request: Request, stop: threading.Event) -> tuple[Reply, int]:
        """The reply, and how many tokens were written. Raises Unanswerable where this one request fails for good."""
        ask = replace(self._ask, about=f"request {request.name!r}", stop=stop)
        if request.choices:
            return Reply(finish_reason="choice", choice_log_probs=self._choices.log_probs(request, ask)), 0

        def read(content: object) -> tuple[Reply, int]:
            return self._reader.read(content, request), completion_tokens(content)

        reply, tokens = ask(CHAT, self._fields_of(request), read)
        masked = self._server.key.masked_reply
        return replace(reply, text=masked(reply.text), thought=masked(reply.thought)), tokens

    def _fields_of(self, request: Request) -> dict[str, object]:
        """What is sent; `server_fields.FIELDS` says what each field means."""
        sampling = request.sampling
        fields: dict[str, object] = {
            "model": self.name,
            "messages": chat_messages(request.messages),
            "max_tokens": sampling.max_new_tokens,
            "stop": list(sampling.stop) or None,
            "temperature": sampling.temperature,
            "seed": request.seed % _SEEDS if sampling.temperature != 0 else None,  # something is drawn
            "top_p": sampling.top_p if sampling.temperature else None,
            # Not among OpenAI's own; vLLM, llama.cpp and others take it.
            "top_k": (sampling.top_k or None) if sampling.temperature else None,
        }
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": json.loads(request.schema)}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {name: value for name, value in fields.items() if value is not None}


def _only_model(server: JsonServer) -> str:
    """The one model that a server lists. Raises ModelError for another number, or a name that can't be kept."""
    url, about = server.url, "the list of models"
    answer = server.patiently(lambda: server.ask("/models", about=about))
    server.check(answer, about)
    data = answer.content.get("data") if isinstance(answer.content, dict) else None
    if not isinstance(data, list):
        raise ModelError(f"{url}/models lists no models in OpenAI's form; name one: {url}#NAME")
    ids = [each.get("id") for each in data if isinstance(each, dict)]
    names = sorted({name for name in ids if isinstance(name, str) and name})
    if len(names) != 1:
        some = server.cleaned(", ".join(names)) or "none"
        raise ModelError(f"{url} serves {len(names):,} models, not one ({some}); name one: {url}#NAME")
    if server.cleaned(names[0]) != names[0]:
        raise ModelError(f"{url} lists a model whose name can't be kept; name one: {url}#NAME")
    return names[0]


class ServerBackend:
    """Servers, by their URL: "http://HOST:PORT/v1#NAME", or without "#NAME" where one model is served."""

    Options: type = ServerOptions
    ACCEPTED: str = "a server (http://HOST:PORT/v1#NAME)"

    def load(self, name: str, loading: Loading, options: ServerOptions) -> OpenAIServer:
        """Raises ModelError as OpenAIServer does, and for a revision."""
        if loading.revision is not None:
            raise ModelError(f"--revision {loading.revision} has no effect: a server has loaded its model; remove it")
        url, _, served = name.partition("#")
        return OpenAIServer(
            url, served or None, batch_size=loading.batch_size, options=options, template=loading.template
        )
