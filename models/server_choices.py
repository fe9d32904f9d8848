"""How likely a server says that choices are after a prompt, by /v1/completions: in one of two ways.

By token ids: one request for each distinct prefix at which choices part or go on, which writes one token and names the
tokens whose log-probabilities are wanted (vLLM's `logprob_token_ids`): the server keeps what it has computed of a
prompt. By echo: one request for each choice, whose prompt is given back with the log-probability of every token of it
(vLLM, SGLang), and computed anew each time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from evenhand.models.errors import LimitReached, ModelError, Unanswerable
from evenhand.models.openai_http import NeverPassed, Unreachable
from evenhand.models.openai_replies import Malformed, Withheld
from evenhand.models.prefix_tree import Continuation, Tokens, wanted_after
from evenhand.models.request import Message, Request
from evenhand.models.scoring import LogProbs
from evenhand.models.server_tokens import Ask, LocalReader, Reader, ServerReader

Way = Literal["token ids", "echo"]
Together: TypeAlias = "Callable[[Sequence[Mapping[str, object]]], AbstractContextManager[Ask]]"
"""Of bodies that belong together: asks them, where limits allow all of them."""

logger = logging.getLogger(__name__)

MOST_IDS = 128  # that vLLM takes in one request
_TRIED = Request(
    (Message("user", "Choose between Yes and No. Is it so?"),), ("Yes", "No", "Yes, always"), name="a trial"
)
_ROUNDED = 1e-3  # nats by which a log-probability may exceed 0


@dataclass(frozen=True)
class ServerChoices:
    """model: as the server calls it."""

    model: str
    reader: Reader
    way: Way

    @property
    def in_words(self) -> str:
        asked = "logprob_token_ids, one request a prefix" if self.way == "token ids" else "echo, one request an option"
        return f"the server's log-probabilities ({asked} to /v1/completions; tokens by {self.reader.name})"

    def log_probs(self, request: Request, ask: Ask, together: Together) -> tuple[LogProbs, ...]:
        """Of each token of each choice, in nats, in order of choices.

        Raises what `ask` and `together` raise, and Unanswerable.
        """
        continuations = self.reader.continuations(request, ask)
        if self.way == "echo":
            return self._echoed(continuations, together)
        return self._by_ids(continuations, together)

    def _by_ids(self, continuations: Sequence[Continuation], together: Together) -> tuple[LogProbs, ...]:
        asked = [
            (prefix, wanted[start : start + MOST_IDS])
            for prefix, wanted in wanted_after(continuations).items()
            for start in range(0, len(wanted), MOST_IDS)
        ]
        bodies = [
            {**self._body(prefix), "logprobs": 1, "logprob_token_ids": some, "return_tokens_as_token_ids": True}
            for prefix, some in asked
        ]
        after: dict[Tokens, dict[int, float]] = {prefix: {} for prefix, _ in asked}
        with together(bodies) as ask:
            for body, (prefix, some) in zip(bodies, asked):
                after[prefix] |= ask("/completions", body, partial(_of_ids, wanted=some))
        return tuple(tuple(after[prefix][token] for prefix, token in each.steps) for each in continuations)

    def _echoed(self, continuations: Sequence[Continuation], together: Together) -> tuple[LogProbs, ...]:
        bodies = [{**self._body(each.prompt + each.answer), "echo": True, "logprobs": 1} for each in continuations]
        with together(bodies) as ask:
            every = [
                ask("/completions", body, partial(_of_prompt, n=len(each.prompt + each.answer)))
                for body, each in zip(bodies, continuations)
            ]
        return tuple(found[len(each.prompt) - 1 :] for found, each in zip(every, continuations))

    def _body(self, prompt: Tokens) -> dict[str, object]:
        return {"model": self.model, "prompt": prompt, "max_tokens": 1, "temperature": 0.0}


def found(
    model: str, tokenizer: str | None, ask: Ask, together: Together, lives: Callable[[], bool]
) -> ServerChoices | str:
    """The first way that a server can, or why it can in none; tried with a few requests of some ten tokens.

    lives: whether the server answers otherwise, asked where its tokenizer's place is out of order: some gateways say so
    of places that they don't have.
    Raises ModelError for a tokenizer that can't be loaded, for a server that can't be reached or is out of order (what
    it can would be guessed), and LimitReached.
    """
    reader: Reader = LocalReader(tokenizer) if tokenizer else ServerReader(model)
    try:
        if isinstance(reader, ServerReader) and not reader.gives_back(_TRIED, ask):
            return "its /detokenize does not give back what /tokenize reads; " + _ADVICE
        reader.continuations(_TRIED, ask)
    except (ModelError, Unanswerable) as error:
        if _says_nothing(error) and not (isinstance(error, NeverPassed) and lives()):
            raise
        logger.info("%s: %s", model, error)
        return "it has no /tokenize as vLLM has; " + _ADVICE if tokenizer is None else str(error)
    for way in ("token ids", "echo"):
        choices = ServerChoices(model, reader, way)
        try:
            every = choices.log_probs(_TRIED, ask, together)
            if any(value < 0 for each in every for value in each):  # 0 is put for unknown
                return choices
        except (ModelError, Unanswerable) as error:
            if _says_nothing(error):
                raise
            logger.info("%s: %s: %s", model, way, error)
    return "its /v1/completions gives no log-probabilities of tokens that are named or echoed"


def _says_nothing(error: Exception) -> bool:
    """Whether an error leaves open what the server can."""
    return isinstance(error, (Unreachable, LimitReached)) or (isinstance(error, NeverPassed) and not error.lasting)


_ADVICE = "--tokenizer NAME names the model's, where /v1/completions gives log-probabilities"


def _of_ids(content: object, wanted: Sequence[int]) -> dict[int, float]:
    """Of the tokens that were named, as they stand beside the one token that was written."""
    top = _log_probs(content).get("top_logprobs")
    first = top[0] if isinstance(top, list) and top else None
    if not isinstance(first, dict):
        raise Withheld("no log-probabilities of named tokens in it")
    return {token: _number(first.get(f"token_id:{token}")) for token in wanted}


def _of_prompt(content: object, n: int) -> LogProbs:
    """Of all tokens of a prompt but the first; that of the one token that was written may follow."""
    given = _log_probs(content).get("token_logprobs")
    if not isinstance(given, list) or len(given) not in (n, n + 1) or given[0] is not None:
        raise Withheld("no log-probabilities of the prompt's tokens in it")
    return tuple(map(_number, given[1:n]))


def _log_probs(content: object) -> dict[str, object]:
    choices = content.get("choices") if isinstance(content, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("text"), str):
        raise Malformed("no completion in it")
    given = choice.get("logprobs")
    if not isinstance(given, dict):
        raise Withheld("no log-probabilities in it")
    return given


def _number(given: object) -> float:
    if type(given) not in (int, float) or not -1e6 < given <= _ROUNDED:  # type: ignore[operator]
        raise Withheld("what is no log-probability in it")
    return min(0.0, float(given))  # type: ignore[arg-type]
