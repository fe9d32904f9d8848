"""Pages from templates, in which everything that a model or a dataset said is escaped."""

from __future__ import annotations

import base64
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.words import in_words

if TYPE_CHECKING:
    import jinja2

BROAD = 400  # points: at two thirds of this, a phone's width, letters of ten points can still be read
_WIDTH = re.compile(r'<svg[^>]*?\bwidth="([0-9.]+)pt"')
LONGEST_SHOWN = 4_000  # characters of a prompt or an answer; the store and the predictions have all


def render(template: str, **values: object) -> str:
    """Fill in a template of this package."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"cut": cut, "words": in_words, "file_name": file_name, "broad": is_broad, "data_url": data_url}
    return made


def cut(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The beginning of a text, and how much more there is."""
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"


def is_broad(drawing: str) -> bool:
    """Whether an SVG drawing is too wide to be read where it is made as narrow as a phone."""
    width = _WIDTH.match(drawing)
    return width is not None and float(width[1]) > BROAD


def file_name(title: str) -> str:
    """The name of a file to save: letters and digits of the title."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60] or "table"


def data_url(content: str | bytes, kind: str) -> str:
    """A file within the page. kind: "text/csv", "image/svg+xml"."""
    encoded = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(encoded).decode()}"
