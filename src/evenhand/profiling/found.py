"""What the runs of a profile found: their figures, what was unread, what is constant, and how models differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.benchmark import Card
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.figure import Figure, FigureRow
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.profiling.settings import Settings, place
from evenhand.report.agreement import Agreement, agree
from evenhand.report.comparison import Comparison, compare
from evenhand.report.differences import FigureKey
from evenhand.report.findings import Findings, not_beside
from evenhand.statistics.rank_correlation import FEWEST_PAIRS
from evenhand.statistics.resampling import FEWEST_CLUSTERS


@dataclass(frozen=True)
class Asked:
    """One model's finished run of a benchmark."""

    model: str
    folder: RunFolder
    results: Results
    findings: Findings

    @property
    def why_not_comparable(self) -> str:
        return not_beside(self.results)

    @property
    def rows(self) -> dict[FigureKey, FigureRow]:
        """The figures that say what it measures: those that a gate judges by default."""
        benchmark = get_benchmark(self.results.benchmark)
        return {
            FigureKey.of(figure, row.groups): row
            for row in self.results.figures
            if row.headline and (figure := benchmark.figure(row.figure)).is_judged(row.groups)
        }

    def figure(self, key: FigureKey) -> Figure:
        return get_benchmark(self.results.benchmark).figure(key.figure)

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
    """In words; "" where it has one, or where there is no figure either."""
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
        """Of all runs."""
        benchmark = get_benchmark(self.card.name)
        return {key: benchmark.figure(key.figure) for run in self.runs for key in run.rows}

    def chance(self, key: FigureKey) -> float | None:
        """Of random answers, where it is the same for all runs; None where it is not, or unknown."""
        known = {run.rows[key].chance for run in self.runs if key in run.rows}
        return known.pop() if len(known) == 1 else None

    def of(self, model: str) -> Asked | None:
        return next((run for run in self.runs if run.model == model), None)


@dataclass(frozen=True)
class Found:
    """left_out: sentences on what was not asked, and why. agreement: of measures over these models."""

    models: tuple[str, ...]
    budget: str
    measures: tuple[Measure, ...]
    left_out: tuple[str, ...]
    agreement: Agreement | None
    without_agreement: str


def found_in(folder: Path, settings: Settings) -> Found:
    """What the finished runs of a profile's folder hold. Raises EvenhandError for damaged ones."""
    measures = [_measure(folder, settings, name) for name in settings.limits]
    measures = [each for each in measures if each.runs]
    agreement, without = _agreement(folder, measures, settings.models)
    return Found(
        settings.models,
        str(settings.options.get("budget", "")),
        tuple(measures),
        tuple(_left_out(settings)),
        agreement,
        without,
    )


def _measure(folder: Path, settings: Settings, name: str) -> Measure:
    runs = tuple(run for model in settings.models if (run := _asked(folder, model, name)))
    compared = None
    if len(runs) > 1:
        try:
            compared = compare(*(run.folder.path for run in runs))
            compared = replace(compared, sentences=_inside(folder, compared.sentences))
        except UsageError:
            compared = None  # nothing that both answered: the table shows how much was read
    return Measure(get_benchmark(name).card, runs, settings.limits[name], compared)


def _asked(folder: Path, model: str, name: str) -> Asked | None:
    path = place(folder, model, name)
    if not (path / "report.html").is_file():
        return None
    run, benchmark = RunFolder.open(path), get_benchmark(name)
    with as_written(path):
        results = run.read_results()
        return Asked(model, run, results, benchmark.findings(benchmark.prepare(run.read_predictions()), results))


def _inside(folder: Path, sentences: Sequence[str]) -> tuple[str, ...]:
    """With runs named by their places in the profile's folder: where that lies is no reader's business."""
    return tuple(each.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "") for each in sentences)


def _agreement(folder: Path, measures: Sequence[Measure], models: Sequence[str]) -> tuple[Agreement | None, str]:
    """Of enough models; else why there is none."""
    if len(models) < FEWEST_PAIRS:
        return None, (
            f"Whether these measures rank models alike can't be told from {len(models)}: it takes {FEWEST_PAIRS} base "
            "models or more. What is small by one measure need not be small by another."
        )
    try:
        found = agree(*(run.folder.path for measure in measures for run in measure.runs))
        return replace(found, warnings=_inside(folder, found.warnings)), ""
    except EvenhandError as error:
        [why] = _inside(folder, [str(error)])
        return None, f"Whether these measures rank models alike can't be told: {why}."


def _left_out(settings: Settings) -> list[str]:
    """The same reason for several models once."""
    models: dict[tuple[str, str], list[str]] = {}
    for model in settings.models:
        for name, why in settings.left_out.get(model, {}).items():
            models.setdefault((name, why), []).append(model)
    several = len(settings.models) > 1
    told = {key: f" ({', '.join(of)})" if several else "" for key, of in models.items()}
    return [f"{name}{who}: {why}" for (name, why), who in told.items()]
