"""Runs of one benchmark side by side, and their differences on the rows that both of a pair answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import NEEDS
from evenhand.flow.configuration import differences as setting_differences
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.differences import Groupings, differences, exploratory, headline
from evenhand.report.findings import Findings, Panel, Plot, Run, Texts, settings
from evenhand.report.tables import Table
from evenhand.report.tested_differences import (
    FigureDifference,
    describe_family,
    difference_plots,
    difference_table,
    state_differences,
)
from evenhand.statistics.clustered import FEW_CLUSTERS, Difference
from evenhand.statistics.families import benjamini_hochberg, holm

MARGIN = 5.0  # percent
_SHOWN_BY_LETTER = ("model", "batch_size", "max_failed", "output")  # settings that say nothing of a difference


@dataclass(frozen=True, kw_only=True)
class Comparison(Findings):
    """Runs side by side, and their differences: headline figures, and exploratory ones by group.

    Attributes:
        headline: the table of the headline differences; differences: the same, as numbers.
        more: the benchmark's further tables of each pair.
    """

    headline: Table
    panels: tuple[Panel, ...]
    more: tuple[Table, ...]
    differences: Mapping[str, Difference]

    @property
    def blocks(self) -> tuple[Table | Plot, ...]:
        """The differences, then the runs of each panel, then further tables."""
        of_panels = (block for panel in self.panels for block in panel.blocks)
        return (self.headline, *self.plots, *of_panels, *self.more)

    def to_frame(self) -> pd.DataFrame:
        """Return the headline differences, with numbers as numbers and intervals in columns of their own."""
        return self.headline.to_frame()


@dataclass(frozen=True)
class Pair:
    """Two runs that are compared: `second` minus `base`. name: before a figure's, where there are several pairs."""

    base: Run
    second: Run
    name: str = ""

    @property
    def n_common(self) -> int:
        return len({*self.base.predictions["id"]} & {*self.second.predictions["id"]})

    def describe(self) -> Iterator[str]:
        """Yield how many rows can be compared, and in which settings the two differ but for the model."""
        base, second = self.base, self.second
        only_base, only_second = (len(run.predictions) - self.n_common for run in (base, second))
        left_out = f"{only_base:,} only in {base.letter} and {only_second:,} only in {second.letter}, left out"
        yield f"{self.name}{self.n_common:,} prompts in common; {left_out}."
        if differ := describe_settings(base, second):
            yield differ


def describe_settings(one: Run, other: Run) -> str:
    """Say in which settings two runs differ, but for the model; "" where in none."""
    configs = (run.results.config.items() for run in (one, other))
    first, second = ({name: value for name, value in of if name not in _SHOWN_BY_LETTER} for of in configs)
    differ = "; ".join(setting_differences(first, second))
    return f"{one.letter} and {other.letter} differ in {differ}." if differ else ""


def compare(*runs_or_paths: Path | str | RunFolder, margin: float = MARGIN) -> Comparison:
    """Compare two or more runs of one benchmark.

    Two runs are compared as they are. Of more, each is compared with the first one that has equal settings but for the
    model and its mitigation.

    Args:
        runs_or_paths: folders of runs, or what `evenhand.evaluate` returned.
        margin: percent, or points, by which a model may fall off otherwise and still be called debiased.

    Raises:
        UsageError: for folders that are no finished runs, runs of different benchmarks, or runs without common rows.
    """
    paths = [each.path if isinstance(each, RunFolder) else Path(each) for each in runs_or_paths]
    if not 2 <= len(paths) <= len(ascii_uppercase):
        raise UsageError(f"expected 2 to {len(ascii_uppercase)} runs to compare, got {len(paths)}")
    folders = [RunFolder.open(path) for path in paths]
    runs = [
        Run(letter, path, folder.read_results(), folder.read_predictions())
        for letter, path, folder in zip(ascii_uppercase, paths, folders)
    ]
    name = runs[0].results.benchmark
    for run in runs:
        if (other := run.results.benchmark) != name:
            raise UsageError(f"{paths[0]} is a run of {name}, {run.path} of {other}; name runs of one benchmark")
    with as_written(*paths):
        return _compare(runs, get_benchmark(name), margin)


def _compare(runs: Sequence[Run], benchmark: Benchmark[Any], margin: float) -> Comparison:
    panels = benchmark.comparing.panels(runs)
    pairs = [
        Pair(panel.runs[0], run, f"{run.letter} minus {panel.runs[0].letter}: ")
        for panel in panels
        for run in panel.runs[1:]
    ]
    if one_pair := len(runs) == 2:
        pairs = [Pair(runs[0], runs[1])]
    by_pair = _test(benchmark, pairs, headline, holm)
    tested = [each for of_pair in by_pair.values() for each in of_pair]
    by_pair_exploratory = _test(benchmark, pairs, exploratory, benjamini_hochberg)
    looked_at = [each for of_pair in by_pair_exploratory.values() for each in of_pair]
    if not tested:
        raise UsageError(_why_nothing_to_compare(runs, pairs))
    note = describe_family("Holm", tested) + benchmark.comparing.note
    table = difference_table("Headline figures", tested, one_pair, note)
    more = tuple(
        replace(table, title=f"{pair.name}{table.title}")
        for pair in pairs
        for table in benchmark.comparing.tables(pair.base.predictions, pair.second.predictions, _similarity)
    )
    note = describe_family("Benjamini-Hochberg", looked_at)
    return Comparison(
        title=f"{benchmark.card.title}: " + ("B minus A" if one_pair else f"{len(runs)} runs"),
        sentences=(
            " ".join(f"{run.letter}: {run.results.model_name} ({run.path})." for run in runs),
            *(sentence for pair in pairs for sentence in pair.describe()),
            *_name_unpaired(runs, pairs),
            state_differences(tested),
            *_verdicts(benchmark, by_pair, margin),
        ),
        warnings=tuple(_warnings(tested, runs, pairs)),
        tables=(table, *(each for panel in panels for each in panel.tables), *more),
        exploratory=(difference_table("Exploratory figures", looked_at, one_pair, note),),
        plots=tuple(difference_plots(tested)),
        headline=table,
        panels=panels,
        more=more,
        differences={each.name: each.difference for each in tested},
    )


def _test(
    benchmark: Benchmark[Any], pairs: Sequence[Pair], groupings: Groupings,
    adjust: Callable[[Sequence[float]], list[float]],
) -> dict[Pair, list[FigureDifference]]:  # fmt: skip
    """Return the differences of each pair, with p-values adjusted over those of all pairs."""
    found = [
        (pair, FigureDifference(f"{pair.name}{key.label}", key, benchmark.figure(key.figure), difference))
        for pair in pairs
        for key, difference in differences(benchmark, pair.base.sample, pair.second.sample, groupings).items()
    ]
    tested: dict[Pair, list[FigureDifference]] = {pair: [] for pair in pairs}
    for (pair, each), adjusted in zip(found, adjust([each.p_value for _, each in found])):
        tested[pair].append(replace(each, adjusted=adjusted))
    return tested


def _verdicts(
    benchmark: Benchmark[Any], by_pair: Mapping[Pair, Sequence[FigureDifference]], margin: float
) -> Iterator[str]:
    """Yield the benchmark's sentences on each pair, by its own differences, with p-values over the whole family."""
    for pair, tested in by_pair.items():
        found, adjusted = {each.key: each.difference for each in tested}, [each.adjusted for each in tested]
        yield from benchmark.comparing.verdict(pair.base, pair.second, found, adjusted, margin)


def _similarity(first: Texts, second: Texts) -> float | None:
    """By the embedded encoder's sentence embeddings."""
    from evenhand.models.text_similarity import TextEncoder  # imports torch

    encoder = TextEncoder.at_hand()
    return encoder.similarity(first, second) if encoder else None


def _name_unpaired(runs: Sequence[Run], pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a sentence on each run that is compared with no other."""
    paired = [run for pair in pairs for run in (pair.base, pair.second)]
    for run in (each for each in runs if each not in paired):
        why = "no other run has equal settings but for the model and its mitigation"
        yield f"{run.letter} is compared with no other: {why}. {describe_settings(runs[0], run)}".strip()


def _why_nothing_to_compare(runs: Sequence[Run], pairs: Sequence[Pair]) -> str:
    """Say why, with the settings in which runs differ but may not."""
    folders = " and ".join(str(run.path) for run in runs)
    first, *others = (settings(run.results) for run in runs)
    differ = "; ".join(dict.fromkeys(each for other in others for each in setting_differences(first, other)))
    if not pairs:
        no_base = "no two have equal settings but for the model and its mitigation, so none has a base"
        return f"of {folders} {no_base}: {differ}. Name two to compare them as they are"
    if any(pair.n_common for pair in pairs):
        return f"of {folders} nothing was read in both, so nothing can be compared"
    if differ:
        return f"{folders} have no row in common, for they differ in {differ}; compare runs of the same rows"
    return f"{folders} have no row in common, though their settings are equal; run one of them again"


def _warnings(tested: Sequence[FigureDifference], runs: Sequence[Run], pairs: Sequence[Pair]) -> Iterator[str]:
    if few := [each.name for each in tested if each.difference.n_clusters < FEW_CLUSTERS]:
        yield f"fewer than {FEW_CLUSTERS} clusters, rough intervals: {'; '.join(few)}"
    for pair in pairs:
        both = (pair.base, pair.second)
        base, second = (", ".join(str(each["identity"]) for each in run.results.helpers) or "none" for run in both)
        if base != second:
            of = f"{pair.base.letter} ({base}) than of {pair.second.letter} ({second})"
            yield f"other helpers read the answers of {of}; run both with the same ones, or differences may be theirs"
        ways = [_scoring_way(run.results) for run in both]
        if ways[0] != ways[1]:
            named = "; ".join(f"{run.letter}: {way}" for run, way in zip(both, ways))
            yield f"answers were scored in different ways ({named}); differences may be theirs"
    letters: dict[str, list[str]] = {}
    for run in runs:
        for warning in run.results.warnings:
            letters.setdefault(warning.text, []).append(run.letter)
    yield from (f"run {', '.join(of)}: {text}" for text, of in letters.items())


def _scoring_way(results: Results) -> str:
    """Say how a run's answers were got: written, or scored, and by what."""
    if NEEDS.get(results.config.get("protocol") or "") == "generate":
        return "written answers"
    ways = [each.text for each in results.warned("scored_by")]
    if results.warned("top_logprobs"):
        ways.append("options were scored by top_logprobs")
    return "; ".join(ways) or "options were scored by a local model"
