"""Implicit bias in multi-agent task assignment (Borah & Mihalcea): the benchmarks of one paper, and their readers."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment
    from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import read_present_or_absent

__all__ = ["read_assignment", "read_present_or_absent"]

_WHERE = {
    "read_assignment": "evenhand.benchmarks.implicit_bias.assignment_reader",
    "read_present_or_absent": "evenhand.benchmarks.implicit_bias.understanding.present_or_absent",
}


def __getattr__(name: str) -> object:
    """Imported when asked for: the grammar of assignments takes a moment, and who lists benchmarks needs none of it."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
