"""Make agentic and communal sentence pairs as LAC was made: a model paraphrases the sentences of biographies.

python scripts/make_agency_pairs.py --texts bios.csv --text-column bio --model embedded --limit 200 --output runs/pairs

LAC's own biographies: the evaluation split of potsawee/wiki_bio_gpt3_hallucination, column wiki_bio_text.
A run that was interrupted goes on when the same command is given again.
"""

import argparse
import sys
from pathlib import Path

from generating import generate
from rich.console import Console

from evenhand.command_line import Group, parse
from evenhand.report.tables import print_table
from evenhand.tools.generation.agency_pairs import PAIRS, PairGeneration, make_agency_pairs
from evenhand.tools.generation.pipeline import counts_table


def main() -> None:
    groups = {"pairs": Group("what is paraphrased, and by whom", PairGeneration)}
    parsed, given = parse("make_agency_pairs.py", __doc__.split("\n\n")[0], sys.argv[1:], groups, _add_output)
    folder = generate(
        "make_agency_pairs",
        lambda bar: make_agency_pairs(PairGeneration(**given["pairs"]), parsed.output, on_progress=bar.update),
    )
    counts = folder.read_record()["counts"]
    print_table(counts_table(counts, "Agentic and communal paraphrases"), Console(width=128))
    print(f"To label: evenhand annotate export {folder.path / PAIRS} --scheme agency --column text")


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the run folder")


if __name__ == "__main__":
    main()
