"""The page of a profile, and the table that the command prints."""

from __future__ import annotations

from pathlib import Path

from evenhand.profiling.found import Asked, Found
from evenhand.report.pages import rendered
from evenhand.report.tables import Cell, Table
from evenhand.whole_files import write_whole

NOTE = (
    "Brackets: 95 % interval of each run by itself; every report says over what. Random: of answers at random under "
    "the same design, beside each figure where designs differ. Each figure has its own unit and meaning, so they are "
    "not added up to one number."
)


def overview(found: Found) -> Table:
    """A row a figure, a column a model."""
    rows = []
    for measure in found.measures:
        runs = [measure.of(model) for model in found.models]
        for figure in measure.figures:
            chance = measure.chance(figure.name)
            shown = [_shown(run, figure.name, chance is None) if run else "" for run in runs]
            texts = (f"{measure.card.name}: {figure.name}", *shown, chance or "", figure.best)
            rows.append(tuple(map(Cell, texts)))
        rows.append(tuple(map(Cell, (" answers read", *(run.read if run else "not asked" for run in runs), "", ""))))
        if any(run and run.constant for run in runs):
            rows.append(tuple(map(Cell, (" answers", *(run.says_nothing if run else "" for run in runs), "", ""))))
    return Table("Profile", ("figure", *found.models, "random", ""), tuple(rows), NOTE)


def to_save(found: Found) -> Table:
    """A row a figure of a model: a spreadsheet's numbers have columns of their own (`evenhand.report.downloads`)."""
    rows = []
    for measure in found.measures:
        for figure in measure.figures:
            for run in measure.runs:
                if figure.name in run.figures:
                    name = measure.card.name
                    texts = (figure.name, name, run.model, run.shown(figure.name), run.chance(figure.name))
                    rows.append((*texts, figure.best, run.read, run.without_interval(figure.name)))
    columns = ("figure", "benchmark", "model", "score", "random answers", "best", "answers read", "note")
    return Table("All figures", columns, tuple(tuple(map(Cell, row)) for row in rows), NOTE)


def _shown(run: Asked, figure: str, with_chance: bool) -> str:
    chance = run.chance(figure)
    return run.shown(figure) + (f" (random {chance})" if with_chance and chance else "")


def write_profile(found: Found, path: Path) -> None:
    """Write it as a page; links lead to the reports in the runs' folders beside it."""
    links = {
        (measure.card.name, run.model): _link(run.folder.report, path)
        for measure in found.measures
        for run in measure.runs
    }
    write_whole(path, rendered("profile.html.jinja", found=found, links=links, note=NOTE, to_save=to_save(found)))


def _link(report: Path, page: Path) -> str:
    """Names of folders are plain, so that nothing needs to be escaped."""
    return report.relative_to(page.parent).as_posix()
