"""Reproduce LABE's Table 12: string matching, prompting a model, and trained classifiers, on one split.

python scripts/agency_baselines.py --data official --split validation --classifiers DIR --model embedded
"""

import argparse

import transformers
from rich.console import Console

from evenhand.command_line import ScriptHelp, whole
from evenhand.language_agency.baselines import PROMPTS, PromptedClassifier
from evenhand.language_agency.judging import ABSTAINS_BELOW, judge, judge_undecided
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
    options = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()

    rows = load_dataset("language_agency", split=options.split, source=options.data)
    rows = rows.select(range(min(options.limit or len(rows), len(rows))))
    classifiers = {each.name: each.classifier for each in load_classifiers(options.classifiers)}
    models = {name: load_model(name) for name in options.model}
    classifiers |= {
        f"{name}, {how}": PromptedClassifier(model, how) for name, model in models.items() for how in PROMPTS
    }
    decided, undecided = [], []
    for name, classifier in classifiers.items():
        judged = judge(classifier, rows)
        figures = (figure(judged[key], judged["intervals"][key]) for key in FIGURES)
        decided.append((name, *figures, str(judged["unread"])))
        for kind, of_kind in judge_undecided(classifier).items():
            figures = (figure(of_kind["abstained"]), figure(of_kind["calibration_error"], digits=3), str(of_kind["n"]))
            undecided.append((name, kind, *figures))
    for name, printed in TABLE_12.items():
        decided.append((f" {name}, published", *(f"{value:.2f}" for value in printed), ""))
    console = Console(width=128)
    title = f"Language agency, classified: {options.data}, {options.split}, {len(rows):,} sentences"
    note = (
        "Percent; brackets: 95 % interval. Unread answers count as wrong. Published: LABE, Table 12, LAC's test split."
    )
    tables = [
        (title, ("classifier", *FIGURES.values(), "unread"), decided, note),
        (
            "Sentences to which neither label belongs",
            ("classifier", "sentences", "abstains", "calibration error", "n"),
            undecided,
            f"Abstains: percent of sentences with a confidence under {100 * ABSTAINS_BELOW:.0f} %, or unread. "
            "Calibration error: mean distance of the probability from one half.",
        ),
    ]
    for title, columns, texts, note in tables:
        print_table(Table(title, columns, tuple(tuple(map(Cell, row)) for row in texts), note), console)


if __name__ == "__main__":
    main()
