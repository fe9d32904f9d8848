"""A run's folder: config.json, store.sqlite, predictions.parquet, results.json, report.html, where needed pictures."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import RunConfig, differences
from evenhand.flow.episode import Prediction
from evenhand.flow.results import Results, without_nan
from evenhand.options import late_names

PREDICTIONS_A_PART = 10_000


class Configuration(Protocol):
    """What a folder's config.json is made of; an evaluation's is a RunConfig."""

    def to_json(self) -> dict[str, Any]: ...


def _deciding(record: dict[str, Any], late: frozenset[str]) -> dict[str, Any]:
    """Without the settings with others of which a run goes on."""
    return {
        name: _deciding(value, late) if isinstance(value, dict) else value
        for name, value in record.items()
        if name not in late
    }


class RunFolder:
    """Every file is written whole: beside its place first, then moved there."""

    def __init__(self, path: Path):
        self.path = path
        self.config = path / "config.json"
        self.store = path / "store.sqlite"
        self.predictions = path / "predictions.parquet"
        self.results = path / "results.json"
        self.report = path / "report.html"
        self.pictures = path / "pictures"

    @classmethod
    def begin(cls, path: Path, config: Configuration) -> RunFolder:
        """A new folder for this configuration, or the one that was begun with the same.

        Raises UsageError for a folder of another run, or a folder of something else.
        """
        folder = cls(path)
        asked = json.loads(_json(config.to_json()))
        if folder.config.is_file():
            late = late_names(config)
            others = differences(_deciding(folder._read(folder.config), late), _deciding(asked, late))
            if others:
                raise UsageError(
                    f"{path} holds a run with other settings ({'; '.join(others)}). "
                    "Choose another --output, or repeat its settings to resume it"
                )
            return folder
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UsageError(f"{path} exists and is no run folder of evenhand; choose another --output")
        with _explained(path):
            path.mkdir(parents=True, exist_ok=True)
        write_whole(folder.config, _json(asked))
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """A finished run's folder. Raises UsageError for a folder that is none, or whose run has not finished."""
        folder = cls(path)
        if not path.is_dir():
            raise UsageError(f"{path} does not exist; name the --output folder of an evenhand run")
        if not folder.config.is_file():
            raise UsageError(f"{path} is no run folder of evenhand: it has no config.json")
        missing = [file.name for file in (folder.predictions, folder.results) if not file.is_file()]
        if missing:
            raise UsageError(
                f"the run in {path} has not finished: {', '.join(missing)} missing; repeat its evenhand run command"
            )
        return folder

    def read_config(self) -> RunConfig[Any]:
        """Raises EvenhandError for one of another version."""
        return RunConfig.from_json(self._read(self.config))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time. Raises EvenhandError where another one runs here."""
        try:
            with FileLock(self.path / ".lock", timeout=0):
                yield
        except Timeout:
            raise EvenhandError(
                f"another evenhand runs in {self.path}; wait for it, or choose another --output"
            ) from None

    def write_predictions(self, predictions: Iterable[Prediction]) -> None:
        """Predictions as they come; only their compact columns stay in memory."""
        arriving = iter(predictions)
        parts = []
        while some := list(islice(arriving, PREDICTIONS_A_PART)):
            parts.append(pa.Table.from_pylist(some))
        table = pa.concat_tables(parts, promote_options="permissive")
        with _explained(self.predictions):
            beside = self.predictions.with_name(".predictions.parquet.part")
            pq.write_table(table, beside, compression="zstd")
            os.replace(beside, self.predictions)

    def read_predictions(self) -> pd.DataFrame:
        try:
            return pd.read_parquet(self.predictions)
        except (OSError, ValueError) as error:
            raise EvenhandError(
                f"{self.predictions} can't be read: {error}; repeat the evenhand run command"
            ) from error

    def write_results(self, results: Results) -> None:
        self.write_record(results.to_json())

    def write_record(self, record: dict[str, Any]) -> None:
        """results.json of what is no run of a benchmark, such as generated data."""
        write_whole(self.results, _json(record))

    def read_results(self) -> Results:
        """Raises EvenhandError for a damaged record, or one of another version."""
        try:
            return Results.from_json(self.read_record())
        except EvenhandError as error:
            raise EvenhandError(f"{self.results}: {error}") from error

    def read_record(self) -> dict[str, Any]:
        return self._read(self.results)

    def keep_picture(self, row: str, content: bytes) -> None:
        """What a row showed, for the report."""
        path = self._picture(row)
        with _explained(path):
            path.parent.mkdir(exist_ok=True)
            beside = path.with_name(f".{path.name}.part")
            beside.write_bytes(content)
            os.replace(beside, path)

    def picture(self, row: str) -> bytes | None:
        """What a row showed; None where it was not kept."""
        path = self._picture(row)
        return path.read_bytes() if path.is_file() else None

    def _picture(self, row: str) -> Path:
        return self.pictures / hashlib.sha256(row.encode()).hexdigest()[:32]

    def publishable(self) -> RunFolder:
        """This folder. Raises UsageError for a rehearsal, whose figures mean nothing to anybody."""
        if self.read_results().metrics.get("rehearsal"):
            raise UsageError(
                f"{self.path} holds a rehearsal with placeholders in place of data: it measures nothing and is not "
                "published; run it with real data"
            )
        return self

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise EvenhandError(f"{path} is no JSON ({error}); move the folder away and run again") from error
        if not isinstance(record, dict):
            raise EvenhandError(f"{path} is no JSON object; move the folder away and run again")
        return record


def write_whole(path: Path, text: str) -> None:
    """Beside its place first, then moved there. Raises EvenhandError saying what to do where that fails."""
    with _explained(path):
        beside = path.with_name(f".{path.name}.part")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"the disk is full at {path}: free space and run the same command again; all replies are kept"
        else:
            message = f"can't write {path}: {error.strerror or error}; choose another --output, or mend this one"
        raise EvenhandError(message) from error


def _json(record: object) -> str:
    return json.dumps(without_nan(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
