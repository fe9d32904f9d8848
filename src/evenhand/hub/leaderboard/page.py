"""The board as one HTML file that loads nothing, in which everything that was read is escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand import __version__
from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.plot import FRAME, draw_plots
from evenhand.hub.leaderboard.records import Column, Origin, Record
from evenhand.hub.leaderboard.validation import declared_figure

TEMPLATES = Path(__file__).parent / "templates"
GENERATOR = '<meta name="generator" content="evenhand leaderboard'
REHEARSAL = ", a rehearsal"

Links = Mapping[tuple[str, str], str]
"""Where a result is opened next to the page, by (source, place)."""

_TEMPLATES = Environment(
    loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_TEMPLATES.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}  # of the filter tojson


def render_page(board: Board, title: str, links: Links) -> str:
    """index.html."""
    script = (TEMPLATES / "board.js").read_text(encoding="utf-8")
    numbers = {row.name: k for k, row in enumerate(board.rows)}
    n_runs = sum(cell.record.origin.run is not None for cell in board.cells.values())
    return _TEMPLATES.get_template("board.html.jinja").render(
        board=board,
        title=title,
        generator=Markup(GENERATOR + (REHEARSAL if board.gathered.rehearsal else "") + '">'),
        style=Markup((TEMPLATES / "board.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=_script_data(board, numbers),
        tables=[board.overview, *board.sections],
        numbers=numbers,
        plots=draw_plots(board),
        frame=FRAME,
        paired=n_runs > 1,
        format_result=format_result,
        benchmark=_benchmark_title,
        heading=_heading,
        direction=_direction,
        href=lambda origin: find_link(origin, links),
        version=__version__,
    )


def render_card(board: Board, title: str, gradio: str) -> str:
    """README.md of the Space, with its front matter. gradio: the version."""
    return _TEMPLATES.get_template("README.md.jinja").render(
        title=title, gradio=gradio, version=__version__, board=board
    )


def find_link(origin: Origin, links: Links) -> str | None:
    """Where a reader opens a result."""
    return origin.link or links.get((origin.source, origin.place))


def _script_data(board: Board, numbers: Mapping[str, int]) -> dict[str, object]:
    """What board.js sorts and filters by."""
    cells = {place: round(cell.record.value, 6) for place, cell in board.cells.items()}
    tables = [
        [
            {"lower": column.lower_is_better, "values": [cells.get((column, row.name)) for row in section.rows]}
            for column in section.columns
        ]
        for section in (board.overview, *board.sections)
    ]
    models = [
        [row.name, bool(row.base), row.base in numbers or any(each in numbers for each in row.variants)]
        for row in board.rows
    ]
    return {"tables": tables, "models": models}


def format_result(record: Record) -> tuple[str, str]:
    """A figure and its interval, with as many digits as the interval's width shows."""
    width = (record.interval[1] - record.interval[0]) if record.interval else abs(record.value) / 50
    digits = 3 if width < 0.3 else 1 if width < 50 else 0
    figure, *ends = (_round(each, digits) for each in (record.value, *(record.interval or ())))
    return figure, " – ".join(ends) or "no interval"


def _round(value: float, digits: int) -> str:
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    return f"{round(value, digits) + 0.0:,.{digits}f}"  # + 0.0: of -0.0


def _benchmark_title(name: str) -> str:
    return get_benchmark(name).card.title if name in BENCHMARKS else name


def _heading(column: Column) -> str:
    """ "biased answers · certainty-no contact"."""
    known = declared_figure(column)
    metric = known.name if known is not None else column.metric.replace("_", " ")
    return f"{metric} · {column.task.replace('_', ' ')}"


def _direction(column: Column) -> str:
    unit = "%" if column.unit == "percent" else column.unit
    better = "lower is better" if column.lower_is_better else "higher is better"
    return f"{unit}, {better}" if unit and unit != "score" else better
