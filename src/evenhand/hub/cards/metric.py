"""A metric's card: the README of its folder, with what follows from its code and what is computed put into it."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError
from evenhand.hub.apps.declared import BETWEEN, Column
from evenhand.hub.apps.scoring import MetricPage
from evenhand.hub.cards.templating import render

if TYPE_CHECKING:
    import evaluate

GRADIO = "6.31.0"  # the version with which the page was tested
_COMPUTED_WITH = ("evaluate", "numpy", "scipy")


def metric_card(metric: evaluate.Metric, folder: Path, repo_id: str) -> str:
    """Return README.md of a metric's Space, with its front matter. repo_id: "NAMESPACE/NAME".

    Raises EvenhandError for a README without the headings before which something is put.
    """
    from huggingface_hub import SpaceCard

    page = MetricPage.of(metric, folder)
    about = page.about
    header = about.table.partition("\n")[0].split(",")
    example = render(
        "example.md.jinja",
        about=about,
        repo_id=repo_id,
        declared=page.declared,
        beside=[each.name for each in page.declared.beside if each.name in header],
        cell=_read_cell,
        scored=page.score(page.read(about.table)),
        versions=", ".join(f"{name} {metadata.version(name)}" for name in _COMPUTED_WITH),
    )
    card = SpaceCard((folder / "README.md").read_text(encoding="utf-8"))
    card.data["sdk_version"] = GRADIO
    text = card.text.replace(f'evaluate.load("{metric.name}")', f'evaluate.load("{repo_id}")')
    for heading, part in (
        ("## What it measures", render("glance.md.jinja", about=about, repo_id=repo_id)),
        ("### Values from popular papers", example),
    ):
        if text.count(f"\n{heading}\n") != 1:
            raise EvenhandError(f"the metric's README.md needs the heading {heading!r}, once")
        text = text.replace(f"\n{heading}\n", f"\n{part.rstrip()}\n\n{heading}\n")
    card.text = text
    return str(card)


def _read_cell(column: Column) -> str:
    """Return Python code that reads a cell of the example."""
    cell = f'row["{column.name}"]'
    if column.kind == "text":
        return cell
    if column.kind == "list of whole numbers":
        return f'[int(each) for each in {cell}.split("{BETWEEN}") if each]'
    return f'{cell}.split("{BETWEEN}") if {cell} else []'
