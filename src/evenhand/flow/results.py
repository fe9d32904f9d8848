"""results.json: what a run measured, in one record that everything which reads results knows."""

from __future__ import annotations

import csv
import json
import math
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError
from evenhand.figure import FigureRow, FigureTable
from evenhand.flow.foreign_files import shortened
from evenhand.library import dataset_names, dataset_version

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from evenhand.benchmark import Benchmark

OF_ROWS = "dataset "  # before a dataset's name among the versions
SCHEMA_VERSION = 2
"""Version of results.json, which results.schema.json in this folder describes."""

PUBLISHED_FILE = "published.csv"
"""Figures that a paper prints, in a benchmark's folder: records of the same columns as the figures' table."""
_NUMBERS = ("value", "low", "high")
NAMED = 4  # figures in a sentence
VERSIONED = ("evenhand", "torch", "transformers", "datasets", "evaluate", "numpy", "scipy")


@dataclass(frozen=True)
class RunWarning:
    """A warning about a run's figures.

    Attributes:
        code: its kind, such as "constant_answer" or "few_clusters", for programs.
        text: for people.
        groups: {column: value} of the figures that it concerns; empty for all of them.
    """

    code: str
    text: str
    groups: Mapping[str, str] = field(default_factory=dict)

    def concerns(self, groups: Mapping[str, str]) -> bool:
        """Whether it concerns the figures of this group."""
        return self.groups.items() <= groups.items()

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "text": self.text, "groups": dict(self.groups)}


@dataclass(frozen=True)
class Results:
    """The results of a run, as results.json holds them.

    Attributes:
        config: as config.json has it.
        model: as it was named on the command line.
        model_name: as reports call it.
        model_identity: everything that decides its replies.
        agents: {agent: identity} of all models that were asked.
        helpers: name, identity and training of the models that read answers.
        n: answers asked for.
        n_read: those that could be read.
        figures: the tidy table.
        published: the paper's figures, records of the same columns, where the run is as in the paper.
        versions: of Python, the libraries and the packaged dataset.
        rows_sha256: of the file whose rows were scored in place of packaged data.
        differs: how the run differs from the paper's, whose figures are then not shown.
        predictions_sha256: of the predictions.parquet that the figures were made from.
    """

    schema_version: int
    benchmark: str
    config: dict[str, Any]
    model: str
    model_name: str
    model_identity: str
    agents: dict[str, str]
    helpers: list[dict[str, Any]]
    n: int
    n_read: int
    figures: FigureTable
    warnings: tuple[RunWarning, ...]
    published: list[dict[str, Any]]
    versions: dict[str, str]
    rows_sha256: str | None = None
    differs: list[str] = field(default_factory=list)
    predictions_sha256: str | None = None

    @property
    def unread_rate(self) -> float:
        """NaN where nothing was asked."""
        return 1 - self.n_read / self.n if self.n else math.nan

    def warned(self, code: str) -> list[RunWarning]:
        return [each for each in self.warnings if each.code == code]

    @property
    def rehearsal(self) -> bool:
        """Whether placeholders were used in place of data."""
        return bool(self.warned("rehearsal"))

    def is_constant(self, groups: Mapping[str, str]) -> bool:
        """Whether all answers of this group are the same, so that its figures say nothing."""
        return any(each.concerns(groups) for each in self.warned("constant_answer"))

    def option(self, name: str) -> Any:
        """A setting of every run, of the benchmark or of the mitigation; None where there is none of that name."""
        for part in (self.config, self.config.get("options", {}), self.config.get("mitigation_options", {})):
            if name in part:
                return part[name]
        return None

    @property
    def rows_in_words(self) -> str:
        """The dataset and its version, "NAME 2.3.0"; "of no known version" where it is not packaged."""
        known = [f"{name.removeprefix(OF_ROWS)} {of}" for name, of in self.versions.items() if name.startswith(OF_ROWS)]
        return ", ".join(known) or "of no known version"

    @property
    def asked(self) -> dict[str, Any]:
        """The whole configuration by flat names."""
        own = {**self.config.get("options", {}), **self.config.get("mitigation_options", {})}
        return {name: value for name, value in self.config.items() if not isinstance(value, dict)} | own

    def to_json(self) -> dict[str, Any]:
        return vars(self) | {
            "figures": [without_nan(row.to_json()) for row in self.figures],
            "warnings": [each.to_json() for each in self.warnings],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Results:
        """Raises EvenhandError for a record of another version of evenhand, or a damaged one."""
        again = "repeat its evenhand run command with another --output"
        version = record.get("schema_version")
        if version != SCHEMA_VERSION:
            written = "before results had a version" if version is None else f"in version {version!r} of its format"
            raise EvenhandError(f"these results were written {written}; this evenhand reads {SCHEMA_VERSION}: {again}")
        if wrong := _wrong(json.dumps(dict(record))):
            what = shortened(", ".join(wrong))
            raise EvenhandError(f"these results are damaged (wrong, missing or unknown: {what}); {again}")
        figures = FigureTable(map(FigureRow.from_json, record["figures"]))
        warnings = tuple(RunWarning(**each) for each in record["warnings"])
        return cls(**{**record, "figures": figures, "warnings": warnings})


@lru_cache(maxsize=32)
def _wrong(text: str) -> list[str]:
    """Paths where the record is not as the schema says, or contradicts itself.

    Checked one time in a process: that takes longer than to read it, and comparisons and gates read a run repeatedly.
    """
    from jsonschema import Draft202012Validator  # imported where it is needed: it takes a while

    record = json.loads(text)
    found = Draft202012Validator(_schema()).iter_errors(record)
    wrong = sorted({place for each in found for place in _places(each)})
    if not wrong and record["n"] < record["n_read"]:
        wrong = ["n_read"]
    if not wrong and record["config"]["benchmark"] != record["benchmark"]:
        wrong = ["config.benchmark"]
    return wrong


def _places(error: ValidationError) -> list[str]:
    """Paths of an error, such as "figures[0].n_read"."""
    path = error.json_path.removeprefix("$").removeprefix(".")
    names = [path]
    here: Any = error.instance
    schema: Any = error.schema
    if error.validator == "required":
        names = [f"{path}.{name}" for name in schema["required"] if name not in here]
    elif error.validator == "additionalProperties":
        names = [f"{path}.{name}" for name in here if name not in schema["properties"]]
    return [name.removeprefix(".") for name in names]


@cache
def _schema() -> dict[str, Any]:
    path = Path(__file__).with_name("results.schema.json")
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def versions(dataset: str = "") -> dict[str, str]:
    """Versions of Python, the libraries and the dataset, if it is packaged."""
    of_rows = {f"{OF_ROWS}{dataset}": dataset_version(dataset)} if dataset in dataset_names() else {}
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED} | of_rows


def without_nan(value: Any) -> Any:
    """Convert to plain JSON: None for NaN and infinity, lists for tuples."""
    if isinstance(value, Mapping):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def figure_warnings(benchmark: Benchmark[Any], table: FigureTable) -> Iterator[RunWarning]:
    """Warn of any run's figures: nothing read, few clusters, no interval."""
    from evenhand.statistics.resampling import FEW_CLUSTERS, FEWEST_CLUSTERS

    headline = [row for row in table if row.headline]
    if not any(row.n_read for row in headline or table):
        yield RunWarning("nothing_read", "No answer could be read: there is no score.")
        return
    first = [row for row in table if row.figure == next(iter(table)).figure]
    whole = next((row for row in first if not row.groups), max(first, key=lambda row: row.n_read))
    if whole.n_clusters < FEW_CLUSTERS:
        s = "s" * (whole.n_clusters != 1)
        yield RunWarning(
            "few_clusters", f"Only {whole.n_clusters} cluster{s}: intervals from fewer than {FEW_CLUSTERS} are rough."
        )
    if empty := [row for row in headline if not row.n_read]:
        yield RunWarning("group_not_read", f"No answer could be read of: {_name_figures(benchmark, empty)}.")
    if bare := [row for row in headline if row.n_read and row.interval is None and not math.isnan(row.value)]:
        few = all(row.n_clusters < FEWEST_CLUSTERS for row in bare)
        why = "too few clusters" if few else "too few clusters, or all clusters say the same"
        yield RunWarning("no_interval", f"No interval ({why}): {_name_figures(benchmark, bare)}.")


def _name_figures(benchmark: Benchmark[Any], rows: list[FigureRow]) -> str:
    named = "; ".join(benchmark.figure(row.figure).label(row.groups) for row in rows[:NAMED])
    return named + (f" and {len(rows) - NAMED} more" if len(rows) > NAMED else "")


def published_beside(benchmark: type[Any]) -> list[dict[str, Any]]:
    """Read published.csv in the folder of a benchmark's class; no records where there is no such file."""
    path = Path(str(sys.modules[benchmark.__module__].__file__)).with_name(PUBLISHED_FILE)
    return read_published(path) if path.is_file() else []


@cache
def _records(path: Path) -> tuple[dict[str, Any], ...]:
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(
            {name: float(text) if name in _NUMBERS else text for name, text in row.items() if text}
            for row in csv.DictReader(file)
        )


def read_published(path: Path, **groups: str) -> list[dict[str, Any]]:
    """Read records with the columns model, figure, value, those of the groups, and source, without blank ones.

    groups: {column: value} of the records to return.
    """
    return [dict(each) for each in _records(path) if groups.items() <= each.items()]
