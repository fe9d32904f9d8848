"""Make scenarios of task assignment, and reasons why assignments are biased or not, as Borah & Mihalcea did.

python scripts/make_scenarios.py --domain "law enforcement" --female 2 --male 2 --n 50 --state-stereotypes \\
    --model Qwen/Qwen2.5-7B-Instruct --output runs/scenarios

The paper's prompt alone (without --state-stereotypes) leaves open which task is whose: people say it then, and the same
command with --labelled goes on from there. A run that was interrupted goes on when the same command is given again.
"""

import argparse
import sys
from pathlib import Path

from generating import generate
from rich.console import Console

from evenhand.command_line import Group, parse
from evenhand.flow.run_folder import RunFolder
from evenhand.progress import ProgressBar
from evenhand.report.tables import print_table
from evenhand.tools.generation.pipeline import counts_table
from evenhand.tools.generation.scenario_rules import Wanted
from evenhand.tools.generation.scenarios import SCHEME, TO_JUDGE, TO_LABEL, ScenarioGeneration, make_scenarios

GROUPS = {"scenario": Group("what is asked for", Wanted), "model": Group("the model", ScenarioGeneration)}


def main() -> None:
    parsed, given = parse("make_scenarios.py", __doc__.split("\n\n")[0], sys.argv[1:], GROUPS, _add_files)

    def make(bar: ProgressBar) -> RunFolder:
        config = ScenarioGeneration(wanted=Wanted(**given["scenario"]), **given["model"])
        return make_scenarios(config, parsed.output, on_progress=bar.update, labelled=parsed.labelled)

    folder = generate("make_scenarios", make)
    print_table(counts_table(folder.read_record()["counts"], "Scenarios and reasons"), Console(width=128))
    for line in advice(folder):
        print(line)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labelled", type=Path, metavar="MERGED", help=f"people's labels of {TO_LABEL}, merged")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the run folder")


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
