"""Which run of a candidate belongs to which of its base, and that nothing else differs between them than the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evenhand.errors import UsageError
from evenhand.flow.configuration import differences
from evenhand.flow.run_folder import RunFolder, is_run_folder
from evenhand.report.findings import Run
from evenhand.report.what_differs import settings


@dataclass(frozen=True)
class RunPair:
    """Two finished runs of the same rows, asked in the same way. name: the benchmark's, and the run's where several
    pairs are of one.
    """

    base: Run
    candidate: Run
    name: str

    @property
    def benchmark(self) -> str:
        return self.base.results.benchmark


def pairs(base: Path, candidate: Path) -> list[RunPair]:
    """Of two run folders, or of all runs in two folders.

    Raises UsageError for folders without finished runs, runs that have no counterpart, and counterparts that were asked
    other rows, in another way, or read by other helpers, and for one folder named twice.
    """
    if base.resolve() == candidate.resolve():
        raise UsageError(f"{base} came as base and as candidate; name the runs of two models")
    one, other = _runs("A", base), _runs("B", candidate)
    for runs, where in ((one, base), (other, candidate)):
        _check_one_model(runs, where)
    if len(one) == len(other) == 1:
        found = [RunPair(one[0], other[0], one[0].results.benchmark)]
    else:
        found = [RunPair(each, _counterpart(each, other, candidate), _name(each, one)) for each in one]
        left = [str(run.path) for run in other if all(run is not pair.candidate for pair in found)]
        if left:
            raise UsageError(f"{', '.join(left)}: no run like it is in {base}; name folders with the same runs")
    for pair in found:
        _check(pair)
    return found


def _runs(letter: str, path: Path) -> list[Run]:
    if not path.is_dir():
        raise UsageError(f"{path} does not exist; name a run's --output folder, or a folder of such folders")
    folders = [path]
    if not is_run_folder(path):
        folders = sorted(each for each in path.iterdir() if each.is_dir() and is_run_folder(each))
    if not folders:
        raise UsageError(f"{path} is no run folder of evenhand, and holds none")
    opened = [RunFolder.open(folder) for folder in folders]
    return [Run(letter, each.path, each.publishable().read_results(), each.read_predictions()) for each in opened]


def _check_one_model(runs: Sequence[Run], where: Path) -> None:
    """Raises UsageError where bias was measured of one model and use of another: neither would be judged."""
    models: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        if run.results.option("texts"):  # a file's name, which says nothing of whose texts it holds
            continue
        models.setdefault((run.results.model_name, run.results.model_identity), []).append(run.path.name)
    if len(models) > 1:
        told = "; ".join(f"{', '.join(of)}: {name} ({identity})" for (name, identity), of in models.items())
        raise UsageError(f"{where} holds runs of {len(models)} models ({told}); keep the runs of one model in a folder")


def _counterpart(run: Run, others: Sequence[Run], where: Path) -> Run:
    """The one run of the same benchmark that was asked alike; where there is one of the benchmark alone, that one."""
    of_benchmark = [each for each in others if each.results.benchmark == run.results.benchmark]
    alike = [each for each in of_benchmark if not _unlike(run, each)] or of_benchmark
    if len(alike) == 1:
        return alike[0]
    what = f"{run.results.benchmark} asked as in {run.path}"
    if not alike:
        raise UsageError(f"{where} has no run of {what}; a candidate is asked all that its base was asked")
    raise UsageError(
        f"{where} has {len(alike)} runs of {what}: {', '.join(str(each.path) for each in alike)}; keep one"
    )


def _name(run: Run, runs: Sequence[Run]) -> str:
    alone = sum(each.results.benchmark == run.results.benchmark for each in runs) == 1
    return run.results.benchmark if alone else f"{run.results.benchmark} ({run.path.name})"


def _unlike(base: Run, candidate: Run) -> list[str]:
    return differences(settings(base.results), settings(candidate.results))


def _check(pair: RunPair) -> None:
    """Raises UsageError."""
    one, other = pair.base, pair.candidate
    both = f"{one.path} and {other.path} can't be compared: "
    if one.results.benchmark != other.results.benchmark:
        raise UsageError(f"{both}one is a run of {one.results.benchmark}, one of {other.results.benchmark}")
    if unlike := _unlike(one, other):
        raise UsageError(f"{both}they differ in {'; '.join(unlike)}. Run the candidate as its base was run")
    if why := _versions(one, other):
        raise UsageError(f"{both}{why}")
    _check_rows(both, one.predictions, other.predictions)
    readers = [[str(helper["identity"]) for helper in run.results.helpers] for run in (one, other)]
    if readers[0] != readers[1]:
        raise UsageError(f"{both}other helpers read their answers ({readers[0]}, {readers[1]}). Use the same ones")


def _versions(one: Run, other: Run) -> str:
    """Why their rows are not of one version of a dataset; empty where they are."""
    versions = [_of_dataset(run.results.versions) for run in (one, other)]
    if versions[0] == versions[1]:
        return ""
    for run, found in zip((one, other), versions):
        if not found:
            return (
                f"{run.path} doesn't say of which version its dataset was. Repeat its evenhand run command, which asks "
                "nothing twice"
            )
    told = " and ".join(", ".join(f"{name} {version}" for name, version in found.items()) for found in versions)
    return f"they are of other versions of their dataset ({told}). Run the base again with this version"


def _of_dataset(versions: Mapping[str, str]) -> dict[str, str]:
    return {name: version for name, version in versions.items() if name.startswith("dataset ")}


def _check_rows(both: str, one: pd.DataFrame, other: pd.DataFrame) -> None:
    ids = [set(each["id"]) for each in (one, other)]
    if ids[0] != ids[1]:
        alone, without = len(ids[0] - ids[1]), len(ids[1] - ids[0])
        raise UsageError(
            f"{both}{alone:,} answers are only in the first and {without:,} only in the second. Ask both the same rows"
        )
