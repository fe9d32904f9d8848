"""What a profile was asked to do, and how many rows of each benchmark that came to: profile.json in its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import UsageError
from evenhand.flow.configuration import deciding, differences
from evenhand.flow.foreign_files import AWAY, as_written, read_object
from evenhand.models.template_settings import template_date, template_options, today, without_unused
from evenhand.options import option, pair
from evenhand.profiling.budget import Cost, budget
from evenhand.whole_files import write_whole

FILE, PAGE = "profile.json", "profile.html"


def _budget(text: str) -> str:
    budget(text)
    return text


def _benchmark_option(text: str) -> tuple[str, str]:
    key, value = pair(text)
    if not all(key.partition(".")):
        raise ValueError(f"expected BENCHMARK.KEY=VALUE, got {text!r}")
    return key, value


@dataclass(frozen=True)
class ProfileOptions:
    """What decides a profile's numbers, but for the models."""

    budget: str = option("10m", "for each model: a time like 10m or 1h, or full", metavar="TIME", parse=_budget)
    limit: int | None = option(None, "rows of each benchmark at most", least=1, metavar="N")
    seed: int = option(0, "random seed of the draw and of sampling", least=0, metavar="S")
    benchmark_options: tuple[tuple[str, str], ...] = option(
        (), "an option of one benchmark, as `evenhand run BENCHMARK --help` names it", metavar="BENCHMARK.KEY=VALUE",
        parse=_benchmark_option, flag="benchmark-option",
    )  # fmt: skip
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = option(
        "auto", "auto: bfloat16 where the hardware has it"
    )
    model_options: tuple[tuple[str, str], ...] = option(
        (), "of the models' backends, such as device_map=cpu", metavar="KEY=VALUE", parse=pair, flag="model-option"
    )
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    batch_size: int = option(
        16, "prompts in a forward pass, or concurrent requests to a server", least=1, metavar="N", incidental=True
    )

    def of(self, benchmark: str) -> dict[str, str]:
        """A benchmark's own options that were given, as texts."""
        found = ((*key.partition("."), text) for key, text in self.benchmark_options)
        return {key: text for name, _, key, text in found if name == benchmark}

    def to_json(self) -> dict[str, Any]:
        """Without what decides nothing, such as the batch size."""
        return without_unused(deciding(self, json.loads(json.dumps(asdict(self)))))


@dataclass
class Settings:
    """What profile.json holds; it grows while the profile is made.

    Attributes:
        models: in the order in which they were named.
        limits: {benchmark: rows, None for all, 0 for none}, the same for all models.
        left_out: {model: {benchmark: why}}.
        costs: {model: {benchmark: the cost of a whole run}}.
        timing: {model: seconds that finding out the costs took}.
        date: that chat templates are told.
    """

    options: dict[str, Any]
    models: Sequence[str] = ()
    limits: dict[str, int | None] = field(default_factory=dict)
    left_out: dict[str, dict[str, str]] = field(default_factory=dict)
    costs: dict[str, dict[str, Cost]] = field(default_factory=dict)
    timing: dict[str, float] = field(default_factory=dict)
    date: str = field(default_factory=today)

    def leave_out(self, model: str, benchmark: str, why: str) -> None:
        self.left_out.setdefault(model, {})[benchmark] = why

    def write(self, folder: Path) -> None:
        write_whole(folder / FILE, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")


def begun(folder: Path, options: ProfileOptions) -> Settings:
    """The settings of the profile that was begun in this folder, or new ones.

    Raises UsageError for a folder of something else, and for a profile with other options.
    """
    asked = options.to_json()
    file = folder / FILE
    if not file.is_file():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} exists and holds no profile; choose another --output")
        return Settings(asked, date=options.date or today())
    with as_written(file):
        found = Settings(**read_object(file, AWAY))
        for costs in found.costs.values():
            costs.update({name: Cost(**dict(of)) for name, of in costs.items()})  # type: ignore[call-overload]
    if differ := differences(found.options, asked):
        raise UsageError(
            f"{folder} holds a profile with other settings ({'; '.join(differ)}). Choose another --output, or repeat "
            "its settings to go on with it"
        )
    return found


def place(folder: Path, model: str, benchmark: str) -> Path:
    """A run's folder, by names that any file system takes."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:60]
    if plain != model:
        plain += f"-{sha256(model.encode()).hexdigest()[:8]}"
    return folder / plain / benchmark
