"""What a profile was asked to do, and how many rows of each benchmark that came to: profile.json in its folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import UsageError
from evenhand.flow.configuration import deciding, differences, pair
from evenhand.flow.foreign_files import AWAY, read_object
from evenhand.options import option
from evenhand.profiling.budget import Cost, budget
from evenhand.whole_files import write_whole

FILE, PAGE = "profile.json", "profile.html"


def _budget(text: str) -> str:
    budget(text)
    return text


def _of_benchmark(text: str) -> tuple[str, str]:
    key, value = pair(text)
    if not all(key.partition(".")):
        raise ValueError(f"{text!r} came; BENCHMARK.KEY=VALUE is accepted")
    return key, value


@dataclass(frozen=True)
class ProfileOptions:
    """What decides a profile's numbers, but for the models."""

    budget: str = option("10m", "for each model: a time like 10m or 1h, or full", metavar="TIME", parse=_budget)
    limit: int | None = option(None, "rows of each benchmark at most", least=1, metavar="N")
    seed: int = option(0, "of the draw and of sampling", least=0, metavar="S")
    benchmark_options: tuple[tuple[str, str], ...] = option(
        (), "an option of one benchmark, as `evenhand run BENCHMARK --help` names it", metavar="BENCHMARK.KEY=VALUE",
        parse=_of_benchmark, flag="benchmark-option",
    )  # fmt: skip
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = option(
        "auto", "auto: bfloat16 where the hardware has it"
    )
    model_options: tuple[tuple[str, str], ...] = option(
        (), "of the models' backends, such as device_map=cpu", metavar="KEY=VALUE", parse=pair, flag="model-option"
    )
    batch_size: int = option(
        16, "prompts in a forward pass, or requests that a server answers at once", least=1, metavar="N",
        incidental=True,
    )  # fmt: skip

    def of(self, benchmark: str) -> dict[str, str]:
        """A benchmark's own options that were given, as texts."""
        found = ((*key.partition("."), text) for key, text in self.benchmark_options)
        return {key: text for name, _, key, text in found if name == benchmark}

    def to_json(self) -> dict[str, Any]:
        """Without what decides nothing, such as how patient a server's client is."""
        record: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return deciding(self, record)


@dataclass(frozen=True)
class Settings:
    """models: in the order in which they came. limits: {benchmark: rows, None for all, 0 for none}, the same for
    all models.
    left_out: {model: {benchmark: why}}. costs: {model: {benchmark: what a whole run would take}}. timing: {model:
    seconds that finding this out took}.
    """

    options: Mapping[str, Any]
    models: tuple[str, ...] = ()
    limits: Mapping[str, int | None] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    costs: Mapping[str, Mapping[str, Cost]] = field(default_factory=dict)
    timing: Mapping[str, float] = field(default_factory=dict)

    def cost(self, model: str, benchmark: str) -> Cost | None:
        return self.costs.get(model, {}).get(benchmark)

    def costing(self, model: str, benchmark: str, cost: Cost) -> Settings:
        """With what a whole run would take."""
        return replace(self, costs={**self.costs, model: {**self.costs.get(model, {}), benchmark: cost}})

    def timed(self, model: str, seconds: float) -> Settings:
        """After that many more seconds of timing it."""
        return replace(self, timing={**self.timing, model: self.timing.get(model, 0.0) + seconds})

    def left(self, model: str, benchmark: str, why: str | None) -> Settings:
        """With what is said of a benchmark that a model wasn't asked; None: it was."""
        of_model = {name: told for name, told in self.left_out.get(model, {}).items() if name != benchmark}
        if why is not None:
            of_model[benchmark] = why
        return replace(self, left_out={**self.left_out, model: of_model})

    def write(self, folder: Path) -> None:
        write_whole(folder / FILE, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")


def begun(folder: Path, options: ProfileOptions) -> Settings:
    """Those of the profile that was begun in this folder, or new ones.

    Raises UsageError for a folder of something else, and for a profile with other options.
    """
    asked = options.to_json()
    file = folder / FILE
    if not file.is_file():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} exists and holds no profile; choose another --output")
        return Settings(asked)
    record = read_object(file, AWAY)
    try:
        found = Settings(
            dict(record["options"]), tuple(record["models"]), dict(record["limits"]),
            {model: dict(of) for model, of in record["left_out"].items()},
            {model: {name: Cost(**of) for name, of in all_.items()} for model, all_ in record.get("costs", {}).items()},
            {model: float(seconds) for model, seconds in record.get("timing", {}).items()},
        )  # fmt: skip
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{file} is no profile's; {AWAY}") from error
    if others := differences(found.options, asked):
        raise UsageError(
            f"{folder} holds a profile with other settings ({'; '.join(others)}). Choose another --output, or repeat "
            "its settings to go on with it"
        )
    return found


def place(folder: Path, model: str, benchmark: str) -> Path:
    """A run's folder, by names that any file system takes."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:60]
    if plain != model:
        plain += f"-{sha256(model.encode()).hexdigest()[:8]}"
    return folder / plain / benchmark
