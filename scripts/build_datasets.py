"""Write data/<config>/<split>.parquet of every dataset folder from its loading script, what its card computes, and
eval.yaml where it fits the Hub's form.

python scripts/build_datasets.py [--output DIR] [NAME …]
"""

import argparse
import sys
from pathlib import Path

import pyarrow.parquet

from evenhand.command_line import ScriptHelp
from evenhand.errors import EvenhandError
from evenhand.library import DATASETS, dataset_builder_class, packaged_dataset_names, refuse_unpackaged
from evenhand.output_files import add_overwrite, check_output
from evenhand.tools.dataset_upkeep.cards import computed
from evenhand.tools.dataset_upkeep.hub_tasks import FILE, eval_yaml
from evenhand.tools.dataset_upkeep.versions import built_tables
from evenhand.whole_files import whole_file, write_whole


def check(name: str, output: Path, overwrite: bool) -> None:
    """Raises UsageError for a file that is not one of this dataset's, and would be written over."""
    for config in dataset_builder_class(name).BUILDER_CONFIGS:
        for path in (output / name / "data" / config.name).glob("*.parquet"):
            check_output(path, (), f"of {name}", lambda path: is_of(path, name), overwrite)


def is_of(path: Path, name: str) -> bool:
    """Whether its columns are those of one of the dataset's files."""
    try:
        columns = pyarrow.parquet.read_schema(path).names
        return any(pyarrow.parquet.read_schema(each).names == columns for each in (DATASETS / name).rglob("*.parquet"))
    except (OSError, ValueError):
        return False


def build(name: str, output: Path) -> None:
    for config, split, table in built_tables(name):
        path = output / name / "data" / config / f"{split}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            pyarrow.parquet.write_table(table, file, compression="zstd", compression_level=12)
        print(f"{path}: {len(table):,} rows, {path.stat().st_size / 1e6:.2f} MB")


def describe(name: str, output: Path) -> None:
    """dataset_info, sizes and sample rows of the card, where one lies there."""
    card = output / name / "README.md"
    if card.is_file():
        write_whole(card, computed(card.read_text(encoding="utf-8"), name, output))
        print(f"{card}: dataset_info, sizes and sample rows")


def write_tasks(name: str, output: Path) -> None:
    """eval.yaml, of a dataset that has one."""
    tasks, path = eval_yaml(name), output / name / FILE
    if tasks is not None:
        write_whole(path, tasks)
        print(f"{path}: tasks for the Hub and inspect_ai")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="folders of datasets with packaged rows (not bbq); all of these by default",
    )
    parser.add_argument("--output", type=Path, default=DATASETS, help="where the folders are")
    add_overwrite(parser)
    arguments = parser.parse_args()
    names = arguments.names or packaged_dataset_names()
    try:
        for name in names:
            refuse_unpackaged(name)
            check(name, arguments.output, arguments.overwrite)
    except EvenhandError as error:
        sys.exit(f"build_datasets: {error}")
    for name in names:
        build(name, arguments.output)
        describe(name, arguments.output)
        write_tasks(name, arguments.output)


if __name__ == "__main__":
    main()
