"""The board as one HTML file that asks nobody for anything, in which everything that was read is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand import __version__
from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.hub.leaderboard.board import Board
from evenhand.hub.leaderboard.checking import declared_figure
from evenhand.hub.leaderboard.plot import FRAME, plots
from evenhand.hub.leaderboard.records import Column, Interval, Record

TEMPLATES = Path(__file__).parent / "templates"
GENERATOR = '<meta name="generator" content="evenhand leaderboard{}">'

_TEMPLATES = Environment(
    loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def page(board: Board, title: str, links: Mapping[tuple[str, str], str]) -> str:
    """links: where a result is opened beside the page, by (source, place)."""
    script = (TEMPLATES / "board.js").read_text(encoding="utf-8")
    numbers = {row.name: k for k, row in enumerate(board.rows)}
    return _TEMPLATES.get_template("board.html.jinja").render(
        board=board,
        title=title,
        generator=Markup(GENERATOR.format(", a rehearsal" if board.rehearsal else "")),
        style=Markup((TEMPLATES / "board.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=in_script(_data(board, numbers)),
        tables=[board.overview, *board.sections],
        numbers=numbers,
        plots=plots(board),
        frame=FRAME,
        ranked=_ranked(board),
        figure=figure,
        ends=ends,
        benchmark=benchmark_title,
        heading=heading,
        direction=direction,
        opened=lambda record: record.link or links.get((record.source, record.place)),
        version=__version__,
    )


def card(board: Board, title: str, gradio: str) -> str:
    """README.md of the Space, with its front matter. gradio: the version."""
    return _TEMPLATES.get_template("README.md.jinja").render(
        title=Markup(json.dumps(title)),
        gradio=gradio,
        version=__version__,
        n_models=len(board.rows),
        n_results=len(board.cells),
    )


def in_script(value: object) -> Markup:
    """JSON that ends no script element and begins no comment, whatever stands in it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _data(board: Board, numbers: Mapping[str, int]) -> dict[str, object]:
    """Of each table {column: values by row}; null is last in every order."""
    return {
        "tables": [
            [
                {
                    "lower": column.lower_is_better,
                    "values": [_value(board, column, row.name) for row in section.rows],
                }
                for column in section.columns
            ]
            for section in (board.overview, *board.sections)
        ],
        "models": [
            [row.name, bool(row.base), bool(row.base in numbers or any(each in numbers for each in row.variants))]
            for row in board.rows
        ],
    }


def _value(board: Board, column: Column, row: str) -> float | None:
    found = board.cells.get((column, row))
    return None if found is None else round(found.record.value, 6)


def _digits(record: Record) -> int:
    """So many that the interval shows: its width has two places."""
    width = (record.interval[1] - record.interval[0]) if record.interval else abs(record.value) / 50
    return 3 if width < 0.3 else 1 if width < 50 else 0


def figure(record: Record) -> str:
    return _rounded(record.value, _digits(record))


def ends(record: Record) -> str:
    interval: Interval | None = record.interval
    if interval is None:
        return "no interval"
    return " – ".join(_rounded(end, _digits(record)) for end in interval)


def _rounded(value: float, digits: int) -> str:
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not float(text.replace(",", "")) else text


def benchmark_title(name: str) -> str:
    return get_benchmark(name).card.title if name in BENCHMARKS else name


def heading(column: Column) -> str:
    """ "biased answers · certainty-no contact"."""
    known = declared_figure(column)
    metric = known.name if known is not None else column.metric.replace("_", " ")
    return f"{metric} · {column.task.replace('_', ' ')}"


def direction(column: Column) -> str:
    unit = "%" if column.unit == "percent" else column.unit
    better = "lower is better" if column.lower_is_better else "higher is better"
    return f"{unit}, {better}" if unit and unit != "score" else better


def _ranked(board: Board) -> str:
    runs = sum(1 for cell in board.cells.values() if cell.record.run is not None)
    return "; where both runs were at hand, by their difference on the rows that both answered" if runs > 1 else ""
