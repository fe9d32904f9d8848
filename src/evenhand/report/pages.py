"""Self-contained pages, in which everything a model or a dataset said is escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.run_folder import RunFolder, write_whole
from evenhand.report.agreement import Agreement
from evenhand.report.comparison import Comparison
from evenhand.report.findings import Findings, not_beside

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def write_report(folder: RunFolder) -> None:
    """Write the page from the folder's predictions and results. Raises EvenhandError where they can't be read."""
    benchmark = get_benchmark(_benchmark_of(folder))
    results = folder.read_results()
    try:
        findings = benchmark.findings(folder.read_predictions(), results)
    except KeyError as error:
        raise EvenhandError(
            f"{folder.path} was written by another version of evenhand (it has no {error}); "
            "repeat its evenhand run command"
        ) from error
    page = _TEMPLATES.get_template("report.html.jinja").render(
        card=benchmark.card,
        results=results,
        findings=findings,
        not_beside=not_beside(results),
        drawings=[Markup(plot.draw()) for plot in findings.plots],
        pictures={name: _data_url(content) for name, content in _pictures(folder, findings)},
    )
    write_whole(folder.report, page)


def _benchmark_of(folder: RunFolder) -> str:
    """Raises UsageError for results of something else, such as generated data."""
    name = str(folder.read_record().get("benchmark"))
    if name not in BENCHMARKS:
        raise UsageError(
            f"{folder.path} holds {name}, no run of a benchmark: there is no report of it; its counts are in "
            "results.json"
        )
    return name


def _pictures(folder: RunFolder, findings: Findings) -> Iterator[tuple[str, bytes]]:
    """Those that were kept, by the row that showed them."""
    for example in findings.examples:
        content = None if example.picture is None else folder.picture(example.picture)
        if example.picture is not None and content is not None:
            yield example.picture, content


def _data_url(picture: bytes) -> str:
    kind = "jpeg" if picture.startswith(b"\xff\xd8") else "png"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def write_agreement(agreement: Agreement, path: Path) -> None:
    """Likewise what several measures have in common. Raises EvenhandError where it can't be written."""
    write_whole(path, _TEMPLATES.get_template("agreement.html.jinja").render(agreement=agreement))


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write a comparison as a page. Raises EvenhandError where it can't be written."""
    drawings = [[Markup(plot.draw()) for plot in panel.plots] for panel in comparison.panels]
    page = _TEMPLATES.get_template("comparison.html.jinja").render(comparison=comparison, drawings=drawings)
    write_whole(path, page)
