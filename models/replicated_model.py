"""One model to whoever asks, several replicas behind it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing

from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, Parts, kind_of, unheard
from evenhand.models.replica import Description, ModelSpec
from evenhand.models.replica_pool import Asked, ReplicaPool
from evenhand.models.request import Request, fitting

logger = logging.getLogger(__name__)

CALLS_EACH = 4  # before all are waited for: the more, the less time the fastest replica stands idle


class ReplicatedModel:
    """Has the identity that each replica has, so that a run may go on with replicas or without.

    A replica is asked as many requests at once as the model would be here, and where the model's replies are stored by
    whole calls, so are each replica's: these calls, and with them the last bits of replies, are those of one model
    alone where episodes ask but once.
    """

    def __init__(self, pool: ReplicaPool, spec: ModelSpec, described: Description):
        self._pool = pool
        self._spec = spec
        self._described = described
        self.identity = described.identity
        self.name = described.name
        self.whole_calls = described.whole_calls
        self.can: frozenset[Ability] = described.can - {"count_tokens"}  # which needs the model here
        self.template_date, self.template_notes = described.template_date, described.template_notes
        if described.scoring_way is not None:
            self.scoring_way = described.scoring_way

    def at_once(self, kind: Kind) -> int:
        return self._described.at_once[kind] * self._pool.replicas * CALLS_EACH

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        for part in self.answer_parts(requests, on_tokens):
            yield from part.items()

    def answer_parts(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Parts:
        """What each replica gives, as it comes: whole calls of its own, or single replies, as the model has it."""
        with closing(self._pool.answers(self._spec, self._described, self._calls(requests))) as answers:
            for replies, part in answers:
                for sentence in part.said:
                    logger.warning("%s", sentence)
                on_tokens(part.tokens)
                yield replies

    def close(self) -> None:
        """Replicas end with their cluster, whose other models they may hold, too."""

    def _calls(self, requests: Sequence[Request]) -> Iterator[Asked]:
        """As the model would be asked here: one kind a call, as many as it takes at once."""
        kinds: tuple[Kind, ...] = ("choose", "generate")
        for kind in kinds:
            alike = [(place, request) for place, request in enumerate(requests) if kind_of(request) == kind]
            at_once, start = self._described.at_once[kind], 0
            while most := alike[start : start + at_once]:
                start += (n := fitting([request for _, request in most], at_once))
                yield most[:n]
