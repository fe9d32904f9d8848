"""Copy the files that metrics share into each metric's folder: metrics stand alone on the Hub.

python scripts/copy_into_metrics.py
"""

import argparse
from pathlib import Path

import evenhand
from evenhand.command_line import ScriptHelp
from evenhand.library import METRICS, metric_names
from evenhand.whole_files import write_whole

SHARED = {
    "statistics": ("resampling.py", "columns.py", "crossed.py"),
    "answers": ("short_answers.py", "refusals.py"),
}


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp).parse_args()
    for name in metric_names():
        for folder, files in SHARED.items():
            for file in files:
                copy = METRICS / name / file
                if not copy.exists():
                    continue  # this one doesn't need it
                write_whole(copy, (Path(evenhand.__file__).parent / folder / file).read_bytes())
                print(copy)


if __name__ == "__main__":
    main()
