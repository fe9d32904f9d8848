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
    """Compute `table_digest` of a parquet file, whatever packed it."""
    return table_digest(pyarrow.parquet.read_table(path))


def table_digest(table: pyarrow.Table) -> str:
    """Hash columns, values and order of rows by SHA-256; pictures by their bytes."""
    digest = hashlib.sha256()
    for name in sorted(table.column_names):
        column = json.dumps(
            [name, table[name].to_pylist()], sort_keys=True, default=lambda value: hashlib.sha256(value).hexdigest()
        )
        digest.update(column.encode() + b"\n")
    return digest.hexdigest()


def split_files(name: str, datasets: Path = DATASETS) -> dict[str, Path]:
    """Return {config/split: its parquet file}."""
    return {f"{path.parent.name}/{path.stem}": path for path in sorted((datasets / name / "data").glob("*/*.parquet"))}


def describe_rows(name: str, datasets: Path = DATASETS) -> Record:
    digests = {split: rows_digest(path) for split, path in split_files(name, datasets).items()}
    return Record(dataset_version(name), digests)


def read_records(path: Path) -> dict[str, Record]:
    """Return {dataset: the rows of its version}; nothing where there is no file."""
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: Record(**entry) for name, entry in entries.items()}


def find_objection(name: str, before: Record, now: Record) -> str | None:
    """Return why rows may not differ so from the recorded ones; None where they may."""
    splits = sorted(before.sha256.keys() | now.sha256)
    changed = [split for split in splits if before.sha256.get(split) != now.sha256.get(split)]
    numbers, numbers_before = (tuple(map(int, each.version.split("."))) for each in (now, before))
    if not changed or numbers > numbers_before:
        return None
    return (
        f"{name}: rows of {', '.join(changed)} are not those of version {before.version}, and its loading script says "
        f"{now.version}; raise the version there and in the card. Only where {before.version} was never published: "
        "take the dataset out of the record, and record it again"
    )


def write_records(path: Path, names: Iterable[str], datasets: Path = DATASETS) -> list[str]:
    """Record the present rows of these datasets in the file; return the names of those that changed there.

    Raises UsageError, and writes nothing, where rows have changed and the version has not gone up, or where a dataset
    has no packaged rows.
    """
    before, now = read_records(path), {}
    for name in names:
        refuse_unpackaged(name)
        now[name] = describe_rows(name, datasets)
    objections = [find_objection(name, before[name], now[name]) for name in now if name in before]
    if any(objections):
        raise UsageError("; ".join(filter(None, objections)))
    after = {name: vars(entry) for name, entry in sorted((before | now).items())}
    write_whole(path, json.dumps(after, indent=2) + "\n")
    return [name for name in now if before.get(name) != now[name]]


def built_tables(name: str) -> Iterator[tuple[str, str, pyarrow.Table]]:
    """Build the rows: yield (configuration, split, rows).

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
    """Return "config/split" of files with other rows than the script builds, or that only one of both has."""
    lying = split_files(name, datasets)
    built = {f"{config}/{split}": table for config, split, table in built_tables(name)}
    same = {split for split in lying.keys() & built if _are_equal(lying[split], built[split])}
    return sorted((lying.keys() | built) - same)


def _are_equal(path: Path, built: pyarrow.Table) -> bool:
    table = pyarrow.parquet.read_table(path)
    return table.equals(built) or table_digest(table) == table_digest(built)  # the first is fast
