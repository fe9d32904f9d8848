"""Simulate the coverage of intervals of few clusters: the case study's sets of names, and the bias score's scenarios.

Clusters differ in how often each answer is given (log-odds, normal), and all four agents of a conversation give the
same answer with the stated probability. Prints Markdown rows of coverage with its standard error.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from simulating import Intervals, print_header, print_row, simulation_parser

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


@dataclass(frozen=True)
class Design:
    """agreement: probability that all agents of a conversation say what the first says."""

    name: str
    clusters: int
    conversations: int
    agreement: float

    @property
    def cluster_of_answers(self) -> FloatArray:
        return np.repeat(np.arange(self.clusters), self.conversations * AGENTS)

    def draw(self, log_odds: Sequence[float], rng: np.random.Generator) -> FloatArray:
        """Kinds of answers, (clusters × conversations × agents,)."""
        shares = draw_shares(log_odds, self.clusters, rng)
        draws = rng.random((self.clusters, self.conversations, AGENTS))
        agree = rng.random((self.clusters, self.conversations, 1)) < self.agreement
        draws = np.where(agree, draws[..., :1], draws)
        return np.asarray((draws[..., None] > shares.cumsum(axis=1)[:, None, None, :-1]).sum(axis=-1).ravel())


DESIGNS = tuple(
    Design(f"{name}, agents agree {100 * agreement:.0f} %", clusters, conversations, agreement)
    for clusters, conversations, name in (
        (6, 5, "case study: 6 sets of names x 5 conversations"),
        (6, 1, "6 sets of names x 1 conversation"),
        (20, 1, "20 scenarios x 1 conversation"),
    )
    for agreement in (0.0, 0.7)
)


def draw_shares(log_odds: Sequence[float], clusters: int, rng: np.random.Generator) -> FloatArray:
    """How often each kind of answer is given in a cluster, (clusters, kinds)."""
    weights = np.exp(np.array(log_odds) + BETWEEN * rng.standard_normal((clusters, len(log_odds))))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def mean_interval(kinds: FloatArray, design: Design) -> tuple[float, float]:
    """Of the share of answers that name a man."""
    men = pd.Series((kinds == 0).astype(float))
    mean = clustered_mean(men, pd.Series(design.cluster_of_answers), (0.0, 1.0))
    return mean.low, mean.high


def score_interval(kinds: FloatArray, design: Design) -> tuple[float, float]:
    """Of the bias score of stereotypical, anti-stereotypical and neutral assignments."""
    clusters = design.cluster_of_answers.tolist()
    scenarios = {name: [values] * len(clusters) for name, values in SCENARIO.items()}
    assignments = [ASSIGNMENTS[kind] for kind in kinds]
    found = implicit_bias_score(assignments, **scenarios, clusters=clusters, n_resamples=199)
    low, high = found["intervals"]["bias_score"]
    return low, high


FIGURES: dict[str, tuple[Callable[[FloatArray, Design], tuple[float, float]], tuple[tuple[float, ...], ...]]] = {
    "share of men, or of corrected": (mean_interval, ((0.0, 0.0), (1.5, 0.0), (3.0, 0.0))),
    "bias score": (score_interval, ((0.0, 0.0, 0.0), (1.0, -1.0, 1.0), (3.0, -1.0, 0.0))),
}
"""The interval of each figure, and log-odds of its kinds of answers."""


def main() -> None:
    data_sets = simulation_parser(__doc__, 1000).parse_args().data_sets
    rng = np.random.default_rng(0)
    print_header("design", "figure", "truth", "coverage, %", "standard error", "width")
    for design in DESIGNS:
        for figure, (interval, every) in FIGURES.items():
            for log_odds in every:
                ends = [interval(design.draw(log_odds, rng), design) for _ in range(data_sets)]
                shares = draw_shares(log_odds, TRUTH_OF, rng)
                truth = shares[:, 0] - (shares[:, 1] if interval is score_interval else 0)
                found = Intervals(float(truth.mean()), ends)
                held = found.coverage / 100
                error = 100 * (held * (1 - held) / data_sets) ** 0.5
                width = f"{np.median(found.widths):.2f}"
                print_row(design.name, figure, f"{found.truth:.2f}", f"{found.coverage:.1f}", f"{error:.1f}", width)


if __name__ == "__main__":
    main()
