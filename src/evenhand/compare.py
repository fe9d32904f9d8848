"""Two runs of one benchmark side by side, on the rows that both answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evenhand.benchmark import Texts
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.run_folder import RunFolder
from evenhand.stats import FEW_CLUSTERS, Difference, benjamini_hochberg, holm, paired_difference
from evenhand.tables import Cell, Table, figure

LEVEL = 0.05
COLUMNS = ("figure", "A", "B", "B minus A", "", "p", "adjusted p", "n pairs", "clusters")


@dataclass(frozen=True)
class Comparison:
    """Headline figures, and exploratory ones by group, of two runs."""

    title: str
    sentences: tuple[str, ...]
    headline: Table
    more: tuple[Table, ...]
    exploratory: Table
    warnings: tuple[str, ...]


def compare(first: Path, second: Path) -> Comparison:
    """The figures of both runs and their paired differences, second minus first.

    Raises UsageError for folders that are no finished runs, runs of different benchmarks, or runs without common rows.
    """
    folders = [RunFolder.open(first), RunFolder.open(second)]
    results = [folder.read_results() for folder in folders]
    names = [str(result["benchmark"]) for result in results]
    if names[0] != names[1]:
        raise UsageError(f"{first} is a run of {names[0]}, {second} of {names[1]}; name two runs of one benchmark")
    benchmark = get_benchmark(names[0])
    predictions = tuple(folder.read_predictions() for folder in folders)
    headline = _differences(*(benchmark.headline_values(each) for each in predictions))
    if not headline:
        raise UsageError(f"{first} and {second} have no row in common; run both with the same configs, limit and seed")
    exploratory = _differences(*(benchmark.exploratory_values(each) for each in predictions))
    common = len(set(predictions[0]["id"]) & set(predictions[1]["id"]))
    adjusted = holm([difference.p_value for difference in headline.values()])
    return Comparison(
        title=f"{benchmark.title}: B minus A",
        sentences=(
            f"A: {results[0]['model_name']} ({first}). B: {results[1]['model_name']} ({second}).",
            f"{common:,} prompts in common; {len(predictions[0]) - common:,} only in A and "
            f"{len(predictions[1]) - common:,} only in B, left out.",
            _found(headline, adjusted),
        ),
        headline=_table(
            "Headline figures",
            headline,
            adjusted,
            f"Adjusted p: Holm over this family of {len(headline)}. ",
            benchmark.digits,
        ),
        more=benchmark.compared(predictions[0], predictions[1], _similarity),
        exploratory=_table(
            "Exploratory figures",
            exploratory,
            benjamini_hochberg([difference.p_value for difference in exploratory.values()]),
            f"Adjusted p: Benjamini-Hochberg over this family of {len(exploratory)}. ",
            benchmark.digits,
        ),
        warnings=_warnings(headline, results),
    )


def _similarity(first: Texts, second: Texts) -> float | None:
    """By the embedded encoder's sentence embeddings."""
    from evenhand.models.text_similarity import TextEncoder

    try:
        encoder = TextEncoder.embedded()
    except ModelError:
        return None
    return encoder.similarity(first, second)


def _found(headline: dict[str, Difference], adjusted: list[float]) -> str:
    """Which headline figures differ: after adjustment over the family, and by their own interval alone."""
    untied = [name for name, difference in headline.items() if not difference.tied]
    if not untied:
        return "Tied on every headline figure."
    certain = [name for name, p in zip(headline, adjusted) if p < LEVEL]
    sentence = f"Different at the {100 * LEVEL:.0f} % level over all {len(headline)} headline figures (Holm): "
    return f"{sentence}{', '.join(certain) or 'none'}. By their own interval alone: {', '.join(untied)}."


def _differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """The paired difference of each figure, in order of appearance."""
    paired = first.merge(second, on=["figure", "id"], suffixes=("_first", "_second"))
    return {
        str(name): paired_difference(group["value_first"], group["value_second"], group["cluster_first"])
        for name, group in paired.groupby("figure", sort=False)
    }


def _table(title: str, differences: dict[str, Difference], adjusted: list[float], family: str, digits: int) -> Table:
    rows = tuple(_row(*named, p, digits) for named, p in zip(differences.items(), adjusted))
    note = (
        "Brackets: 95 % interval, paired bootstrap over clusters, on pairs that both runs answered readably; tied: it "
    )
    note += f"holds 0. p: paired permutation over clusters. {family}"
    return Table(title, COLUMNS, rows, note)


def _row(name: str, difference: Difference, adjusted: float, digits: int) -> tuple[Cell, ...]:
    texts = (
        name,
        figure(difference.first, digits=digits),
        figure(difference.second, digits=digits),
        figure(difference.estimate, [difference.low, difference.high], digits),
        "tied" if difference.tied else "higher" if difference.estimate > 0 else "lower",
        figure(difference.p_value, digits=4),
        figure(adjusted, digits=4),
        f"{difference.n:,}",
        f"{difference.n_clusters:,}",
    )
    return tuple(Cell(text) for text in texts)


def _warnings(differences: dict[str, Difference], results: list[dict[str, object]]) -> tuple[str, ...]:
    few = [name for name, difference in differences.items() if difference.n_clusters < FEW_CLUSTERS]
    warnings = [f"fewer than {FEW_CLUSTERS} clusters, rough intervals: {', '.join(few)}"] if few else []
    helpers = [_helpers(result) for result in results]
    if helpers[0] != helpers[1]:
        one, other = (", ".join(identities) or "none" for identities in helpers)
        warnings.append(
            f"other helpers read the answers of A ({one}) than of B ({other}): differences may be theirs, not the "
            "models'; run both with the same ones"
        )
    for run, result in zip("AB", results):
        metrics = result["metrics"]
        warnings += [f"run {run}: {note}" for note in metrics["warnings"]] if isinstance(metrics, dict) else []
    return tuple(warnings)


def _helpers(results: dict[str, object]) -> list[str]:
    """The identities of a run's helpers, such as classifiers, in the order by which its rows are paired."""
    helpers = results.get("helpers")
    return [str(helper["identity"]) for helper in helpers] if isinstance(helpers, list) else []
