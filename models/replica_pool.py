"""Calls handed out to replicas as they become free; those that die are replaced, and what they owe is asked again."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evenhand.models.errors import ModelError
from evenhand.models.replica import Description, ModelSpec, Part, other_model
from evenhand.models.request import Reply, Request

logger = logging.getLogger(__name__)

MOST_DEATHS = 3  # of replicas in one place, or over one call, before this is no accident
PATIENCE = 60.0  # seconds until it is said what is waited for


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
        """What a replica needs and what is free, in words, for whoever waits for one."""
        ...


Asked = list[tuple[int, Request]]  # each with its place in the whole call


@dataclass
class Call:
    """Requests that one replica answers in one go. deaths: of those who tried."""

    open: dict[int, Request]
    deaths: int = 0


@dataclass
class _Place:
    """Who stands in one replica's place, and what it is doing.

    stream, places: what it gives, and where in the whole call its requests stand. call: None while it starts.
    deaths: in a row, without an answer between.
    """

    copy: Copy | None = None
    stream: Stream | None = None
    call: Call | None = None
    places: tuple[int, ...] = ()
    deaths: int = 0

    @property
    def is_given_up(self) -> bool:
        return self.deaths >= MOST_DEATHS

    @property
    def is_free(self) -> bool:
        return self.copy is not None and self.stream is None

    def answers(self, call: Call, spec: ModelSpec, identity: str) -> None:
        assert self.copy is not None
        self.call, self.places = call, tuple(call.open)
        self.stream = self.copy.answer(spec, identity, list(call.open.values()))

    def received(self, part: Part) -> dict[int, Reply]:
        assert self.call is not None
        replies = {self.places[each]: reply for each, reply in part.replies.items()}
        for place in replies:
            self.call.open.pop(place, None)
        self.deaths = self.call.deaths = 0
        return replies


class ReplicaPool:
    """So many replicas. A place whose replicas die again and again is given up; without places nothing goes on."""

    def __init__(self, host: Host, replicas: int):
        self._host = host
        self._places = [_Place() for _ in range(replicas)]
        self._told = False

    @property
    def replicas(self) -> int:
        return len(self._places)

    def describe(self, spec: ModelSpec) -> Description:
        """What the first replica says that has loaded it; the others load it meanwhile."""
        while True:
            for place in self._places:
                self._begin(place, spec)
            _, item = self._next(spec)
            if isinstance(item, Description) and item.spec == spec:
                return item

    def answers(
        self, spec: ModelSpec, described: Description, calls: Iterable[Asked]
    ) -> Generator[tuple[dict[int, Reply], Part], None, None]:
        """The replies of each part by their places in the whole call, and the part, as they come."""
        waiting = deque(Call(dict(asked)) for asked in calls)
        try:
            while waiting or any(place.call for place in self._places):
                for place in self._places:
                    if place.copy is None and waiting:
                        self._begin(place, spec)
                    elif place.is_free and waiting:
                        place.answers(waiting.popleft(), spec, described.identity)
                place, item = self._next(spec, waiting)
                if isinstance(item, Description) and item.spec == spec and item.identity != described.identity:
                    raise other_model(described.identity, item.identity, item.machine)
                if isinstance(item, Part):
                    yield place.received(item), item
        finally:
            self._leave_unfinished()

    def close(self) -> None:
        there = [place for place in self._places if place.copy is not None]
        idle = [place.copy for place in there if place.is_free]
        self._host.end(idle, [place.copy for place in there if not place.is_free])
        self._places = [_Place(deaths=MOST_DEATHS) for _ in self._places]

    def _begin(self, place: _Place, spec: ModelSpec) -> None:
        """Where nobody stands: a new replica, which gets calls once it has loaded the model."""
        if place.stream is None and not place.is_given_up:
            place.copy = place.copy or self._host.start()
            place.stream = place.copy.describe(spec)

    def _next(self, spec: ModelSpec, waiting: deque[Call] | None = None) -> tuple[_Place, object]:
        """Whichever place has something next: a part, a description, or None at the end of what it was asked."""
        while True:
            busy = {id(place.stream): place for place in self._places if place.stream is not None}
            if not busy:
                raise ModelError("the replicas have ended; load the model anew")
            stream = self._host.ready([place.stream for place in busy.values()], PATIENCE)
            if stream is None:
                self._tell_what_is_missing()
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

    def _replace(self, place: _Place, spec: ModelSpec, waiting: deque[Call] | None, error: Died) -> None:
        """Another replica in its place; its call, as far as it is open, is the next that is handed out.

        Raises ModelError where that has been tried often enough.
        """
        call, place.copy, place.stream, place.call = place.call, None, None, None
        place.deaths += 1
        if call is not None and waiting is not None and call.open:
            call.deaths += 1
            if call.deaths >= MOST_DEATHS:
                names = ", ".join([request.name for request in call.open.values()][:3])
                raise ModelError(f"{call.deaths} replicas died over the same requests ({names} …). {_advice(error)}")
            waiting.appendleft(call)
        if not place.is_given_up:
            logger.warning("a replica died and is replaced; what it was asked is asked again: %s", error)
            self._begin(place, spec)
        elif all(each.is_given_up for each in self._places):
            raise ModelError(f"replicas die again and again before they answer anything. {_advice(error)}")
        else:
            logger.warning("%d replicas died in one place, which is given up: %s", place.deaths, error)

    def _leave_unfinished(self) -> None:
        """What a call that ends early leaves behind: its answers have no reader."""
        left = [place for place in self._places if place.call is not None]
        if left:
            self._host.end([], [place.copy for place in left])
        for place in left:
            place.copy = place.stream = place.call = None

    def _tell_what_is_missing(self) -> None:
        starting = [place for place in self._places if place.stream is not None and place.call is None]
        if starting and not self._told:
            self._told = True
            logger.warning(
                "%d of %d replicas still load the model, or wait for room (%s)",
                len(starting),
                self.replicas,
                self._host.waiting_for(),
            )


def _advice(error: Died) -> str:
    return (
        f"The last one: {error}. Often it is memory: a smaller --batch-size, fewer replicas a machine or larger ones "
        "help. What was answered is kept: the same command goes on"
    )
