"""A finished run as it is submitted: read once, with what its figures need."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import RunConfig, deciding
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import finished_at
from evenhand.hub.results_checks import dataset_of, packaged

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FinishedRun:
    """finished: when, in seconds since 1970; where its store doesn't say, when its results were written here."""

    folder: RunFolder
    results: Results
    config: RunConfig[Any]
    predictions: pd.DataFrame
    finished: float

    @classmethod
    def read(cls, path: Path) -> FinishedRun:
        """Raises UsageError for a folder that is no finished run, EvenhandError for a damaged one."""
        folder = RunFolder.open(path)
        results = folder.read_results()
        with as_written(path):
            finished = finished_at(folder.store) or folder.results.stat().st_mtime
            return cls(folder, results, folder.read_config(), folder.read_predictions(), finished)

    @property
    def name(self) -> str:
        """For messages."""
        return str(self.folder.path)

    @property
    def benchmark(self) -> Benchmark[Any]:
        return get_benchmark(self.results.benchmark)

    @property
    def dataset(self) -> str:
        return dataset_of(self.results)

    @property
    def packaged(self) -> bool:
        return packaged(self.results)

    @property
    def dataset_version(self) -> str | None:
        """None where its rows are not those of a packaged dataset."""
        return self.results.versions.get(f"dataset {self.dataset}")

    @cached_property
    def fingerprint(self) -> str:
        """In hexadecimal; the same for runs that asked the same model the same."""
        config = deciding(self.config, self.results.config)
        asked = [config, self.results.model_identity, self.dataset_version]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
