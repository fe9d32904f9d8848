"""Self-contained pages, in which everything a model or a dataset said is escaped."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.agreement import Agreement
from evenhand.report.comparison import Comparison
from evenhand.report.downloads import csv_of, data_url, file_name
from evenhand.report.findings import Findings, not_beside
from evenhand.whole_files import write_whole
from evenhand.words import in_words

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_GENERATOR, _HEAD = '<meta name="generator" content="evenhand {command}">', 1000  # bytes
BROAD = 400  # points: at two thirds of this, a phone's width, letters of ten points are still read
_WIDTH = re.compile(r'<svg[^>]*?\bwidth="([0-9.]+)pt"')
NOT_SHOWN = ("model", "benchmark")  # what stands above already
LONGEST_SHOWN = 4_000  # characters of a prompt or an answer; the store and the predictions have all


def cut(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The text's beginning, and how much more there is."""
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"


def cut_parts(parts: Sequence[tuple[str, str]], longest: int = LONGEST_SHOWN) -> list[tuple[str, str]]:
    """Of an answer in parts with their readings, those that fit, and how much more there is."""
    shown: list[tuple[str, str]] = []
    for text, reading in parts:
        left = longest - sum(len(each) for each, _ in shown)
        if len(text) > left:
            more = sum(len(each) for each, _ in parts[len(shown) :]) - left
            return [*shown, (f"{text[:left]}… ({more:,} more characters)", reading)]
        shown.append((text, reading))
    return shown


def broad(drawing: str) -> bool:
    """Whether an SVG drawing is too wide to be read where it is made as narrow as a phone."""
    width = _WIDTH.search(drawing[:_HEAD])
    return width is not None and float(width[1]) > BROAD


def settings_in_words(results: Results) -> list[tuple[str, str]]:
    """What a run was asked to do, without what nobody chose: ("max new tokens", "16")."""
    shown = []
    for name, value in results.asked.items():
        if value is None or value == [] or name in NOT_SHOWN:
            continue
        every = value if isinstance(value, (list, tuple)) else [value]
        texts = ["=".join(map(str, each)) if isinstance(each, (list, tuple)) else str(each) for each in every]
        text = {"True": "yes", "False": "no"}.get(texts[0], texts[0]) if isinstance(value, bool) else ", ".join(texts)
        shown.append((name.replace("_", " "), in_words(text)))
    return shown


_TEMPLATES.filters |= {
    "cut": cut,
    "cut_parts": cut_parts,
    "words": in_words,
    "file_name": file_name,
    "csv_url": lambda table: data_url("text/csv;charset=utf-8", csv_of(table)),
    "broad": lambda drawing: broad(str(drawing)),
    "svg_url": lambda drawing: data_url("image/svg+xml", str(drawing)),
}


def write_report(folder: RunFolder, place: Path | None = None) -> None:
    """Write the page from the folder's predictions and results. Raises EvenhandError where they can't be read.

    place: where, if not in the folder, which is only read then.
    """
    benchmark = get_benchmark(_benchmark_of(folder))
    results = folder.read_results()
    findings = benchmark.findings(benchmark.prepare(folder.read_predictions()), results)
    page = _TEMPLATES.get_template("report.html.jinja").render(
        card=benchmark.card,
        results=results,
        findings=findings,
        not_beside=not_beside(results),
        settings=settings_in_words(results),
        drawings=[Markup(plot.draw()) for plot in findings.plots],
        pictures={name: _data_url(content) for name, content in _pictures(folder, findings)},
    )
    write_whole(place or folder.report, page)


def _benchmark_of(folder: RunFolder) -> str:
    """Raises UsageError for results of something else, such as generated data."""
    name = str(folder.read_record().get("benchmark", ""))
    if not name:
        folder.read_results()  # raises, and says why
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


def is_report(path: Path) -> bool:
    """Whether `write_report` wrote it."""
    return _is_of("report", path)


def is_comparison(path: Path) -> bool:
    """Whether `write_comparison` wrote it."""
    return _is_of("compare", path)


def is_agreement(path: Path) -> bool:
    """Whether `write_agreement` wrote it."""
    return _is_of("agree", path)


def _is_of(command: str, path: Path) -> bool:
    with path.open("rb") as file:
        return _GENERATOR.format(command=command).encode() in file.read(_HEAD)


def rendered(template: str, **values: object) -> str:
    """A page of another room's, by a template of this one."""
    return _TEMPLATES.get_template(template).render(**values)


def write_agreement(agreement: Agreement, path: Path) -> None:
    """Likewise what several measures have in common. Raises EvenhandError where it can't be written."""
    write_whole(path, _TEMPLATES.get_template("agreement.html.jinja").render(agreement=agreement))


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write a comparison as a page. Raises EvenhandError where it can't be written."""
    write_whole(path, comparison_page(comparison))


def comparison_page(comparison: Comparison) -> str:
    """Of `write_comparison`."""
    return _TEMPLATES.get_template("comparison.html.jinja").render(
        comparison=comparison,
        drawings=[[Markup(plot.draw()) for plot in panel.plots] for panel in comparison.panels],
        differences=[Markup(plot.draw()) for plot in comparison.plots],
    )
