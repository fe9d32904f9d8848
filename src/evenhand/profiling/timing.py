"""How long whole runs would take, timed within half of the budget, and how many rows of each benchmark fit in the rest.

Each cost is kept in profile.json as soon as it is known: a profile that was stopped while timing goes on from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.evaluation import prepare
from evenhand.flow.plan import plan
from evenhand.models.errors import ModelError
from evenhand.profiling.budget import FEWEST_ROWS, Cost, budget, limits
from evenhand.profiling.fitting import LoadedModel, configure, in_one_line
from evenhand.profiling.settings import ProfileOptions, Settings
from evenhand.progress import AtWork

HANDLING = 0.005  # seconds of a row besides the model's: a stub answers in no time
MOST_TIMING = 0.5  # of the budget: the rest is for asking


def share_budget(
    settings: Settings, models: Sequence[str], benchmarks: Sequence[str], options: ProfileOptions, folder: Path,
    loaded: LoadedModel, say: Callable[[str], None],
) -> None:  # fmt: skip
    """Set a number of rows for each benchmark that has none so far and that a model can do."""
    seconds = budget(options.budget)
    new = [name for name in benchmarks if name not in settings.limits]
    late: set[str] = set()  # benchmarks for whose timing a model had no time left
    for model in models:
        for count, name in enumerate(new, 1):
            if name in settings.costs.setdefault(model, {}):
                continue
            if settings.timing.get(model, 0.0) > MOST_TIMING * seconds:
                late.add(name)
                continue
            if not math.isinf(seconds):
                say(f"{model}, {count} of {len(new)}: timing {name}, for a budget of {options.budget}")
            _time_one(settings, model, name, options, loaded)
            settings.write(folder)
    late_why = (
        f"timing what goes before it had taken half of {options.budget}: give a larger --budget to a new profile, or "
        "name fewer with --benchmark"
    )
    longest = max((settings.timing.get(model, 0.0) for model in models), default=0.0)
    costs: dict[str, Cost] = {}
    for name in new:
        known = [settings.costs[model][name] for model in models if name in settings.costs[model]]
        if name in late:
            _leave_out(settings, models, name, late_why)
        elif known:
            costs[name] = max(known, key=lambda cost: cost.seconds)  # all models are asked the same rows
    found = limits(costs, max(seconds - longest, (1 - MOST_TIMING) * seconds))  # one timing alone may take very long
    for name, cost in costs.items():
        rows = found[name]
        if rows == 0:
            needed = math.ceil((longest + FEWEST_ROWS * len(costs) * cost.a_row) / 60)
            why = f"fewer than {FEWEST_ROWS} rows fit into its share of {options.budget}: about {needed}m would do"
            _leave_out(settings, models, name, why)
        elif options.limit is not None and options.limit < (cost.rows if rows is None else rows):
            rows = options.limit
        settings.limits[name] = rows


def _leave_out(settings: Settings, models: Sequence[str], name: str, why: str) -> None:
    for model in models:
        settings.leave_out(model, name, why)


def _time_one(settings: Settings, model: str, name: str, options: ProfileOptions, loaded: LoadedModel) -> None:
    """Find out its cost, or why it has none. Raises ModelError for a model that can't be loaded at all."""
    start = time.monotonic()
    try:
        with AtWork(f"timing {name}"):
            config, asked = configure(model, name, None, options, loaded)
            if math.isinf(budget(options.budget)):  # nothing needs to be timed
                prepared = prepare(config, asked)
                cost = Cost(len(prepared.rows.rows), prepared.config.n_runs, 0.0)
            else:
                found = plan(config, asked)
                cost = Cost(found.rows, found.runs, max(found.seconds, HANDLING * found.rows * found.runs))
            settings.costs[model][name] = cost
    except (EvenhandError, ModelError) as error:
        if loaded.model is None and not get_benchmark(name).card.sees:
            raise
        settings.leave_out(model, name, in_one_line(error))
    settings.timing[model] = settings.timing.get(model, 0.0) + time.monotonic() - start
