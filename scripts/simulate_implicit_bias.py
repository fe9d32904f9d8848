"""How well intervals of few clusters cover: the case study's sets of names, and the bias score's few scenarios.

python scripts/simulate_implicit_bias.py [--data-sets N]

Clusters differ in how often each answer is given (log-odds, normal), and all four agents of a conversation say the
same with the probability given. Printed: Markdown rows of coverage, with its standard error, by the package's own
functions.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenhand.command_line import ScriptHelp, whole
from evenhand.metrics.implicit_bias_score.scores import implicit_bias_score
from evenhand.statistics.clustered import clustered_mean
from evenhand.statistics.resampling import FloatArray

AGENTS = 4
SCENARIO = {
    "task_stereotypes": ["male", "male", "female", "female"],
    "characters": ["m0", "m1", "f0", "f1"],
    "genders": ["male", "male", "female", "female"],
}
ASSIGNMENTS = (["m0", "m1", "f0", "f1"], ["f0", "f1", "m0", "m1"], ["m0", "f0", "m1", "f1"])  # score 1, -1 and 0
BETWEEN = 0.7  # standard deviation of log-odds between clusters
TRUTH_OF = 400_000  # clusters
HEADER = "| design | figure | truth | coverage, % | standard error | width |\n" + 6 * "| --- " + "|"


def shares(log_odds: Sequence[float], clusters: int, rng: np.random.Generator) -> FloatArray:
    """(clusters, answers): how often each kind of answer is given in a cluster."""
    weights = np.exp(np.array(log_odds) + BETWEEN * rng.standard_normal((clusters, len(log_odds))))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def answers(of: FloatArray, conversations: int, together: float, rng: np.random.Generator) -> FloatArray:
    """Kinds of answers (clusters, conversations, agents); together: how likely agents all say what the first does."""
    draws = rng.random((len(of), conversations, AGENTS))
    draws = np.where(rng.random((len(of), conversations, 1)) < together, draws[..., :1], draws)
    return np.asarray((draws[..., None] > of.cumsum(axis=1)[:, None, None, :-1]).sum(axis=-1))


def row(design: str, figure: str, truth: float, intervals: Sequence[tuple[float, float]]) -> str:
    ends = np.array(intervals)
    held = float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    error = (held * (1 - held) / len(ends)) ** 0.5
    width = float(np.median(ends[:, 1] - ends[:, 0]))
    return f"| {design} | {figure} | {truth:.2f} | {100 * held:.1f} | {100 * error:.1f} | {width:.2f} |"


def people(
    log_odds: Sequence[float], clusters: int, conversations: int, together: float, n: int, rng: np.random.Generator
) -> tuple[float, list[tuple[float, float]]]:
    """Share of answers that name a man, of which each set of names has its own."""
    names = pd.Series(np.repeat(np.arange(clusters), conversations * AGENTS))
    found = []
    for _ in range(n):
        said = answers(shares(log_odds, clusters, rng), conversations, together, rng)
        mean = clustered_mean(pd.Series((said == 0).astype(float).ravel()), names, (0.0, 1.0))
        found.append((mean.low, mean.high))
    return float(shares(log_odds, TRUTH_OF, rng)[:, 0].mean()), found


def tasks(
    log_odds: Sequence[float], clusters: int, conversations: int, together: float, n: int, rng: np.random.Generator
) -> tuple[float, list[tuple[float, float]]]:
    """Bias score of assignments, stereotypical, anti-stereotypical and neutral ones."""
    names = np.repeat(np.arange(clusters), conversations * AGENTS).tolist()
    same = {name: [values] * len(names) for name, values in SCENARIO.items()}
    found = []
    for _ in range(n):
        said = answers(shares(log_odds, clusters, rng), conversations, together, rng)
        given = [ASSIGNMENTS[kind] for kind in said.ravel()]
        low, high = implicit_bias_score(given, **same, clusters=names, n_resamples=199)["intervals"]["bias_score"]
        found.append((low, high))
    of = shares(log_odds, TRUTH_OF, rng)
    return float((of[:, 0] - of[:, 1]).mean()), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--data-sets", type=whole(), default=1000, metavar="N", help="a row")
    n = parser.parse_args().data_sets
    rng = np.random.default_rng(0)
    print(HEADER, flush=True)
    for clusters, conversations, told in (
        (6, 5, "case study: 6 sets of names x 5 conversations"),
        (6, 1, "6 sets of names x 1 conversation"),
        (20, 1, "20 scenarios x 1 conversation"),
    ):
        for together in (0.0, 0.7):
            design = f"{told}, agents agree {100 * together:.0f} %"
            for men in ((0.0, 0.0), (1.5, 0.0), (3.0, 0.0)):
                truth, found = people(men, clusters, conversations, together, n, rng)
                print(row(design, "share of men, or of corrected", truth, found), flush=True)
            for kinds in ((0.0, 0.0, 0.0), (1.0, -1.0, 1.0), (3.0, -1.0, 0.0)):
                truth, found = tasks(kinds, clusters, conversations, together, n, rng)
                print(row(design, "bias score", truth, found), flush=True)


if __name__ == "__main__":
    main()
