"""How well contact_hypothesis's intervals cover, and how often a comparison finds a difference that is not there.

python scripts/simulate_contact.py [--data-sets N] [--only drawn unread …]

Answers are drawn from a model of which the truth is known: log-odds of a biased answer are a constant of its action,
plus what each situation and each descriptor adds (normal), and each answer is drawn by itself. Asked is a crossing as a
whole, or what `--limit` draws of the packaged rows, anew for each data set: all of it, or one dimension, in which
actions are uneven. The package's own metric and comparison judge them. Printed: Markdown rows; the standard error of a
coverage of 95 % is 0.7 points at 1,000.
"""

import argparse
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import run_config
from evenhand.flow.draw import draw
from evenhand.metrics.contact_bias.scores import contact_bias
from evenhand.statistics.clustered import paired_difference

ACTIONS = ("positive", "negative")


@dataclass(frozen=True)
class Design:
    """A whole crossing. situations, descriptors: how many; answers: prompts in each of their crossings."""

    name: str
    situations: int
    descriptors: int
    answers: int

    def asked(self, seed: int) -> pd.DataFrame:
        """What two runs are asked: columns situation, descriptor, action, a row a prompt."""
        situation, descriptor = np.divmod(np.arange(self.situations * self.descriptors), self.descriptors)
        situation, descriptor = (np.repeat(codes, self.answers) for codes in (situation, descriptor))
        return pd.DataFrame({"situation": situation, "descriptor": descriptor, "action": situation % 2})


@dataclass(frozen=True)
class Drawn:
    """What --limit draws of the packaged rows, each after three contacts. axis: the rows of this dimension alone."""

    name: str
    limit: int
    axis: str | None = None

    def asked(self, seed: int) -> pd.DataFrame:
        """Likewise; seed: of the draw."""
        rows = packaged()
        drawn = rows.iloc[draw(rows[list(DESIGN_COLUMNS)], self.limit, seed)]
        drawn = drawn[drawn["axis"] == self.axis] if self.axis else drawn
        drawn = drawn.loc[drawn.index.repeat(3)]
        situation, descriptor = (pd.factorize(drawn[name])[0] for name in ("situation", "descriptor"))
        action = (drawn["action"] == "negative").astype(int).to_numpy()
        return pd.DataFrame({"situation": situation, "descriptor": descriptor, "action": action})


@dataclass(frozen=True)
class Truth:
    """Log-odds of a biased answer for positive and negative actions, and standard deviations of what is added.

    read: log-odds that an answer to either is read, with a standard deviation of 1.5 between situations; None: all are.
    """

    name: str
    log_odds: tuple[float, float]
    of_situations: float
    of_descriptors: float
    read: tuple[float, float] | None = None

    @property
    def percentage(self) -> float:
        """Of read answers, over all situations and descriptors that might be drawn."""
        biased = [mean_share(mean, np.hypot(self.of_situations, self.of_descriptors)) for mean in self.log_odds]
        read = [mean_share(mean, OF_READING) for mean in self.read] if self.read else [1.0, 1.0]
        return float(100 * np.average(biased, weights=read))


def mean_share(mean: float, spread: float) -> float:
    """Of log-odds that are normally distributed: Gauss-Hermite quadrature."""
    places, weights = np.polynomial.hermite_e.hermegauss(60)
    return float((weights / weights.sum() / (1 + np.exp(-(mean + spread * places)))).sum())


CARD = get_benchmark("contact_hypothesis").card
DESIGN_COLUMNS = CARD.design
OF_READING = 1.5
WHOLE = (
    Design("a scale's half, whole", 60, 600, 1),
    Design("an axis of it, all contacts and scales", 60, 46, 9),
    Design("an axis in one scenario", 12, 46, 9),
)
DRAWN = (
    Drawn("--limit 60", 60),
    Drawn("--limit 200", 200),
    Drawn("--limit 200, an axis of about 20 rows", 200, "ability"),
    Drawn("--limit 200, an axis of about 12 rows", 200, "political_ideologies"),
    Drawn("--limit 60, an axis of about 6 rows", 60, "ability"),
)
TRUTHS = (
    Truth("situations and descriptors differ", (0.0, 0.0), 0.8, 0.8),
    Truth("descriptors alone differ", (0.0, 0.0), 0.01, 0.8),
    Truth("nearly always affirms", (-3.0, 3.0), 0.8, 0.4),
    Truth("rarely biased", (-3.5, -3.5), 0.8, 0.8),
)
UNREAD = (
    Truth("unread here and there", (0.0, 0.0), 0.8, 0.8, read=(1.0, 1.0)),
    Truth("negative actions mostly unread, mostly affirms", (-1.5, 1.5), 0.8, 0.4, read=(2.0, -0.5)),
)
ROWS = {
    "whole": tuple((design, truth) for design in WHOLE for truth in TRUTHS),
    "drawn": tuple((design, truth) for design in DRAWN for truth in TRUTHS),
    "unread": tuple((design, truth) for design in (WHOLE[1], *DRAWN[1:3]) for truth in UNREAD),
}


@cache
def packaged() -> pd.DataFrame:
    """The rows that a run draws from, with the columns that a draw goes by."""
    benchmark = get_benchmark("contact_hypothesis")
    columns = {name for crossed in CARD.design for name in crossed.split(" × ")} | {"descriptor"}
    rows = benchmark.load(benchmark.configuring.filled(run_config("contact_hypothesis", "m"))).rows
    table: pd.DataFrame = rows.select_columns(sorted(columns)).to_pandas()
    for crossed in (name for name in CARD.design if " × " in name):
        first, other = crossed.split(" × ")
        table[crossed] = table[first].str.cat(table[other], " × ")
    return table


@cache
def asked(design: Design | Drawn, seed: int) -> pd.DataFrame:
    """The same for all truths; whole crossings for all seeds, too."""
    return design.asked(seed)


def answered(prompts: pd.DataFrame, truth: Truth, rng: np.random.Generator) -> pd.DataFrame:
    """With columns biased and read."""
    situations, descriptors = (prompts[name].max() + 1 for name in ("situation", "descriptor"))
    log_odds = np.array(truth.log_odds)[prompts["action"]]
    log_odds = log_odds + rng.normal(0, truth.of_situations, situations)[prompts["situation"]]
    log_odds = log_odds + rng.normal(0, truth.of_descriptors, descriptors)[prompts["descriptor"]]
    biased, read = rng.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds)), np.ones(len(log_odds), dtype=bool)
    if truth.read is not None:
        odds = np.array(truth.read)[prompts["action"]] + rng.normal(0, OF_READING, situations)[prompts["situation"]]
        read = rng.random(len(odds)) < 1 / (1 + np.exp(-odds))
    return prompts.assign(biased=biased, read=read)


def interval(run: pd.DataFrame) -> tuple[float, float]:
    """Of the percentage of biased answers, by the metric."""
    actions = [ACTIONS[action] for action in run["action"]]
    declines = run["biased"] == (run["action"] == 0)  # declining is biased where the action is positive
    columns = {"clusters": run["situation"].tolist(), "strata": actions, "crossed": run["descriptor"].tolist()}
    found = contact_bias(
        ["" if not read else "No" if no else "Yes" for no, read in zip(declines, run["read"])],
        ["certainty"] * len(run),
        ["no_contact"] * len(run),
        actions,
        **columns,
    )
    low, high = found["intervals"]["biased_percentage"]["overall"]
    return low, high


def simulated(design: Design | Drawn, truth: Truth, data_sets: int) -> str:
    """A row: what of the intervals held the truth, how wide they were, how often equal models seemed different.

    Of the data sets that have an interval, and a test.
    """
    ends, p_values = [], []
    for seed in range(data_sets):
        rng = np.random.default_rng(seed)
        prompts = asked(design, seed if isinstance(design, Drawn) else 0)
        runs = [answered(prompts, truth, rng) for _ in range(2)]
        ends.append(interval(runs[0]))
        values = [100.0 * run["biased"].astype(float).where(run["read"]) for run in runs]
        ways = (prompts[name] for name in ("situation", "action", "descriptor"))
        p_values.append(paired_difference(*values, *ways).p_value)
    low, high = np.array([each for each in ends if not np.isnan(each[0])]).T
    covered = np.mean((low <= truth.percentage) & (truth.percentage <= high))
    known = np.array([p for p in p_values if not np.isnan(p)])
    cells = (
        f"{design.name}: {truth.name}",
        f"{truth.percentage:.1f}",
        f"{100 * covered:.1f}",
        f"{np.median(high - low):.1f}",
        f"{100 * np.mean(known < 0.05):.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--data-sets", type=whole(least=1), default=1000, metavar="N", help="drawn for each row")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS), help="which rows")
    arguments = parser.parse_args()
    print("| design: truth | truth, % | coverage, % | width, points | found where nothing is, % |")
    print("| --- | --- | --- | --- | --- |")
    for name in arguments.only:
        for design, truth in ROWS[name]:
            print(simulated(design, truth, arguments.data_sets), flush=True)


if __name__ == "__main__":
    main()
