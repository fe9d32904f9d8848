"""Scores choices by an engine that gives the log-probabilities of named tokens after a prompt: each prefix once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.models.errors import Unanswerable
from evenhand.models.prefix_tree import Continuation, LogProbs, Tokens, wanted_after

Seen = tuple[str, ...]
"""Hashes of the pictures in a prompt."""


@dataclass(frozen=True)
class AfterPrefix:
    """One question to the engine: log-probabilities of these tokens next. place: of a request with that prefix."""

    place: int
    seen: Seen
    prefix: Tokens
    tokens: Sequence[int]


class ChoicesByPrefix:
    """Splits requests into questions, and puts their answers together.

    Args:
        read: of each request, by place, the pictures that it shows, and its choices after its prompt.
        most: tokens that one question may name.
    """

    def __init__(self, read: Mapping[int, tuple[Seen, Sequence[Continuation]]], most: int):
        self._read = read
        self._waiting: dict[tuple[Seen, Tokens], list[int]] = {}
        wanted: dict[tuple[Seen, Tokens], dict[int, None]] = {}
        for place, (seen, continuations) in read.items():
            for prefix, tokens in wanted_after(continuations).items():
                self._waiting.setdefault((seen, prefix), []).append(place)
                wanted.setdefault((seen, prefix), {}).update(dict.fromkeys(tokens))
        self.questions = [
            AfterPrefix(self._waiting[key][0], *key, [*wanted[key]][start : start + most])
            for key in sorted(wanted)  # neighbors share most of their prompts
            for start in range(0, len(wanted[key]), most)
        ]
        self._missing = Counter(place for each in self.questions for place in self._waiting[each.seen, each.prefix])
        self._after: dict[tuple[Seen, Tokens], dict[int, float]] = {key: {} for key in wanted}
        self._refused: dict[int, Unanswerable] = {}

    def answered(
        self, question: AfterPrefix, found: Mapping[int, float] | Unanswerable
    ) -> Iterator[tuple[int, tuple[LogProbs, ...] | Unanswerable]]:
        """Yield the places that wait for no other question, with the log-probabilities of each token of each choice.

        Args:
            found: nats of each token that was named; or why there is no answer, for all that wait for it.
        """
        key = question.seen, question.prefix
        if not isinstance(found, Unanswerable):
            self._after[key] |= {token: min(0.0, found[token]) for token in question.tokens}
        for place in self._waiting[key]:
            if isinstance(found, Unanswerable):
                self._refused[place] = found
            self._missing[place] -= 1
            if not self._missing[place]:
                yield place, self._refused.get(place) or self._log_probs(place)

    def _log_probs(self, place: int) -> tuple[LogProbs, ...]:
        seen, continuations = self._read[place]
        return tuple(tuple(self._after[seen, prefix][token] for prefix, token in each.steps) for each in continuations)
