"""Runs of one benchmark side by side, and their differences on the rows that both of a pair answered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.difference_plots import difference_plots
from evenhand.report.differences import FigureKey, Groupings, differences, exploratory, headline
from evenhand.report.downloads import frame_of
from evenhand.report.findings import Panel, Plot, Run, Texts
from evenhand.report.tables import Cell, Table, count
from evenhand.report.what_differs import nothing_to_compare, stands_alone, told
from evenhand.statistics.clustered import FEW_CLUSTERS, Difference
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
    """Two runs that are compared: `second` minus `base`. name: before a figure's, where there are several pairs."""

    base: Run
    second: Run
    name: str

    def differences(self, benchmark: Benchmark[Any], groupings: Groupings) -> dict[FigureKey, Difference]:
        """Of the benchmark's figures, on what both runs have."""
        return differences(benchmark, self.base.sample, self.second.sample, groupings)

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
    panels = benchmark.comparing.panels(runs)
    pairs = _pairs(runs, panels)
    tested = {(pair, key): each for pair in pairs for key, each in pair.differences(benchmark, headline).items()}
    if not tested:
        raise nothing_to_compare(runs, bool(pairs), any(pair.n_common for pair in pairs))
    looked_at = {(pair, key): each for pair in pairs for key, each in pair.differences(benchmark, exploratory).items()}
    named = {f"{pair.name}{key.label}": each for (pair, key), each in tested.items()}
    adjusted = holm(_tests(named))
    family = dict(zip(tested, adjusted))
    return Comparison(
        title=f"{benchmark.card.title}: " + (f"{len(runs)} runs" if len(runs) > 2 else "B minus A"),
        sentences=(
            " ".join(f"{run.letter}: {run.results.model_name} ({run.path})." for run in runs),
            *(sentence for pair in pairs for sentence in (pair.common, told(pair.base, pair.second)) if sentence),
            *stands_alone(runs, [run for pair in pairs for run in (pair.base, pair.second)]),
            _found(named, adjusted),
            *_verdicts(benchmark, pairs, tested, family, margin),
        ),
        panels=panels,
        headline=_table(
            "Headline figures", pairs, benchmark, tested, adjusted,
            f"{_family('Holm', named)}{benchmark.comparing.note}",
        ),
        more=tuple(
            replace(table, title=f"{pair.name}{table.title}")
            for pair in pairs
            for table in benchmark.comparing.tables(pair.base.predictions, pair.second.predictions, _similarity)
        ),
        exploratory=_table(
            "Exploratory figures", pairs, benchmark, looked_at, benjamini_hochberg(_tests(_by_label(looked_at))),
            _family("Benjamini-Hochberg", _by_label(looked_at)),
        ),
        warnings=_warnings(named, runs, pairs),
        differences=named,
        plots=difference_plots(benchmark, tested),
    )  # fmt: skip


Found = Mapping[tuple[Pair, FigureKey], Difference]


def _by_label(found: Found) -> dict[str, Difference]:
    return {f"{pair.name}{key.label}": each for (pair, key), each in found.items()}


def _verdicts(
    benchmark: Benchmark[Any], pairs: Sequence[Pair], tested: Found, family: Mapping[Any, float], margin: float
) -> Iterator[str]:
    """Each pair by its own differences, with their p-values over the whole family."""
    for pair in pairs:
        own = {key: each for (of, key), each in tested.items() if of is pair}
        adjusted = [family[pair, key] for key in own]
        yield from benchmark.comparing.verdict(pair.base, pair.second, own, adjusted, margin)


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
    title: str, pairs: Sequence[Pair], benchmark: Benchmark[Any], found: Found, adjusted: Sequence[float], family: str
) -> Table:
    named = ("A", "B", "B minus A") if len(pairs) == 1 and not pairs[0].name else ("base", "run", "difference")
    rows = tuple(
        _row(f"{pair.name}{key.label}", each, p, benchmark.figure(key.figure).digits)
        for ((pair, key), each), p in zip(found.items(), adjusted)
    )
    note = (
        "Brackets: paired 95 % confidence intervals, on pairs that both runs answered readably. Tied: the interval "
        f"contains 0, and p is {LEVEL:g} or more; {UNCLEAR}: the two disagree. "
    )
    return Table(title, ("figure", *named, *COLUMNS), rows, note + family)


def _row(name: str, difference: Difference, adjusted: float, digits: int) -> tuple[Cell, ...]:
    return (
        Cell(name),
        Cell(difference.first, digits=digits),
        Cell(difference.second, digits=digits),
        Cell(difference.estimate, difference.low, difference.high, digits),
        Cell(_word(difference)),
        Cell(difference.p_value, digits=4, style="p"),
        Cell(adjusted, digits=4, style="p"),
        count(difference.n),
        count(difference.n_clusters),
    )


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
        for warning in run.results.warnings:
            noted.setdefault(warning.text, []).append(run.letter)
    return (*warnings, *(f"run {', '.join(letters)}: {note}" for note, letters in noted.items()))


def _helpers(results: Results) -> list[str]:
    """The identities of a run's helpers, such as classifiers, in the order by which its rows are paired."""
    return [str(helper["identity"]) for helper in results.helpers]
