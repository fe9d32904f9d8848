"""Templates of cards: Markdown, so nothing is escaped by itself. What files say that anybody may have written goes
through the filter `plain`; what models said doesn't stand in them.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.report.markdown import plain

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


TEMPLATES.filters["plain"] = plain


def rendered(template: str, **values: object) -> str:
    return TEMPLATES.get_template(template).render(**values)
