"""A metric's result as figures with their intervals and what chance gives, and as HTML that escapes all of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.hub.apps.declared import About

HERE = Path(__file__).parent
NO_FIGURES = ("n", "n_read", "unread_rate", "warnings", "intervals", "by", "n_clusters", "n_clusters_asked")
_TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


@dataclass(frozen=True)
class Figure:
    """name: "biased percentage, overall". text, interval, chance: as they are shown; empty where there is none."""

    name: str
    text: str
    interval: str
    chance: str


@dataclass(frozen=True)
class Scored:
    """What the page shows.

    Attributes:
        headline: the figures that the metric is named for. others: all further figures.
        by: {column: {value: the headline figures of its rows}}.
        counts: how many rows, read answers and clusters there are.
        warnings: the metric's. notes: the page's.
    """

    headline: list[Figure]
    others: list[Figure]
    by: Mapping[str, Mapping[str, list[Figure]]]
    counts: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def summarize(result: Mapping[str, Any], about: About, notes: tuple[str, ...] = ()) -> Scored:
    """The figures of what `compute` returned."""
    others = [key for key in result if key not in (*about.headline, *NO_FIGURES)]
    counts = f"{result['n']:,} answers, {result['n_read']:,} of them read"
    if not math.isnan(unread := result["unread_rate"]):
        counts += f" ({100 * unread:.1f} % unread)"
    if "n_clusters" in result:
        counts += f"; {result['n_clusters']:,} clusters"
    return Scored(
        headline=_figures(result, about.headline, about),
        others=_figures(result, others, about),
        by={
            column: {value: _figures(group, about.headline, about) for value, group in groups.items()}
            for column, groups in result.get("by", {}).items()
        },
        counts=counts,
        warnings=tuple(result["warnings"]),
        notes=notes,
    )


def _figures(result: Mapping[str, Any], keys: Iterable[str], about: About) -> list[Figure]:
    found = []
    for path, value in (leaf for key in keys for leaf in _leaves((key,), result[key])):
        text, ends = show(value, about.digits), _find(result.get("intervals", {}), path) or ()
        if path[0] in about.headline and any(map(str.isdigit, text)):
            text += about.unit
        ends = [_round(end, about.digits) for end in ends]
        interval = " to ".join(ends) if all(ends) else ""
        found.append(Figure(", ".join(path).replace("_", " "), text, interval, _chance(result, path, about)))
    return found


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves((*path, str(key)), inner)
    else:
        yield path, value


def _find(nested: Any, path: tuple[str, ...]) -> Any:
    """None where there is nothing at that path."""
    for key in path:
        nested = nested.get(key) if isinstance(nested, Mapping) else None
    return nested


def _round(value: float | None, digits: int) -> str:
    """Nothing for None and NaN."""
    return "" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def _chance(result: Mapping[str, Any], path: tuple[str, ...], about: About) -> str:
    """Of a headline figure, or of the dictionary that it belongs to."""
    found = about.chance.get(".".join(path), about.chance.get(path[0]))
    value = _find(result, tuple(found.split("."))) if isinstance(found, str) else found
    return _round(value, about.digits)


def show(value: Any, digits: int) -> str:
    """A value of a result, for a reader."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        is_small = 0 < abs(value) < 1  # a p-value or a rate among percentages
        return "no data" if math.isnan(value) else f"{value:.{max(digits, 3) if is_small else digits}f}"
    if isinstance(value, (list, tuple)):
        return " to ".join(show(each, digits) for each in value)
    return str(value)


def render(template: str, **values: object) -> str:
    """The HTML of a template beside this file, such as "result.html.jinja"."""
    return _TEMPLATES.get_template(template).render(**values)
