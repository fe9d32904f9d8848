"""What scores answers after prompts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from evenhand.models.prefix_tree import Continuation

LogProbs = tuple[float, ...]  # of an answer's tokens, in nats


class Scoring(ABC):
    """Log-probability of each token of each answer. name: for the log."""

    name: str

    @abstractmethod
    def scored(self, continuations: Sequence[Continuation]) -> Iterator[tuple[int, LogProbs]]:
        """(place of a continuation, its answer's), each once, as they are computed."""

    def log_probs(self, continuations: Sequence[Continuation]) -> list[LogProbs]:
        """In the continuations' order."""
        found = dict(self.scored(continuations))
        return [found[place] for place in range(len(continuations))]
