"""What the runs of a profile found: their figures, what was unread, what is constant, and how models differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.benchmark import Card, Figure
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.profiling.settings import Settings, place
from evenhand.report.agreement import Agreement, agree
from evenhand.report.comparison import Comparison, compare
from evenhand.report.findings import Findings, not_beside
from evenhand.statistics.rank_correlation import FEWEST_PAIRS
from evenhand.statistics.resampling import FEWEST_CLUSTERS


@dataclass(frozen=True)
class Asked:
    """One model's finished run of a benchmark. figures: by name."""

    model: str
    folder: RunFolder
    results: Results
    findings: Findings
    figures: Mapping[str, Figure]
    constant: tuple[str, ...]

    @property
    def not_beside(self) -> str:
        return not_beside(self.results)

    @property
    def read(self) -> str:
        """How many answers were read, of how many."""
        return f"{self.results.metrics['n_read']:,} of {self.results.n:,}"

    @property
    def says_nothing(self) -> str:
        """What of it is constant, in words; empty where nothing is."""
        if not self.constant:
            return ""
        of = f" ({', '.join(self.constant)})" if self.constant[0] else ""
        return f"the same whatever is asked{of}"

    def shown(self, figure: str) -> str:
        """With its interval; "" where this run has none of that name."""
        from evenhand.report.tables import figure as told

        of = self.figures.get(figure)
        return "" if of is None else told(of.value, list(of.interval or []), of.digits)

    def without_interval(self, figure: str) -> str:
        """Why a figure has no interval, in words; "" where it has one, or where there is no figure either."""
        of = self.figures.get(figure)
        if of is None or of.value is None or math.isnan(of.value):
            return ""
        ends = [end for end in of.interval or () if end is not None and not math.isnan(end)]
        if len(ends) == 2:
            return ""
        if of.interval is None:
            return "no interval: its benchmark computes none of it"
        n_clusters = self.results.metrics.get("n_clusters")
        if n_clusters is not None and n_clusters < FEWEST_CLUSTERS:
            return f"no interval: {n_clusters} of the {FEWEST_CLUSTERS} clusters that one needs"
        return "no interval: its clusters are too few, or all say the same"

    def chance(self, figure: str) -> str:
        """What random answers would have under this run's own design; "" where nobody knows."""
        of = self.figures.get(figure)
        return "" if of is None else _chance(of)


@dataclass(frozen=True)
class Measure:
    """What models did on one benchmark. figures: names, of all of them. compared: differences from the first model."""

    card: Card
    runs: tuple[Asked, ...]
    rows: int | None
    compared: Comparison | None = None

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple({name: each for run in self.runs for name, each in run.figures.items()}.values())

    def chance(self, figure: str) -> str | None:
        """Of random answers, where it is the same for all its runs; None where each has its own."""
        known = dict.fromkeys(run.chance(figure) for run in self.runs if figure in run.figures)
        return next(iter(known), "") if len(known) < 2 else None

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
        return Asked(
            model,
            run,
            results,
            benchmark.findings(run.read_predictions(), results),
            {each.name: each for each in benchmark.figures(results.metrics)},
            benchmark.constant(results.metrics),
        )


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


def _chance(figure: Figure) -> str:
    if figure.chance is None or math.isnan(figure.chance):
        return ""
    return f"{figure.chance:.{figure.digits}f}"
