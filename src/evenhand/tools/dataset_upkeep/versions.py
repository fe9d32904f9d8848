"""Rows of the packaged datasets: what a loading script builds, and which rows each version has.

A record of versions tells when rows change without a new version.

The record is a JSON file: {dataset: {"version": "1.2.0", "sha256": {"config/split": digest of the rows}}}.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet

from evenhand.errors import UsageError
from evenhand.library import DATASETS, dataset_builder_class, dataset_version, refuse_unpackaged
from evenhand.whole_files import write_whole


@dataclass(frozen=True)
class Record:
    """A dataset's version, and the digest of each split's rows by config/split."""

    version: str
    sha256: dict[str, str]


def rows_digest(path: Path) -> str:
    """`table_digest` of a parquet file, whatever packed it."""
    return table_digest(pyarrow.parquet.read_table(path))


def table_digest(table: pyarrow.Table) -> str:
    """SHA-256 of columns, values and order of rows; pictures by their bytes."""
    digest = hashlib.sha256()
    for name in sorted(table.column_names):
        column = json.dumps([name, table[name].to_pylist()], sort_keys=True, default=_bytes_digest)
        digest.update(column.encode() + b"\n")
    return digest.hexdigest()


def _bytes_digest(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"a row holds a {type(value).__name__}, which has no digest")
    return hashlib.sha256(value).hexdigest()


def split_files(name: str, datasets: Path = DATASETS) -> dict[str, Path]:
    """{config/split: its parquet file}, as they lie there."""
    return {f"{path.parent.name}/{path.stem}": path for path in sorted((datasets / name / "data").glob("*/*.parquet"))}


def current(name: str, datasets: Path = DATASETS) -> Record:
    return Record(
        dataset_version(name), {split: rows_digest(path) for split, path in split_files(name, datasets).items()}
    )


def recorded(path: Path) -> dict[str, Record]:
    """{dataset: what its version has}; nothing of an absent file."""
    if not path.exists():
        return {}
    return {
        name: Record(entry["version"], entry["sha256"])
        for name, entry in json.loads(path.read_text(encoding="utf-8")).items()
    }


def objection(name: str, before: Record, now: Record) -> str | None:
    """Why a dataset's present state may not stand for what was recorded; None where it may."""
    changed = sorted(
        split for split in before.sha256.keys() | now.sha256 if before.sha256.get(split) != now.sha256.get(split)
    )
    if not changed or _numbers(now.version) > _numbers(before.version):
        return None
    return (
        f"{name}: rows of {', '.join(changed)} are not those of version {before.version}, and its loading script says "
        f"{now.version}; raise the version there and in the card. Only where {before.version} was never published: "
        "take the dataset out of the record, and record it again"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def record(path: Path, names: Iterable[str], datasets: Path = DATASETS) -> list[str]:
    """Writes the present state of these datasets into the file, and names those that it changed there.

    Raises UsageError, and writes nothing, where rows have changed and the version has not gone up, or where a dataset
    has no packaged rows.
    """
    names = list(names)
    for name in names:
        refuse_unpackaged(name)
    before = recorded(path)
    now = {name: current(name, datasets) for name in names}
    objections = [problem for name in now if name in before and (problem := objection(name, before[name], now[name]))]
    if objections:
        raise UsageError("; ".join(objections))
    after = {name: vars(entry) for name, entry in sorted((before | now).items())}
    write_whole(path, json.dumps(after, indent=2) + "\n")
    return [name for name in now if before.get(name) != now[name]]


def built_tables(name: str) -> Iterator[tuple[str, str, pyarrow.Table]]:
    """(configuration, split, rows), built anew.

    Without the library's own schema metadata: datasets 3 cannot read what datasets 4 and 5 write there.
    """
    builder_class = dataset_builder_class(name)
    for config in builder_class.BUILDER_CONFIGS:
        with tempfile.TemporaryDirectory() as cache:
            builder = builder_class(cache_dir=cache, config_name=config.name, base_path=str(DATASETS / name))
            builder.download_and_prepare()
            for split, rows in builder.as_dataset().items():
                yield config.name, str(split), rows.data.table.replace_schema_metadata(None)


def differing_splits(name: str, datasets: Path = DATASETS) -> list[str]:
    """ "config/split" of parquet files with other rows than the script builds, or that only one of both has."""
    lying = split_files(name, datasets)
    built = {f"{config}/{split}": table for config, split, table in built_tables(name)}
    same = set()
    for split in lying.keys() & built:
        table = pyarrow.parquet.read_table(lying[split])
        if table.equals(built[split]) or table_digest(table) == table_digest(built[split]):  # the first is fast
            same.add(split)
    return sorted((lying.keys() | built) - same)
