"""What tells a run from all others whose predictions may differ, though their settings are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from evenhand.flow.results import versions

if TYPE_CHECKING:
    from evenhand.flow.evaluation import Prepared


def same_run(run: Prepared) -> str | None:
    """Settings, rows, models, versions and evenhand's code in a digest; None where other code takes part."""
    taking_part = [run.benchmark, *([run.mitigation] if run.mitigation else [])]
    if any(type(each).__module__.partition(".")[0] != "evenhand" for each in taking_part):
        return None  # a plugin's code may change under the same version
    decides = {
        "config": run.config.to_json(),
        "rows": [run.rows.sha256, run.rows.rows._fingerprint],
        "models": {agent: model.identity for agent, model in run.models.items()},
        "versions": versions("" if run.rows.sha256 else run.benchmark.card.dataset),
        "code": _code(),
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()


def _code() -> Mapping[str, str]:
    """{package: digest of its files}."""
    import evenhand
    import evenhand.models

    found = {}
    packages: tuple[ModuleType, ...] = (evenhand, evenhand.models)  # the first may hold all, or lie elsewhere
    for package in packages:
        digest = hashlib.sha256()
        for path in sorted(path for folder in package.__path__ for path in Path(folder).rglob("*.py")):
            digest.update(path.read_bytes())
        found[package.__name__] = digest.hexdigest()
    return found
