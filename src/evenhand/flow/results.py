"""results.json: what a run measured, in one record that everything which reads results knows."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from typing import Any, get_args, get_origin, get_type_hints

from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import shortened

SCHEMA_VERSION = 1
"""Of results.json; results.schema.json beside this file describes it for other people's tools."""

VERSIONED = ("evenhand", "torch", "transformers", "datasets", "evaluate", "numpy", "scipy")


@dataclass(frozen=True)
class Results:
    """config: as config.json has it. model: as it was named; model_name: as reports call it; model_identity: what
    decides its replies. agents: {agent: identity} of all models that were asked. helpers: of those that read answers,
    name, identity and training. n: answers. metrics: the benchmark's own figures, always with `warnings`. published:
    the paper's, where the run is as in the paper. versions: of Python and the libraries. rows_sha256: of the file
    whose rows were scored in place of packaged data. differs: in what the run is not as in the paper, whose figures are
    not shown then.
    """

    schema_version: int
    benchmark: str
    config: dict[str, Any]
    model: str
    model_name: str
    model_identity: str
    agents: dict[str, str]
    helpers: list[dict[str, Any]]
    n: int
    metrics: dict[str, Any]
    published: dict[str, Any]
    versions: dict[str, str]
    rows_sha256: str | None = None
    differs: list[str] = field(default_factory=list)

    def option(self, name: str) -> Any:
        """Of the run's configuration: every run's, the benchmark's own or the mitigation's; None where it has none."""
        for part in (self.config, self.config.get("options", {}), self.config.get("mitigation_options", {})):
            if name in part:
                return part[name]
        return None

    @property
    def asked(self) -> dict[str, Any]:
        """The whole configuration by flat names, for a reader."""
        own = {**self.config.get("options", {}), **self.config.get("mitigation_options", {})}
        return {name: value for name, value in self.config.items() if not isinstance(value, dict)} | own

    def to_json(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Results:
        """Raises EvenhandError for a record of another version of evenhand, or a damaged one."""
        again = "repeat its evenhand run command with another --output"
        record = {"differs": [], **record}  # younger than the first records of this version
        version = record.get("schema_version")
        if version != SCHEMA_VERSION:
            written = "before results had a version" if version is None else f"in version {version!r} of its format"
            raise EvenhandError(
                f"these results were written {written}; this evenhand reads {SCHEMA_VERSION}: {again} with another "
                "--output"
            )
        wrong = [name for name, kind in get_type_hints(cls).items() if not _fits(record.get(name), kind)]
        unknown = sorted(set(record) - {each.name for each in fields(cls)})
        if not (wrong or unknown):
            wrong = _wrong_within(record)
        if wrong or unknown:
            what = f"wrong or missing: {', '.join(wrong)}" if wrong else f"unknown: {', '.join(unknown)}"
            raise EvenhandError(f"these results are damaged ({shortened(what)}); {again}")
        return cls(**record)


_OF_METRICS = {"n": int, "n_read": int, "unread_rate": float | int | None, "warnings": list[str]}
_OF_HELPERS = {"name": str, "identity": str, "trained": dict[str, Any]}


def _wrong_within(record: Mapping[str, Any]) -> list[str]:
    """What results.schema.json says of the inner records, where the outer one fits."""
    metrics, config = record["metrics"], record["config"]
    wrong = [f"metrics.{name}" for name, kind in _OF_METRICS.items() if not _fits(metrics.get(name), kind)]
    wrong += [
        f"helpers.{name}"
        for name, kind in _OF_HELPERS.items()
        if not all(_fits(helper.get(name), kind) for helper in record["helpers"])
    ]
    wrong += [f"config.{name}" for name in ("options", "mitigation_options") if not isinstance(config.get(name), dict)]
    if not wrong and not metrics["n"] == record["n"] >= metrics["n_read"] >= 0:
        wrong = ["n"]
    return wrong + ["config.benchmark"] * (config.get("benchmark") != record["benchmark"])


def _fits(value: object, kind: Any) -> bool:
    """Of JSON's types; true and false are no numbers."""
    of, inner = get_origin(kind), get_args(kind)
    if of is dict:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if of is list:
        return isinstance(value, list) and all(_fits(each, inner[0]) for each in value)
    return kind is Any or (any(_fits(value, each) for each in inner) if inner else type(value) is kind)


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED}


def without_nan(value: Any) -> Any:
    """As plain JSON has it: null for what is no number, lists for tuples."""
    if isinstance(value, Mapping):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
