"""The page's results and messages as HTML, in which whatever came from a visitor is escaped."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined

if TYPE_CHECKING:
    from evenhand.hub.apps.about import About
    from evenhand.hub.apps.declared import Declared
    from evenhand.hub.apps.figures import Scored

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
