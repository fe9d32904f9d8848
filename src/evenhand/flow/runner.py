"""Drives many episodes at once: whatever they all wait for is asked in large batches, and stored.

Batches are a pure function of what is stored. The window holds the first unfinished episodes in row order; the next
batch is what they wait for and the store lacks, in (row, step) order, for the model and of the kind that fill a call
best: what few episodes ask waits until others ask it, too. A run that was killed and started again therefore asks the
same batches as one that was not, and nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from evenhand.flow.episode import Episode, Prediction
from evenhand.flow.store import Store
from evenhand.models.protocol import Model
from evenhand.models.request import Reply, Request

_BATCHES_IN_WINDOW = 8


@dataclass
class _Running:
    """An episode, what it asked last, the replies that are there, and at its end what it predicted."""

    row: int
    episode: Episode
    requests: Sequence[Request] = ()
    keys: Sequence[str] = ()
    replies: dict[str, Reply] = field(default_factory=dict)
    predictions: list[Prediction] | None = None

    @property
    def missing(self) -> list[tuple[str, Request]]:
        return [(key, request) for key, request in zip(self.keys, self.requests) if key not in self.replies]


class Runner:
    """Runs episodes against models ({agent: model}) with a store between them."""

    def __init__(
        self, models: Mapping[str, Model], store: Store, on_progress: Callable[[int, int], None] | None = None
    ):
        """on_progress(finished, asked) is called with how many episodes finished and requests were asked, each time."""
        self.models = models
        self.store = store
        self._identities = {agent: model.identity for agent, model in models.items()}
        self._window = _BATCHES_IN_WINDOW * max(model.requests_at_once for model in models.values())
        self._on_progress = on_progress or (lambda finished, asked: None)

    def run(self, episodes: Iterable[Episode]) -> Iterator[list[Prediction]]:
        """Each episode's predictions, in the order of the episodes, as soon as those before it are there."""
        waiting: list[_Running] = []
        finished: dict[int, list[Prediction]] = {}
        next_row = 0
        arriving = enumerate(episodes)
        while True:
            places = range(self._window - len(waiting))
            admitted = [_Running(row, episode) for _, (row, episode) in zip(places, arriving)]
            for each in admitted:
                self._step(each, None)
            self._advance(admitted)
            running = waiting + admitted
            finished.update((each.row, each.predictions) for each in running if each.predictions is not None)
            waiting = [each for each in running if each.predictions is None]
            while next_row in finished:
                yield finished.pop(next_row)
                next_row += 1
            if len(waiting) < len(running):
                continue  # there is place for more
            if not waiting:
                return
            self._ask(waiting)
            self._advance([each for each in waiting if not each.missing])

    def _advance(self, moving: list[_Running]) -> None:
        """Send episodes as far as the store carries them; what then remains waits for replies that nobody has."""
        moving = [each for each in moving if each.predictions is None]
        while moving:
            self._receive(moving, [key for each in moving for key, _ in each.missing])
            moving = [each for each in moving if not each.missing]
            for each in moving:
                self._step(each, [each.replies[key] for key in each.keys])
            moving = [each for each in moving if each.predictions is None]

    def _receive(self, running: Iterable[_Running], keys: Iterable[str]) -> None:
        """Give episodes what the store has of these keys."""
        stored = self.store.get(sorted(set(keys)))
        for each in running:
            each.replies.update((key, stored[key]) for key, _ in each.missing if key in stored)

    def _step(self, each: _Running, replies: Sequence[Reply] | None) -> None:
        """One step of one episode: from replies to its next requests, or to its end."""
        try:
            each.requests = next(each.episode) if replies is None else each.episode.send(replies)
        except StopIteration as end:
            each.predictions = end.value
            self._on_progress(1, 0)
            return
        each.keys = [request.digest(self._identities[request.agent]) for request in each.requests]
        each.replies = {}

    def _ask(self, waiting: Sequence[_Running]) -> None:
        """The next batch: missing requests for one model and of one kind, those of which most of a call is there.

        Replies are read back from the store: what an episode sees is what a resumed run would see.
        """
        missing: dict[str, Request] = {}
        for each in waiting:
            missing.update((key, request) for key, request in each.missing if key not in missing)
        alike: dict[tuple[str, bool], list[tuple[str, Request]]] = {}
        for key, request in missing.items():
            alike.setdefault((request.agent, bool(request.choices)), []).append((key, request))
        kind = max(alike, key=lambda kind: self._filled(kind, alike[kind]))
        model, at_once = self.models[kind[0]], self._at_once(kind)
        sizes = accumulate(request.size for _, request in alike[kind])
        asked = alike[kind][: max(1, sum(size <= at_once for size in sizes))]
        replies = (model.choose if kind[1] else model.generate)([request for _, request in asked])
        if len(replies) != len(asked):
            raise RuntimeError(f"{model.identity} gave {len(replies)} replies to {len(asked)} requests")
        self.store.put((key, reply) for (key, _), reply in zip(asked, replies))
        self._receive(waiting, [key for key, _ in asked])
        self._on_progress(0, len(asked))

    def _at_once(self, kind: tuple[str, bool]) -> int:
        agent, scored = kind
        return self.models[agent].requests_at_once if scored else self.models[agent].texts_at_once

    def _filled(self, kind: tuple[str, bool], requests: Sequence[tuple[str, Request]]) -> float:
        """How much of a call they make, 1 at most."""
        return min(1.0, sum(request.size for _, request in requests) / self._at_once(kind))
