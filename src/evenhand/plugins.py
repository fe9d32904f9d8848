"""What is known by name: evenhand's own, in a visible mapping, and what other packages bring as entry points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from evenhand.errors import EvenhandError, unknown_name


class Registry:
    """Names of one kind ("benchmark"), each with the "module:Object" that it stands for, imported when asked for.

    own: evenhand's, in the order in which they are listed. group: of the entry points of other packages; a name that is
    evenhand's own stays evenhand's.
    """

    def __init__(self, kind: str, group: str, own: Mapping[str, str]):
        self.kind = kind
        self.group = group
        self.own = own
        self._loaded: dict[str, object] = {}

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        found = {name: EntryPoint(name, value, self.group) for name, value in self.own.items()}
        for point in sorted(entry_points(group=self.group), key=lambda point: point.name):
            found.setdefault(point.name, point)
        return found

    @property
    def names(self) -> list[str]:
        return list(self._entry_points)

    def __contains__(self, name: object) -> bool:
        return name in self._entry_points

    def module(self, name: str) -> str:
        """Where it stands, without importing it."""
        return self._entry_points[name].module

    def load(self, name: str) -> object:
        """The object of that name, the same each time. Raises UsageError for an unknown name, EvenhandError for another
        package's object that can't be imported."""
        if name not in self._entry_points:
            raise unknown_name(self.kind, name, self.names, "evenhand list shows all")
        if name not in self._loaded:
            point = self._entry_points[name]
            if name in self.own:
                self._loaded[name] = getattr(import_module(point.module), point.attr)
            else:
                try:
                    self._loaded[name] = point.load()
                except Exception as error:  # another package's code may raise nearly anything
                    raise EvenhandError(
                        f"the {self.kind} {name!r} of another package ({point.value}) can't be imported: "
                        f"{type(error).__name__}: {error}; mend or uninstall that package"
                    ) from error
        return self._loaded[name]
