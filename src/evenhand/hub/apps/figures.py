"""What a metric found, as figures with their intervals and what chance would give, and as HTML in which whatever came
from a visitor is escaped.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.hub.apps.declared import About, Declared

_COUNTS = ("n", "n_read", "unread_rate")
_NO_FIGURES = (*_COUNTS, "warnings", "intervals", "by", "n_clusters", "n_clusters_asked")


@dataclass(frozen=True)
class Figure:
    """name: "biased percentage, overall". text, interval, chance: as they are shown; empty where there is none."""

    name: str
    text: str
    interval: str = ""
    chance: str = ""


@dataclass(frozen=True)
class Group:
    """The headline figures of the rows of one value of a column."""

    column: str
    value: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Scored:
    """headline: the figures that the metric is named for. others: all else. counts: rows, read, clusters.
    notes: what the page has to say, warnings: what the metric has.
    """

    headline: tuple[Figure, ...]
    others: tuple[Figure, ...]
    by: tuple[Group, ...]
    counts: str
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def scored(result: Mapping[str, Any], told: About, notes: tuple[str, ...] = ()) -> Scored:
    """Of `compute`'s result."""
    headline = tuple(figure for key in told.headline for figure in _figures(result, key, told))
    others = tuple(
        figure
        for key in result
        if key not in told.headline and key not in _NO_FIGURES
        for figure in _figures(result, key, told)
    )
    by = tuple(
        Group(column, value, tuple(figure for key in told.headline for figure in _figures(group, key, told)))
        for column, groups in result.get("by", {}).items()
        for value, group in groups.items()
    )
    return Scored(headline, others, by, _counts(result), tuple(result["warnings"]), notes)


def _counts(result: Mapping[str, Any]) -> str:
    unread = result["unread_rate"]
    told = f"{result['n']:,} answers, {result['n_read']:,} of them read"
    told += f" ({100 * unread:.1f} % unread)" if not math.isnan(unread) else ""
    return told + (f"; {result['n_clusters']:,} clusters" if "n_clusters" in result else "")


def _figures(result: Mapping[str, Any], key: str, told: About) -> Iterator[Figure]:
    intervals = result.get("intervals", {})
    for path, value in _leaves((key,), result[key]):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        percent = told.unit if number and key in told.headline else ""
        yield Figure(
            name=", ".join(path).replace("_", " "),
            text=shown(value, told.digits) + (percent if not (number and math.isnan(value)) else ""),
            interval=_interval(_at(intervals, path), told.digits),
            chance=_chance(result, path, told),
        )


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves((*path, str(key)), inner)
    else:
        yield path, value


def _at(nested: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        nested = nested.get(key) if isinstance(nested, Mapping) else None
    return nested


def _interval(ends: Any, digits: int) -> str:
    if ends is None or any(end is None or math.isnan(end) for end in ends):
        return ""
    return f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"


def _chance(result: Mapping[str, Any], path: tuple[str, ...], told: About) -> str:
    """Of a headline figure, or of the dictionary in which it stands."""
    found = told.chance.get(".".join(path), told.chance.get(path[0]))
    value = _at(result, tuple(found.split("."))) if isinstance(found, str) else found
    return "" if value is None or math.isnan(value) else f"{value:.{told.digits}f}"


def shown(value: Any, digits: int) -> str:
    """A value of a result, for a reader."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        fine = 0 < abs(value) < 1  # a p-value or a rate among percentages
        return "no data" if math.isnan(value) else f"{value:.{max(digits, 3) if fine else digits}f}"
    if isinstance(value, (list, tuple)):
        return " to ".join(shown(each, digits) for each in value)
    return str(value)


HERE = Path(__file__).parent
LONGEST = 600  # characters of a message: it may repeat a cell

_TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def result_page(scored: Scored, about: About) -> str:
    return _TEMPLATES.get_template("result.html.jinja").render(scored=scored, about=about)


def error_page(message: str) -> str:
    """A sentence on what is wrong, and what to do."""
    short = textwrap.shorten(message, LONGEST, placeholder=" …")
    return _TEMPLATES.get_template("error.html.jinja").render(message=short[:LONGEST])


def columns_page(declared: Declared) -> str:
    """The columns that a table may have."""
    return _TEMPLATES.get_template("columns.html.jinja").render(declared=declared)


def style() -> str:
    return (HERE / "style.css").read_text(encoding="utf-8")
