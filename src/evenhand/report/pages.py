"""Reports of runs: one self-contained page each, a cell in a notebook, and data frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.comparison import Comparison, compare
from evenhand.report.findings import Findings, data_url, not_beside, print_findings, render
from evenhand.report.layout import make_findings
from evenhand.whole_files import write_whole
from evenhand.words import in_words

if TYPE_CHECKING:
    from rich.console import Console

_GENERATOR, _HEAD = '<meta name="generator" content="evenhand {command}">', 1000  # bytes


class ReportedRun(RunFolder):
    """A run and what was found. found: what the run that has just finished has computed."""

    found: tuple[Results, Findings] | None = None

    @property
    def figures(self) -> pd.DataFrame:
        """The run's figures, with exact numbers. Raises UsageError for a run that has not finished."""
        return self.open(self.path).read_results().figures.to_frame()

    @property
    def predictions(self) -> pd.DataFrame:
        """One row an answer, with the messages that were sent. Raises UsageError for a run that has not finished."""
        return self.open(self.path).read_predictions(exchanges=True)

    def to_frame(self) -> pd.DataFrame:
        """The same as `figures`."""
        return self.figures

    def to_frames(self) -> dict[str, pd.DataFrame]:
        """Return all tables of the report, by title. Raises UsageError for a run that has not finished."""
        return read_findings(self.open(self.path))[1].to_frames()

    def compare(self, *others: Path | str | RunFolder) -> Comparison:
        """Compare this run with others of its benchmark; see evenhand.compare."""
        return compare(self, *others)

    def _repr_html_(self) -> str:
        """Show in a notebook what was found, or why there is nothing to show; all text is escaped."""
        try:
            return read_findings(self.open(self.path))[1].to_html(str(self.report))
        except EvenhandError as error:
            return Findings(sentences=(str(error),)).to_html(str(self.path))


def read_findings(folder: RunFolder) -> tuple[Results, Findings]:
    """Read what a finished run found. Raises EvenhandError where its files can't be read."""
    name = str(folder.read_record().get("benchmark", ""))
    if name and name not in BENCHMARKS:
        raise UsageError(f"{folder.path} holds {name}, which is not a run of a benchmark: see its results.json")
    results = folder.read_results()
    benchmark = get_benchmark(results.benchmark)
    return results, make_findings(benchmark, benchmark.sample(folder.read_predictions()).rows, results)


def print_found(folder: RunFolder, console: Console) -> None:
    """Print a finished run's tables, warnings and sentences, and where its report is."""
    results, found = (isinstance(folder, ReportedRun) and folder.found) or read_findings(folder)
    print_findings(replace(found, sentences=(*found.sentences, *filter(None, [not_beside(results)]))), console)
    console.print(f"Report: {folder.report}", soft_wrap=True)


def write_report(folder: RunFolder, place: Path | None = None, found: tuple[Results, Findings] | None = None) -> None:
    """Write a run's page from its predictions and results. Raises EvenhandError where they can't be read.

    Args:
        place: the page's file, if not the one in the folder, which is only read then.
        found: its results and findings, if they are at hand.
    """
    results, findings = found or read_findings(folder)
    shown = [each.picture for each in findings.examples if each.picture is not None]
    pictures = {row: content for row in shown if (content := folder.picture(row)) is not None}
    page = render(
        "report.html.jinja", command="report", card=get_benchmark(results.benchmark).card, results=results,
        findings=findings, messages=folder.first_messages(), not_beside=not_beside(results),
        settings=_settings_in_words(results), view=folder.view.name if folder.view.is_file() else None,
        pictures={row: data_url(content, _kind_of_picture(content)) for row, content in pictures.items()},
    )  # fmt: skip
    write_whole(place or folder.report, page)


def _kind_of_picture(content: bytes) -> str:
    return "image/jpeg" if content.startswith(b"\xff\xd8") else "image/png"


def _settings_in_words(results: Results) -> list[tuple[str, str]]:
    """Return the settings that were chosen: ("max new tokens", "16")."""
    return [
        (name.replace("_", " "), in_words(_in_words(value)))
        for name, value in results.asked.items()
        if value is not None and value != [] and name not in ("model", "benchmark")  # which the title shows
    ]


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    values = value if isinstance(value, list) else [value]
    return ", ".join("=".join(map(str, each)) if isinstance(each, list) else str(each) for each in values)


def write_page(findings: Findings, path: Path, command: str) -> None:
    """Write the findings of a command, such as "compare", as a page. Raises EvenhandError where it can't be written."""
    write_whole(path, render("page.html.jinja", findings=findings, command=command))


def is_page(command: str, path: Path) -> bool:
    """Whether this command wrote the file."""
    with path.open("rb") as file:
        return _GENERATOR.format(command=command).encode() in file.read(_HEAD)
