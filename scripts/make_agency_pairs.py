"""Make agentic and communal sentence pairs as LAC was made: a model paraphrases the sentences of biographies.

python scripts/make_agency_pairs.py --texts bios.csv --text-column bio --model embedded --limit 200 --output runs/pairs

LAC's own biographies: the evaluation split of potsawee/wiki_bio_gpt3_hallucination, column wiki_bio_text.
A run that was interrupted goes on when the same command is given again.
"""

import argparse
import sys

import transformers
from rich.console import Console

from evenhand.benchmarks.labe.texts import TextColumns
from evenhand.errors import EvenhandError
from evenhand.flow.progress import ProgressBar
from evenhand.flow.settings import Settings, TextSource
from evenhand.models.errors import ModelError
from evenhand.report.tables import print_table
from evenhand.tools.generation.agency_pairs import MAX_NEW_TOKENS, NAME, PAIRS, make_agency_pairs
from evenhand.tools.generation.pipeline import add_model_options, counts_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True, metavar="FILE", help="CSV, JSONL or parquet, one biography a row")
    parser.add_argument("--text-column", default=TextColumns.text, metavar="NAME", help="(default: %(default)s)")
    parser.add_argument("--limit", type=int, metavar="N", help="sentences to paraphrase, drawn (default: all)")
    add_model_options(parser, temperature=None, top_p=1.0, max_new_tokens=MAX_NEW_TOKENS)
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
    counts = folder.read_results()["counts"]
    print_table(counts_table(counts, "Agentic and communal paraphrases"), Console(width=128))
    print(f"To label: evenhand annotate export {folder.path / PAIRS} --scheme agency --column text")


if __name__ == "__main__":
    main()
