"""LABE's Table 12 on this machine: string matching, prompting a model, and trained classifiers, on one split.

python scripts/agency_baselines.py --data official --split validation --classifiers DIR --model embedded
"""

import argparse

import transformers
from rich.console import Console
from tqdm import tqdm

from evenhand.command_line import ScriptHelp, whole
from evenhand.language_agency.baselines import PROMPTS, PromptedClassifier
from evenhand.language_agency.judging import ABSTAINS_BELOW, judge, judge_undecided, undecided_sentences
from evenhand.language_agency.named_classifiers import LEXICON, load_classifiers
from evenhand.language_agency.trainer import FIGURES, TABLE_12
from evenhand.library import load_dataset
from evenhand.models.registry import load_model
from evenhand.report.tables import Cell, Table, figure, print_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--data", default="evenhand", choices=("evenhand", "official"), help="whose sentences")
    parser.add_argument("--split", default="test", help="of the data")
    parser.add_argument("--limit", type=whole(), help="sentences; all by default")
    parser.add_argument("--classifiers", nargs="*", default=[LEXICON], help="as of evenhand run labe")
    parser.add_argument("--model", nargs="*", default=[], help="models to prompt in each setting of Table 11")
    arguments = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()

    rows = load_dataset("language_agency", split=arguments.split, source=arguments.data)
    rows = rows.select(range(min(arguments.limit or len(rows), len(rows))))
    named = {each.name: each.classifier for each in load_classifiers(arguments.classifiers)}
    models = {name: load_model(name) for name in arguments.model}
    n_prompted = len(rows) + sum(map(len, undecided_sentences().values()))
    bar = tqdm(total=n_prompted * len(models) * len(PROMPTS), desc="prompting", unit="sentence", disable=not models)
    named |= {
        f"{name}, {how}": PromptedClassifier(model, how, on_answer=bar.update)
        for name, model in models.items()
        for how in PROMPTS
    }
    lines, kept_back = [], []
    for name, classifier in named.items():
        judged = judge(classifier, rows)
        figures = (figure(judged[key], judged["intervals"][key]) for key in FIGURES)
        lines.append(tuple(Cell(text) for text in (name, *figures, str(judged["unread"]))))
        for kind, kept in judge_undecided(classifier).items():
            figures = (figure(kept["abstained"]), figure(kept["calibration_error"], digits=3), str(kept["n"]))
            kept_back.append(tuple(Cell(text) for text in (name, kind, *figures)))
    bar.close()
    for name, printed in TABLE_12.items():
        texts = (f" {name}, published", *(f"{value:.2f}" for value in printed), "")
        lines.append(tuple(Cell(text, published=True) for text in texts))
    title = f"Language agency, classified: {arguments.data}, {arguments.split}, {len(rows):,} sentences"
    note = (
        "Percent; brackets: 95 % interval. Unread answers count as wrong. Published: LABE, Table 12, LAC's test split."
    )
    console = Console(width=128)
    print_table(Table(title, ("classifier", *FIGURES.values(), "unread"), tuple(lines), note), console)
    columns = ("classifier", "sentences", "abstains", "calibration error", "n")
    note = (
        f"Abstains: percent of sentences with a confidence under {100 * ABSTAINS_BELOW:.0f} %, or unread. Calibration "
        "error: mean distance of the probability from one half."
    )
    print_table(Table("Sentences to which neither label belongs", columns, tuple(kept_back), note), console)


if __name__ == "__main__":
    main()
