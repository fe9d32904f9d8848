"""What a mitigation is: it wraps an episode, changes what the episode asks, or what it is told."""

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
    """name, source: where it is described. benchmarks: whose episodes it wraps.

    of_papers: those of them whose own paper ran it. Beside others, published figures don't stand.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    benchmarks: ClassVar[tuple[str, ...]]
    of_papers: ClassVar[tuple[str, ...]] = ()
    Options: ClassVar[type[Any]] = NoOptions

    def check(self, config: RunConfig[Any]) -> None:
        """Raises UsageError for a filled configuration that doesn't fit this mitigation."""
        if config.benchmark not in self.benchmarks:
            fitting = ", ".join(self.benchmarks)
            raise UsageError(f"--mitigation {self.name} does not fit {config.benchmark}; it fits {fitting}")

    def agents(self, options: O) -> Mapping[str, str]:
        """Further models that the wrapped episodes ask: {agent: name of its model}."""
        return {}

    @abstractmethod
    def wrap(self, episode: Episode, row: Row, how: Asking[Any], options: O) -> Episode:
        """The row's episode, mitigated. The episode must not have begun."""


def go_on(
    episode: Episode,
    replies: Sequence[Reply] | None = None,
    change: Callable[[Request], Request] = lambda request: request,
) -> Episode:
    """The rest of an episode after these replies, or all of it; each request that it makes is changed."""
    while True:
        try:
            requests = next(episode) if replies is None else episode.send(replies)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        replies = yield [change(request) for request in requests]
