"""Copy the files that metrics share into each metric's folder: metrics stand alone on the Hub.

python scripts/copy_into_metrics.py
"""

import argparse
import shutil
from pathlib import Path

import evenhand.statistics
from evenhand.command_line import ScriptHelp
from evenhand.library import METRICS, metric_names

SHARED = ("resampling.py", "columns.py")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp).parse_args()
    for name in metric_names():
        for file in SHARED:
            print(shutil.copy(Path(evenhand.statistics.__file__).with_name(file), METRICS / name / file))


if __name__ == "__main__":
    main()
