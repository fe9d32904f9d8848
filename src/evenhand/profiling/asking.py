"""Asks models all benchmarks that they can do, one after another; what was finished is not asked again.

Half of the budget goes to timing at most; it says how many rows of each benchmark fit in the rest. Each cost is kept in
profile.json as soon as it is known: a profile that was stopped while timing goes on from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import NEEDS, RunConfig, run_config
from evenhand.flow.evaluation import evaluate, prepare
from evenhand.flow.plan import plan
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.models.protocol import HasChatTemplate, Model
from evenhand.models.registry import load_model, options_by_model
from evenhand.models.template_settings import TemplateSettings
from evenhand.options import made
from evenhand.profiling.settings import (
    FEWEST_ROWS,
    Cost,
    ProfileOptions,
    Settings,
    open_settings,
    parse_budget,
    run_path,
    share_rows,
)  # fmt: skip
from evenhand.progress import AtWork, ProgressBar

HANDLING = 0.005  # seconds of a row besides the model's: a stub answers in no time
MOST_TIMING = 0.5  # of the budget: the rest is for asking


class Profiler:
    """Makes one profile in its folder, with one model in memory at a time.

    Attributes:
        say: prints a sentence on what is done.
        settings: as profile.json in the folder has them, or new ones.
        model: the one in memory, loaded when it is needed.
    """

    def __init__(self, options: ProfileOptions, folder: Path, say: Callable[[str], None]):
        self.folder = folder
        self.say = say
        self.settings = open_settings(folder, options)
        self.options = replace(options, date=self.settings.date)
        self.model: Model | None = None
        self._held: tuple[str, bool] | None = None

    def ask_all(self, models: Sequence[str], benchmarks: Sequence[str]) -> None:
        """Leave a run folder for each model and benchmark, and profile.json, which says what was left out and why.

        Raises ModelError for a model that can't be loaded at all.
        """
        settings = self.settings
        settings.models = list(dict.fromkeys((*settings.models, *models)))
        try:
            self.share_budget(models, benchmarks)
            settings.write(self.folder)
            for model, (count, name) in product(models, enumerate(benchmarks, 1)):
                rows = settings.limits.get(name, 0)
                if rows == 0 and name in settings.limits:
                    why = "too few rows fitted into the budget of this profile"
                    settings.left_out.setdefault(model, {}).setdefault(name, why)
                elif rows != 0 and not RunFolder(run_path(self.folder, model, name)).report.is_file():
                    many = "all" if rows is None else f"{rows:,}"
                    self.say(f"{model}, {count} of {len(benchmarks)}: {name}, {many} rows")
                    self._ask(model, name)
                    settings.write(self.folder)
        finally:
            self._close()

    def _ask(self, model: str, name: str) -> None:
        """Run a benchmark; where that fails, or a part of it was not asked, the settings say why."""
        try:
            config, asked = self._configure(model, name, self.settings.limits[name])
            with ProgressBar(f"{name}, {model}") as bar:
                evaluate(config, run_path(self.folder, model, name), asked, bar.update)
        except (EvenhandError, ModelError) as error:
            self.settings.leave_out([model], name, error)
            return
        self.settings.left_out.get(model, {}).pop(name, None)
        if left_out := get_benchmark(name).configuring.part(asked, self.options.of_benchmark(name)).left_out:
            self.settings.leave_out([model], f"{name}, {left_out[0]}", left_out[1])

    def share_budget(self, models: Sequence[str], benchmarks: Sequence[str]) -> None:
        """Set a number of rows, the same for all models, for each benchmark that has none and that a model can do."""
        settings, budget = self.settings, self.options.budget
        seconds = parse_budget(budget)
        new = [name for name in benchmarks if name not in settings.limits]
        late: set[str] = set()  # benchmarks for whose timing a model had no time left
        for model, (count, name) in product(models, enumerate(new, 1)):
            if name in settings.costs.setdefault(model, {}):
                continue
            if settings.timing.get(model, 0.0) > MOST_TIMING * seconds:
                late.add(name)
                continue
            if not math.isinf(seconds):
                self.say(f"{model}, {count} of {len(new)}: timing {name}, for a budget of {budget}")
            self._time(model, name)
            settings.write(self.folder)
        for name in late:
            why = f"timing what goes before it had taken half of {budget}: give a larger --budget to a new profile"
            settings.leave_out(models, name, f"{why}, or name fewer with --benchmark")
        costs: dict[str, Cost] = {}
        for name in new:
            known = [settings.costs[model][name] for model in models if name in settings.costs[model]]
            if known and name not in late:
                costs[name] = max(known, key=lambda cost: cost.seconds)
        longest = max((settings.timing.get(model, 0.0) for model in models), default=0.0)
        left = max(seconds - longest, (1 - MOST_TIMING) * seconds)  # one timing alone may take very long
        for name, rows in share_rows(costs, left).items():
            cost, most = costs[name], self.options.limit
            if rows == 0:
                needed = math.ceil((longest + FEWEST_ROWS * len(costs) * cost.a_row) / 60)
                few = f"fewer than {FEWEST_ROWS} rows fit into its share of {budget}: about {needed}m would do"
                settings.leave_out(models, name, few)
            elif most is not None and most < (cost.rows if rows is None else rows):
                rows = most
            settings.limits[name] = rows

    def _time(self, model: str, name: str) -> None:
        """Find out its cost, or why it has none. Raises ModelError for a model that can't be loaded at all."""
        start = time.monotonic()
        try:
            with AtWork(f"timing {name}"):
                config, asked = self._configure(model, name, None)
                if math.isinf(parse_budget(self.options.budget)):  # nothing needs to be timed
                    prepared = prepare(config, asked)
                    cost = Cost(len(prepared.rows.rows), prepared.config.n_runs, 0.0)
                else:
                    found = plan(config, asked)
                    cost = Cost(found.rows, found.runs, max(found.seconds, HANDLING * found.rows * found.runs))
                self.settings.costs[model][name] = cost
        except (EvenhandError, ModelError) as error:
            if self.model is None and not get_benchmark(name).card.sees:
                raise
            self.settings.leave_out([model], name, error)
        self.settings.timing[model] = self.settings.timing.get(model, 0.0) + time.monotonic() - start

    def _configure(self, model: str, name: str, limit: int | None) -> tuple[RunConfig[Any], Model]:
        """A benchmark's run by default, or of the part that the model can do. Raises UsageError where there is none."""
        benchmark, options = get_benchmark(name), self.options
        asked = self._load(model, benchmark.card.sees)
        if benchmark.card.sees and "see" not in asked.can:
            raise UsageError(f"{name} shows pictures, and {model} takes none")
        needed = {protocol: NEEDS[protocol] for protocol in benchmark.card.protocols}  # type: ignore[index]
        protocol = next((each for each, need in needed.items() if need in asked.can), None)
        if protocol is None:
            raise UsageError(
                f"{name} needs a model that can {' or '.join(dict.fromkeys(needed.values()))}, and {model} can't"
            )
        own = options.of_benchmark(name)
        chosen: dict[str, Any] = {**benchmark.configuring.part(asked, own).options, **own}
        if protocol == "generate" and options.temperature is not None:
            chosen["temperature"] = options.temperature
        config = run_config(
            name, model, limit=limit, seed=options.seed, dtype=options.dtype, batch_size=options.batch_size,
            model_options=options.model_options, template_options=options.template_options,
            date=asked.template_date if isinstance(asked, HasChatTemplate) else None, **chosen,
        )  # fmt: skip
        return config, asked

    def _load(self, name: str, pictures: bool) -> Model:
        """pictures: whether it will be shown some. Raises ModelError, UsageError."""
        if self.model is None or self._held != (name, pictures):
            self._close()
            given, of = options_by_model([name], dict(self.options.model_options))[name], self.options
            self.model = load_model(
                name, dtype=of.dtype, batch_size=of.batch_size, pictures=pictures, options=given,
                template=TemplateSettings.of(of),
            )  # fmt: skip
            self._held = (name, pictures)
        return self.model

    def _close(self) -> None:
        if self.model is not None:
            self.model.close()
        self.model = None


def make_profile(
    models: Sequence[str], benchmarks: Sequence[str], options: ProfileOptions, folder: Path, say: Callable[[str], None]
) -> Settings:
    """Ask all models all benchmarks.

    Raises UsageError for a folder of something else, EvenhandError where another profile is made in it, and ModelError
    for a model that can't be loaded at all.
    """
    for name in benchmarks:
        get_benchmark(name)  # raises UsageError for an unknown one
    for key, _ in options.benchmark_options:
        name = key.replace("-", "_").partition(".")[0]
        made(get_benchmark(name).Options, options.of_benchmark(name))
        if name not in benchmarks:
            raise UsageError(f"--benchmark-option {key} has no effect: {name} is not asked. Remove it, or name {name}")
    profiler = Profiler(options, folder, say)
    folder.mkdir(parents=True, exist_ok=True)
    with RunFolder(folder).locked():
        profiler.ask_all(models, benchmarks)
    return profiler.settings
