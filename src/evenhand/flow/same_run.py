"""What makes two runs the same: settings, rows, models, versions, code, and the date that chat templates are told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from evenhand.errors import UsageError
from evenhand.flow.results import versions
from evenhand.flow.run_folder import RunFolder
from evenhand.models.protocol import HasChatTemplate, Model
from evenhand.models.template_settings import HasTemplateOptions

if TYPE_CHECKING:
    from evenhand.flow.evaluation import Prepared

C = TypeVar("C", bound=HasTemplateOptions)


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


def keep_date(config: C, folder: RunFolder) -> C:
    """The configuration with the date that chat templates were told when the run in this folder was begun."""
    begun = folder.begun().get("date") if config.date is None and folder.config.is_file() else None
    return replace(config, date=begun) if isinstance(begun, str) else config


def record_date(config: C, models: Iterable[Model]) -> C:
    """The configuration with the date that chat templates are told; without one where none of them asks.

    Raises UsageError for a date that has no effect.
    """
    dates = [each.template_date for each in models if isinstance(each, HasChatTemplate) and each.template_date]
    if config.date and not dates:
        raise UsageError("--date has no effect: no chat template here asks for the date; remove it")
    return replace(config, date=dates[0] if dates else None)


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
