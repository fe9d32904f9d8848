"""Make agentic and communal sentence pairs as LAC was made: a model paraphrases the sentences of biographies.

python scripts/make_agency_pairs.py --texts bios.csv --text-column bio --model embedded --limit 200 --output runs/pairs

LAC's own biographies: the evaluation split of potsawee/wiki_bio_gpt3_hallucination, column wiki_bio_text.
An interrupted run resumes when the same command is given again.
"""

from generating import generate_rows

from evenhand.tools.generation.agency_pairs import PAIRS, PairGeneration, make_agency_pairs


def main() -> None:
    folder = generate_rows("make_agency_pairs", __doc__, PairGeneration, make_agency_pairs)
    print(f"To label: evenhand annotate export {folder.path / PAIRS} --scheme agency --column text --output labels.csv")


if __name__ == "__main__":
    main()
