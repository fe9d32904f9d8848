"""Which run of a candidate belongs to which of its base, and that nothing else differs between them than the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    def benchmark(self) -> str:
        return self.base.results.benchmark


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
    for run in one:
        name = run.results.benchmark
        same = other if len(one) == len(other) == 1 else [each for each in other if each.results.benchmark == name]
        same = [each for each in same if settings(each.results) == settings(run.results)] or same
        if len(same) != 1:
            there = n_of(len(same), "run")
            raise UsageError(
                f"{candidate} has {there} of {name} like {run.path}; a candidate is asked all that its base was asked, "
                "each once"
            )
        found.append(RunPair(run, same[0], name if benchmarks.count(name) == 1 else f"{name} ({run.path.name})"))
    if left := [str(run.path) for run in other if run not in [pair.candidate for pair in found]]:
        raise UsageError(f"{', '.join(left)}: no run like it is in {base}; name folders with the same runs")
    for pair in found:
        if why := _why_not_comparable(pair.base, pair.candidate):
            raise UsageError(f"{pair.base.path} and {pair.candidate.path} can't be compared: {why}")
    return found


def _read_runs(letter: str, path: Path) -> list[Run]:
    """All runs of a folder, which must be of one model: else bias is measured of one, and use of another."""
    if not path.is_dir():
        raise UsageError(f"{path} does not exist; name a run's --output folder, or a folder of such folders")
    folders = [path] if is_run_folder(path) else sorted(filter(is_run_folder, path.iterdir()))
    if not folders:
        raise UsageError(f"{path} is no run folder of evenhand, and holds none")
    opened = [RunFolder.open(folder).publishable() for folder in folders]
    runs = [Run(letter, each.path, each.read_results(), each.read_predictions()) for each in opened]
    models: dict[str, list[str]] = {}
    for run in runs:
        if not run.results.option("texts"):  # which are named by their file, whatever model wrote them
            name = f"{run.results.model_name} ({run.results.model_identity})"
            models.setdefault(name, []).append(run.path.name)
    if len(models) > 1:
        named = "; ".join(f"{', '.join(of)}: {model}" for model, of in models.items())
        raise UsageError(f"{path} holds runs of {len(models)} models ({named}); keep the runs of one model in a folder")
    return runs


def _why_not_comparable(base: Run, candidate: Run) -> str:
    """Why two runs can't be compared, and what to do; empty where they can."""
    if differ := differences(_asked(base.results), _asked(candidate.results)):
        return (
            f"they differ in {'; '.join(differ)}. Run the candidate as its base was run, with one version of evenhand"
        )
    ids = [{*run.predictions["id"]} for run in (base, candidate)]
    if ids[0] != ids[1]:
        alone, without = len(ids[0] - ids[1]), len(ids[1] - ids[0])
        return f"{alone:,} answers are only in the first and {without:,} only in the second. Ask both the same rows"
    return ""


def _asked(results: Results) -> dict[str, Any]:
    """What must be the same in both: benchmark, settings, the version of the dataset, and what read the answers."""
    return {
        "benchmark": results.benchmark, **settings(results), "dataset": results.rows_in_words,
        "helpers": [str(helper["identity"]) for helper in results.helpers],
    }  # fmt: skip
