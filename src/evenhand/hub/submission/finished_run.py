"""A finished run as it is submitted: its files, the model that ran, and its settings."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig, deciding
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import finished_at
from evenhand.hub.contents import check_repository_id
from evenhand.hub.results_checks import name_dataset
from evenhand.models.registry import EMBEDDED
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED

if TYPE_CHECKING:
    import pandas as pd

WRITES = "generate"  # the protocol in which a model samples
FLAG = "--under-another-name"
_SETTINGS = ("configs", "source", "runs", "seed", "protocol", "mitigation", "dtype")
# A model of the Hub is identified by a commit, an adapter also by its base's; a folder by a shorter fingerprint.
_COMMIT = re.compile(r"@([0-9a-f]{40})(\+\w+)?( [^@]*)?$")


@dataclass(frozen=True)
class FinishedRun:
    """finished: when, in seconds since 1970; if its store does not say, when its results were written here."""

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
        """The run folder's path, for messages."""
        return str(self.folder.path)

    @property
    def benchmark(self) -> Benchmark[Any]:
        return get_benchmark(self.results.benchmark)

    @property
    def dataset(self) -> str:
        return name_dataset(self.results)

    @property
    def dataset_version(self) -> str | None:
        """None if its rows are not those of a packaged dataset."""
        return self.results.versions.get(f"dataset {self.dataset}")

    @cached_property
    def fingerprint(self) -> str:
        """In hexadecimal; equal for runs that asked the same model the same."""
        config = deciding(self.config, self.results.config)
        asked = [config, self.results.model_identity, self.dataset_version]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


# The model


def checked_model_id(text: str) -> str:
    """Return the id. Raises UsageError unless it is ORG/NAME."""
    if text.count("/") != 1:
        raise UsageError(f"--model-id must be ORG/NAME, the model's id on the Hub, got {text[:100]!r}")
    return check_repository_id(text)


def check_model(run: FinishedRun, model_id: str, under_another_name: bool) -> None:
    """Raise UsageError where no model ran, or several, or a stub, or a model of another name, unless that was said."""
    results = run.results
    names = set(run.benchmark.configuring.measured(run.config).values())
    if not results.model or not names:
        raise UsageError(f"{run.name} scores what exists, and asked no model; it says nothing of {model_id}")
    if len(names) > 1:
        several = ", ".join(sorted(map(shown, names)))
        raise UsageError(f"{run.name} measures several models together ({several}); submit a run of one model")
    identities = (results.model, results.model_identity, *results.agents.values())
    if any(each.lower().startswith("stub:") for each in identities):
        raise UsageError(f"{run.name} is a run of a stub ({shown(results.model)}), whose answers are made up")
    if is_that_model(run, model_id):
        return
    known = commit_of(run) is not None or (results.model == EMBEDDED and model_id != PUBLIC_ID_OF_EMBEDDED)
    if known or not under_another_name:
        public = f", which is {PUBLIC_ID_OF_EMBEDDED}" if results.model == EMBEDDED else ""
        raise UsageError(
            f"{run.name} asked {describe_model(run)}{public}, and --model-id is {model_id!r}: name the model that "
            f"ran. {FLAG} is for a folder or a server of {model_id}, not for other models of the Hub"
        )


def is_that_model(run: FinishedRun, model_id: str) -> bool:
    """Return whether the run's model has this name and is from the Hub: a local folder may have any name."""
    return run.results.model.removeprefix("vllm:") == model_id and commit_of(run) is not None


def commit_of(run: FinishedRun) -> str | None:
    """Return the commit of a model of the Hub."""
    found = _COMMIT.search(run.results.model_identity)
    return found[1] if found else None


def describe_model(run: FinishedRun) -> str:
    """Return what ran: "ORG/NAME", "ORG/NAME (not from the Hub)", "a server's NAME (not from the Hub)"."""
    name = shown(run.results.model)
    return name if commit_of(run) else f"{name} (not from the Hub)"


def shown(model: str) -> str:
    """Return a model's name in one line, without the machine's folders, a server's address or what it may hold."""
    model = " ".join(model.split())
    if is_url(model):
        name = model.partition("#")[2]
        return f"a server's {name}" if name else "a server"
    backend, colon, rest = model.partition(":")
    path = PurePath(rest if colon else model)
    is_path = path.is_absolute() or model.startswith((".", "~")) or len(path.parts) > 2 or "\\" in model
    if not is_path:
        return model
    return f"{backend}:{path.name}" if colon else f"the folder {path.name!r}"


def is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


# Its settings


def settings(run: FinishedRun) -> dict[str, str]:
    """Return the settings that decide figures; of the benchmark's and the mitigation's those that are no defaults."""
    config = run.results.config
    found: dict[str, Any] = {name: config.get(name) for name in _SETTINGS}
    defaults = {"options": run.benchmark.Options(), "mitigation_options": type(run.config.mitigation_options)()}
    for part, options in defaults.items():
        plain = json.loads(json.dumps(vars(options), default=str))
        found |= {name: value for name, value in config.get(part, {}).items() if value != plain.get(name)}
    return {name: _as_text(value) for name, value in found.items() if value not in (None, [], "")}


def _as_text(value: object) -> str:
    """Return a setting as a string: of a path its last name, of a server no address."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_as_text, value))
    if not isinstance(value, str):
        return json.dumps(value, sort_keys=True)
    path = PurePath(value)
    return shown(value) if is_url(value) else path.name if path.is_absolute() or value.startswith("~") else value


def describe_settings(run: FinishedRun) -> str:
    """Return protocol, seeds and versions in one line."""
    parts = [f"{name.replace('_', ' ')} {value}" for name, value in settings(run).items() if name != "configs"]
    parts.append(f"evenhand {run.results.versions.get('evenhand', 'unknown')}")
    if run.dataset_version:
        parts.append(f"{run.dataset} {run.dataset_version}")
    commit = commit_of(run)
    parts.append(f"model commit {commit[:12]}" if commit else f"ran as {describe_model(run)}")
    return "; ".join(parts)
