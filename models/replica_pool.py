"""One model to its callers, several replicas of it behind: calls are handed out as replicas become free.

Replicas that die are replaced, and what they were asked is asked again.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from evenhand.models.errors import ModelError
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, Parts, kind_of, unheard
from evenhand.models.replica import Description, ModelSpec, Part, other_model
from evenhand.models.request import Reply, Request, fitting

logger = logging.getLogger(__name__)

MOST_DEATHS = 3  # of replicas in one place, or over one call: more are no accident
PATIENCE = 60.0  # seconds until a log line says what is waited for
CALLS_EACH = 4  # before all are waited for: the more, the less time the fastest replica stands idle


class Died(Exception):
    """A replica's process, or its machine, has ended; the message says why."""


Stream = Any
"""What a replica gives, item by item: whatever a host has for it."""


class Copy(Protocol):
    """One running replica; its methods are those of `Replica`, and what they give comes as streams."""

    def describe(self, spec: ModelSpec) -> Stream: ...
    def answer(self, spec: ModelSpec, identity: str, requests: Sequence[Request]) -> Stream: ...


class Host(Protocol):
    """Where replicas run."""

    def start(self) -> Copy:
        """A new one; it may take minutes until it answers."""
        ...

    def ready(self, streams: Sequence[Stream], seconds: float) -> Stream | None:
        """One of these that has an item, or has ended; None where none has within that time."""
        ...

    def item(self, stream: Stream) -> Any:
        """The next one of a stream that is ready; None at its end. Raises Died, and what the replica raised."""
        ...

    def end(self, idle: Sequence[Any], busy: Sequence[Any]) -> None:
        """These copies are needed no more; idle ones have time to end what their models have started."""
        ...

    def waiting_for(self) -> str:
        """What a replica needs and what is free, in words."""
        ...


Asked = list[tuple[int, Request]]  # each with its place in the whole call


@dataclass
class Call:
    """Requests that one replica answers in one go, by their places. deaths: of replicas that tried."""

    open: dict[int, Request]
    deaths: int = 0


@dataclass
class _Place:
    """A replica's place, and what is done there.

    stream, places: what it gives, and where in the whole call its requests stand. call: None while it starts.
    deaths: in a row, without an answer between.
    """

    copy: Copy | None = None
    stream: Stream | None = None
    call: Call | None = None
    places: tuple[int, ...] = ()
    deaths: int = 0

    @property
    def is_free(self) -> bool:
        return self.copy is not None and self.stream is None

    def receive(self, part: Part) -> dict[int, Reply]:
        assert self.call is not None
        replies = {self.places[each]: reply for each, reply in part.replies.items()}
        self.call.open = {place: request for place, request in self.call.open.items() if place not in replies}
        self.deaths = self.call.deaths = 0
        return replies

    def clear(self) -> None:
        self.copy = self.stream = self.call = None


class ReplicaPool:
    """So many replicas. A place whose replicas die again and again is given up; without places nothing goes on."""

    def __init__(self, host: Host, replicas: int):
        self._host = host
        self._places = [_Place() for _ in range(replicas)]
        self._said_waiting = False

    @property
    def replicas(self) -> int:
        return len(self._places)

    def describe(self, spec: ModelSpec) -> Description:
        """Return what the first replica says that has loaded it; the others load it meanwhile."""
        while True:
            for place in self._places:
                self._begin(place, spec)
            _, item = self._next(spec, deque())
            if isinstance(item, Description) and item.spec == spec:
                return item

    def answers(
        self, spec: ModelSpec, described: Description, calls: Iterable[Asked]
    ) -> Generator[tuple[dict[int, Reply], Part], None, None]:
        """Yield the replies of each part by their places in the whole call, and the part, as they come."""
        waiting = deque(Call(dict(asked)) for asked in calls)
        try:
            while waiting or any(place.call for place in self._places):
                for place in self._places:
                    if place.copy is None and waiting:
                        self._begin(place, spec)
                    elif place.copy is not None and place.is_free and waiting:
                        place.call = waiting.popleft()
                        place.places = tuple(place.call.open)
                        place.stream = place.copy.answer(spec, described.identity, list(place.call.open.values()))
                place, item = self._next(spec, waiting)
                if isinstance(item, Description) and item.spec == spec and item.identity != described.identity:
                    raise other_model(described.identity, item.identity, item.machine)
                if isinstance(item, Part):
                    yield place.receive(item), item
        finally:  # the answers of a call that ends early have no reader
            left = [place for place in self._places if place.call is not None]
            if left:
                self._host.end([], [place.copy for place in left])
            for place in left:
                place.clear()

    def close(self) -> None:
        busy = [place.copy for place in self._places if place.copy is not None and not place.is_free]
        self._host.end([place.copy for place in self._places if place.is_free], busy)
        self._places = [_Place(deaths=MOST_DEATHS) for _ in self._places]

    def _begin(self, place: _Place, spec: ModelSpec) -> None:
        """Start a new replica in an empty place; it gets calls once it has loaded the model."""
        if place.stream is None and place.deaths < MOST_DEATHS:
            place.copy = place.copy or self._host.start()
            place.stream = place.copy.describe(spec)

    def _next(self, spec: ModelSpec, waiting: deque[Call]) -> tuple[_Place, object]:
        """Wait for the next item of any place: a part, a description, or None at the end of what it was asked."""
        while True:
            busy = {id(place.stream): place for place in self._places if place.stream is not None}
            if not busy:
                raise ModelError("the replicas have ended; load the model anew")
            stream = self._host.ready([place.stream for place in busy.values()], PATIENCE)
            if stream is None:
                self._say_what_is_missing()
                continue
            place = busy[id(stream)]
            try:
                item = self._host.item(stream)
            except Died as error:
                self._replace(place, spec, waiting, error)
                continue
            if item is None:
                place.stream = place.call = None
            return place, item

    def _replace(self, place: _Place, spec: ModelSpec, waiting: deque[Call], error: Died) -> None:
        """Start another replica in its place; what is open of its call is the next that is handed out.

        Raises ModelError where that has been tried often enough.
        """
        call = place.call
        place.clear()
        place.deaths += 1
        advice = (
            f"The last one: {error}. Often it is memory: a smaller --batch-size, fewer replicas a machine or larger "
            "ones help. What was answered is kept: the same command goes on"
        )
        if call is not None and call.open:
            call.deaths += 1
            if call.deaths >= MOST_DEATHS:
                names = ", ".join([request.name for request in call.open.values()][:3])
                raise ModelError(f"{call.deaths} replicas died over the same requests ({names} …). {advice}")
            waiting.appendleft(call)
        if place.deaths < MOST_DEATHS:
            logger.warning("a replica died and is replaced; what it was asked is asked again: %s", error)
            self._begin(place, spec)
        elif all(each.deaths >= MOST_DEATHS for each in self._places):
            raise ModelError(f"replicas die again and again before they answer anything. {advice}")
        else:
            logger.warning("%d replicas died in one place, which is given up: %s", place.deaths, error)

    def _say_what_is_missing(self) -> None:
        starting = [place for place in self._places if place.stream is not None and place.call is None]
        if starting and not self._said_waiting:
            self._said_waiting = True
            logger.warning(
                "%d of %d replicas still load the model, or wait for room (%s)",
                len(starting),
                self.replicas,
                self._host.waiting_for(),
            )


class ReplicatedModel:
    """Has the identity that each replica has, so that a run may go on with replicas or without.

    A replica is asked as many requests in one call as the model would be here, and where the model's replies are stored
    by whole calls, so are each replica's: these calls, and with them the last bits of replies, are those of one model
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
        self.notes = described.notes
        self.template_date, self.template_notes = described.template_date, described.template_notes
        if described.scoring_way is not None:
            self.scoring_way = described.scoring_way

    def at_once(self, kind: Kind) -> int:
        return self._described.at_once[kind] * self._pool.replicas * CALLS_EACH

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        for part in self.answer_parts(requests, on_tokens):
            yield from part.items()

    def answer_parts(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Parts:
        """Yield what each replica gives, as it comes: whole calls of its own, or single replies."""
        with closing(self._pool.answers(self._spec, self._described, self._calls(requests))) as answers:
            for replies, part in answers:
                for warning in part.warnings:
                    logger.warning("%s", warning)
                on_tokens(part.tokens)
                yield replies

    def close(self) -> None:
        """Do nothing: replicas end with their cluster, and may hold other models, too."""

    def _calls(self, requests: Sequence[Request]) -> Iterator[Asked]:
        """Split requests as the model would be asked here: one kind a call, as many as fit."""
        kinds: tuple[Kind, ...] = ("choose", "generate")
        for kind in kinds:
            of_kind = [(place, request) for place, request in enumerate(requests) if kind_of(request) == kind]
            at_once, start = self._described.at_once[kind], 0
            while most := of_kind[start : start + at_once]:
                start += (n := fitting([request for _, request in most], at_once))
                yield most[:n]
