"""Write data/<config>/<split>.parquet of every dataset folder from its loading script.

python scripts/build_datasets.py [--output DIR] [NAME …]
"""

import argparse
import tempfile
from pathlib import Path

import datasets
import pyarrow.parquet

from evenhand.command_line import ScriptHelp
from evenhand.library import DATASETS, dataset_builder_class


def build(name: str, output: Path) -> None:
    builder_class = dataset_builder_class(name)
    for config in builder_class.BUILDER_CONFIGS:
        with tempfile.TemporaryDirectory() as cache:
            builder = builder_class(cache_dir=cache, config_name=config.name, base_path=str(DATASETS / name))
            builder.download_and_prepare()
            for split, rows in builder.as_dataset().items():
                path = output / name / "data" / config.name / f"{split}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                # Without the library's own schema metadata: datasets 3 cannot read what datasets 4 and 5 write there.
                table = rows.data.table.replace_schema_metadata(None)
                pyarrow.parquet.write_table(table, path, compression="zstd", compression_level=12)
                print(f"{path}: {len(rows):,} rows, {path.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("names", nargs="*", metavar="NAME", help="dataset folders; all by default")
    parser.add_argument("--output", type=Path, default=DATASETS, help="where the folders are")
    arguments = parser.parse_args()
    datasets.disable_progress_bars()
    for name in arguments.names or sorted(path.parent.name for path in DATASETS.glob("*/loading_script.py")):
        build(name, arguments.output)


if __name__ == "__main__":
    main()
