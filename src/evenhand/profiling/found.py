"""What the runs of a profile found: as one page, as the table that the command prints, and as CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeVar

from evenhand.benchmark import Card
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import Figure, FigureRow
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.profiling.settings import Settings, run_path
from evenhand.report.agreement import agree
from evenhand.report.comparison import Comparison, compare
from evenhand.report.differences import FigureKey
from evenhand.report.findings import Findings, not_beside, render
from evenhand.report.layout import shown
from evenhand.report.pages import read_findings
from evenhand.report.tables import Cell, Table
from evenhand.statistics.rank_correlation import FEWEST_PAIRS
from evenhand.statistics.resampling import FEWEST_CLUSTERS
from evenhand.whole_files import write_whole

NOTE = (
    "Brackets: 95 % confidence intervals of each run. Random: of random answers "
    "under the same design. Each figure has its own unit and meaning, so they are not added up to one number."
)
F = TypeVar("F", bound=Findings)
BEST = {"low": "low", "high": "high", "zero": "0", None: ""}


@dataclass(frozen=True)
class Asked:
    """One model's finished run of a benchmark."""

    model: str
    folder: RunFolder
    results: Results
    findings: Findings

    @property
    def rows(self) -> dict[FigureKey, FigureRow]:
        """The figures that say what it measures: those that a gate judges by default."""
        benchmark = get_benchmark(self.results.benchmark)
        return {
            FigureKey.of(figure, row.groups): row
            for row in self.results.figures
            if row.headline and (figure := benchmark.figure(row.figure)).is_judged(row.groups)
        }

    @property
    def answers_read(self) -> str:
        return f"{self.results.n_read:,} of {self.results.n:,}"

    @property
    def constant(self) -> str:
        """What of it is constant, in words; empty where nothing is."""
        found = self.results.warned("constant_answer")
        of = ", ".join(" and ".join(each.groups.values()) for each in found if each.groups)
        return f"the same whatever is asked{f' ({of})' if of else ''}" if found else ""


def why_no_interval(row: FigureRow) -> str:
    """In words; "" where it has an interval, or where there is no figure either."""
    if row.interval is not None or math.isnan(row.value):
        return ""
    if not row.n_clusters:
        return "no interval: its benchmark computes none of it"
    if row.n_clusters < FEWEST_CLUSTERS:
        return f"no interval: {row.n_clusters} of the {FEWEST_CLUSTERS} clusters that one needs"
    return "no interval: its clusters are too few, or all say the same"


@dataclass(frozen=True)
class Measure:
    """What models did on one benchmark. compared: differences from the first model."""

    card: Card
    runs: tuple[Asked, ...]
    rows: int | None
    compared: Comparison | None = None

    @property
    def figures(self) -> dict[FigureKey, Figure]:
        """The figures of all runs."""
        benchmark = get_benchmark(self.card.name)
        return {key: benchmark.figure(key.figure) for run in self.runs for key in run.rows}

    def chance(self, key: FigureKey) -> float | None:
        """Return the score of random answers, where it is the same for all runs; None where it is not, or unknown."""
        known = {run.rows[key].chance for run in self.runs if key in run.rows}
        return known.pop() if len(known) == 1 else None

    def of(self, model: str) -> Asked | None:
        return next((run for run in self.runs if run.model == model), None)


@dataclass(frozen=True)
class Found:
    """What a profile shows. agreement: of measures over its models, or a sentence on why there is none."""

    settings: Settings
    measures: tuple[Measure, ...]
    agreement: Findings

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.settings.models)

    @property
    def left_out(self) -> list[str]:
        """Sentences on what was not asked, and why; the same reason for several models once."""
        models: dict[tuple[str, str], list[str]] = {}
        for model in self.models:
            for reason in self.settings.left_out.get(model, {}).items():
                models.setdefault(reason, []).append(model)
        named = {reason: f" ({', '.join(of)})" if len(self.models) > 1 else "" for reason, of in models.items()}
        return [f"{name}{of}: {why}" for (name, why), of in named.items()]


def read_profile(folder: Path, settings: Settings) -> Found:
    """Read the finished runs of a profile's folder. Raises EvenhandError for damaged ones."""
    measures = tuple(each for name in settings.limits if (each := _measure(folder, settings, name)).runs)
    return Found(settings, measures, _shorten_paths(folder, _agree(settings, measures)))


def _agree(settings: Settings, measures: Sequence[Measure]) -> Findings:
    """Return the agreement of measures, or why there is none."""
    unknown = "It is not known whether these measures rank models in the same order"
    if (n := len(settings.models)) < FEWEST_PAIRS:
        return Findings(sentences=(f"{unknown}: that takes {FEWEST_PAIRS} base models or more, and here are {n}.",))
    try:
        return agree(*(run.folder.path for measure in measures for run in measure.runs))
    except EvenhandError as error:
        return Findings(sentences=(f"{unknown}: {error}.",))


def _measure(folder: Path, settings: Settings, name: str) -> Measure:
    runs = []
    for model in settings.models:
        run = RunFolder(run_path(folder, model, name))
        if run.report.is_file():
            with as_written(run.path):
                runs.append(Asked(model, run, *read_findings(RunFolder.open(run.path))))
    compared = None
    with suppress(UsageError):  # where both answered nothing in common the table shows how much was read
        if len(runs) > 1:
            compared = _shorten_paths(folder, compare(*(run.folder.path for run in runs)))
    return Measure(get_benchmark(name).card, tuple(runs), settings.limits[name], compared)


def _shorten_paths(folder: Path, found: F) -> F:
    """Name runs by their places in the profile's folder: pages are shown to others."""
    sentences, warnings = (
        tuple(each.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "") for each in texts)
        for texts in (found.sentences, found.warnings)
    )
    return replace(found, sentences=sentences, warnings=warnings)


def make_overview(found: Found) -> Table:
    """Return a table with a row for each figure and a column for each model."""
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


def make_download(found: Found) -> Table:
    """Return a table with a row for each figure of each model, for a spreadsheet."""
    rows = []
    for measure in found.measures:
        for (key, figure), run in product(measure.figures.items(), measure.runs):
            if (row := run.rows.get(key)) is not None:
                names = map(Cell, (key.label, measure.card.name, run.model))
                texts = map(Cell, (BEST[figure.best], run.answers_read, why_no_interval(row)))
                rows.append((*names, shown(row, figure), Cell(row.chance, missing=""), *texts))
    columns = ("figure", "benchmark", "model", "score", "random answers", "best", "answers read", "note")
    return Table("All figures", columns, tuple(rows), NOTE)


def write_profile(found: Found, path: Path) -> None:
    """Write it as a page; links lead to the reports in the runs' folders, whose names need no escaping."""
    page = render(
        "profile.html.jinja", found=found, note=NOTE, to_save=make_download(found), best=BEST,
        why_no_interval=why_no_interval, not_beside=not_beside, cell=_cell,
        number=lambda value, digits: Cell(value, digits=digits).text,
        link=lambda run: run.folder.report.relative_to(path.parent).as_posix(),
    )  # fmt: skip
    write_whole(path, page)
