"""Scores choices by a server's log-probabilities, in one of three ways.

Token ids (vLLM): one request to /v1/completions for each distinct prefix of the choices, which writes one token and
names the tokens whose log-probabilities are wanted (`logprob_token_ids`). The server caches what it has computed of a
prompt.

Echo (vLLM, SGLang): one request to /v1/completions for each choice, whose prompt is given back with the log-probability
of each of its tokens.

Top log-probabilities (OpenAI, Ollama, LM Studio, llama.cpp): one chat completion of one token, with the
log-probabilities of the likeliest first tokens (`top_logprobs`). A choice must be one of these, so one token.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from evenhand.models.errors import LimitReached, ModelError, Unanswerable
from evenhand.models.metered_server import CHAT, Asker
from evenhand.models.openai_http import RetriesExhausted, Retryable, Unreachable
from evenhand.models.openai_messages import chat_messages
from evenhand.models.openai_replies import Malformed, Withheld, first_choice, read_finish, read_thought
from evenhand.models.prefix_tree import Continuation, LogProbs, Tokens, wanted_after
from evenhand.models.request import Message, Reply, Request
from evenhand.models.server_oddities import Oddities
from evenhand.models.server_tokens import LocalReader, Reader, ServerReader
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings

logger = logging.getLogger(__name__)

MOST_TOP = 20  # that OpenAI gives
_FEWEST_TRIED = 20  # requests, none of which could be scored by the likeliest tokens
TRIAL = Request(
    (Message("user", "Choose between Yes and No. Is it so?"),), ("Yes", "No", "Yes Tuesday"), name="a trial"
)
_NOISE = 0.25  # nats by which the same token after the same prompt may differ between two requests
_SAME = 1e-3  # nats by which two tokens differ at least
_ROUNDED = 1e-3  # nats by which a log-probability may exceed 0
_TOKENIZER = "--tokenizer NAME names the model's, where /v1/completions gives log-probabilities"


class NoTopLogProbs(ModelError):
    """The server's chat completions give no log-probabilities."""


@dataclass(frozen=True)
class CompletionChoices:
    """Scores choices of any length by /v1/completions. model: as the server calls it."""

    model: str
    reader: Reader
    way: Literal["token ids", "echo"]

    def __str__(self) -> str:
        asked = "logprob_token_ids, one request a prefix" if self.way == "token ids" else "echo, one request an option"
        return f"the server's log-probabilities ({asked} to /v1/completions; tokens by {self.reader.name})"

    def log_probs(self, request: Request, ask: Asker) -> tuple[LogProbs, ...]:
        """Return the log-probability of each token of each choice, in nats, in order of choices.

        Raises Unanswerable, and what asking raises.
        """
        continuations = self.reader.continuations(request, ask)
        return self._echoed(continuations, ask) if self.way == "echo" else self._by_ids(continuations, ask)

    def _by_ids(self, continuations: Sequence[Continuation], ask: Asker) -> tuple[LogProbs, ...]:
        wanted = wanted_after(continuations)
        fields = {"logprobs": 1, "return_tokens_as_token_ids": True}
        bodies = {
            prefix: {**self._body(prefix), **fields, "logprob_token_ids": tokens} for prefix, tokens in wanted.items()
        }
        with ask.together([*bodies.values()]) as asks:
            after = {
                prefix: asks("/completions", body, partial(_read_ids, wanted=wanted[prefix]))
                for prefix, body in bodies.items()
            }
        return tuple(tuple(after[prefix][token] for prefix, token in each.steps) for each in continuations)

    def _echoed(self, continuations: Sequence[Continuation], ask: Asker) -> tuple[LogProbs, ...]:
        bodies = [{**self._body(each.prompt + each.answer), "echo": True, "logprobs": 1} for each in continuations]
        with ask.together(bodies) as asks:
            found = [
                asks("/completions", body, partial(_read_prompt, n=len(each.prompt + each.answer)))
                for body, each in zip(bodies, continuations)
            ]
        return tuple(scored[len(each.prompt) - 1 :] for scored, each in zip(found, continuations))

    def _body(self, prompt: Tokens) -> dict[str, object]:
        return {"model": self.model, "prompt": prompt, "max_tokens": 1, "temperature": 0.0}


_SPACES = re.compile("[▁Ġ]")  # as tokenizers write them
_MOST_MASS = 1.01  # of all options together: a little above 1, for rounding


class TopChoices:
    """Scores choices of one token each by the likeliest first tokens of a chat completion.

    A choice's probability is that of the token that is the choice, with or without spaces around it.
    """

    def __init__(self, model: str, why: str, oddities: Oddities | None = None):
        """why: choices can't be scored by /v1/completions. oddities: to note those of answers."""
        self._model, self._why = model, why
        self._oddities = oddities or Oddities(model)
        self._tried: Counter[tuple[str, ...]] = Counter()
        self._scored: set[tuple[str, ...]] = set()

    def __str__(self) -> str:
        return f"{self._why}; --protocol choose scores options of one token each, where it has top_logprobs"

    def log_probs(self, request: Request, ask: Asker) -> tuple[LogProbs, ...]:
        """Return those of the one token of each choice; NaN for all of them where one is not among the likeliest.

        Raises ModelError where the first requests with the same choices all come to nothing, and what asking raises.
        """
        drawn = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "logprobs": True, "top_logprobs": MOST_TOP}
        values = {"model": self._model, "messages": chat_messages(request.messages), **drawn}

        def read(content: object) -> tuple[LogProbs, ...]:
            self._oddities.look_at_answer(content, request)
            return _read_top(content, request.choices)

        try:
            found = ask(CHAT, values, read)
        except NoTopLogProbs as error:
            raise NoTopLogProbs(f"{self._why}, and {error}") from None
        if sum(math.exp(only) for (only,) in found) > _MOST_MASS:
            raise Unanswerable(
                "not_understood", "its options have more than all of the probability: no log-probabilities"
            )
        self._tried[request.choices] += 1
        if not math.isnan(found[0][0]):
            self._scored.add(request.choices)
        elif self._tried[request.choices] >= _FEWEST_TRIED and request.choices not in self._scored:
            raise ModelError(
                f"none of the first {_FEWEST_TRIED} requests with the options {', '.join(request.choices)} could be "
                f"scored: never were all of them among the {MOST_TOP} likeliest first tokens of a reply. Options must "
                "be one token each, and the model must answer without thinking first; try --protocol generate"
            )
        return found


def is_certain(choices: tuple[LogProbs, ...]) -> bool:
    """Whether one choice has all of the probability."""
    return max(map(math.fsum, choices)) == 0.0


def describe_top_scores(replies: Iterable[Reply]) -> str:
    """Describe for the report how choices were scored by the likeliest tokens."""
    scored = [each.choice_log_probs for each in replies if all(len(tokens) == 1 for tokens in each.choice_log_probs)]
    masses = np.array([sum(math.exp(only) for (only,) in choices) for choices in scored])
    certain = sum(map(is_certain, scored))
    read = masses[~np.isnan(masses)]
    said = (
        f"options were scored by the likeliest first tokens ({MOST_TOP} at most) of chat completions (top_logprobs), "
        "each option by the token that is the option"
    )
    if len(read):
        said += f"; options have {read.mean():.1%} of the probability on average, {read.min():.1%} at least"
        if certain == len(read):
            said += "; one of them has all of it in every request: probabilities are the server's choice alone"
    if lost := len(masses) - len(read):
        said += f"; {lost:,} of {len(masses):,} requests are unread: an option was not among these tokens"
    return said


def find_way(
    model: str,
    tokenizer: str | None,
    ask: Asker,
    lives: Callable[[], bool],
    template: TemplateSettings = NO_SETTINGS,
    given: Collection[str] = (),
    oddities: Oddities | None = None,
) -> CompletionChoices | TopChoices:
    """Try what a server can, with a few requests of some ten tokens each.

    Args:
        lives: whether the server answers otherwise; called where its tokenizer's place is out of order, which some
            gateways say of places that they don't have.
        template: settings with which a tokenizer here lays out prompts.
        given: variables of the server's chat template that every request sets.
        oddities: to note those of answers.

    Raises:
        ModelError: the tokenizer can't be loaded, or the server can't be reached or is out of order.
        LimitReached: there.
    """

    def top(why: str) -> TopChoices:
        return TopChoices(model, why, oddities)

    reader: Reader = LocalReader(tokenizer, template) if tokenizer else ServerReader(model, given)
    try:
        if isinstance(reader, ServerReader) and not reader.gives_back(TRIAL, ask):
            return top(f"its /detokenize does not give back what /tokenize reads; {_TOKENIZER}")
        trial = reader.continuations(TRIAL, ask)
    except (ModelError, Unanswerable) as error:
        if _says_nothing(error) and not (isinstance(error, RetriesExhausted) and lives()):
            raise
        logger.info("%s: %s", model, error)
        return top(f"it has no /tokenize as vLLM has; {_TOKENIZER}" if tokenizer is None else str(error))
    ways: tuple[Literal["token ids", "echo"], ...] = ("token ids", "echo")
    for way in ways:
        choices = CompletionChoices(model, reader, way)
        try:
            scored = choices.log_probs(TRIAL, ask)
            if any(value < 0 for each in scored for value in each) and _agree(trial, scored):  # some put 0 for unknown
                return choices
        except (ModelError, Unanswerable) as error:
            if _says_nothing(error):
                raise
            logger.info("%s: %s: %s", model, way, error)
    return top("its /v1/completions gives no log-probabilities of tokens that are named or echoed")


def _agree(continuations: Sequence[Continuation], scored: Sequence[LogProbs]) -> bool:
    """Whether tokens that begin several choices are scored equally in each, as they aren't where a server drops one.

    Different first tokens must not all be: they are where a server puts a token of its own before the prompt.
    """
    seen: dict[Tokens, float] = {}
    firsts = {each.answer[0]: values[0] for each, values in zip(continuations, scored)}
    return max(firsts.values()) - min(firsts.values()) > _SAME and all(
        abs(seen.setdefault(each.prompt + each.answer[: n + 1], value) - value) <= _NOISE
        for each, values in zip(continuations, scored)
        for n, value in enumerate(values)
    )


def _says_nothing(error: Exception) -> bool:
    """Whether an error leaves open what the server can."""
    cause = error.__cause__
    busy = isinstance(error, RetriesExhausted) and isinstance(cause, Retryable) and not cause.lasting
    return busy or isinstance(error, (Unreachable, LimitReached))


def _read_ids(content: object, wanted: Sequence[int]) -> dict[int, float]:
    """Read the log-probabilities of named tokens beside the one token that was written."""
    top = _completion_log_probs(content).get("top_logprobs")
    first = top[0] if isinstance(top, list) and top else None
    if not isinstance(first, dict):
        raise Withheld("no log-probabilities of named tokens in it")
    return {token: _number(first.get(f"token_id:{token}")) for token in wanted}


def _read_prompt(content: object, n: int) -> LogProbs:
    """Read those of all tokens of a prompt but the first; that of the one token that was written may follow."""
    given = _completion_log_probs(content).get("token_logprobs")
    if not isinstance(given, list) or len(given) not in (n, n + 1) or given[0] is not None:
        raise Withheld("no log-probabilities of the prompt's tokens in it")
    return tuple(map(_number, given[1:n]))


def _read_top(content: object, choices: Sequence[str]) -> tuple[LogProbs, ...]:
    """Read those of each choice as a first token. All NaN where one is missing, or a thought begins."""
    choice = first_choice(content)
    read_finish(choice)
    message, log_probs = choice.get("message"), choice.get("logprobs")
    tokens = log_probs.get("content") if isinstance(log_probs, dict) else None
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    top = first.get("top_logprobs") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise Malformed("no message in its first choice")
    if not isinstance(top, list) or not top:
        raise NoTopLogProbs("its chat completions give no top_logprobs; try --protocol generate")
    # Some servers give the token that they took twice, and some the same text of two tokens.
    given = {
        (each["token"], _number(each.get("logprob")))
        for each in top
        if isinstance(each, dict) and isinstance(each.get("token"), str)
    }
    by_text: dict[str, list[float]] = {}
    for token, value in sorted(given):
        by_text.setdefault(_SPACES.sub(" ", token).strip(), []).append(value)
    if read_thought(message) or any(choice.strip() not in by_text for choice in choices):
        return ((math.nan,),) * len(choices)
    found = [min(0.0, float(np.logaddexp.reduce(by_text[choice.strip()]))) for choice in choices]
    known = any(map(math.exp, found))  # OpenAI gives -9999 where it is too little to say
    return tuple((only if known else math.nan,) for only in found)


def _completion_log_probs(content: object) -> dict[str, object]:
    choice = first_choice(content)
    if not isinstance(choice.get("text"), str):
        raise Malformed("no completion in it")
    given = choice.get("logprobs")
    if not isinstance(given, dict):
        raise Withheld("no log-probabilities in it")
    return given


def _number(given: object) -> float:
    if type(given) not in (int, float) or not -1e6 < given <= _ROUNDED:  # type: ignore[operator]
        raise Withheld("what is no log-probability in it")
    return min(0.0, float(given))  # type: ignore[arg-type]
