"""What a run found, and what runs show beside each other: the records that reports are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.report.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.figure import Sample
    from evenhand.flow.results import Results

Texts = Sequence[Sequence[str]]  # each one's sentences
Similarity = Callable[[Texts, Texts], float | None]
"""Mean likeness in meaning of paired texts, 1 for the same; None where no encoder is installed."""


@dataclass(frozen=True)
class Plot:
    """An SVG drawing, labelled by us; nothing that a model said is in it. `draw` gives its text, when it is needed."""

    title: str
    draw: Callable[[], str]
    note: str = ""


def whiskers(bars: Mapping[str, Mapping[str, tuple[object, Sequence[object]]]], told: str) -> str:
    """Of the bars that `grouped_bars` draws, what their whiskers are, such as "95 % intervals": where there are any."""
    every = [ends for group in bars.values() for value, ends in group.values() if _is_known(value)]
    known = sum(len(ends) == 2 and all(map(_is_known, ends)) for ends in every)
    if not known:
        return "no interval is known, and no whisker drawn"
    return f"whiskers: {told}" + (", where one is known" if known < len(every) else "")


def _is_known(number: object) -> bool:
    return isinstance(number, (int, float)) and math.isfinite(number)


@dataclass(frozen=True)
class Example:
    """A prompt and its answer, as the report shows them. Untrusted text: the report escapes it.

    marked: the answer's parts with their readings, where it was read in parts. before: likewise, of the answer that a
    mitigation changed. picture: the id of the row whose image was shown.
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
    """What somebody said in a conversation, and how it was read, if it was. Untrusted text: the report escapes it."""

    speaker: str
    text: str
    reading: str = ""


@dataclass(frozen=True)
class Conversation:
    """A whole conversation, as the report shows it: the matter, then its rounds as (name, turns)."""

    caption: str
    matter: str
    rounds: tuple[tuple[str, tuple[Turn, ...]], ...]


@dataclass(frozen=True)
class Findings:
    """What a run found: in a sentence or two, in tables, plots and examples. Exploratory tables: report only."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    exploratory: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    examples: tuple[Example, ...] = ()
    warnings: tuple[str, ...] = ()
    conversations: tuple[Conversation, ...] = ()


def not_beside(results: Results) -> str:
    """Why no published figures stand beside a run, or in what it differs from those that do; empty where in nothing, or
    where the paper has none.
    """
    if not results.differs:
        return ""
    if results.published:
        return f"The published figures beside it are of all rows of the paper: here are {'; '.join(results.differs)}."
    return f"Published figures are not shown beside it: {'; '.join(results.differs)}."


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run that is compared with others, which call it by its letter. predictions: as `read` gave them."""

    letter: str
    path: Path
    results: Results
    predictions: pd.DataFrame

    @cached_property
    def sample(self) -> Sample:
        """What its figures are computed from."""
        from evenhand.benchmarks import get_benchmark

        return get_benchmark(self.results.benchmark).sample(self.predictions)


def not_beside_them(runs: Sequence[Run], but_for: Callable[[Run], Collection[str]] = lambda run: ()) -> str:
    """Why no published figures stand beside runs that are compared; empty where they do.

    but_for: of a run, what the paper has figures of in comparisons, though none by themselves.
    """
    letters: dict[str, list[str]] = {}
    for run in runs:
        for each in run.results.differs:
            if each not in but_for(run):
                letters.setdefault(each, []).append(run.letter)
    if not letters:
        return ""
    told = "; ".join(f"{', '.join(of)}: {each}" for each, of in letters.items())
    return f"Published figures are not shown beside them ({told})."


@dataclass(frozen=True)
class Panel:
    """Runs that are alike but for the model and its mitigation, side by side: the first is the others' base."""

    runs: tuple[Run, ...]
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True)
class Controls:
    """What control questions say of a model before and after a training: was less bias learned, or a habit?

    before, after: sentences. not_debiased: why the second can't be called debiased, a clause about "it"; "" where
    nothing here says so. rows: of a table, what was accepted or declined for its sound: name, before, after,
    difference.
    """

    before: str
    after: str
    not_debiased: str
    rows: tuple[tuple[str, str, str, str], ...]
