"""What a benchmark gives to the flow: its rows become episodes, their predictions scores, the scores findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import datasets
import pandas as pd

from evenhand.flow.episode import Episode
from evenhand.flow.settings import Settings
from evenhand.models.protocol import Model
from evenhand.report.tables import Table
from evenhand.statistics.clustered import Difference

Row = Mapping[str, Any]  # a dataset's row, of its own features
Results = Mapping[str, Any]  # results.json
Texts = Sequence[Sequence[str]]  # each one's sentences
Similarity = Callable[[Texts, Texts], float | None]
"""Mean likeness in meaning of paired texts, 1 for the same; None where no encoder is installed."""


@dataclass(frozen=True)
class Plot:
    """An SVG drawing, labelled by us; nothing that a model said is in it. `draw` gives its text, when it is needed."""

    title: str
    draw: Callable[[], str]
    note: str = ""


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
    exploratory: tuple[Table, ...]
    plots: tuple[Plot, ...]
    examples: tuple[Example, ...]
    warnings: tuple[str, ...]
    conversations: tuple[Conversation, ...] = ()


@dataclass(frozen=True)
class Run:
    """A finished run that is compared with others, which call it by its letter."""

    letter: str
    path: Path
    results: Results
    predictions: pd.DataFrame


@dataclass(frozen=True)
class Panel:
    """Runs that are alike but for the model and its mitigation, side by side: the first is the others' base."""

    runs: tuple[Run, ...]
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()


class Benchmark(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def paper(self) -> str: ...

    @property
    def dataset(self) -> str:
        """Whose rows are asked, a packaged dataset of this name."""
        ...

    @property
    def split(self) -> str: ...

    @property
    def configs(self) -> tuple[str, ...]: ...

    @property
    def default_configs(self) -> tuple[str, ...]: ...

    @property
    def defaults(self) -> Mapping[str, object]:
        """Settings where nothing was chosen; a function of the settings where they depend on others."""
        ...

    @property
    def options(self) -> tuple[str, ...]:
        """Of the settings that fit some benchmarks only, those that fit this one."""
        ...

    @property
    def shows_pictures(self) -> bool:
        """Whether its requests carry images, so that a vision-language model is needed."""
        ...

    @property
    def matched_column(self) -> str | None:
        """What is the same in rows that differ in their group alone, for `sample`; None where nothing is."""
        ...

    @property
    def answers_are_shares(self) -> bool:
        """Whether figures are shares of answers, whose smallest visible difference follows from their number."""
        ...

    @property
    def digits(self) -> int:
        """Of its figures, after the point."""
        ...

    @property
    def design_columns(self) -> tuple[str, ...]:
        """What a stratified draw of rows keeps in proportion."""
        ...

    @property
    def drawn_together(self) -> tuple[str, ...]:
        """What rows have in common that a draw takes or leaves together: columns; none where each row is alone."""
        ...

    @property
    def metric(self) -> str: ...

    @property
    def cluster_column(self) -> str:
        """The prediction column whose values are resampled for intervals."""
        ...

    def check(self, settings: Settings) -> None:
        """Raises UsageError for settings that don't fit this benchmark."""
        ...

    def load_options(self, config: str, settings: Settings) -> Mapping[str, object]:
        """Options of `evenhand.load_dataset` with which a configuration's rows are loaded."""
        ...

    def usable(self, rows: datasets.Dataset, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
        """The rows that can be asked and scored, and what is to be said of the others."""
        ...

    def picture(self, row: Row) -> bytes | None:
        """What a row shows, as PNG or JPEG; None where it shows nothing."""
        ...

    def helpers(self, settings: Settings) -> Mapping[str, Model]:
        """Models that episodes ask besides the one that is measured, by agent. Raises UsageError for unknown names."""
        ...

    def described_helpers(self, settings: Settings) -> list[dict[str, Any]]:
        """What results.json says of them, since the score depends on them."""
        ...

    def episode(self, row: Row, settings: Settings, run: int = 0) -> Episode: ...

    def score(self, predictions: pd.DataFrame, settings: Settings) -> dict[str, Any]:
        """`metrics` of results.json."""
        ...

    def headline_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """What each headline figure is the mean of: columns `figure`, `id`, `value` (NaN: unread) and `cluster`."""
        ...

    def headline_differences(self, first: pd.DataFrame, second: pd.DataFrame) -> Mapping[str, Difference]:
        """Of two runs' headline figures that are no means over rows: they are judged in one family with those."""
        ...

    def exploratory_values(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """Likewise for figures of groups."""
        ...

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """Which of these runs can be compared, and what is shown of those side by side."""
        ...

    def compared(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        """Further tables of two runs' predictions: what is no mean over rows, and what a difference may have cost."""
        ...

    def published(self, settings: Settings) -> dict[str, Any]:
        """The paper's figures, where these settings are the paper's protocol; else empty."""
        ...

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings: ...


class BenchmarkDefaults:
    """What most benchmarks have in common: each row is asked by itself, in text, and nobody else helps."""

    split = "test"
    shows_pictures = False
    matched_column: str | None = None
    drawn_together: tuple[str, ...] = ()

    def load_options(self, config: str, settings: Settings) -> Mapping[str, object]:
        return {}

    def usable(self, rows: datasets.Dataset, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
        return rows, ()

    def picture(self, row: Row) -> bytes | None:
        return None

    def helpers(self, settings: Settings) -> Mapping[str, Model]:
        return {}

    def described_helpers(self, settings: Settings) -> list[dict[str, Any]]:
        return []

    def headline_differences(self, first: pd.DataFrame, second: pd.DataFrame) -> Mapping[str, Difference]:
        return {}

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        return (Panel(tuple(runs)),)

    def compared(self, first: pd.DataFrame, second: pd.DataFrame, similarity: Similarity) -> tuple[Table, ...]:
        return ()
