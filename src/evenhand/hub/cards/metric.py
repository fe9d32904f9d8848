"""A metric's card: the README of its folder, and beside it what follows from its code and what must be computed."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError
from evenhand.hub.apps.declared import BETWEEN, Column
from evenhand.hub.apps.scoring import MetricPage
from evenhand.hub.cards.templating import rendered

if TYPE_CHECKING:
    import evaluate

GRADIO = "6.31.0"  # what the page was tried with
FIRST, BEFORE_LIMITS = "## What it measures", "### Values from popular papers"
_COMPUTED_WITH = ("evaluate", "numpy", "scipy")


def metric_card(metric: evaluate.Metric, folder: Path, repo_id: str) -> str:
    """README.md of a metric's Space, with its front matter. repo_id: "NAMESPACE/NAME".

    Raises EvenhandError for a README without the headings between which something is put.
    """
    from huggingface_hub import SpaceCard

    page = MetricPage.of(metric, folder)
    card = SpaceCard((folder / "README.md").read_text(encoding="utf-8"))
    card.data["sdk_version"] = GRADIO
    text = card.text.replace(f'evaluate.load("{metric.name}")', f'evaluate.load("{repo_id}")')
    header = page.about.table.partition("\n")[0].split(",")
    text = _put(text, FIRST, rendered("glance.md.jinja", about=page.about, repo_id=repo_id))
    text = _put(
        text,
        BEFORE_LIMITS,
        rendered(
            "example.md.jinja",
            about=page.about,
            repo_id=repo_id,
            declared=page.declared,
            beside=[each.name for each in page.declared.beside if each.name in header],
            cell=_cell,
            scored=page.score(page.read(page.about.table)),
            versions=", ".join(f"{name} {metadata.version(name)}" for name in _COMPUTED_WITH),
        ),
    )
    card.text = text
    return str(card)


def _cell(column: Column) -> str:
    """Python that reads a cell of the example."""
    cell = f'row["{column.name}"]'
    if column.kind == "text":
        return cell
    if column.kind == "list of whole numbers":
        return f'[int(each) for each in {cell}.split("{BETWEEN}") if each]'
    return f'{cell}.split("{BETWEEN}") if {cell} else []'


def _put(text: str, heading: str, part: str) -> str:
    """The part before the heading. Raises EvenhandError unless it stands there once."""
    if text.count(f"\n{heading}\n") != 1:
        raise EvenhandError(f"the metric's README.md needs the heading {heading!r}, once")
    return text.replace(f"\n{heading}\n", f"\n{part.rstrip()}\n\n{heading}\n")
