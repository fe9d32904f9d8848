"""Drives many episodes at once: whatever they all wait for is asked in large batches, and stored.

Batches are a pure function of what is stored. The window holds the first unfinished episodes in row order; the next
batch is what they wait for and the store lacks, in (row, step) order, for the model and of the kind that fill a call
best: what few episodes ask waits until others ask it, too. A run that was killed and started again therefore asks the
same batches as one that was not, and nothing twice. (Of a model that answers requests one by one, as servers do, each
reply is stored as it comes, and its batches matter to nobody.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from evenhand.errors import EvenhandError
from evenhand.flow.episode import Episode, Prediction
from evenhand.flow.store import Store
from evenhand.models.protocol import Kind, Model, kind_of, stored_together
from evenhand.models.request import Reply, Request, fitting

_BATCHES_IN_WINDOW = 8


@dataclass(frozen=True)
class Step:
    """What has come to pass since the last one: episodes that finished, replies and tokens that were written.

    doing: what begins now, where it is something else than asking. took: at the end, what was paid for, in words.
    """

    finished: int = 0
    replied: int = 0
    tokens: int = 0
    doing: str = ""
    took: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tolerance:
    """How many requests may fail for good before a run ends: a share of those that it asks.

    episodes: how many there are in all, so that how many they will ask can be told from the first of them.
    """

    share: float = 1.0
    episodes: int = 0


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
        self,
        models: Mapping[str, Model],
        store: Store,
        on_progress: Callable[[Step], None] | None = None,
        tolerance: Tolerance | None = None,
    ):
        """on_progress is told of every step, tokens from any thread."""
        self.models = models
        self.store = store
        self._identities = {agent: model.identity for agent, model in models.items()}
        self._window = _BATCHES_IN_WINDOW * max(model.at_once("choose") for model in models.values())
        self._on_progress = on_progress or (lambda step: None)
        self._tolerance = tolerance or Tolerance()
        self._admitted = self._first_asked = 0  # episodes, and what they asked first
        self._failures: dict[str, str] = {}  # {key: reason}

    @property
    def failures(self) -> Mapping[str, int]:
        """Requests of finished and running episodes that failed for good, by their reasons."""
        return dict(Counter(self._failures.values()))

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
            self._admitted += len(admitted)
            self._first_asked += sum(len(each.requests) for each in admitted)
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
                self._check_failures(asked=len(self.store))
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
        self._failures.update((key, reply.finish_reason) for key, reply in stored.items() if reply.failed)
        for each in running:
            each.replies.update((key, stored[key]) for key, _ in each.missing if key in stored)

    def _step(self, each: _Running, replies: Sequence[Reply] | None) -> None:
        """One step of one episode: from replies to its next requests, or to its end."""
        try:
            each.requests = next(each.episode) if replies is None else each.episode.send(replies)
        except StopIteration as end:
            each.predictions = end.value
            self._on_progress(Step(finished=1))
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
        alike: dict[tuple[str, Kind], list[tuple[str, Request]]] = {}
        for key, request in missing.items():
            alike.setdefault((request.agent, kind_of(request)), []).append((key, request))
        agent, kind = max(alike, key=lambda each: self._filled(each, alike[each]))
        at_once = self.models[agent].at_once(kind)
        most = alike[agent, kind][:at_once]
        asked = most[: fitting([request for _, request in most], at_once)]
        self._answered(self.models[agent], asked)
        self._receive(waiting, [key for key, _ in asked])
        if self._failures:
            expected = self._tolerance.episodes * self._first_asked // max(1, self._admitted)
            self._check_failures(asked=max(len(self.store), expected))

    def _answered(self, model: Model, asked: Sequence[tuple[str, Request]]) -> None:
        """Store what the model answers, in the parts that belong together."""
        requests = [request for _, request in asked]
        n = 0
        with closing(stored_together(model, requests, lambda tokens: self._on_progress(Step(tokens=tokens)))) as parts:
            for replies in parts:
                self.store.put((asked[place][0], reply) for place, reply in sorted(replies.items()))
                self._on_progress(Step(replied=len(replies)))
                n += len(replies)
        if n != len(asked):
            raise RuntimeError(f"{model.identity} gave {n} replies to {len(asked)} requests")

    def _check_failures(self, asked: int) -> None:
        """Raises EvenhandError where more failed than a run may bear; what failed is asked again next time."""
        if len(self._failures) > self._tolerance.share * asked:
            self.store.forget_failures()
            raise EvenhandError(
                f"{failures_in_words(self.failures)}, more than --max-failed {self._tolerance.share:g} of those "
                "asked. Mend the cause and repeat the command, or give a larger --max-failed: every answer is stored, "
                "and what failed is asked again"
            )

    def _filled(self, kind: tuple[str, Kind], requests: Sequence[tuple[str, Request]]) -> float:
        """How much of a call they make, 1 at most."""
        return min(1.0, sum(request.size for _, request in requests) / self.models[kind[0]].at_once(kind[1]))


def failures_in_words(failures: Mapping[str, int]) -> str:
    """ "3 requests failed for good (context exceeded: 2, refused: 1)"."""
    n = sum(failures.values())
    reasons = ", ".join(f"{reason.replace('_', ' ')}: {count:,}" for reason, count in sorted(failures.items()))
    return f"{n:,} request{'' if n == 1 else 's'} failed for good ({reasons})"
