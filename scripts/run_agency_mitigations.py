"""LABE's mitigations on a model: the same sample of prompts without and with each, and their comparisons.

Interrupted, it goes on where it stopped when it is called again.

python scripts/run_agency_mitigations.py --model embedded --output runs/agency
"""

import argparse
from pathlib import Path

from evenhand.cli import called
from evenhand.command_line import ScriptHelp

BY_SENTENCE = ["--mitigation", "selective-rewrite", "--rewrite-mode", "sentence"]
VARIANTS = {
    "base": [],
    "fairness-instruction": ["--mitigation", "fairness-instruction"],
    "selective-rewrite": ["--mitigation", "selective-rewrite"],
    "selective-rewrite-by-sentence": BY_SENTENCE,
    "selective-rewrite-by-sentence-judged": [*BY_SENTENCE, "--accept", "judged"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand run")
    parser.add_argument("--config", default="professor_review", help="of labe")
    parser.add_argument("--sample", default="96", help="as the paper's section 5")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), help="of the run")
    parser.add_argument("--output", type=Path, default=Path("runs/agency"), help="where the runs are kept")
    parser.add_argument("options", nargs="*", help="further options of evenhand run, after --")
    arguments = parser.parse_args()
    common = ["--model", arguments.model, "--config", arguments.config, "--sample", arguments.sample]
    for name in arguments.variants:
        output = ["--output", str(arguments.output / name)]
        called(["run", "labe", *common, *VARIANTS[name], *arguments.options, *output])
    base = arguments.output / "base"
    for name in arguments.variants:
        if name != "base" and base.is_dir():
            page = str(arguments.output / f"{name}.html")
            called(["compare", str(base), str(arguments.output / name), "--output", page])


if __name__ == "__main__":
    main()
