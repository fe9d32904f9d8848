"""Choices scored by an engine that says how likely named tokens are after a prompt: each distinct prefix asked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import Continuation, Tokens, wanted_after
from evenhand.models.scoring import LogProbs

Seen = tuple[str, ...]
"""Hashes of the pictures that stand in a prompt."""


@dataclass(frozen=True)
class AfterPrefix:
    """One question to the engine: how likely these tokens come next. place: of a request with that prefix."""

    place: int
    seen: Seen
    prefix: Tokens
    tokens: Sequence[int]


class ChoicesByPrefix:
    """Of some requests, by place: the pictures that each shows, and its choices after its prompt.

    most: tokens that one question may name.
    """

    def __init__(self, read: Mapping[int, tuple[Seen, Sequence[Continuation]]], most: int):
        self._read = read
        self._waiting: dict[tuple[Seen, Tokens], list[int]] = {}
        for place, (seen, continuations) in read.items():
            for prefix in dict.fromkeys(prefix for each in continuations for prefix, _ in each.steps):
                self._waiting.setdefault((seen, prefix), []).append(place)
        self._missing = dict.fromkeys(read, 0)  # questions that each place waits for
        self._after: dict[tuple[Seen, Tokens], dict[int, float]] = {key: {} for key in self._waiting}
        self._refused: dict[int, Unanswerable] = {}
        self.questions: list[AfterPrefix] = [*self._asked(most)]
        for question in self.questions:
            for place in self._waiting[question.seen, question.prefix]:
                self._missing[place] += 1

    def answered(
        self, question: AfterPrefix, found: Mapping[int, float] | Unanswerable
    ) -> Iterator[tuple[int, tuple[LogProbs, ...] | Unanswerable]]:
        """The places that wait for no other question, with the log-probabilities (nats) of each token of each choice.

        found: of each token that was named; or why there is no answer, which is one for all that wait for it.
        """
        key = question.seen, question.prefix
        for place in self._waiting[key]:
            if isinstance(found, Unanswerable):
                self._refused[place] = found
            self._missing[place] -= 1
        if not isinstance(found, Unanswerable):
            self._after[key] |= {token: min(0.0, found[token]) for token in question.tokens}
        for place in self._waiting[key]:
            if not self._missing[place]:
                yield place, self._refused.get(place) or self._log_probs(place)

    def _asked(self, most: int) -> Iterator[AfterPrefix]:
        """Neighbors share most of their prompts."""
        wanted: dict[tuple[Seen, Tokens], list[int]] = {}
        for seen in dict.fromkeys(seen for seen, _ in self._read.values()):
            alike = (each for other, some in self._read.values() if other == seen for each in some)
            wanted |= {(seen, prefix): tokens for prefix, tokens in wanted_after(alike).items()}
        for (seen, prefix), tokens in sorted(wanted.items()):
            place = self._waiting[seen, prefix][0]
            for start in range(0, len(tokens), most):
                yield AfterPrefix(place, seen, prefix, tokens[start : start + most])

    def _log_probs(self, place: int) -> tuple[LogProbs, ...]:
        seen, continuations = self._read[place]
        return tuple(tuple(self._after[seen, prefix][token] for prefix, token in each.steps) for each in continuations)
