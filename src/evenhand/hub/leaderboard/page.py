"""The board as one HTML file that loads nothing, in which everything that was read is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand import __version__
from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.records import Column, Origin, Record, declared_figure
from evenhand.hub.submission.figures import is_signed
from evenhand.report.plots import points

TEMPLATES = Path(__file__).parent / "templates"
GENERATOR = '<meta name="generator" content="evenhand leaderboard'
REHEARSAL = ", a rehearsal"
MOST_PLOTS, MOST_POINTS, MOST_NAMED = 6, 300, 6

Links = Mapping[tuple[str, str], str]
"""Where a result is opened next to the page, by (source, place)."""

_TEMPLATES = Environment(
    loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def render_page(board: Board, title: str, links: Links) -> str:
    """Return index.html."""
    script = (TEMPLATES / "board.js").read_text(encoding="utf-8")
    return _TEMPLATES.get_template("board.html.jinja").render(
        board=board, title=title, version=__version__,
        generator=Markup(GENERATOR + (REHEARSAL if board.gathered.rehearsal else "") + '">'),
        style=Markup((TEMPLATES / "board.css").read_text(encoding="utf-8")), script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        anchors={row.name: f"m{k}" for k, row in enumerate(board.rows)},
        plots=list(islice(draw_plots(board), MOST_PLOTS)),
        paired=sum(cell.record.origin.run is not None for cell in board.cells.values()) > 1,
        format_result=format_result, benchmark=_benchmark_title, heading=_heading, direction=_direction,
        href=lambda origin: find_link(origin, links),
    )  # fmt: skip


def render_card(board: Board, title: str, gradio: str) -> str:
    """Return README.md of the Space, with its front matter. gradio: its version."""
    card = _TEMPLATES.get_template("README.md.jinja")
    return card.render(title=title, gradio=gradio, version=__version__, board=board)


def find_link(origin: Origin, links: Links) -> str | None:
    """Return the address or path of a result, for the reader; None where there is none."""
    return origin.link or links.get((origin.source, origin.place))


def draw_plots(board: Board) -> Iterator[tuple[str, Markup]]:
    """Yield (caption, drawing) of each bias in the first table against the utility that most models have.

    A benchmark that measures utility only is preferred. At least two models must have both.
    """
    with_bias = {column.benchmark for column in board.columns if not column.utility}
    utilities = [column for column in board.columns if column.utility and not column.lower_is_better]
    for bias in (column for column in board.sections[0].columns if not column.utility):
        shared = {
            column: [row for row in board.rows if {(bias, row.name), (column, row.name)} <= board.cells.keys()]
            for column in utilities
        }
        utility = max(shared, key=lambda of: (of.benchmark not in with_bias, len(shared[of])), default=bias)
        rows = shared.get(utility, [])[:MOST_POINTS]
        if len(rows) < 2:
            continue
        groups: dict[str, list[tuple[float, float, tuple[float, ...]]]] = {}
        for row in rows:
            kind = "made from another model" if row.base else "base model"
            measured = board.cells[bias, row.name].record
            point = board.cells[utility, row.name].record.value, measured.value, measured.interval or ()
            groups.setdefault(row.name if len(rows) <= MOST_NAMED else kind, []).append(point)
        x, y = (f"{_benchmark_title(each.benchmark)}: {_heading(each)}" for each in (utility, bias))
        yield f"{y} ({bias.dataset}, {bias.setting}) against {x}", Markup(points(groups, x, y))


def format_result(record: Record) -> tuple[str, str]:
    """Return a figure and its interval, with digits by the interval's width."""
    width = (record.interval[1] - record.interval[0]) if record.interval else abs(record.value) / 50
    digits = 3 if width < 0.3 else 1 if width < 50 else 0
    figure, *ends = (
        f"{value:.3g}" if abs(value) >= 1e6 else f"{round(value, digits) + 0.0:,.{digits}f}"  # + 0.0: of -0.0
        for value in (record.value, *(record.interval or ()))
    )
    return figure, " – ".join(ends) or "no interval"


def _benchmark_title(name: str) -> str:
    return get_benchmark(name).card.title if name in BENCHMARKS else name


def _heading(column: Column) -> str:
    """Return "biased answers · certainty-no contact"; figures with a sign are listed by their distance from 0."""
    known = declared_figure(column)
    metric = known.name if known is not None else column.metric.replace("_", " ")
    if known is not None and is_signed(known):
        metric += ", distance from 0"
    return f"{metric} · {column.task.replace('_', ' ')}"


def _direction(column: Column) -> str:
    unit = "%" if column.unit == "percent" else column.unit
    better = "lower is better" if column.lower_is_better else "higher is better"
    return f"{unit}, {better}" if unit and unit != "score" else better
