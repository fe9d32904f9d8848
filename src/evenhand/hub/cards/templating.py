"""Templates of cards: Markdown, so nothing is escaped automatically.

What files say that others may have written goes through the filter `plain`; what models wrote is not in cards.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.report.markdown import markdown, plain

TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters |= {"plain": plain, "markdown": markdown}


def render(template: str, **values: object) -> str:
    return TEMPLATES.get_template(template).render(**values)
