"""Make agentic and communal sentence pairs as LAC was made: a model paraphrases the sentences of biographies.

python scripts/make_agency_pairs.py --texts bios.csv --text-column bio --model embedded --limit 200 --output runs/pairs

LAC's own biographies: the evaluation split of potsawee/wiki_bio_gpt3_hallucination, column wiki_bio_text.
An interrupted run resumes when the same command is given again.
"""

import argparse
import sys
from pathlib import Path

from generating import generate
from rich.console import Console

from evenhand.command_line import Group, parse
from evenhand.report.tables import Cell, Table, count, print_table
from evenhand.tools.generation.agency_pairs import PAIRS, PairGeneration, make_agency_pairs


def main() -> None:
    groups = {"options": Group("options", PairGeneration)}
    parsed, given = parse("make_agency_pairs.py", __doc__.split("\n\n")[0], sys.argv[1:], groups, add_output)
    folder = generate(
        "make_agency_pairs",
        lambda bar: make_agency_pairs(PairGeneration(**given["options"]), parsed.output, on_progress=bar.update),
    )
    counts = folder.read_record()["counts"]
    rows = [(Cell(step), Cell(what), count(n)) for step, found in counts.items() for what, n in found.items() if n]
    print_table(Table("Agentic and communal paraphrases", ("step", "what", "n"), tuple(rows)), Console(width=128))
    print(f"To label: evenhand annotate export {folder.path / PAIRS} --scheme agency --column text --output labels.csv")


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="output directory")


if __name__ == "__main__":
    main()
