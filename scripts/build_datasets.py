"""Write what each dataset folder has besides its loading script: data/<config>/<split>.parquet, what its card computes,
and eval.yaml where it fits the Hub's form.

Whoever changes rows raises the version in the loading script, says in the card what changed, and runs this with
--record. A version that was never published may change again: take its dataset out of the record first.
"""

import argparse
import sys
from pathlib import Path

import pyarrow.parquet

from evenhand.command_line import ScriptHelp
from evenhand.errors import EvenhandError
from evenhand.library import DATASETS, packaged_dataset_names, refuse_unpackaged
from evenhand.tools.dataset_upkeep.cards import compute_card
from evenhand.tools.dataset_upkeep.hub_tasks import FILE, eval_yaml
from evenhand.tools.dataset_upkeep.versions import built_tables, write_records
from evenhand.whole_files import whole_file, write_whole

RECORD = Path(__file__).parents[1] / "tests" / "loading" / "versions.json"


def build(name: str, output: Path) -> None:
    for config, split, table in built_tables(name):
        path = output / name / "data" / config / f"{split}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            pyarrow.parquet.write_table(table, file, compression="zstd", compression_level=12)
        print(f"{path}: {len(table):,} rows, {path.stat().st_size / 1e6:.2f} MB")
    card, tasks = output / name / "README.md", eval_yaml(name)
    if card.is_file():
        write_whole(card, compute_card(card.read_text(encoding="utf-8"), name, output))
        print(f"{card}: dataset_info, sizes and sample rows")
    if tasks is not None:
        write_whole(output / name / FILE, tasks)
        print(f"{output / name / FILE}: tasks for the Hub and inspect_ai")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("names", nargs="*", metavar="NAME", help="datasets with packaged rows (not bbq); default: all")
    parser.add_argument("--output", type=Path, default=DATASETS, help="where the folders are")
    parser.add_argument(
        "--record", action="store_true", help=f"record the versions' rows in {RECORD.name}, for the tests"
    )
    options = parser.parse_args()
    names = options.names or packaged_dataset_names()
    try:
        for name in names:
            refuse_unpackaged(name)
        for name in names:
            build(name, options.output)
        if options.record:
            print(f"{RECORD}: {', '.join(write_records(RECORD, names)) or 'nothing'} new")
    except EvenhandError as error:
        sys.exit(f"build_datasets: {error}")


if __name__ == "__main__":
    main()
