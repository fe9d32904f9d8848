"""How a run was made, in words and as records: of its configuration what decides figures, and nothing of a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from evenhand.hub.submission.identity import commit_of, shown, told

if TYPE_CHECKING:
    from evenhand.hub.submission.finished_run import FinishedRun

WRITES = "generate"  # the protocol in which a model samples
_OWN = ("configs", "source", "runs", "seed", "protocol", "mitigation", "dtype")


def settings(run: FinishedRun) -> dict[str, str]:
    """{name: value}, of the benchmark's and the mitigation's own options those that differ from their defaults."""
    config = run.results.config
    found: dict[str, Any] = {name: config.get(name) for name in _OWN}
    for part, defaults in (
        ("options", run.benchmark.Options()),
        ("mitigation_options", type(run.config.mitigation_options)()),
    ):
        told: Mapping[str, Any] = config.get(part, {})
        plain = json.loads(json.dumps(vars(defaults), default=str))
        found |= {name: value for name, value in told.items() if value != plain.get(name)}
    return {name: as_text(value) for name, value in found.items() if value not in (None, [], "")}


def as_text(value: object) -> str:
    """A value of a string map; of a path, its last name; of a server, no address."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(as_text, value))
    if isinstance(value, str):
        if value.lower().startswith(("http://", "https://")):
            return shown(value)
        path = PurePath(value)
        return path.name if path.is_absolute() or value.startswith("~") else value
    return json.dumps(value, sort_keys=True)


def notes(run: FinishedRun) -> str:
    """Of protocol, seeds and versions, in a line."""
    parts = [f"{name.replace('_', ' ')} {value}" for name, value in settings(run).items() if name != "configs"]
    parts.append(f"evenhand {run.results.versions.get('evenhand', 'unknown')}")
    if run.dataset_version:
        parts.append(f"{run.dataset} {run.dataset_version}")
    commit = commit_of(run)
    parts.append(f"model commit {commit[:12]}" if commit else f"ran as {told(run)}")
    return "; ".join(parts)


def warnings(run: FinishedRun) -> str:
    """What the run warns of; the first, where they are many."""
    found = [each.text for each in run.results.warnings]
    more = [f"and {len(found) - 5} more"] if len(found) > 5 else []
    return "; ".join((*found[:5], *more))
