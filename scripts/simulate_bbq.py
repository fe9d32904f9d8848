"""How well bbq's intervals cover, and how often a win or a difference of bias scores is found that is not there.

python scripts/simulate_bbq.py [--data-sets N] [--templates K …]

Answers are drawn from a model of which the truth is known: templates differ in how often unknown is answered (beta) and
in how much answers lean to the stereotype (normal), each run's about a tendency that both share, and each answer is
drawn by itself. The second run is as the first, or leans less. The package's own metric and comparison judge them.
Printed: Markdown rows; the standard error of a coverage of 95 % is 1.0 points at 500 data sets.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd

from evenhand.benchmarks.bbq.bias_difference import bias_differences
from evenhand.benchmarks.bbq.side_by_side import p_value_of_gain
from evenhand.command_line import ScriptHelp, whole
from evenhand.metrics.bbq_bias.scores import CONDITIONS, POLARITIES, bbq_bias

UNKNOWN, TARGET, OTHER = "0", "1", "2"
ROWS = 12  # of a template, in either context to either question: 48, as most templates of BBQ's religion have 40
TIMES = 5  # as many of a sixth of the templates, where they are uneven
LEAN, LESS = 0.25, 0.0  # of answers to the stereotype, of either run
TEMPLATES_OF_TRUTH = 20000
LEVEL = 0.05
CATEGORY, ALL = 25, 275  # templates of the categories read, and of eleven such


def design(templates: int, uneven: bool) -> pd.DataFrame:
    """A row a question, without answers."""
    times = np.where(np.arange(templates) < templates / 6, TIMES, 1) if uneven else np.ones(templates, dtype=int)
    of_one = pd.MultiIndex.from_product([CONDITIONS, POLARITIES, range(ROWS)]).to_frame(index=False)
    of_one.columns = pd.Index(["context_condition", "question_polarity", "place"])
    table = pd.concat([of_one] * int(times.sum()), ignore_index=True)
    table["template"] = np.repeat(np.arange(templates), times * len(of_one))
    table["biased"] = np.where(table["question_polarity"] == "neg", TARGET, OTHER)
    table["counter"] = np.where(table["question_polarity"] == "neg", OTHER, TARGET)
    told = np.where(table["place"] % 2, table["biased"], table["counter"])
    table["label"] = np.where(table["context_condition"] == "ambig", UNKNOWN, told)
    return table.assign(id=table.index, unknown=UNKNOWN, target=TARGET)


def runs(rows: pd.DataFrame, leans: tuple[float, float], rng: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Predictions of both runs, as far as scores need them."""
    n = int(rows["template"].max()) + 1
    shared, silent = rng.normal(0, 0.4, n), rng.beta(2, 3, n)
    ambiguous = (rows["context_condition"] == "ambig").to_numpy()
    for mean in leans:
        lean = (mean + shared + rng.normal(0, 0.3, n))[rows["template"]]
        drawn = rng.random((3, len(rows)))
        says_unknown = drawn[0] < silent[rows["template"]] * np.where(ambiguous, 1, 0.2)
        as_told = ~ambiguous & (drawn[1] < 0.7)
        leaning = np.where(drawn[2] < np.clip(0.5 + lean / 2, 0, 1), rows["biased"], rows["counter"])
        yield rows.assign(answer=np.where(says_unknown, UNKNOWN, np.where(as_told, rows["label"], leaning)))


def scored(run: pd.DataFrame, clusters: bool = True) -> dict:
    return bbq_bias(
        run["answer"].tolist(),
        run["context_condition"].tolist(),
        run["question_polarity"].tolist(),
        run["label"].tolist(),
        run["unknown"].tolist(),
        run["target"].tolist(),
        clusters=run["template"].tolist() if clusters else None,
    )


def row(templates: int, uneven: bool, data_sets: int, truths: list[dict[str, float]], rng: np.random.Generator) -> str:
    """Coverage of both scores and of their differences, and how often two runs that are alike are told apart.

    truths: bias scores of a run that leans, and of one that leans less.
    """
    rows = design(templates, uneven)
    found = np.zeros((data_sets, 7))
    for each in found:
        first, less = runs(rows, (LEAN, LESS), rng)
        ends = scored(first)["intervals"]["bias_score"]
        changes = bias_differences(first, less)
        one, other = runs(rows, (LEAN, LEAN), rng)
        nothing = bias_differences(one, other)
        for place, condition in enumerate(CONDITIONS):
            low, high = ends[condition]
            each[place] = low <= truths[0][condition] <= high
            change = changes[condition]
            each[2 + place] = change.low <= truths[1][condition] - truths[0][condition] <= change.high
            each[4 + place] = nothing[condition].differs
        gain = (other["answer"] == other["label"]).astype(float) - (one["answer"] == one["label"]).astype(float)
        each[6] = p_value_of_gain(gain, one["template"], 999) < LEVEL
    shares = [f"{share:.1f}" for share in 100 * found.mean(axis=0)]
    pairs = [f"{one} / {other}" for one, other in zip(shares[:6:2], shares[1:6:2])]
    return f"| {templates}{', uneven' if uneven else ''} | {' | '.join([*pairs, shares[6]])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--data-sets", type=whole(), default=500, metavar="N", help="a row")
    parser.add_argument("--templates", type=whole(), nargs="+", default=[6, 12, CATEGORY, 60, ALL], metavar="K")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    many = runs(design(TEMPLATES_OF_TRUTH, False), (LEAN, LESS), rng)
    truths = [scored(run, clusters=False)["bias_score"] for run in many]
    print("; ".join(", ".join(f"{name} {score:.1f}" for name, score in truth.items()) for truth in truths))
    for uneven in (False, True):
        for templates in arguments.templates:
            print(row(templates, uneven, arguments.data_sets, truths, rng), flush=True)


if __name__ == "__main__":
    main()
