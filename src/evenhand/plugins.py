"""Names of one kind: evenhand's own, in a visible mapping, and those of other packages, as entry points."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from evenhand.errors import EvenhandError, unknown_name

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)


class Registry:
    """Names of one kind ("benchmark"), each with the "module:Object" it stands for, imported when asked for.

    Args:
        group: entry points of other packages; a name that is evenhand's own stays evenhand's.
        own: evenhand's, in the order in which they are listed.
    """

    def __init__(self, kind: str, group: str, own: Mapping[str, str]):
        self.kind = kind
        self.group = group
        self.own = own
        self._loaded: dict[str, object] = {}
        self._made: dict[str, object] = {}

    @cached_property
    def _points(self) -> dict[str, list[EntryPoint]]:
        """All entry points by name: different ones of one name are ambiguous."""
        found = {name: [EntryPoint(name, value, self.group)] for name, value in self.own.items()}
        for point in sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value)):
            others = found.setdefault(point.name, [])
            if point.name not in self.own and point.value not in [other.value for other in others]:
                others.append(point)
        return found

    @property
    def names(self) -> list[str]:
        return list(self._points)

    def __contains__(self, name: object) -> bool:
        return name in self._points

    def module(self, name: str) -> str:
        """Return the name's module, without importing it."""
        return self._points[name][0].module

    def load(self, name: str) -> object:
        """Return the object of that name, the same each time.

        Raises:
            UsageError: for an unknown name.
            EvenhandError: for another package's object that can't be imported, or a name that several packages have.
        """
        if name not in self:
            raise unknown_name(self.kind, name, self.names, "evenhand list shows all")
        if name not in self._loaded:
            point, *others = self._points[name]
            if others:
                packages = ", ".join(each.value for each in (point, *others))
                raise EvenhandError(
                    f"several packages have the {self.kind} {name!r} ({packages}); uninstall all but one"
                )
            with self._explained(name):
                self._loaded[name] = getattr(import_module(point.module), point.attr)
        return self._loaded[name]

    def make(self, name: str) -> object:
        """Call the object of that name without arguments, once. Raises as `load` does."""
        if name not in self._made:
            made: Any = self.load(name)
            with self._explained(name):
                self._made[name] = made()
        return self._made[name]

    def every(self, get: Callable[[str], T]) -> list[T]:
        """Call `get` with each name; what can't be imported is left out, with a warning."""
        found = []
        for name in self.names:
            try:
                found.append(get(name))
            except EvenhandError as error:
                _LOGGER.warning("%s; it is left out", error)
        return found

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Raise EvenhandError for whatever another package's code raises."""
        try:
            yield
        except Exception as error:
            if name in self.own:
                raise
            raise EvenhandError(
                f"the {self.kind} {name!r} of another package ({self._points[name][0].value}) can't be imported: "
                f"{type(error).__name__}: {error}; fix or uninstall that package"
            ) from error
