"""Which settings of a run part columns, as one line: the same from a record of Every Eval Ever as from notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

APART = ("configs", "seed", "dtype", "mitigation")
"""Settings that part no columns: tasks name their configurations, rows their mitigation."""
DEFAULTS = ("source evenhand", "runs 1")
NOT_TOLD = "settings not told"


def setting(parts: Iterable[str]) -> str:
    """parts: "protocol choose", "order balanced", in any order."""
    return ", ".join(sorted(each for each in parts if each not in DEFAULTS))


def told(details: Mapping[str, str], without: Iterable[str]) -> list[str]:
    """Of a record's {name: value}. without: names that are no business of the setting."""
    left = {*APART, *without}
    return [f"{name.replace('_', ' ')} {value}" for name, value in details.items() if name not in left]


def of_mitigation(mitigation: str | None) -> tuple[str, ...]:
    """The names of its options, which belong to the row; none of one that this evenhand doesn't know."""
    from evenhand.mitigations import MITIGATIONS, get_mitigation
    from evenhand.options import fields_of

    if mitigation is None or mitigation not in MITIGATIONS:
        return ()
    return tuple(each.name for each in fields_of(get_mitigation(mitigation).Options))
