"""What a mitigation is: it wraps an episode, changes what the episode asks, or what it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from evenhand.benchmark import Row
from evenhand.errors import UsageError
from evenhand.flow.episode import Episode
from evenhand.flow.settings import Settings
from evenhand.models.request import Reply, Request


class Mitigation(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """Whose episodes it wraps."""
        ...

    def check(self, settings: Settings) -> None:
        """Raises UsageError for settings that don't fit this mitigation."""
        ...

    def agents(self, settings: Settings) -> Mapping[str, str]:
        """Further models that the wrapped episodes ask: {agent: name of its model}."""
        ...

    def wrap(self, episode: Episode, row: Row, settings: Settings, run: int = 0) -> Episode:
        """The row's episode, mitigated. The episode must not have begun; settings must be filled."""
        ...


def check_fits(mitigation: Mitigation, settings: Settings) -> None:
    """Raises UsageError for a benchmark that it does not wrap, and for texts that exist already."""
    if settings.benchmark not in mitigation.benchmarks:
        fitting = ", ".join(mitigation.benchmarks)
        raise UsageError(f"--mitigation {mitigation.name} does not fit {settings.benchmark}; it fits {fitting}")
    if settings.texts:
        raise UsageError(f"--mitigation {mitigation.name} works on what a model writes: --texts does not fit")


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
