"""How well bbq's intervals cover, and how often a win or a difference of bias scores is found that is not there.

python scripts/simulate_bbq.py [--data-sets N] [--templates K …] [--only scores unequal wins]

Answers are drawn from a model of which the truth is known: templates differ in how often unknown is answered (beta) and
in how much answers lean to the stereotype (normal), each run's about a tendency that both share, and each answer is
drawn by itself. The second run is as the first, or leans less. Wins are looked for where templates gain and lose
accuracy, too, but not on average. The package's own metric and comparison judge them. Printed: two Markdown tables; the
standard error of a coverage of 95 % is 0.7 points at 1,000 data sets, that of 5 % found is 0.5 at 2,000.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from evenhand.benchmarks.bbq.bias_difference import bias_difference
from evenhand.benchmarks.bbq.comparing import p_value_of_gain
from evenhand.command_line import ScriptHelp, whole
from evenhand.metrics.bbq_bias.scores import CONDITIONS, POLARITIES, bbq_bias
from evenhand.statistics.resampling import LEVEL

UNKNOWN, TARGET, OTHER = "0", "1", "2"
ROWS = 12  # of a template, in either context to either question: 48, as most templates of BBQ's religion have 40
TIMES = 5  # as many of a sixth of the templates, where they are uneven
LEAN, LESS = 0.25, 0.0  # of answers to the stereotype, of either run
TEMPLATES_OF_TRUTH = 20000
CHANGES = {
    "runs alike": None,
    "each template its own way": 0.3,
    "one in ten much worse, others better": (0.1, 0.45, 0.05),
}
"""Of templates' accuracies, 0 on average: a standard deviation, or a share of them that lose, how much, and what others
gain; None: runs of one truth."""
UNEQUAL = (((1, 9), 0.3), ((9, 1), 1.5))  # of either run: how often unknown (beta), how much templates differ
WINS_FOR_ONE = 2  # data sets in which wins are looked for, for each in which scores are
PARTS = ("scores", "unequal", "wins")
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


def scores(templates: int, uneven: bool, data_sets: int, truths: list[dict[str, float]]) -> list[str]:
    """Coverage of both scores and of their differences, and how often differences of runs alike are found: cells.

    truths: bias scores of a run that leans, and of one that leans less.
    """
    rng, rows = np.random.default_rng([0, templates, uneven]), design(templates, uneven)
    found = np.zeros((data_sets, 6))
    for each in found:
        first, less = runs(rows, (LEAN, LESS), rng)
        ends = scored(first)["intervals"]["bias_score"]
        equal = [*runs(rows, (LEAN, LEAN), rng)]
        for place, condition in enumerate(CONDITIONS):
            low, high = ends[condition]
            each[place] = low <= truths[0][condition] <= high
            change, nothing = (
                bias_difference(*(run[run["context_condition"] == condition] for run in pair))
                for pair in ((first, less), equal)
            )
            each[2 + place] = change.low <= truths[1][condition] - truths[0][condition] <= change.high
            each[4 + place] = nothing.p_value < LEVEL
    shares = [f"{share:.1f}" for share in 100 * found.mean(axis=0)]
    return [f"{one} / {other}" for one, other in zip(shares[::2], shares[1::2])]


def unequal(templates: int, uneven: bool, data_sets: int) -> list[str]:
    """Coverage of no difference of disambiguated scores, and how often p finds one, of runs that are unequally sure.

    Neither leans; the second seldom names a group, unevenly, and its templates differ five times as much (log-odds).
    """
    rng, rows = np.random.default_rng([2, templates, uneven]), design(templates, uneven)
    rows = rows[rows["context_condition"] == "disambig"]
    held, found = [], []
    for _ in range(data_sets):
        both = []
        for silent, spread in UNEQUAL:
            says_unknown = rng.random(len(rows)) < rng.beta(*silent, templates)[rows["template"]]
            odds = np.exp(rng.normal(0, spread, templates))[rows["template"]]
            leaning = np.where(rng.random(len(rows)) < odds / (1 + odds), rows["biased"], rows["counter"])
            both.append(rows.assign(answer=np.where(says_unknown, UNKNOWN, leaning)))
        change = bias_difference(*both)
        if change.known:
            held.append(change.low <= 0 <= change.high)
            found.append(change.p_value < LEVEL)
    return [f"{100 * np.mean(each):.1f}" for each in (held, found)]


def gained(
    rows: pd.DataFrame, change: float | tuple[float, float, float] | None, rng: np.random.Generator
) -> pd.Series:
    """1 where the second run alone is right, -1 where the first alone is, of a change (CHANGES) of 0 on average."""
    if change is None:
        one, other = (run["answer"] == run["label"] for run in runs(rows, (LEAN, LEAN), rng))
        return other.astype(float) - one.astype(float)
    n = int(rows["template"].max()) + 1
    if isinstance(change, float):
        gains = rng.normal(0, change, n).clip(-1, 1)
    else:
        share, loss, gain = change
        gains = np.where(rng.random(n) < share, -loss, gain)
    right = rng.random((2, len(rows))) < 0.5 + np.array([[-0.5], [0.5]]) * gains[rows["template"]]
    return pd.Series(right[1].astype(float) - right[0])


def wins(templates: int, uneven: bool, data_sets: int) -> list[str]:
    """How often a win or a loss is found where nothing is: a cell for each of CHANGES."""
    rng, rows = np.random.default_rng([1, templates, uneven]), design(templates, uneven)
    found = {
        name: [p_value_of_gain(gained(rows, change, rng), rows["template"]) < LEVEL for _ in range(data_sets)]
        for name, change in CHANGES.items()
    }
    return [f"{100 * np.mean(each):.1f}" for each in found.values()]


def table(columns: Sequence[str], templates: Sequence[int], cells: Callable[[int, bool], list[str]]) -> None:
    print(f"| templates | {' | '.join(columns)} |\n| {' | '.join(['---'] * (1 + len(columns)))} |")
    for uneven in (False, True):
        for n in templates:
            print(f"| {n}{', uneven' if uneven else ''} | {' | '.join(cells(n, uneven))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--data-sets", type=whole(), default=1000, metavar="N", help="a row; of wins twice as many")
    parser.add_argument("--templates", type=whole(), nargs="+", default=[6, 12, CATEGORY, 60, ALL], metavar="K")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    arguments = parser.parse_args()
    n = arguments.data_sets
    if "scores" in arguments.only:
        many = runs(design(TEMPLATES_OF_TRUTH, False), (LEAN, LESS), np.random.default_rng(0))
        truths = [scored(run, clusters=False)["bias_score"] for run in many]
        print("; ".join(", ".join(f"{name} {score:.1f}" for name, score in truth.items()) for truth in truths))
        print()
        names = ("coverage of scores", "coverage of differences", "difference found where nothing is")
        columns = [f"{name}, ambiguous / disambiguated, %" for name in names]
        table(columns, arguments.templates, lambda k, uneven: scores(k, uneven, n, truths))
        print()
    if "unequal" in arguments.only:
        table(("coverage, %", "found, %"), arguments.templates, lambda k, uneven: unequal(k, uneven, n))
        print()
    if "wins" in arguments.only:
        columns = [f"win or loss found, {name}, %" for name in CHANGES]
        table(columns, arguments.templates, lambda k, uneven: wins(k, uneven, WINS_FOR_ONE * n))


if __name__ == "__main__":
    main()
