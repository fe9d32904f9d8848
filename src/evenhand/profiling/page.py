"""The page of a profile, and the table that the command prints."""

from __future__ import annotations

from pathlib import Path

from evenhand.figure import Figure
from evenhand.profiling.found import Asked, Found, why_no_interval
from evenhand.report.differences import FigureKey
from evenhand.report.findings import render
from evenhand.report.layout import shown
from evenhand.report.tables import Cell, Table
from evenhand.whole_files import write_whole

NOTE = (
    "Brackets: 95 % confidence intervals of each run by itself; every report says over what. Random: of answers at "
    "random under the same design. Each figure has its own unit and meaning, so they are not added up to one number."
)
BEST = {"low": "low", "high": "high", "zero": "0", None: ""}


def overview(found: Found) -> Table:
    """A row a figure, a column a model."""
    rows: list[tuple[Cell, ...]] = []
    for measure in found.measures:
        runs = [measure.of(model) for model in found.models]
        for key, figure in measure.figures.items():
            scores = (_cell(run, key, figure) for run in runs)
            chance = Cell(measure.chance(key), digits=figure.digits, missing="")
            rows.append((Cell(f"{measure.card.name}: {key.label}"), *scores, chance, Cell(BEST[figure.best])))
        texts = {" answers read": [run.answers_read if run else "not asked" for run in runs]}
        if any(run and run.constant for run in runs):
            texts[" answers"] = [run.constant if run else "" for run in runs]
        rows += [tuple(map(Cell, (name, *of_runs, "", ""))) for name, of_runs in texts.items()]
    return Table("Profile", ("figure", *found.models, "random", "best"), tuple(rows), NOTE)


def _cell(run: Asked | None, key: FigureKey, figure: Figure) -> Cell:
    return shown(run.rows[key], figure) if run and key in run.rows else Cell("")


def to_save(found: Found) -> Table:
    """A row a figure of a model, for a spreadsheet."""
    rows = tuple(
        (
            *map(Cell, (key.label, measure.card.name, run.model)),
            shown(run.rows[key], figure),
            Cell(run.rows[key].chance, missing=""),
            *map(Cell, (BEST[figure.best], run.answers_read, why_no_interval(run.rows[key]))),
        )
        for measure in found.measures
        for key, figure in measure.figures.items()
        for run in measure.runs
        if key in run.rows
    )
    columns = ("figure", "benchmark", "model", "score", "random answers", "best", "answers read", "note")
    return Table("All figures", columns, rows, NOTE)


def write_profile(found: Found, path: Path) -> None:
    """Write it as a page; links lead to the reports in the runs' folders, whose names need no escaping."""
    links = {
        (measure.card.name, run.model): run.folder.report.relative_to(path.parent).as_posix()
        for measure in found.measures
        for run in measure.runs
    }
    page = render(
        "profile.html.jinja", found=found, links=links, note=NOTE, to_save=to_save(found), best=BEST,
        why_no_interval=why_no_interval, cell=_cell, number=lambda value, digits: Cell(value, digits=digits).text,
    )  # fmt: skip
    write_whole(path, page)
