"""Make scenarios of task assignment, and reasons why assignments are biased or not, as paper 000 did, with any model.

python scripts/make_scenarios.py --domain "law enforcement" --female 2 --male 2 --n 50 --state-stereotypes \\
    --model Qwen/Qwen2.5-7B-Instruct --output runs/scenarios

The paper's prompt alone (without --state-stereotypes) leaves open which task is whose: people say it then, and the same
command with --labelled goes on from there. A run that was interrupted goes on when the same command is given again.
"""

import argparse
import sys
from pathlib import Path

import transformers
from rich.console import Console

from evenhand.errors import EvenhandError
from evenhand.flow.progress import ProgressBar
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.settings import Settings
from evenhand.models.errors import ModelError
from evenhand.report.tables import print_table
from evenhand.tools.generation.pipeline import add_model_options, counts_table
from evenhand.tools.generation.scenario_rules import Wanted
from evenhand.tools.generation.scenarios import NAME, SAMPLING, SCHEME, TO_JUDGE, TO_LABEL, make_scenarios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", required=True, help="where implicit gender biases may occur: office, hospital, …")
    parser.add_argument("--female", type=int, default=2, metavar="N", help="female characters (default: %(default)s)")
    parser.add_argument("--male", type=int, default=2, metavar="N", help="male characters (default: %(default)s)")
    parser.add_argument("--n", type=int, required=True, metavar="N", help="scenarios to ask for, each by itself")
    parser.add_argument(
        "--state-stereotypes", action="store_true", help="ask in a further sentence which task is whose by stereotype"
    )
    parser.add_argument("--labelled", type=Path, metavar="MERGED", help=f"people's labels of {TO_LABEL}, merged")
    add_model_options(parser, **SAMPLING)
    options = vars(parser.parse_args())
    output, labelled, n = options.pop("output"), options.pop("labelled"), options.pop("n")
    wanted = [options.pop(name) for name in ("domain", "female", "male", "state_stereotypes")]
    transformers.utils.logging.disable_progress_bar()
    try:
        with ProgressBar(NAME) as bar:
            settings = Settings(NAME, limit=n, **options)
            folder = make_scenarios(settings, Wanted(*wanted), output, on_progress=bar.update, labelled=labelled)
    except (EvenhandError, ModelError) as error:
        sys.exit(f"make_scenarios: {error}")
    except KeyboardInterrupt:
        sys.exit("make_scenarios: stopped; every reply so far is stored. Run the same command again to go on.")
    print_table(counts_table(folder.read_results()["counts"], "Scenarios and reasons"), Console(width=128))
    for line in advice(folder):
        print(line)


def advice(folder: RunFolder) -> list[str]:
    """What people may do next with the files that have a row."""
    label, judge = folder.path / TO_LABEL, folder.path / TO_JUDGE
    steps = {
        label: f"To say whose tasks are: evenhand annotate export {label} --scheme {folder.path / SCHEME} --column "
        "scenario --column task --output tasks.csv; give the merged labels as --labelled to the same command.",
        judge: f"To judge: evenhand annotate export {judge} --scheme yes-no --column story --column reason "
        "--label-column presence=biased --annotators 2 --output judged.csv",
    }
    return [step for path, step in steps.items() if path.stat().st_size]


if __name__ == "__main__":
    main()
