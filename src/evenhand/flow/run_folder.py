"""A run's folder: config.json, store.sqlite, predictions.parquet, results.json, report.html, where needed pictures."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import RunConfig, deciding, differences
from evenhand.flow.episode import EXCHANGE, Prediction
from evenhand.flow.foreign_files import AGAIN, AWAY, read_object, shortened
from evenhand.flow.results import Results, without_nan
from evenhand.whole_files import explained, is_remains, remove_remains, whole_file, write_whole


class Configuration(Protocol):
    """What a folder's config.json is made of; an evaluation's is a RunConfig."""

    def to_json(self) -> dict[str, Any]: ...


LOCK = ".lock"
GROWING = ("limit", "runs")  # settings of which more may be asked later in the same folder
_PREDICTIONS_AT_ONCE = 10_000
_MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
EXCHANGES = pa.schema(zip(EXCHANGE, (_MESSAGES, pa.string(), pa.list_(pa.list_(pa.float64())))))


class RunFolder:
    """Every file is written whole: beside its place first, then moved there."""

    def __init__(self, path: Path):
        self.path = path
        self.config = path / "config.json"
        self.store = path / "store.sqlite"
        self.predictions_file = path / "predictions.parquet"
        self.results = path / "results.json"
        self.report = path / "report.html"
        self.view = path / "view.html"
        self.pictures = path / "pictures"

    def __repr__(self) -> str:
        """In a Python shell: where it is, and whether there are results."""
        state = "finished" if self.report.is_file() else "not finished"
        return f"{type(self).__name__}({str(self.path)!r}), {state}"

    @classmethod
    @contextmanager
    def begin(cls, path: Path, config: Configuration) -> Iterator[RunFolder]:
        """Make a folder for this configuration, or open the one that it goes on in; lock it within the block.

        A run goes on with the same settings, or with more rows or runs, which `extend` then records. The lock comes
        before the configuration: of processes that begin at the same time, one decides what the folder holds.
        Raises UsageError for a folder of another run, or a folder of something else, and EvenhandError where another
        process runs here.
        """
        folder = cls(path)
        folder.refuse_other(config)
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        with folder.locked():
            folder.refuse_other(config)
            remove_remains(path)
            if not folder.config.is_file():
                write_whole(folder.config, _json(config.to_json()))
            yield folder

    def refuse_other(self, config: Configuration) -> None:
        """Raise UsageError unless a run with this configuration can begin or go on here."""
        if not self.config.is_file():
            self.refuse_occupied()
            return
        begun, asked = (deciding(config, record) for record in (self.begun(), json.loads(_json(config.to_json()))))
        amounts = []
        for name in GROWING if isinstance(config, RunConfig) else ():
            if type(begun.get(name, "")) in (int, type(None)):
                amounts.append((name, begun.pop(name), asked.pop(name)))
        if others := differences(begun, asked):
            raise UsageError(
                f"{self.path} holds a run with other settings ({'; '.join(others)}). "
                "Choose another --output, or repeat its settings to resume it"
            )
        for name, held, now in amounts:
            if now is not None and (held is None or now < held):
                has, advice = f"--{name} {held}", f"give --{name} {held} or more"
                if held is None:
                    has, advice = "all rows", f"leave --{name} out"
                raise UsageError(
                    f"{self.path} holds a run of {has}, which is more than --{name} {now}; {advice} to go on with it, "
                    "or choose another --output"
                )

    def extend(self, config: RunConfig[Any]) -> dict[str, Any]:
        """Record how many rows and runs are asked from now on. Returns config.json as it then is.

        What is there of a smaller run stays until the larger one has ended, and is not read as its results: a folder's
        results are those of its config.json.
        """
        begun = self.begun()
        extended = begun | {name: getattr(config, name) for name in GROWING}
        if extended != begun:
            write_whole(self.config, _json(extended))
        return extended

    def refuse_occupied(self) -> None:
        """Raise UsageError unless the path is free or a run folder."""
        if not (self.is_free() or self.config.is_file()):  # in this order: another process may begin meanwhile
            raise UsageError(f"{self.path} exists and is no run folder of evenhand; choose another --output")

    def is_free(self) -> bool:
        """Whether nothing is there, or an empty folder, or one that a run left when it was killed at its first step."""
        if not os.path.lexists(self.path):
            return True
        return self.path.is_dir() and all(map(_is_beginning, self.path.iterdir()))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a finished run. Raises UsageError for a folder that is not one, or whose run has not finished."""
        folder = cls(path)
        if not path.is_dir():
            raise UsageError(f"{path} does not exist; name the --output folder of an evenhand run")
        if not folder.config.is_file():
            raise UsageError(f"{path} is no run folder of evenhand: it has no config.json")
        for file in (folder.predictions_file, folder.results):
            if file.exists() and not file.is_file():
                raise UsageError(f"{file} is no file; move it away, and {AGAIN}")
        missing = [file.name for file in (folder.predictions_file, folder.results) if not file.is_file()]
        if missing:
            if not folder.store.is_file() and "benchmark" not in folder.begun():
                raise UsageError(f"{path} is no run folder of evenhand: its config.json is of something else")
            raise UsageError(
                f"the run in {path} has not finished: {', '.join(missing)} missing; repeat its evenhand run command"
            )
        return folder

    def read_config(self) -> RunConfig[Any]:
        """Read config.json. Raises EvenhandError for one of another version."""
        return RunConfig.from_json(self.begun())

    def begun(self) -> dict[str, Any]:
        """Read config.json as plain JSON."""
        return read_object(self.config, AWAY)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder within the block. Raises EvenhandError where another process runs here."""
        lock = FileLock(self.path / LOCK, timeout=0)
        with explained(self.path / LOCK):
            try:
                lock.acquire()
            except Timeout:
                raise EvenhandError(
                    f"another evenhand runs in {self.path}; wait for it, or choose another --output"
                ) from None
        try:
            yield
        finally:
            lock.release()

    def write_predictions(self, predictions: Iterable[Prediction]) -> None:
        """Write all predictions; only their compact columns stay in memory, prompts on the disk.

        Raises EvenhandError where two share an id.
        """
        arriving, parts = iter(predictions), []
        with ExitStack() as stack:
            with explained(self.predictions_file):
                aside = stack.enter_context(tempfile.TemporaryFile(dir=self.path))
            exchanges = stack.enter_context(pa.ipc.new_file(aside, EXCHANGES))
            while some := list(islice(arriving, _PREDICTIONS_AT_ONCE)):
                asked = [{name: each.pop(name, None) for name in EXCHANGE} for each in some]
                parts.append(pa.Table.from_pylist(some))
                with explained(self.predictions_file):
                    exchanges.write_batch(pa.RecordBatch.from_pylist(asked, EXCHANGES))
            exchanges.close()
            table = pa.concat_tables(parts, promote_options="permissive")
            _refuse_equal_ids(table)
            schema = pa.schema([*table.schema, *EXCHANGES])
            kept = pa.ipc.open_file(aside)
            with (
                explained(self.predictions_file),
                whole_file(self.predictions_file) as file,
                pq.ParquetWriter(file, schema, compression="zstd") as out,
            ):
                for place in range(kept.num_record_batches):
                    batch = kept.get_batch(place)
                    rows = table.slice(place * _PREDICTIONS_AT_ONCE, len(batch))
                    out.write_table(pa.Table.from_arrays([*rows.columns, *batch.columns], schema=schema))

    def read_predictions(self, exchanges: bool = False) -> pd.DataFrame:
        """Read predictions.parquet. Raises EvenhandError where it is damaged.

        exchanges: with the columns of prompts, thoughts and log-probabilities, which no figure needs.
        """
        try:
            names = pq.read_schema(self.predictions_file).names
            columns = names if exchanges else [name for name in names if name not in EXCHANGE]
            predictions = pd.read_parquet(self.predictions_file, columns=columns)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise EvenhandError(f"{self.predictions_file} can't be read: {shortened(error)}; {AGAIN}") from error
        ids = predictions.get("id", pd.Series(dtype=object))
        named = not ids.empty and ids.map(lambda each: isinstance(each, str)).all()
        if not named or not ids.is_unique:
            what = "an id twice" if named else "no rows with ids"
            raise EvenhandError(f"{self.predictions_file} is damaged: it has {what}; {AGAIN}")
        return predictions

    def first_messages(self) -> list[dict[str, str]]:
        """Read the chat that the first prediction answers; empty where no model was asked."""
        file = pq.ParquetFile(self.predictions_file)
        if "messages" not in file.schema_arrow.names:
            return []
        first = next(file.iter_batches(1, columns=["messages"]), None)
        return (first and first["messages"][0].as_py()) or []

    def write_results(self, results: Results) -> Results:
        """Write results.json, with the digest of the predictions beside it. Returns what its readers read."""
        text = _json(replace(results, predictions_sha256=self._predictions_sha256()).to_json())
        write_whole(self.results, text)
        return Results.from_json(json.loads(text))

    def _predictions_sha256(self) -> str:
        with self.predictions_file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def write_record(self, record: dict[str, Any]) -> None:
        """Write results.json of what is no run of a benchmark, such as generated data."""
        write_whole(self.results, _json(record))

    def read_results(self) -> Results:
        """Read results.json.

        Raises EvenhandError for a damaged record, one of another version, and one that was not made with the
        configuration and from the predictions beside it: a run that was killed before its end leaves older results.
        """
        record = self.read_record()
        try:
            results = Results.from_json(record)
        except EvenhandError as error:
            raise EvenhandError(f"{self.results}: {error}") from error
        begun = self.begun()
        config = self.read_config() if begun != results.config else None
        if config and (others := differences(deciding(config, results.config), deciding(config, begun))):
            raise EvenhandError(
                f"{self.results} is of other settings than {self.config.name} beside it ({'; '.join(others)}); {AGAIN}"
            )
        if not self.predictions_file.is_file() or self._predictions_sha256() != results.predictions_sha256:
            raise EvenhandError(
                f"{self.results} was not made from the {self.predictions_file.name} beside it: the run was stopped "
                f"before its end, or a file was changed; {AGAIN}"
            )
        return results

    def read_record(self) -> dict[str, Any]:
        return read_object(self.results, AGAIN)

    def keep_picture(self, row: str, content: bytes) -> None:
        """Keep the picture that a row showed, for the report."""
        path = self._picture(row)
        with explained(path):
            path.parent.mkdir(exist_ok=True)
        write_whole(path, content)

    def picture(self, row: str) -> bytes | None:
        """The picture that a row showed; None where it was not kept."""
        path = self._picture(row)
        return path.read_bytes() if path.is_file() else None

    def _picture(self, row: str) -> Path:
        return self.pictures / hashlib.sha256(row.encode()).hexdigest()[:32]

    def publishable(self) -> RunFolder:
        """Return the folder. Raises UsageError for a rehearsal, whose figures mean nothing."""
        if self.read_results().rehearsal:
            raise UsageError(
                f"{self.path} holds a rehearsal with placeholders in place of data: it measures nothing and is not "
                "published; run it with real data"
            )
        return self


def _refuse_equal_ids(predictions: pa.Table) -> None:
    """Raise EvenhandError where two predictions share an id, by which runs are compared."""
    ids = predictions["id"].to_pandas()
    equal = ids[ids.duplicated()]
    if len(equal):
        raise EvenhandError(
            f"{len(equal):,} predictions have the id of another one, such as {equal.iloc[0]!r}: the benchmark's `read` "
            "must give each an id of its own (of several runs, with evenhand.flow.episode.run_name)"
        )


def is_run_folder(path: Path) -> bool:
    """Whether any command made it a run folder, finished or not; other folders have a config.json, too."""
    of_runs = (LOCK, "store.sqlite", "predictions.parquet")
    return (path / "config.json").is_file() and any((path / name).is_file() for name in of_runs)


def _is_beginning(path: Path) -> bool:
    return is_remains(path) or (path.name == LOCK and path.is_file() and not path.is_symlink())


def _json(record: object) -> str:
    return json.dumps(without_nan(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
