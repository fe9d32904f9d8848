"""Two runs of one benchmark side by side, on the rows that both asked."""

from __future__ import annotations

from pathlib import Path

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.run_folder import RunFolder
from evenhand.stats import Difference, paired_difference
from evenhand.tables import Cell, Table, figure


def compare(first: Path, second: Path) -> Table:
    """The headline figures of both runs and their paired differences, second minus first.

    Raises UsageError for folders that are no finished runs, runs of different benchmarks, or runs without common rows.
    """
    folders = [RunFolder.open(first), RunFolder.open(second)]
    results = [folder.read_results() for folder in folders]
    names = [str(result["benchmark"]) for result in results]
    if names[0] != names[1]:
        raise UsageError(f"{first} is a run of {names[0]}, {second} of {names[1]}; name two runs of one benchmark")
    benchmark = get_benchmark(names[0])
    values = [benchmark.headline_values(folder.read_predictions()).set_index(["figure", "id"]) for folder in folders]
    paired = values[0].merge(values[1], left_index=True, right_index=True, suffixes=("_first", "_second"))
    if paired.empty:
        raise UsageError(f"{first} and {second} have no row in common; run both with the same configs, limit and seed")
    rows = []
    for name, group in paired.groupby(level="figure", sort=False):
        difference = paired_difference(group["value_first"], group["value_second"], group["cluster_first"])
        rows.append(_row(str(name), difference))
    models = [f"{result['model_name']} ({folder.path})" for result, folder in zip(results, folders)]
    unpaired = [len(each) - len(paired) for each in values]
    note = f"A: {models[0]}. B: {models[1]}. "
    note += "Brackets: 95 % interval, paired bootstrap over clusters, on rows that both answered readably. "
    note += f"Figures of rows that only one run has: {unpaired[0]:,} in A, {unpaired[1]:,} in B, left out."
    return Table(
        f"{benchmark.name}: B minus A", ("figure", "A", "B", "difference", "", "n pairs", "clusters"), tuple(rows), note
    )


def _row(name: str, difference: Difference) -> tuple[Cell, ...]:
    verdict = "tied" if difference.tied else "higher" if difference.estimate > 0 else "lower"
    return tuple(
        Cell(text)
        for text in (
            name,
            figure(difference.first),
            figure(difference.second),
            figure(difference.estimate, [difference.low, difference.high]),
            verdict,
            f"{difference.n:,}",
            f"{difference.n_clusters:,}",
        )
    )
