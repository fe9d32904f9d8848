"""Which run of a candidate belongs to which of its base, and that nothing else differs between them than the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import differences
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder, is_run_folder
from evenhand.report.findings import Run, settings
from evenhand.report.tables import n_of


@dataclass(frozen=True)
class RunPair:
    """Two finished runs of the same rows, asked in the same way.

    Attributes:
        name: the benchmark's, and the base run's folder where several pairs are of one benchmark.
    """

    base: Run
    candidate: Run
    name: str

    @property
    def benchmark(self) -> Benchmark[Any]:
        return get_benchmark(self.base.results.benchmark)


def pair_runs(base: Path, candidate: Path) -> list[RunPair]:
    """Pair two run folders, or all runs in two folders.

    Raises UsageError for folders without finished runs, runs without a counterpart, counterparts with other rows,
    settings or helpers, and for one folder named twice.
    """
    if base.resolve() == candidate.resolve():
        raise UsageError(f"{base} is given as base and as candidate; name the runs of two models")
    one, other = _read_runs("A", base), _read_runs("B", candidate)
    benchmarks = [run.results.benchmark for run in one]
    found = []
    for run, name in zip(one, benchmarks):
        same = other if len(one) == len(other) == 1 else [each for each in other if each.results.benchmark == name]
        same = [each for each in same if settings(each.results) == settings(run.results)] or same
        if len(same) != 1:
            there = f"{candidate} has {n_of(len(same), 'run')} of {name} like {run.path}"
            raise UsageError(f"{there}; a candidate is asked all that its base was asked, each once")
        found.append(RunPair(run, same[0], name if benchmarks.count(name) == 1 else f"{name} ({run.path.name})"))
    if left := [str(run.path) for run in other if run not in [pair.candidate for pair in found]]:
        raise UsageError(f"{', '.join(left)}: no run like it is in {base}; name folders with the same runs")
    for pair in found:
        _check_comparable(pair)
    return found


def _read_runs(letter: str, path: Path) -> list[Run]:
    """Read all runs of a folder, which must be of one model: bias of one and use of another say nothing of either."""
    if not path.is_dir():
        raise UsageError(f"{path} does not exist; name a run's --output folder, or a folder of such folders")
    folders = [path] if is_run_folder(path) else sorted(filter(is_run_folder, path.iterdir()))
    if not folders:
        raise UsageError(f"{path} is no run folder of evenhand, and holds none")
    opened = [RunFolder.open(folder).publishable() for folder in folders]
    runs = [Run(letter, each.path, each.read_results(), each.read_predictions()) for each in opened]
    models = {  # files of texts are named by the file, whatever model wrote them
        run.path.name: f"{run.results.model_name} ({run.results.model_identity})"
        for run in runs
        if not run.results.option("texts")
    }
    if len(different := {*models.values()}) > 1:
        named = "; ".join(f"{name}: {model}" for name, model in models.items())
        raise UsageError(f"{path} holds runs of {len(different)} models ({named}); keep those of one model in a folder")
    return runs


def _check_comparable(pair: RunPair) -> None:
    """Raise UsageError unless both were asked the same rows in the same way."""
    base, candidate = pair.base, pair.candidate
    differ = differences(_asked(base.results), _asked(candidate.results))
    why = f"they differ in {'; '.join(differ)}" if differ else ""
    first, second = ({*run.predictions["id"]} for run in (base, candidate))
    if not differ and first != second:
        why = f"{len(first - second):,} answers are only in the first and {len(second - first):,} only in the second"
    if why:
        advice = "Run the candidate as its base was run, with one version of evenhand"
        raise UsageError(f"{base.path} and {candidate.path} can't be compared: {why}. {advice}")


def _asked(results: Results) -> dict[str, Any]:
    """Return what must be equal: benchmark, settings, the version of the dataset, and what read the answers."""
    return {
        "benchmark": results.benchmark, **settings(results), "dataset": results.rows_in_words,
        "helpers": [str(helper["identity"]) for helper in results.helpers],
    }  # fmt: skip
