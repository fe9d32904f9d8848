"""The one small protocol behind which every model stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from evenhand.models.request import Reply, Request


class Model(Protocol):
    """Answers requests, all of one call together."""

    @property
    def identity(self) -> str:
        """Everything about the model that decides its replies: name, revision or fingerprint, dtype."""
        ...

    @property
    def requests_at_once(self) -> int:
        """How many requests one call of `choose` should bring: enough to fill the model, few enough to lose.

        Of two choices each; one with more counts for its `size`.
        """
        ...

    @property
    def texts_at_once(self) -> int:
        """Likewise for `generate`, which takes longer a request."""
        ...

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """A text for each request, in order. Raises PromptTooLong naming the request."""
        ...

    def choose(self, requests: Sequence[Request]) -> list[Reply]:
        """For each request, the log-probability of each token of each of its choices after its prompt, in nats.

        Raises PromptTooLong naming the request.
        """
        ...


@dataclass(frozen=True)
class TokenCount:
    """Tokens that a call reads: `read` when every choice is a prompt of its own, `distinct` counting prefixes once."""

    read: int
    distinct: int


@runtime_checkable
class CountsTokens(Protocol):
    """A model that can say what a call would cost."""

    def count_tokens(self, requests: Sequence[Request]) -> TokenCount: ...
