"""The mitigation class: wraps an episode, and changes its requests or replies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Episode
from evenhand.models.request import Reply, Request
from evenhand.options import NoOptions

if TYPE_CHECKING:
    from evenhand.benchmark import Row

O = TypeVar("O")  # noqa: E741


class Mitigation(ABC, Generic[O]):
    """Wraps the episodes of some benchmarks.

    Attributes:
        source: where it is described.
        benchmarks: whose episodes it wraps.
        of_papers: benchmarks whose paper ran it; published figures are shown for these alone.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    benchmarks: ClassVar[tuple[str, ...]]
    of_papers: ClassVar[tuple[str, ...]] = ()
    Options: ClassVar[type[Any]] = NoOptions

    def check(self, config: RunConfig[Any]) -> None:
        """Raise UsageError for a filled configuration that doesn't fit this mitigation."""
        if config.benchmark not in self.benchmarks:
            fitting = ", ".join(self.benchmarks)
            raise UsageError(f"--mitigation {self.name} does not fit {config.benchmark}; it fits {fitting}")

    def agents(self, options: O) -> Mapping[str, str]:
        """Return {agent: model's name} of further models that the wrapped episodes ask."""
        return {}

    @abstractmethod
    def wrap(self, episode: Episode, row: Row, how: Asking[Any], options: O) -> Episode:
        """Wrap a row's episode, which must not have begun."""


def go_on(
    episode: Episode,
    replies: Sequence[Reply] | None = None,
    change: Callable[[Request], Request] = lambda request: request,
) -> Episode:
    """Run the rest of an episode after these replies, or all of it, and change each request."""
    while True:
        try:
            requests = next(episode) if replies is None else episode.send(replies)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        replies = yield [change(request) for request in requests]
