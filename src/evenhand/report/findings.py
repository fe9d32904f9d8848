"""What a run found, and what runs show next to each other: the records that reports are made of."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.report.tables import Table, print_table
from evenhand.words import in_words

if TYPE_CHECKING:
    import jinja2
    import pandas as pd
    from rich.console import Console

    from evenhand.figure import Sample
    from evenhand.flow.results import Results

BROAD = 400  # points: at two thirds of this, a phone's width, letters of ten points can still be read
_WIDTH = re.compile(r'<svg[^>]*?\bwidth="([0-9.]+)pt"')
LONGEST_SHOWN = 4_000  # characters of a prompt or an answer; the store and the predictions have all

Texts = Sequence[Sequence[str]]  # the sentences of each text
Similarity = Callable[[Texts, Texts], float | None]
"""Mean similarity in meaning of paired texts, 1 for equal ones; None where no encoder is installed."""


@dataclass(frozen=True)
class Plot:
    """An SVG drawing with evenhand's labels; it holds nothing that a model said. `draw` makes it when it is needed."""

    title: str
    draw: Callable[[], str]
    note: str = ""


def whiskers(bars: Mapping[str, Mapping[str, tuple[object, Sequence[object]]]], meaning: str) -> str:
    """Say what the whiskers of `grouped_bars` are, such as "95 % intervals", and whether all bars have them."""
    intervals = [ends for group in bars.values() for value, ends in group.values() if _is_known(value)]
    known = sum(len(ends) == 2 and all(map(_is_known, ends)) for ends in intervals)
    if not known:
        return "no interval is known, and no whisker drawn"
    return f"whiskers: {meaning}" + (", where one is known" if known < len(intervals) else "")


def _is_known(number: object) -> bool:
    return isinstance(number, (int, float)) and math.isfinite(number)


@dataclass(frozen=True)
class Example:
    """A prompt and its answer, as the report shows them. Untrusted text: the report escapes it.

    Attributes:
        marked: the parts of the answer with their readings, where it was read in parts.
        before: the same of the answer that a mitigation changed.
        picture: the id of the row whose image was shown.
    """

    caption: str
    prompt: str
    answer: str
    reading: str
    marked: tuple[tuple[str, str], ...] = ()
    before: tuple[tuple[str, str], ...] = ()
    picture: str | None = None


@dataclass(frozen=True)
class Turn:
    """What an agent said in a conversation, and how it was read, if it was. Untrusted text: the report escapes it."""

    speaker: str
    text: str
    reading: str = ""


@dataclass(frozen=True)
class Conversation:
    """A whole conversation, as the report shows it: the matter, then its rounds as (name, turns)."""

    caption: str
    matter: str
    rounds: tuple[tuple[str, tuple[Turn, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What was found, in sentences, tables, plots and examples; a page, a terminal and a notebook show it.

    Attributes:
        exploratory: tables that the page folds away, and the terminal leaves out.
    """

    title: str = ""
    sentences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    exploratory: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    examples: tuple[Example, ...] = ()
    conversations: tuple[Conversation, ...] = ()

    @property
    def blocks(self) -> tuple[Table | Plot, ...]:
        """Tables and plots in the order of the page."""
        return (*self.tables, *self.plots)

    def to_frames(self) -> dict[str, pd.DataFrame]:
        """Return all tables by title, exploratory ones last."""
        return {table.title: table.to_frame() for table in (*self.tables, *self.exploratory)}

    def to_html(self, place: str = "") -> str:
        """Return a notebook's cell: sentences, warnings and tables, all text escaped. place: of the whole report."""
        return render("notebook.html.jinja", findings=self, place=place)

    def _repr_html_(self) -> str:
        return self.to_html()


def print_findings(found: Findings, console: Console) -> None:
    """Print tables, warnings and sentences on a terminal."""
    for table in found.tables:
        print_table(table, console, spoken=True)
    for warning in found.warnings:
        console.print(f"Warning: {in_words(warning)}", soft_wrap=True)
    for sentence in found.sentences:
        console.print(in_words(sentence), soft_wrap=True)


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run that is compared with others, which call it by its letter. predictions: as `read` gave them."""

    letter: str
    path: Path
    results: Results
    predictions: pd.DataFrame

    @cached_property
    def sample(self) -> Sample:
        """The rows that its figures are computed from."""
        from evenhand.benchmarks import get_benchmark

        return get_benchmark(self.results.benchmark).sample(self.predictions)


WEIGHTS = re.compile(r"@(\S+) (?:\S+ )?(float32|bfloat16|float16)(?: \S+=\S+)*$")
"""How the identity of a model ends: its weights (an adapter's are "its own+its base's"), their dtype, and settings of
its chat template."""
_OF_THE_MODEL = (
    "benchmark", "model", "model_options", "template_options", "date", "revision", "dtype", "batch_size", "max_failed",
    "mitigation", "mitigation_options",
)  # fmt: skip
"""Settings in which runs of the same rows may differ."""


def settings(results: Results) -> dict[str, Any]:
    """Return what decides which rows are asked, and how; of a file of texts, its contents."""
    asked = {name: value for name, value in results.config.items() if name not in _OF_THE_MODEL}
    return asked | {"the rows' sha256": (results.rows_sha256 or "")[:12]}


def not_beside(results: Results) -> str:
    """Say why no published figures are shown with a run, or how it differs from theirs; "" where it does not."""
    if not results.differs:
        return ""
    differs = "; ".join(results.differs)
    if results.published:
        return f"The published figures beside it are of all rows of the paper: here are {differs}."
    return f"Published figures are not shown beside it: {differs}."


def not_beside_them(runs: Sequence[Run], but_for: Callable[[Run], Collection[str]] = lambda run: ()) -> str:
    """Say why no published figures are shown with runs that are compared; "" where they are.

    Args:
        but_for: differences of a run that the paper has figures of in comparisons.
    """
    letters: dict[str, list[str]] = {}
    for run in runs:
        for each in run.results.differs:
            if each not in but_for(run):
                letters.setdefault(each, []).append(run.letter)
    if not letters:
        return ""
    differs = "; ".join(f"{', '.join(of)}: {each}" for each, of in letters.items())
    return f"Published figures are not shown beside them ({differs})."


@dataclass(frozen=True)
class Panel:
    """Runs with equal settings but for the model and its mitigation, side by side: the first is the others' base."""

    runs: tuple[Run, ...]
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()

    @property
    def blocks(self) -> tuple[Table | Plot, ...]:
        return (*self.tables, *self.plots)


@dataclass(frozen=True)
class Controls:
    """What control questions say of a model before and after a training: was less bias learned, or a habit?

    Attributes:
        before, after: sentences.
        not_debiased: why the second can't be called debiased, a clause about "it"; "" where nothing here says so.
        rows: of a table, what was accepted or declined for its sound: name, before, after, difference.
    """

    before: str
    after: str
    not_debiased: str
    rows: tuple[tuple[str, str, str, str], ...]


def render(template: str, **values: object) -> str:
    """Fill in a template of this package."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True,
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"cut": cut, "words": in_words, "file_name": file_name, "broad": is_broad, "data_url": data_url}
    return made


def cut(text: str, longest: int = LONGEST_SHOWN) -> str:
    """Return the beginning of a text, and how much more there is."""
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"


def is_broad(drawing: str) -> bool:
    """Whether an SVG drawing is too wide to be read where it is made as narrow as a phone."""
    width = _WIDTH.match(drawing)
    return width is not None and float(width[1]) > BROAD


def file_name(title: str) -> str:
    """Return the name of a file to save: letters and digits of the title."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60] or "table"


def data_url(content: str | bytes, kind: str) -> str:
    """Return a file within the page. kind: "text/csv", "image/svg+xml"."""
    encoded = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(encoded).decode()}"
