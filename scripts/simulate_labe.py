"""Simulate the coverage of labe's intervals and the level of its tests, on data sets of the real designs.

Prints rows of Markdown.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from simulating import Intervals, print_header, print_row, simulation_parser

from evenhand.benchmarks.labe.paired_variances import variance_differences
from evenhand.metrics.agency_gap.scores import agency_gap
from evenhand.statistics.clustered import paired_difference
from evenhand.statistics.resampling import FloatArray

GROUPS = tuple(product(("White", "Black", "Hispanic", "Asian"), ("male", "female")))
VARIANCES = ("gender_variance", "race_variance", "intersectional_variance", "overall")
SENTENCES = 12  # of a text
N_RESAMPLES = 499
# Mean gaps of the eight groups: gender, race and intersectional variances of 20.2, 27 and 36.
BIASED = np.array([6, 2, -4, -8, 2, -6, 8, 0]) * 6 / math.sqrt(32)
FAIR = np.zeros(8)
ALIKE = np.ones(8)  # how noisy groups are
NOISY = {
    "women's texts twice as noisy": np.tile([1.0, 2.0], 4),
    "two races' texts twice as noisy": np.repeat([1.0, 2.0], 4),
    "one group's texts three times as noisy": np.array([1, 1, 1, 1, 1, 1, 1, 3.0]),
}


class Figures(dict[str, Intervals]):
    """Intervals by figure."""

    def add(self, figure: str, truth: float, *found: float) -> None:
        """found: low, high and p-value, as far as they are judged."""
        self.setdefault(figure, Intervals(truth)).add(*found)


@dataclass(frozen=True)
class Texts:
    """Agentic sentences and sentences of each text, its group and its name's place in the group: all (texts,)."""

    agentic: FloatArray
    n: FloatArray
    group: FloatArray
    name: FloatArray

    def select(self, chosen: object) -> Texts:
        return Texts(*(each[chosen] for each in (self.agentic, self.n, self.group, self.name)))

    def score(self, n_resamples: int, races: bool = True) -> dict:
        """The metric's, without intervals by race where races is False."""
        labels = [[1] * int(k) + [0] * int(n - k) for k, n in zip(self.agentic, self.n)]
        of_race, genders = zip(*(GROUPS[group] for group in self.group))
        clusters = [f"{group} {name}" for group, name in zip(self.group, self.name)]
        of_race = of_race if races else [""] * len(genders)
        return agency_gap(labels, genders, of_race, clusters=clusters, n_resamples=n_resamples)


def draw_texts(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray, names: int, texts: int) -> Texts:
    """Standard deviations of 3 points between names and 20 between texts of 12 sentences, as noisy as the group is.

    A group that is twice as noisy has texts of a fourth as many sentences, too.
    """
    shape = (len(gaps), names, texts)
    spread = np.asarray(noisy)[:, None, None]
    means = gaps[:, None, None] + (rng.normal(0, 3, shape[:2])[..., None] + rng.normal(0, 20, shape)) * spread
    n = np.broadcast_to(np.round(SENTENCES / spread**2), shape).astype(int)
    agentic = rng.binomial(n, np.clip(0.5 + means / 200, 0, 1))
    group, name, _ = np.indices(shape)
    return Texts(*(each.reshape(-1) for each in (agentic, n, group, name)))


def true_figures(gaps: FloatArray) -> dict[str, float]:
    men, women, races = float(gaps[0::2].mean()), float(gaps[1::2].mean()), gaps.reshape(4, 2).mean(axis=1)
    variances = [statistics.variance(each) for each in ([men, women], races.tolist(), gaps.tolist())]
    return {**dict(zip(VARIANCES, [*variances, statistics.mean(variances)])), "gender_difference": men - women}


# Designs of one run


def full_design(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray) -> Texts:
    """40 names, 5 of each of 8 groups, with 15 texts each, as professor reviews have."""
    return draw_texts(rng, gaps, noisy, names=5, texts=15)


def matched_sample(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray) -> Texts:
    """96 texts: 12 combinations of descriptors, equal in every group; a name has some of its group's 12."""
    texts = draw_texts(rng, gaps, noisy, names=5, texts=12)
    places = rng.integers(0, 5, 12)  # the names' places in their groups' lists
    return texts.select([group * 60 + name * 12 + k for group in range(8) for k, name in enumerate(places)])


def unbalanced(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray) -> Texts:
    """Files of texts: groups of 12 to 4 names, of which the small ones are the noisy ones."""
    texts = draw_texts(rng, gaps, noisy, names=12, texts=6)
    return texts.select(texts.name < np.array([12, 12, 8, 8, 6, 6, 4, 4])[texts.group])


def single_texts(rng: np.random.Generator, gaps: FloatArray, noisy: FloatArray) -> Texts:
    """40 texts, each of another name, 5 of each group: only these 5 show how noisy a group is."""
    return draw_texts(rng, gaps, noisy, names=5, texts=1)


def judge_texts(
    rng: np.random.Generator, figures: Figures, draw: Callable[..., Texts], gaps: FloatArray, noisy: FloatArray
) -> None:
    """The metric's intervals, and its tests where the truth is fair."""
    result = draw(rng, gaps, noisy).score(N_RESAMPLES)
    for key, truth in true_figures(gaps).items():
        figures.add(key, truth, *result["intervals"][key], math.nan if np.any(gaps) else result["p_values"][key])
    figures.add("gap of a group", float(gaps[7]), *result["intervals"]["groups"]["Asian female"]["gap"])
    of_race = result["intervals"]["gender_difference_by_race"]["Black"]
    figures.add("gender_difference of a race", float(gaps[2] - gaps[3]), *of_race)


def judge_reviews(rng: np.random.Generator, figures: Figures, women: float) -> None:
    """RateMyProfessor's numbers: 2,069 reviews of men, 447 of women, without names. women: how noisy theirs are."""
    texts = draw_texts(rng, np.zeros(2), np.array([1.0, women]), names=2069, texts=1)
    result = texts.select((texts.group == 0) | (texts.name < 447)).score(199, races=False)
    for key in ("gender_variance", "gender_difference"):
        figures.add(key, 0.0, *result["intervals"][key], result["p_values"][key])


def judge_two_runs(
    rng: np.random.Generator, figures: Figures, first: FloatArray, second: FloatArray, texts: int
) -> None:
    """Both on the same prompts: gaps with a correlation of 0.5 between the runs, by name and by text."""

    def noise(shape: tuple[int, int], deviation: float) -> FloatArray:
        both = rng.standard_normal(shape) + rng.standard_normal((2, *shape))
        return np.asarray(deviation * math.sqrt(0.5) * both)

    people = 5 * len(first)
    means = np.repeat([first, second], 5, axis=1)[..., None]
    gaps = means + noise((people, 1), 3) + noise((people, texts), 30)
    group = np.repeat(np.arange(people) // 5, texts)
    races, genders = zip(*(GROUPS[each] for each in group))
    columns = {"race": races, "gender": genders, "cluster": np.repeat(np.arange(people), texts).astype(str)}
    table = pd.DataFrame({**columns, "id": range(len(group)), "text_type": "", "run": 0, "classifier": ""})
    runs = [table.assign(gap=each.reshape(-1)) for each in gaps]
    for key, found in variance_differences(*runs).items():
        truth = true_figures(second)[key] - true_figures(first)[key]
        p_value = found.p_value if np.array_equal(first, second) else math.nan
        name = f"{key.removesuffix('_variance')} variance, B minus A"
        figures.add(name, truth, found.low, found.high, p_value)
    one = group == 7
    mean = paired_difference(*(run["gap"][one] for run in runs), table["cluster"][one])
    figures.add("gap of a group, B minus A", float(second[7] - first[7]), mean.low, mean.high)


def designs() -> dict[str, Callable[[np.random.Generator, Figures], None]]:
    """By "part: name"."""
    small_noisy = np.array([1, 1, 1.3, 1.3, 1.5, 1.5, 2, 2])
    one_noisy = np.array([1, 1, 1, 1, 1, 1, 1, 4.0])
    texts = []
    for name, draw in (("full: 40 names x 15 texts", full_design), ("matched: 96 matched texts", matched_sample)):
        texts += [(f"{name}, fair", draw, FAIR, ALIKE)]
        texts += [(f"{name}, fair, {how}", draw, FAIR, noisy) for how, noisy in NOISY.items()]
        texts += [(f"{name}, biased", draw, BIASED, ALIKE)]
    files = "files: 12 to 4 names a group, small ones up to twice as noisy, fair"
    texts += [(files, unbalanced, FAIR, small_noisy)]
    for how, noisy in (("as noisy", ALIKE), ("one group's four times as noisy", one_noisy)):
        texts += [(f"single: 40 names x 1 text, fair, {how}", single_texts, FAIR, noisy)]
    found: dict[str, Callable[[np.random.Generator, Figures], None]] = {
        name: partial(judge_texts, draw=draw, gaps=gaps, noisy=noisy) for name, draw, gaps, noisy in texts
    }
    for women, how in ((1.0, "as noisy"), (2.0, "twice as noisy"), (0.5, "half as noisy")):
        found[f"reviews: 2,069 of men, 447 of women, {how}, fair"] = partial(judge_reviews, women=women)
    for n in (15, 3):
        for how, second in (("both equally biased", BIASED), ("bias taken away", FAIR)):
            name = f"compare: 40 names x {n} texts, {how}"
            found[name] = partial(judge_two_runs, first=BIASED, second=second, texts=n)
    return found


def main() -> None:
    every = designs()
    options = simulation_parser(__doc__, 1000, (name.partition(":")[0] for name in every)).parse_args()
    print_header("design", "figure", "truth", "coverage %", "width", "rejections % under no effect")
    for name, judge in every.items():
        part, _, design = name.partition(": ")
        figures = Figures()
        for rng in np.random.default_rng(0).spawn(options.data_sets if part in options.only else 0):
            judge(rng, figures)
        for figure, found in figures.items():
            numbers = (found.truth, found.coverage, np.median(found.widths))
            rejected = f"{found.significant:.1f}" if found.p_values else ""
            print_row(design, figure, *(f"{number:.1f}" for number in numbers), rejected)


if __name__ == "__main__":
    main()
