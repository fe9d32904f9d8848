"""implicit_bias on a model: without interaction, with it, and with a goal; each without and with self-reflection.

Interrupted, it goes on where it stopped when it is called again. comparison.html has Figures 6, 17 and 18 of the paper:
each variant beside the one without a mitigation.

By default it is of a size for the embedded model and two cores, and ranks assignments, for that model is too small to
keep the paper's format. The whole data, as the paper asks it:

python scripts/run_implicit_bias.py --model MODEL --protocol generate --limit 111 --limit-alone 111 --max-new-tokens 500
"""

import argparse
from pathlib import Path

from evenhand.cli import called
from evenhand.command_line import ScriptHelp

SETTINGS = {
    "none": ["--setting", "none"],
    "interaction": ["--setting", "interaction"],
    "goal": ["--setting", "interaction", "--goal"],
}
MITIGATIONS = {
    "base": [],
    "reflection": ["--mitigation", "self-reflection"],
    "reflection-ice": ["--mitigation", "self-reflection-ice"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand run")
    parser.add_argument("--protocol", default="rank", choices=["generate", "rank"], help="generate is the paper's")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS), help="of the agents")
    parser.add_argument(
        "--mitigations", nargs="+", default=["base", "reflection"], choices=list(MITIGATIONS), help="of the answers"
    )
    parser.add_argument("--limit", default="5", help="scenarios of the variants with interaction, of 111")
    parser.add_argument("--limit-alone", default="42", help="scenarios of those without")
    parser.add_argument("--max-new-tokens", default="40", help="of an utterance")
    parser.add_argument("--runs", default="5", help="as the paper")
    parser.add_argument("--output", type=Path, default=Path("runs/implicit_bias"), help="where the runs are kept")
    parser.add_argument("options", nargs="*", help="further options of evenhand run, after --")
    arguments = parser.parse_args()
    runs = []
    for setting in arguments.settings:
        limit = arguments.limit_alone if setting == "none" else arguments.limit
        for name in arguments.mitigations:
            runs.append(str(arguments.output / f"{setting}-{name}"))
            options = ["--model", arguments.model, "--runs", arguments.runs, "--limit", limit, "--output", runs[-1]]
            options += ["--protocol", arguments.protocol, "--max-new-tokens", arguments.max_new_tokens]
            options += [*SETTINGS[setting], *MITIGATIONS[name], *arguments.options]
            called(["run", "implicit_bias", *options])
    if len(runs) > 1:
        called(["compare", *runs, "--output", str(arguments.output / "comparison.html")])


if __name__ == "__main__":
    main()
