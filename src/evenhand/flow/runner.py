"""Drive many episodes concurrently: their requests are asked in large batches, and replies stored.

Batches are a pure function of what is stored. The window holds the first unfinished episodes in row order. The next
batch is what they wait for and the store lacks, in (row, step) order, for the model and of the kind that fill a call
best: what few episodes ask waits until others ask it, too. A run that was killed and resumed therefore asks the same
batches as one that was not, and nothing twice. (Servers answer requests one by one: each reply is stored as it comes,
and batches don't matter.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from evenhand.errors import EvenhandError
from evenhand.flow.episode import Episode, Prediction
from evenhand.flow.store import Store
from evenhand.models.protocol import Kind, Model, Warns, kind_of, stored_together
from evenhand.models.request import Reply, Request, fitting

_BATCHES_IN_WINDOW = 8


@dataclass(frozen=True)
class Step:
    """Progress since the last step: episodes that finished, replies and tokens that were written.

    Attributes:
        doing: what begins now, if it is not asking.
        took: at the end, what was paid for, in words.
    """

    finished: int = 0
    replied: int = 0
    tokens: int = 0
    doing: str = ""
    took: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tolerance:
    """How many requests may fail for good before a run ends: a share of those that it asks.

    episodes: how many there are in all, to estimate from the first of them how many requests there will be.
    """

    share: float = 1.0
    episodes: int = 0


@dataclass
class _Running:
    """An episode with the keys of its last requests, their replies so far, and its predictions.

    missing: {key: request} without a reply, in the order of the requests.
    """

    row: int
    episode: Episode
    keys: Sequence[str] = ()
    replies: dict[str, Reply] = field(default_factory=dict)
    missing: dict[str, Request] = field(default_factory=dict)
    predictions: list[Prediction] | None = None

    def ask(self, keys: Sequence[str], requests: Sequence[Request]) -> None:
        self.keys = keys
        self.replies = {}
        self.missing = dict(zip(keys, requests))

    def receive(self, key: str, reply: Reply) -> None:
        self.replies[key] = reply
        del self.missing[key]


class Runner:
    """Run episodes against models ({agent: model}) with a store between them."""

    def __init__(
        self,
        models: Mapping[str, Model],
        store: Store,
        on_progress: Callable[[Step], None] | None = None,
        tolerance: Tolerance | None = None,
    ):
        """on_progress is called with every step, and from any thread with tokens."""
        self.models = models
        self.store = store
        self._identities = {agent: model.identity for agent, model in models.items()}
        self._window = _BATCHES_IN_WINDOW * max(model.at_once("choose") for model in models.values())
        self._on_progress = on_progress or (lambda step: None)
        self._tolerance = tolerance or Tolerance()
        self._admitted = self._first_asked = 0  # episodes, and what they asked first
        self._failures: dict[str, str] = {}  # {key: reason}
        self._waiting_for: dict[str, list[_Running]] = {}

    @property
    def failures(self) -> Mapping[str, int]:
        """{reason: number of requests that failed for good}."""
        return dict(Counter(self._failures.values()))

    def run(self, episodes: Iterable[Episode]) -> Iterator[list[Prediction]]:
        """Yield each episode's predictions, in the order of the episodes."""
        waiting: dict[int, _Running] = {}  # by row, in the order of the rows
        finished: dict[int, list[Prediction]] = {}
        next_row = 0
        arriving = enumerate(episodes)
        moving: list[_Running] = []
        while True:
            places = range(self._window - len(waiting))
            admitted = [_Running(row, episode) for _, (row, episode) in zip(places, arriving)]
            self._first_asked += sum(self._step(each, None) for each in admitted)
            self._admitted += len(admitted)
            waiting.update((each.row, each) for each in admitted)
            self._advance(admitted)
            moving += admitted
            ended = [each for each in moving if each.predictions is not None]
            moving = []
            for each in ended:
                finished[each.row] = waiting.pop(each.row).predictions or []
            while next_row in finished:
                yield finished.pop(next_row)
                next_row += 1
            if ended:
                continue  # there is place for more
            if not waiting:
                self._check_failures(asked=len(self.store))
                return
            moving = self._ask(waiting.values())
            self._advance(moving)

    def _advance(self, moving: Sequence[_Running]) -> None:
        """Send episodes as far as stored replies carry them; the others then wait for a batch."""
        moving = [each for each in moving if each.predictions is None]
        while moving:
            stored = self._stored({key for each in moving for key in each.missing})
            for each in moving:
                for key in [key for key in each.missing if key in stored]:
                    each.receive(key, stored[key])
                for key in each.missing:
                    self._waiting_for.setdefault(key, []).append(each)
            moving = [each for each in moving if not each.missing]
            for each in moving:
                self._step(each, [each.replies[key] for key in each.keys])
            moving = [each for each in moving if each.predictions is None]

    def _stored(self, keys: Collection[str]) -> dict[str, Reply]:
        """The stored replies among these keys; failures are counted."""
        stored = self.store.get(sorted(keys)) if keys else {}
        self._failures.update((key, reply.finish_reason) for key, reply in stored.items() if reply.failed)
        return stored

    def _step(self, each: _Running, replies: Sequence[Reply] | None) -> int:
        """Send replies to an episode. Returns the number of its next requests, 0 at its end."""
        try:
            requests = next(each.episode) if replies is None else each.episode.send(replies)
        except StopIteration as end:
            each.predictions = end.value
            self._on_progress(Step(finished=1))
            return 0
        each.ask([request.digest(self._identities[request.agent]) for request in requests], requests)
        return len(requests)

    def _ask(self, waiting: Iterable[_Running]) -> list[_Running]:
        """Ask the next batch. Returns the episodes that miss nothing any more, in the order of the rows.

        Replies are read back from the store: an episode sees what it would see in a resumed run.
        """
        agent, asked = self._next_batch(waiting)
        self._answered(self.models[agent], asked)
        complete: dict[int, _Running] = {}
        for key, reply in self._stored([key for key, _ in asked]).items():
            for each in self._waiting_for.pop(key):
                each.receive(key, reply)
                if not each.missing:
                    complete[each.row] = each
        if self._failures:
            expected = self._tolerance.episodes * self._first_asked // max(1, self._admitted)
            self._check_failures(asked=max(len(self.store), expected))
        return [each for _, each in sorted(complete.items())]

    def _next_batch(self, waiting: Iterable[_Running]) -> tuple[str, list[tuple[str, Request]]]:
        """Choose missing requests for one agent's model and of one kind: those that fill most of a call.

        Where several fill a call, those of the first row. Looks at no more requests than decide that.
        """
        by_kind: dict[tuple[str, Kind], list[tuple[str, Request]]] = {}
        sizes: dict[tuple[str, Kind], int] = {}
        at_once: dict[tuple[str, Kind], int] = {}
        for key, request in _distinct(waiting):
            which = (request.agent, kind_of(request))
            if which not in by_kind:
                by_kind[which], sizes[which] = [], 0
                at_once[which] = self.models[request.agent].at_once(which[1])
            if sizes[which] < at_once[which]:
                by_kind[which].append((key, request))
                sizes[which] += request.size
                if sizes[which] >= at_once[which] and which == next(iter(by_kind)):
                    break
        chosen = max(by_kind, key=lambda which: min(1.0, sizes[which] / at_once[which]))
        most = by_kind[chosen]
        return chosen[0], most[: fitting([request for _, request in most], at_once[chosen])]

    def _answered(self, model: Model, asked: Sequence[tuple[str, Request]]) -> None:
        """Ask a model and store its replies, in the parts that are stored together."""
        requests = [request for _, request in asked]
        n = 0
        with closing(stored_together(model, requests, lambda tokens: self._on_progress(Step(tokens=tokens)))) as parts:
            for replies in parts:
                if isinstance(model, Warns):
                    self.store.warn(model.warnings)
                self.store.put((asked[place][0], reply) for place, reply in sorted(replies.items()))
                self._on_progress(Step(replied=len(replies)))
                n += len(replies)
        if n != len(asked):
            raise RuntimeError(f"{model.identity} gave {n} replies to {len(asked)} requests")

    def _check_failures(self, asked: int) -> None:
        """Raise EvenhandError where too many failed; they are asked again next time."""
        if len(self._failures) > self._tolerance.share * asked:
            self.store.forget_failures()
            raise EvenhandError(
                f"{failures_in_words(self.failures)}, more than --max-failed {self._tolerance.share:g} of those "
                "asked. Fix the cause and repeat the command, or give a larger --max-failed: every answer is stored, "
                "and what failed is asked again"
            )


def _distinct(waiting: Iterable[_Running]) -> Iterator[tuple[str, Request]]:
    """Missing requests, each key once, in (row, step) order."""
    seen: set[str] = set()
    for each in waiting:
        for key, request in each.missing.items():
            if key not in seen:
                seen.add(key)
                yield key, request


def failures_in_words(failures: Mapping[str, int]) -> str:
    """ "3 requests failed for good (context exceeded: 2, refused: 1)"."""
    n = sum(failures.values())
    reasons = ", ".join(f"{reason.replace('_', ' ')}: {count:,}" for reason, count in sorted(failures.items()))
    return f"{n:,} request{'' if n == 1 else 's'} failed for good ({reasons})"
