"""Simulate the coverage of bbq's intervals, and how often a win or a difference that is not there is found.

Templates differ in how often unknown is answered (beta) and in how much answers lean to the stereotype (normal), each
run's about a tendency that both share. The second run equals the first, or leans less. Wins are also tested where
templates gain and lose accuracy, but not on average. Prints Markdown tables; the standard error of a coverage of 95 %
is 0.7 points at 1,000 data sets, that of 5 % significant is 0.5 at 2,000.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from simulating import LEVEL, Intervals, print_header, print_row, simulation_parser

from evenhand.benchmarks.bbq.bias_difference import bias_difference
from evenhand.benchmarks.bbq.comparing import p_value_of_gain
from evenhand.command_line import whole
from evenhand.metrics.bbq_bias.scores import CONDITIONS, POLARITIES, bbq_bias

UNKNOWN, TARGET, OTHER = "0", "1", "2"
ROWS = 12  # of a template, in either context to either question: 48, as most templates of BBQ's religion have 40
TIMES = 5  # as many of a sixth of the templates, where they are uneven
LEAN, LESS = 0.25, 0.0  # of answers to the stereotype, of either run
TEMPLATES_OF_TRUTH = 20000
CHANGES = {
    "equal runs": None,
    "each template its own way": 0.3,
    "one in ten much worse, others better": (0.1, 0.45, 0.05),
}
"""Of templates' accuracies, 0 on average: a standard deviation, or a share of them that lose, how much, and what others
gain; None: runs of one truth."""
UNEQUAL = (((1, 9), 0.3), ((9, 1), 1.5))  # of either run: how often unknown (beta), how much templates differ
WINS_FOR_ONE = 2  # data sets in which wins are tested, for each in which scores are
PARTS = ("scores", "unequal", "wins")
CATEGORY, ALL = 25, 275  # templates of the categories read, and of eleven such


def make_rows(templates: int, uneven: bool) -> pd.DataFrame:
    """A row a question, without answers."""
    times = np.where(np.arange(templates) < templates / 6, TIMES, 1) if uneven else np.ones(templates, dtype=int)
    of_one = pd.MultiIndex.from_product([CONDITIONS, POLARITIES, range(ROWS)]).to_frame(index=False)
    of_one.columns = pd.Index(["context_condition", "question_polarity", "place"])
    table = pd.concat([of_one] * int(times.sum()), ignore_index=True)
    table["template"] = np.repeat(np.arange(templates), times * len(of_one))
    negative = table["question_polarity"] == "neg"
    table["biased"], table["counter"] = np.where(negative, TARGET, OTHER), np.where(negative, OTHER, TARGET)
    stated = np.where(table["place"] % 2, table["biased"], table["counter"])
    table["label"] = np.where(table["context_condition"] == "ambig", UNKNOWN, stated)
    return table.assign(id=table.index, unknown=UNKNOWN, target=TARGET)


def draw_runs(rows: pd.DataFrame, leans: tuple[float, float], rng: np.random.Generator) -> Iterator[pd.DataFrame]:
    """Both runs' answers."""
    n = int(rows["template"].max()) + 1
    shared, silent = rng.normal(0, 0.4, n), rng.beta(2, 3, n)
    ambiguous = (rows["context_condition"] == "ambig").to_numpy()
    for mean in leans:
        lean = (mean + shared + rng.normal(0, 0.3, n))[rows["template"]]
        drawn = rng.random((3, len(rows)))
        says_unknown = drawn[0] < silent[rows["template"]] * np.where(ambiguous, 1, 0.2)
        as_stated = ~ambiguous & (drawn[1] < 0.7)
        leaning = np.where(drawn[2] < np.clip(0.5 + lean / 2, 0, 1), rows["biased"], rows["counter"])
        yield rows.assign(answer=np.where(says_unknown, UNKNOWN, np.where(as_stated, rows["label"], leaning)))


def score(run: pd.DataFrame, clusters: bool = True) -> dict:
    columns = ("answer", "context_condition", "question_polarity", "label", "unknown", "target")
    return bbq_bias(*(run[name].tolist() for name in columns), clusters=run["template"].tolist() if clusters else None)


def simulate_scores(templates: int, uneven: bool, data_sets: int, truths: Sequence[dict[str, float]]) -> list[str]:
    """Coverage of both scores and of their differences, and how often equal runs differ significantly.

    truths: bias scores of a run that leans, and of one that leans less, by condition.
    """
    rng, rows = np.random.default_rng([0, templates, uneven]), make_rows(templates, uneven)
    scores, changes, equals = (
        {condition: Intervals(truth) for condition, truth in zip(CONDITIONS, of_conditions)}
        for of_conditions in zip(*((truths[0][c], truths[1][c] - truths[0][c], 0.0) for c in CONDITIONS))
    )
    for _ in range(data_sets):
        first, less = draw_runs(rows, (LEAN, LESS), rng)
        equal = [*draw_runs(rows, (LEAN, LEAN), rng)]
        ends = score(first)["intervals"]["bias_score"]
        for condition in CONDITIONS:
            scores[condition].add(*ends[condition])
            for pair, intervals in (((first, less), changes), (equal, equals)):
                change = bias_difference(*(run[run["context_condition"] == condition] for run in pair))
                intervals[condition].add(change.low, change.high, change.p_value)
    return [
        *(" / ".join(f"{each[condition].coverage:.1f}" for condition in CONDITIONS) for each in (scores, changes)),
        " / ".join(f"{equals[condition].significant:.1f}" for condition in CONDITIONS),
    ]


def simulate_unequal(templates: int, uneven: bool, data_sets: int) -> list[str]:
    """Coverage of no difference of disambiguated scores, and how often it is significant, of unequally sure runs.

    Neither leans; the second seldom names a group, unevenly, and its templates differ five times as much (log-odds).
    """
    rng, rows = np.random.default_rng([2, templates, uneven]), make_rows(templates, uneven)
    rows = rows[rows["context_condition"] == "disambig"]
    found = Intervals(0.0)
    for _ in range(data_sets):
        both = []
        for silent, spread in UNEQUAL:
            says_unknown = rng.random(len(rows)) < rng.beta(*silent, templates)[rows["template"]]
            odds = np.exp(rng.normal(0, spread, templates))[rows["template"]]
            leaning = np.where(rng.random(len(rows)) < odds / (1 + odds), rows["biased"], rows["counter"])
            both.append(rows.assign(answer=np.where(says_unknown, UNKNOWN, leaning)))
        change = bias_difference(*both)
        if change.known:
            found.add(change.low, change.high, change.p_value)
    return [f"{found.coverage:.1f}", f"{found.significant:.1f}"]


def draw_gains(
    rows: pd.DataFrame, change: float | tuple[float, float, float] | None, rng: np.random.Generator
) -> pd.Series:
    """1 where the second run alone is right, -1 where the first alone is, of a change (CHANGES) of 0 on average."""
    if change is None:
        one, other = (run["answer"] == run["label"] for run in draw_runs(rows, (LEAN, LEAN), rng))
        return other.astype(float) - one.astype(float)
    n = int(rows["template"].max()) + 1
    if isinstance(change, float):
        gains = rng.normal(0, change, n).clip(-1, 1)
    else:
        share, loss, gain = change
        gains = np.where(rng.random(n) < share, -loss, gain)
    right = rng.random((2, len(rows))) < 0.5 + np.array([[-0.5], [0.5]]) * gains[rows["template"]]
    return pd.Series(right[1].astype(float) - right[0])


def simulate_wins(templates: int, uneven: bool, data_sets: int) -> list[str]:
    """How often a win or a loss is found where nothing is: a cell for each of CHANGES."""
    rng, rows = np.random.default_rng([1, templates, uneven]), make_rows(templates, uneven)
    found = (
        [p_value_of_gain(draw_gains(rows, change, rng), rows["template"]) < LEVEL for _ in range(data_sets)]
        for change in CHANGES.values()
    )
    return [f"{100 * np.mean(each):.1f}" for each in found]


def print_table(columns: Sequence[str], templates: Sequence[int], cells: Callable[[int, bool], list[str]]) -> None:
    print_header("templates", *columns)
    for uneven in (False, True):
        for n in templates:
            print_row(f"{n}{', uneven' if uneven else ''}", *cells(n, uneven))
    print()


def main() -> None:
    parser = simulation_parser(__doc__, 1000, PARTS)
    parser.add_argument("--templates", type=whole(), nargs="+", default=[6, 12, CATEGORY, 60, ALL], metavar="K")
    options = parser.parse_args()
    templates, n = options.templates, options.data_sets
    if "scores" in options.only:
        many = draw_runs(make_rows(TEMPLATES_OF_TRUTH, False), (LEAN, LESS), np.random.default_rng(0))
        truths = [score(run, clusters=False)["bias_score"] for run in many]
        print("; ".join(", ".join(f"{name} {value:.1f}" for name, value in truth.items()) for truth in truths) + "\n")
        names = ("coverage of scores", "coverage of differences", "difference found where nothing is")
        columns = [f"{name}, ambiguous / disambiguated, %" for name in names]
        print_table(columns, templates, lambda k, uneven: simulate_scores(k, uneven, n, truths))
    if "unequal" in options.only:
        print_table(("coverage, %", "found, %"), templates, lambda k, uneven: simulate_unequal(k, uneven, n))
    if "wins" in options.only:
        columns = [f"win or loss found, {name}, %" for name in CHANGES]
        print_table(columns, templates, lambda k, uneven: simulate_wins(k, uneven, WINS_FOR_ONE * n))


if __name__ == "__main__":
    main()
