"""report.html: one self-contained page, in which everything a model or a dataset said is escaped."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand.benchmarks import get_benchmark
from evenhand.run_folder import RunFolder

_TEMPLATES = Path(__file__).parent / "templates"


def write_report(folder: RunFolder) -> None:
    """Write the page from the folder's predictions and results. Raises EvenhandError where they can't be read."""
    results = folder.read_results()
    benchmark = get_benchmark(str(results["benchmark"]))
    findings = benchmark.findings(folder.read_predictions(), results)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html.jinja").render(
        benchmark=benchmark,
        results=results,
        findings=findings,
        drawings=[Markup(plot.draw()) for plot in findings.plots],
    )
    folder.write_report(page)
