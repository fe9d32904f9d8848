"""What a dataset's card says that can be computed: `dataset_info` in its metadata, sizes and a sample row.

The rest of a card is written by hand and stays as it is.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

from evenhand.errors import UsageError
from evenhand.library import DATASETS, dataset_builder_class
from evenhand.tools.dataset_upkeep.versions import split_files

BEGIN = "<!-- From here to the next such line: written by scripts/build_datasets.py -->"
END = "<!-- Up to here -->"

_INFO = re.compile(r"^dataset_info:\n(?:[ -].*\n)*", re.MULTILINE)  # up to the next key
_SIZES = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}\n", re.DOTALL)


Info = Mapping[str, Any]  # of a configuration, as in dataset_info


def compute_card(card: str, name: str, datasets: Path = DATASETS) -> str:
    """Return the card with what the parquet files say; parts that it lacks are added at the end.

    Raises UsageError for a card without metadata.
    """
    if not card.startswith("---\n") or card.count("---\n") < 2:
        raise UsageError(f"the card of {name} does not begin with metadata between two lines of ---")
    _, metadata, text = card.split("---\n", 2)
    infos, files = dataset_info(name, datasets), split_files(name, datasets)
    info = yaml_dump({"dataset_info": infos}, sort_keys=False)
    section = sizes_and_samples(infos, files)
    metadata = _INFO.sub(lambda _: info, metadata) if _INFO.search(metadata) else metadata + info
    text = _SIZES.sub(lambda _: section, text) if _SIZES.search(text) else f"{text.rstrip()}\n\n{section}"
    return f"---\n{metadata}---\n{text}"


def dataset_info(name: str, datasets: Path = DATASETS) -> list[Info]:
    """Describe each configuration as the Hub's cards do: its features, and each split's rows and bytes.

    num_bytes: in memory, as a table; download_size: of the parquet files.
    """
    builder_class = dataset_builder_class(name)
    infos: list[Info] = []
    files = split_files(name, datasets)
    for config in builder_class.BUILDER_CONFIGS:
        with tempfile.TemporaryDirectory() as cache:
            builder = builder_class(cache_dir=cache, config_name=config.name, base_path=str(datasets / name))
        paths = {Path(split).name: path for split, path in files.items() if split == f"{config.name}/{path.stem}"}
        tables = {split: pyarrow.parquet.read_table(paths[split]) for split in sorted(paths, key=_rank)}
        sizes = [
            {"name": split, "num_bytes": table.nbytes, "num_examples": table.num_rows}
            for split, table in tables.items()
        ]
        infos.append(
            {
                "config_name": config.name,
                "features": builder.info.features._to_yaml_list(),
                "splits": sizes,
                "download_size": sum(path.stat().st_size for path in paths.values()),
                "dataset_size": sum(table.nbytes for table in tables.values()),
            }
        )
    return infos


def _rank(split: str) -> tuple[int, str]:
    usual = ("train", "validation", "test")
    return usual.index(split) if split in usual else len(usual), split


def sizes_and_samples(infos: Sequence[Info], files: Mapping[str, Path]) -> str:
    """Write a section in Markdown, between its two marks. files: {config/split: parquet file}."""
    lines = [BEGIN, "", "## Sizes and sample rows"]
    lines += ["| configuration | split | rows | parquet, kB |", "| --- | --- | --- | --- |"]
    for info in infos:
        for split in info["splits"]:
            config, name = info["config_name"], split["name"]
            kilobytes = files[f"{config}/{name}"].stat().st_size / 1000
            lines.append(f"| `{config}` | {name} | {split['num_examples']:,} | {kilobytes:,.0f} |")
    lines += ["", "The first row of each configuration:"]
    for info in infos:
        first = files[f"{info['config_name']}/{info['splits'][0]['name']}"]
        [row] = pyarrow.parquet.ParquetFile(first).read_row_group(0).slice(0, 1).to_pylist()
        lines += ["", f"`{info['config_name']}`", "```json", _shown(row), "```"]
    return "\n".join([*lines, END]) + "\n"


def _shown(row: Mapping[str, object]) -> str:
    cells = [f"  {json.dumps(name)}: {json.dumps(_cell(value), ensure_ascii=False)}" for name, value in row.items()]
    return "{\n" + ",\n".join(cells) + "\n}"


def _cell(value: object) -> object:
    """Describe a picture by its kind and size; return anything else as it is."""
    if not (isinstance(value, dict) and isinstance(value.get("bytes"), bytes)):
        return value
    from PIL import Image

    picture = Image.open(io.BytesIO(value["bytes"]))
    return f"{picture.format}, {picture.width} × {picture.height} pixels"
