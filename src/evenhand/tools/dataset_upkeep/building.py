"""What a dataset's loading script builds, and whether the parquet files beside it are that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet

from evenhand.library import DATASETS, dataset_builder_class
from evenhand.tools.dataset_upkeep.versions import split_files, table_digest

if TYPE_CHECKING:
    import pyarrow


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
    same = {each for each in lying.keys() & built if _same(lying[each], built[each])}
    return sorted((lying.keys() | built) - same)


def _same(path: Path, built: pyarrow.Table) -> bool:
    lying = pyarrow.parquet.read_table(path)
    return bool(lying.equals(built)) or table_digest(lying) == table_digest(built)  # the first is fast
