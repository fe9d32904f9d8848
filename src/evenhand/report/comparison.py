"""Runs of one benchmark side by side, and their differences on the rows that both of a pair answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from evenhand.benchmark import Benchmark
from evenhand.benchmark import Comparison as Compared
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.difference_plots import difference_plots
from evenhand.report.downloads import frame_of
from evenhand.report.findings import Panel, Plot, Run, Texts
from evenhand.report.tables import Cell, Table, figure, p_text
from evenhand.report.what_differs import nothing_to_compare, stands_alone, told
from evenhand.statistics.clustered import FEW_CLUSTERS, Difference, paired_difference
from evenhand.statistics.families import benjamini_hochberg, holm
from evenhand.statistics.resampling import LEVEL

MOST_NAMED = 4  # figures in a note
UNCLEAR = "unclear"
MARGIN = 5.0  # percent
COLUMNS = ("found", "p", "adjusted p", "n pairs", "clusters")


@dataclass(frozen=True)
class Comparison:
    """Runs side by side, and their differences: headline figures, and exploratory ones by group.

    differences: those of the headline figures, as numbers. plots: the same, drawn.
    """

    title: str
    sentences: tuple[str, ...]
    panels: tuple[Panel, ...]
    headline: Table
    more: tuple[Table, ...]
    exploratory: Table
    warnings: tuple[str, ...]
    differences: Mapping[str, Difference]
    plots: tuple[Plot, ...] = ()

    def _repr_html_(self) -> str:
        """In a notebook: what was found, with all text escaped."""
        from evenhand.report.notebook import comparison_html

        return comparison_html(self)

    def to_frame(self) -> pd.DataFrame:
        """The headline differences, with numbers as numbers and intervals in columns of their own."""
        return frame_of(self.headline)

    def to_frames(self) -> dict[str, pd.DataFrame]:
        """All tables, by title."""
        from evenhand.report.notebook import comparison_frames

        return comparison_frames(self)


@dataclass(frozen=True)
class Pair:
    """Two runs, of which the difference is told: `second` minus `base`. name: before a figure's, where it is needed."""

    base: Run
    second: Run
    name: str

    def differences(self, values: Callable[[pd.DataFrame], pd.DataFrame]) -> dict[str, Difference]:
        """Of the figures that are the mean of `values(predictions)`, on what both runs have."""
        differences = _differences(values(self.base.predictions), values(self.second.predictions))
        return {f"{self.name}{name}": difference for name, difference in differences.items()}

    def headline(self, compared: Compared) -> dict[str, Difference]:
        """The benchmark's own differences first, then those of means."""
        own = compared.differences(self.base.predictions, self.second.predictions)
        return {f"{self.name}{name}": each for name, each in own.items()} | self.differences(compared.headline)

    @property
    def n_common(self) -> int:
        return len({*self.base.predictions["id"]} & {*self.second.predictions["id"]})

    @property
    def common(self) -> str:
        """How many rows can be compared."""
        base, second = set(self.base.predictions["id"]), set(self.second.predictions["id"])
        return (
            f"{self.name}{len(base & second):,} prompts in common; {len(base - second):,} only in {self.base.letter} "
            f"and {len(second - base):,} only in {self.second.letter}, left out."
        )


def compare(*runs_or_paths: Path | str | RunFolder, margin: float = MARGIN) -> Comparison:
    """The figures of two or more runs, and paired differences from the first of those that are alike but for the model
    and its mitigation; of two runs, whatever they are.

    runs_or_paths: their folders, or what `evenhand.evaluate` returned.
    margin: percent, or points, by which a model may fall off otherwise and still be called debiased.
    Raises UsageError for folders that are no finished runs, runs of different benchmarks, or runs without common rows.
    """
    paths = [each.path if isinstance(each, RunFolder) else Path(each) for each in runs_or_paths]
    runs = [_run(letter, path) for letter, path in zip(ascii_uppercase, paths)]
    if not 2 <= len(paths) <= len(ascii_uppercase):
        raise UsageError(f"{len(paths)} runs came; 2 to {len(ascii_uppercase)} can be compared")
    names = [run.results.benchmark for run in runs]
    for name, run in zip(names, runs):
        if name != names[0]:
            raise UsageError(f"{runs[0].path} is a run of {names[0]}, {run.path} of {name}; name runs of one benchmark")
    with as_written(*(run.path for run in runs)):
        return _compared(runs, get_benchmark(names[0]), margin)


def _compared(runs: Sequence[Run], benchmark: Benchmark[Any], margin: float) -> Comparison:
    compared = benchmark.comparison()
    panels = compared.panels(runs)
    pairs = _pairs(runs, panels)
    headline = {k: v for pair in pairs for k, v in pair.headline(compared).items()}
    if not headline:
        raise nothing_to_compare(runs, bool(pairs), any(pair.n_common for pair in pairs))
    exploratory = {k: v for pair in pairs for k, v in pair.differences(compared.exploratory).items()}
    adjusted = holm(_tests(headline))
    return Comparison(
        title=f"{benchmark.card.title}: " + (f"{len(runs)} runs" if len(runs) > 2 else "B minus A"),
        sentences=(
            " ".join(f"{run.letter}: {run.results.model_name} ({run.path})." for run in runs),
            *(sentence for pair in pairs for sentence in (pair.common, told(pair.base, pair.second)) if sentence),
            *stands_alone(runs, [run for pair in pairs for run in (pair.base, pair.second)]),
            _found(headline, adjusted),
            *_verdicts(compared, pairs, headline, adjusted, margin),
        ),
        panels=panels,
        headline=_table(
            "Headline figures",
            pairs,
            headline,
            adjusted,
            f"{_family('Holm', headline)}{compared.note}",
            benchmark.card.digits,
        ),
        more=tuple(
            replace(table, title=f"{pair.name}{table.title}")
            for pair in pairs
            for table in compared.tables(pair.base.predictions, pair.second.predictions, _similarity)
        ),
        exploratory=_table(
            "Exploratory figures",
            pairs,
            exploratory,
            benjamini_hochberg(_tests(exploratory)),
            _family("Benjamini-Hochberg", exploratory),
            benchmark.card.digits,
        ),
        warnings=_warnings(headline, runs, pairs),
        differences=headline,
        plots=difference_plots(headline, [pair.name for pair in pairs], compared),
    )


def _verdicts(
    compared: Compared, pairs: Sequence[Pair], headline: dict[str, Difference], adjusted: list[float], margin: float
) -> Iterator[str]:
    """Each pair by its own differences, with their p over the whole family."""
    family = dict(zip(headline, adjusted))
    for pair in pairs:
        own = {name: each for name, each in headline.items() if name.startswith(pair.name)}
        named = {name.removeprefix(pair.name): each for name, each in own.items()}
        yield from compared.verdict(pair.base, pair.second, named, [family[name] for name in own], margin)


def _run(letter: str, path: Path) -> Run:
    folder = RunFolder.open(path)
    return Run(letter, path, folder.read_results(), folder.read_predictions())


def _pairs(runs: Sequence[Run], panels: Sequence[Panel]) -> list[Pair]:
    """Each run of a panel with its first; two runs in any case."""
    if len(runs) == 2:
        return [Pair(runs[0], runs[1], "")]
    return [
        Pair(panel.runs[0], run, f"{run.letter} minus {panel.runs[0].letter}: ")
        for panel in panels
        for run in panel.runs[1:]
    ]


def _similarity(first: Texts, second: Texts) -> float | None:
    """By the embedded encoder's sentence embeddings."""
    from evenhand.models.text_similarity import TextEncoder

    encoder = TextEncoder.at_hand()
    return encoder.similarity(first, second) if encoder else None


def _found(headline: dict[str, Difference], adjusted: list[float]) -> str:
    """Which headline figures differ: after adjustment over the family, and by their own interval alone."""
    if not any(difference.n for difference in headline.values()):
        return "Nothing can be compared: no answer was read in both runs of a pair."
    unknown = [name for name, difference in headline.items() if math.isnan(difference.estimate)]
    without = f" Nothing to compare in both runs: {'; '.join(unknown)}." if unknown else ""
    unsure = [name for name, each in headline.items() if name not in unknown and not each.known]
    without += f" Too few clusters for an interval: {'; '.join(unsure)}." if unsure else ""
    unclear = [name for name, each in headline.items() if _word(each) == UNCLEAR]
    without += f" Interval and p disagree whether it is 0: {'; '.join(unclear)}." if unclear else ""
    differ = [name for name, each in headline.items() if each.differs]
    if not differ and len(unknown) + len(unsure) + len(unclear) == len(headline):
        return f"Whether they differ can't be told.{without}"
    if not differ:
        return f"{without} Tied on every {'other ' if without else ''}headline figure.".lstrip()
    certain = [name for name, p in zip(headline, adjusted) if p < LEVEL and headline[name].differs]
    sentence = f"Different at the {100 * LEVEL:.0f} % level over the headline figures (Holm): "
    return f"{sentence}{'; '.join(certain) or 'none'}. Each by itself: {'; '.join(differ)}.{without}"


def _differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """The paired difference of each figure, in order of appearance."""
    return {name: difference_of(group) for name, group in paired_values(first, second).items()}


def paired_values(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """{figure: what both runs have of it}, in order of appearance: columns of `Comparison.headline`, each twice, with
    `_first` and `_second` behind its name.
    """
    paired = first.merge(second, on=["figure", "id"], suffixes=("_first", "_second"))
    return {str(name): group for name, group in paired.groupby("figure", sort=False)}


def difference_of(group: pd.DataFrame) -> Difference:
    """Of one figure's `paired_values`."""
    return paired_difference(
        group["value_first"],
        group["value_second"],
        *ways_of(group),
        _within(group),
    )


def ways_of(group: pd.DataFrame) -> tuple[pd.Series, pd.Series | None, pd.Series | None]:
    """(clusters, strata, what is crossed) of one figure's `paired_values`."""
    crossed = None if "crossed_first" not in group or group["crossed_first"].isna().all() else group["crossed_first"]
    return group["cluster_first"], group.get("stratum_first"), crossed


def _within(group: pd.DataFrame) -> tuple[float, float] | None:
    """The least and the most that a figure's values can be; None: not known."""
    if "least_first" not in group or group["least_first"].isna().any():
        return None
    return float(group["least_first"].min()), float(group["most_first"].max())


def _tests(differences: dict[str, Difference]) -> list[float]:
    """p-values of a family; NaN where clusters are too few for any to be small: such a test would only dilute it."""
    return [math.nan if each.smallest_p > LEVEL else each.p_value for each in differences.values()]


def _family(adjustment: str, differences: dict[str, Difference]) -> str:
    n = sum(not math.isnan(p) for p in _tests(differences))
    told = f"Adjusted p: {adjustment} over this family of {n}. "
    few: dict[str, list[str]] = {}
    for name, each in differences.items():
        if each.n and each.smallest_p > LEVEL:
            few.setdefault(f"{each.n_clusters}, p is {each.smallest_p:.4g} at least", []).append(name)
    if few:
        fewest = "; ".join(f"{_some(names)} ({clusters})" for clusters, names in few.items())
        told += f"It leaves out tests over too few clusters to reject anything: {fewest}. "
    return told


def _some(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = len(names) - MOST_NAMED
    return "; ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _table(
    title: str,
    pairs: Sequence[Pair],
    differences: dict[str, Difference],
    adjusted: list[float],
    family: str,
    digits: int,
) -> Table:
    named = ("A", "B", "B minus A") if len(pairs) == 1 and not pairs[0].name else ("base", "run", "difference")
    rows = tuple(_row(*named, p, digits) for named, p in zip(differences.items(), adjusted))
    note = (
        "Brackets: 95 % interval, paired, of clusters drawn anew, on pairs that both runs answered readably; tied: it "
        f"holds 0, and p is {LEVEL:g} or more; {UNCLEAR}: the two disagree. p: that nothing differs, by the same "
        "clusters. "
    )
    note += family
    return Table(title, ("figure", *named, *COLUMNS), rows, note)


def _row(name: str, difference: Difference, adjusted: float, digits: int) -> tuple[Cell, ...]:
    texts = (
        name,
        figure(difference.first, digits=digits),
        figure(difference.second, digits=digits),
        figure(difference.estimate, [difference.low, difference.high], digits),
        _word(difference),
        p_text(difference.p_value),
        p_text(adjusted),
        f"{difference.n:,}",
        f"{difference.n_clusters:,}",
    )
    return tuple(Cell(text) for text in texts)


def _word(difference: Difference) -> str:
    if not difference.n:
        return "not read"
    if math.isnan(difference.estimate):
        return "no data"
    if not difference.known:
        return "no interval"
    if difference.tied:
        return UNCLEAR if difference.p_value < LEVEL else "tied"
    return UNCLEAR if not difference.differs else "higher" if difference.estimate > 0 else "lower"


def _warnings(differences: dict[str, Difference], runs: Sequence[Run], pairs: Sequence[Pair]) -> tuple[str, ...]:
    few = [name for name, difference in differences.items() if difference.n_clusters < FEW_CLUSTERS]
    warnings = [f"fewer than {FEW_CLUSTERS} clusters, rough intervals: {'; '.join(few)}"] if few else []
    for pair in pairs:
        helpers = [_helpers(run.results) for run in (pair.base, pair.second)]
        if helpers[0] != helpers[1]:
            one, other = (", ".join(identities) or "none" for identities in helpers)
            warnings.append(
                f"other helpers read the answers of {pair.base.letter} ({one}) than of {pair.second.letter} ({other}): "
                "differences may be theirs, not the models'; run both with the same ones"
            )
    noted: dict[str, list[str]] = {}
    for run in runs:
        for note in run.results.metrics["warnings"]:
            noted.setdefault(note, []).append(run.letter)
    return (*warnings, *(f"run {', '.join(letters)}: {note}" for note, letters in noted.items()))


def _helpers(results: Results) -> list[str]:
    """The identities of a run's helpers, such as classifiers, in the order by which its rows are paired."""
    return [str(helper["identity"]) for helper in results.helpers]
