"""The one small protocol behind which every model stands."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from evenhand.models.request import Reply, Request
from evenhand.models.thoughts import make_reply

Kind = Literal["generate", "choose"]
"""What a request asks for: a text, or how likely its choices are."""

Ability = Literal["generate", "choose", "choose_one_token", "see", "count_tokens", "constrain", "continue"]
"""What a model can: write, score choices, score those of one token each, take images, say what a call costs, keep to a
schema, take a prompt to the letter, without its chat template."""

OnTokens = Callable[[int], None]
"""Told how many tokens more have been written, now and then while a call runs; called from any thread."""


Answers = Generator[tuple[int, Reply], None, None]
"""(place of a request in its call, its reply)"""

Parts = Generator[dict[int, Reply], None, None]
"""Likewise, some at a time."""


def unheard(tokens: int) -> None:
    """Ignore progress."""


def kind_of(request: Request) -> Kind:
    return "choose" if request.choices else "generate"


class Model(Protocol):
    """Answers requests, many at a time, each as its reply is there."""

    @property
    def identity(self) -> str:
        """Everything about the model that decides its replies: name, revision or fingerprint, dtype."""
        ...

    @property
    def name(self) -> str:
        """As a report calls it."""
        ...

    @property
    def can(self) -> frozenset[Ability]: ...

    @property
    def whole_calls(self) -> bool:
        """Whether the replies of a call are stored together when it ends, or each as it comes.

        Local models say yes: what is batched together decides the last bits of a reply, and batches must be a function
        of what is stored, or a run that was killed would not end in the same bytes. Servers say no: what was answered
        was paid for.
        """
        ...

    def at_once(self, kind: Kind) -> int:
        """How many requests one call should bring: enough to fill the model, few enough to lose.

        Choices: of two a request; a request with more counts for its `size`.
        """
        ...

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """(place of a request, its reply), each once, in any order, as they come.

        A request that fails for good is answered with a `Reply.failure`. Closing it early stops what is under
        way. Raises ModelError where no request can be answered: weights or a server that can't be reached.
        """
        ...

    def close(self) -> None:
        """Let go of memory and connections; the model answers no more."""
        ...


@dataclass(frozen=True)
class TokenCount:
    """Tokens that a call reads: `read` when every choice is a prompt of its own, `distinct` counting prefixes once."""

    read: int
    distinct: int


class CountsTokens(Protocol):
    """A model that can say what a call would cost: "count_tokens" is in its `can`."""

    def count_tokens(self, requests: Sequence[Request]) -> TokenCount: ...


@runtime_checkable
class HasNotes(Protocol):
    """A model with something to say beside the figures of a run in which it wrote."""

    @property
    def notes(self) -> dict[str, str]:
        """{code: sentence}; the code is the warning's in results.json, for programs."""
        ...


@runtime_checkable
class SaysHowItScores(Protocol):
    """A model that scores choices in one of several ways, or in none, which a report says."""

    @property
    def scoring_way(self) -> str: ...


@runtime_checkable
class Warns(Protocol):
    """A model that finds out while it answers what a report must say: (code, text)."""

    @property
    def warnings(self) -> Sequence[tuple[str, str]]:
        """Of the replies so far."""
        ...


@runtime_checkable
class ScoresOneToken(Protocol):
    """A model that can "choose_one_token"."""

    def check_one_token(self) -> None:
        """Try it once. Raises UsageError where it can't after all."""
        ...

    def score_warnings(self, scored: Iterable[Reply]) -> Sequence[tuple[str, str]]:
        """Of all scored choices of a run, those of earlier commands included."""
        ...


@runtime_checkable
class SaysWhatItTook(Protocol):
    """A model that somebody pays for: requests, tokens and what they cost since it was loaded, in words."""

    @property
    def took(self) -> str: ...


@runtime_checkable
class AnswersInParts(Protocol):
    """A model that computes parts of a call apart from each other, each stored as it comes, and as a whole."""

    def answer_parts(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Parts: ...


@runtime_checkable
class HasChatTemplate(Protocol):
    """A model whose prompts are laid out by a chat template here."""

    template_date: str | None
    """The date that the template is given; None where it doesn't ask for one."""
    template_notes: tuple[str, ...]
    """What a report says of how options are scored after its prompts."""


def _without_thought(reply: Reply) -> Reply:
    """Its answer apart from its thought, whatever model gave it."""
    if reply.failed or reply.choice_log_probs:
        return reply
    return make_reply(reply.text, reply.finish_reason, thought=reply.thought)


def stored_together(model: Model, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Parts:
    """All replies of one call, as they come: those together that are stored together."""
    if isinstance(model, AnswersInParts):
        for part in model.answer_parts(requests, on_tokens):
            yield {place: _without_thought(reply) for place, reply in part.items()}
        return
    with closing(model.answer(requests, on_tokens)) as stream:
        each = ((place, _without_thought(reply)) for place, reply in stream)
        if model.whole_calls:
            yield dict(each)
        else:
            for place, reply in each:
                yield {place: reply}


def replies(model: Model, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> list[Reply]:
    """All replies of one call, in the requests' order."""
    found = {place: _without_thought(reply) for place, reply in model.answer(requests, on_tokens)}
    return [found[place] for place in range(len(requests))]
