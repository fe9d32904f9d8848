"""Make agentic and communal sentence pairs as LAC was made: a model paraphrases the sentences of biographies.

python scripts/make_agency_pairs.py --texts bios.csv --text-column bio --model embedded --limit 200 --output runs/pairs

LAC's own biographies: the evaluation split of potsawee/wiki_bio_gpt3_hallucination, column wiki_bio_text.
A run that was interrupted goes on when the same command is given again.
"""

import argparse
import sys
from pathlib import Path

import transformers
from rich.console import Console

from evenhand.agency_pairs import MAX_NEW_TOKENS, NAME, PAIRS, make_agency_pairs
from evenhand.errors import EvenhandError
from evenhand.models.errors import ModelError
from evenhand.models.registry import ACCEPTED
from evenhand.progress import ProgressBar
from evenhand.run_folder import RunFolder
from evenhand.settings import Settings, TextSource
from evenhand.tables import Cell, Table, print_table
from evenhand.texts import TextColumns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True, metavar="FILE", help="CSV, JSONL or parquet, one biography a row")
    parser.add_argument("--text-column", default=TextColumns.text, metavar="NAME", help="(default: %(default)s)")
    parser.add_argument("--model", default="embedded", help=f"{ACCEPTED} (default: %(default)s)")
    parser.add_argument("--revision", metavar="REV", help="branch, tag or commit of a Hub model")
    parser.add_argument("--limit", type=int, metavar="N", help="sentences to paraphrase, drawn (default: all)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the draw and of sampling")
    parser.add_argument("--temperature", type=float, help="0: greedy (default: the model's own sampling)")
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument(
        "--max-new-tokens", type=int, default=MAX_NEW_TOKENS, metavar="N", help="(default: %(default)s)"
    )
    parser.add_argument("--dtype", default="auto", choices=("auto", "float32", "bfloat16", "float16"))
    parser.add_argument("--batch-size", type=int, default=16, metavar="N", help="prompts in a forward pass")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the run folder")
    options = vars(parser.parse_args())
    output = options.pop("output")
    source = TextSource(options.pop("texts"), TextColumns(text=options.pop("text_column")))
    transformers.utils.logging.disable_progress_bar()
    try:
        with ProgressBar(NAME) as bar:
            folder = make_agency_pairs(Settings(NAME, texts=source, **options), output, on_progress=bar.update)
    except (EvenhandError, ModelError) as error:
        sys.exit(f"make_agency_pairs: {error}")
    except KeyboardInterrupt:
        sys.exit("make_agency_pairs: stopped; every reply so far is stored. Run the same command again to go on.")
    print_table(summary(folder), Console(width=128))
    print(f"To label: evenhand annotate export {folder.path / PAIRS} --scheme agency --column text")


def summary(folder: RunFolder) -> Table:
    counts = folder.read_results()["counts"]
    lines = [(step, what, n) for step, of_step in counts.items() for what, n in of_step.items()]
    cells = tuple((Cell(step), Cell(what.replace("_", " ")), Cell(f"{n:,}")) for step, what, n in lines if n)
    return Table("Agentic and communal paraphrases", ("step", "what", "n"), cells, "Counts of 0 are not shown.")


if __name__ == "__main__":
    main()
