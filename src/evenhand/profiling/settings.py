"""What a profile was asked to do, how many rows fit into its budget, and profile.json, which holds both."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import deciding, differences
from evenhand.flow.foreign_files import AWAY, as_written, read_object
from evenhand.flow.run_folder import RunFolder
from evenhand.models.template_settings import template_date, template_options, today, without_unused
from evenhand.options import option, pair, values_of
from evenhand.whole_files import write_whole

FILE, PAGE = "profile.json", "profile.html"
FULL = "full"
FEWEST_ROWS = 6  # of fewer clusters no test can reject anything
LONGEST = 500  # characters of a reason
_TIME = re.compile(r"(\d+)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_budget(text: str) -> float:
    """Return the seconds for one model; infinite for "full". Raises ValueError."""
    if text == FULL:
        return math.inf
    found = _TIME.fullmatch(text)
    if not found or not int(found[1]):
        raise ValueError(f"expected a time like 10m or 1h, or {FULL}; got {text!r}")
    return float(int(found[1]) * _SECONDS[found[2]])


@dataclass(frozen=True)
class Cost:
    """What a whole run would take: its rows, how often each is asked, and seconds in all."""

    rows: int
    runs: int
    seconds: float

    @property
    def a_row(self) -> float:
        """Seconds of one, asked once."""
        return self.seconds / (self.rows * self.runs)

    def limit(self, seconds: float) -> int | None:
        """Return rows that fit into so many seconds, asked once each; None: all, as often as by default."""
        return None if self.seconds <= seconds else min(self.rows, math.floor(seconds / self.a_row))


def share_rows(costs: Mapping[str, Cost], seconds: float) -> dict[str, int | None]:
    """{benchmark: rows, None for all}: each has an equal share of the time; what one leaves over, the others have.

    0: so few rows fit that they would say nothing, and the time is the others'. Those with the dearest rows go first.
    """
    found: dict[str, int | None] = {}
    left = seconds
    for place, name in enumerate(sorted(costs, key=lambda name: costs[name].seconds)):
        share = left / (len(costs) - place)
        found[name] = costs[name].limit(share)
        left -= min(share, costs[name].seconds)
    few = [name for name, rows in found.items() if rows is not None and rows < FEWEST_ROWS]
    if not few:
        return found
    dearest = max(few, key=lambda name: costs[name].a_row)
    return share_rows({name: cost for name, cost in costs.items() if name != dearest}, seconds) | {dearest: 0}


def _benchmark_option(text: str) -> tuple[str, str]:
    key, value = pair(text)
    if not all(key.partition(".")):
        raise ValueError(f"expected BENCHMARK.KEY=VALUE, got {text!r}")
    return key, value


@dataclass(frozen=True)
class ProfileOptions:
    """What decides a profile's numbers, but for the models."""

    budget: str = option(
        "10m", "for each model: a time like 10m or 1h, or full", metavar="TIME",
        parse=lambda text: text if parse_budget(text) else "",
    )  # fmt: skip
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
    temperature: float | None = option(
        None, "sampling temperature of what is written, in place of each benchmark's own; some models take 1 alone",
        least=0, metavar="T",
    )  # fmt: skip
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    batch_size: int = option(
        16, "prompts in a forward pass, or concurrent requests to a server", least=1, metavar="N", incidental=True
    )

    def of_benchmark(self, name: str) -> dict[str, object]:
        """Return a benchmark's own options that were given. Raises UsageError for unknown ones."""
        found = ((*key.partition("."), text) for key, text in self.benchmark_options)
        texts = {key: text for benchmark, _, key, text in found if benchmark == name}
        return values_of(get_benchmark(name).Options, texts, name)

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
        date: for chat templates.
    """

    options: dict[str, Any]
    models: Sequence[str] = ()
    limits: dict[str, int | None] = field(default_factory=dict)
    left_out: dict[str, dict[str, str]] = field(default_factory=dict)
    costs: dict[str, dict[str, Cost]] = field(default_factory=dict)
    timing: dict[str, float] = field(default_factory=dict)
    date: str = field(default_factory=today)

    def leave_out(self, models: Sequence[str], benchmark: str, why: object) -> None:
        """Say why; the message of an error in one line, however long a library made it."""
        for model in models:
            self.left_out.setdefault(model, {})[benchmark] = textwrap.shorten(str(why), LONGEST, placeholder=" …")

    def write(self, folder: Path) -> None:
        write_whole(folder / FILE, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")


def open_settings(folder: Path, options: ProfileOptions) -> Settings:
    """Return the settings of the profile that was begun in this folder, or new ones.

    Raises UsageError for a folder of something else, and for a profile with other options.
    """
    asked, file = options.to_json(), folder / FILE
    if not file.is_file():
        if not RunFolder(folder).is_free():
            raise UsageError(f"{folder} exists and holds no profile; choose another --output")
        return Settings(asked, date=options.date or today())
    with as_written(file):
        found = Settings(**read_object(file, AWAY))
        for costs in found.costs.values():
            costs.update({name: Cost(**dict(of)) for name, of in costs.items()})  # type: ignore[call-overload]
    if differ := differences(found.options, asked):
        other = f"{folder} holds a profile with other settings ({'; '.join(differ)})"
        raise UsageError(f"{other}; repeat its settings to go on with it, or choose another --output")
    return found


def run_path(folder: Path, model: str, benchmark: str) -> Path:
    """Return a run's folder, by names that any file system takes."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.")[:60]
    if plain != model:
        plain += f"-{sha256(model.encode()).hexdigest()[:8]}"
    return folder / plain / benchmark
