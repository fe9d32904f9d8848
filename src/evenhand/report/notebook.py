"""What a run and a comparison show of themselves in a notebook: sentences, warnings and tables, all text escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError
from evenhand.report.downloads import frame_of
from evenhand.report.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.comparison import Comparison
    from evenhand.report.findings import Findings


def run_html(folder: RunFolder) -> str:
    """Of a run that has finished; of another one, why there is nothing to show."""
    from evenhand.report.pages import rendered

    try:
        found = _findings(folder)
    except EvenhandError as error:
        return rendered("notebook.html.jinja", sentences=(str(error),), warnings=(), tables=(), place=str(folder.path))
    return rendered(
        "notebook.html.jinja",
        sentences=found.sentences,
        warnings=found.warnings,
        tables=found.tables,
        place=str(folder.report),
    )


def comparison_html(comparison: Comparison) -> str:
    from evenhand.report.pages import rendered

    return rendered(
        "notebook.html.jinja",
        sentences=comparison.sentences,
        warnings=comparison.warnings,
        tables=(*(table for panel in comparison.panels for table in panel.tables), comparison.headline),
        place="",
    )


def run_frame(folder: RunFolder) -> pd.DataFrame:
    """The table of the run's figures, with exact numbers. Raises UsageError for a run that has not finished."""
    return folder.open(folder.path).read_results().figures.to_frame()


def run_frames(folder: RunFolder) -> dict[str, pd.DataFrame]:
    """All tables by title, exploratory ones at the end. Raises UsageError likewise."""
    found = _findings(folder)
    return _by_title(*found.tables, *found.exploratory)


def comparison_frames(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """All tables by title: side by side, headline differences, further and exploratory ones."""
    side_by_side = (table for panel in comparison.panels for table in panel.tables)
    return _by_title(*side_by_side, comparison.headline, *comparison.more, comparison.exploratory)


def _findings(folder: RunFolder) -> Findings:
    from evenhand.benchmarks import get_benchmark

    finished = folder.open(folder.path)
    results = finished.read_results()
    benchmark = get_benchmark(results.benchmark)
    return benchmark.findings(benchmark.prepare(finished.read_predictions()), results)


def _by_title(*tables: Table) -> dict[str, pd.DataFrame]:
    return {table.title: frame_of(table) for table in tables}
