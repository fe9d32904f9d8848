"""Copy the files that metrics share into each metric's folder: metrics stand alone on the Hub.

python scripts/copy_into_metrics.py
"""

import shutil
from pathlib import Path

import evenhand.statistics
from evenhand.library import METRICS, metric_names

SHARED = ("resampling.py", "columns.py", "crossed.py")


def main() -> None:
    for name in metric_names():
        for file in SHARED:
            if not (METRICS / name / file).exists():
                continue  # this one doesn't need it
            print(shutil.copy(Path(evenhand.statistics.__file__).with_name(file), METRICS / name / file))


if __name__ == "__main__":
    main()
