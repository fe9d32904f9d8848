"""What whole runs would take, timed within half of the budget, and how many rows of each benchmark fit in what is left.

Each cost is kept in profile.json as soon as it is known: a profile that was stopped while timing goes on from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenhand.at_work import AtWork
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.configuration import RunConfig
from evenhand.flow.evaluation import evaluate
from evenhand.flow.plan import plan
from evenhand.models.errors import ModelError
from evenhand.models.stub import StubModel
from evenhand.profiling.budget import FEWEST_ROWS, Cost, budget, dearer, limits
from evenhand.profiling.fitting import Loaded, config_of, sentence_of
from evenhand.profiling.settings import ProfileOptions, Settings

Say = Callable[[str], None]

REHEARSED_ROWS = 48  # few enough that what begins and ends a run counts as well: a careful estimate
MOST_TIMING = 0.5  # of the budget: the rest is for asking


def timed(
    settings: Settings, models: Sequence[str], benchmarks: Sequence[str], options: ProfileOptions, folder: Path,
    loaded: Loaded, say: Say,
) -> Settings:  # fmt: skip
    """With a number of rows for each benchmark that has none so far and that a model can do."""
    new = [name for name in benchmarks if name not in settings.limits]
    late: set[str] = set()  # benchmarks for whose timing a model had no time left
    for model in models:
        for count, name in enumerate(new, 1):
            if settings.cost(model, name) is not None:
                continue
            if settings.timing.get(model, 0.0) > MOST_TIMING * budget(options.budget):
                if why := _unable(model, name, options, loaded):
                    settings = settings.left(model, name, why)
                else:
                    late.add(name)
                continue
            if not math.isinf(budget(options.budget)):
                say(f"{model}, {count} of {len(new)}: timing {name}, for a budget of {options.budget}")
            settings = _timed_one(settings, model, name, options, loaded)
            settings.write(folder)
    costs = {
        name: reduce(dearer, found)
        for name in new
        if name not in late and (found := [each for model in models if (each := settings.cost(model, name))])
    }
    why = (
        f"timing what goes before it had taken half of {options.budget}: give a larger --budget to a new profile, or "
        "name fewer with --benchmark"
    )
    for name in (each for each in new if each in late):
        for model in models:
            settings = settings.left(model, name, why)
    return _shared_out(settings, models, costs, options)


def _timed_one(settings: Settings, model: str, name: str, options: ProfileOptions, loaded: Loaded) -> Settings:
    """With its cost, or why it has none. Raises ModelError for a model that can't be loaded at all."""
    start = time.monotonic()
    try:
        with AtWork(f"timing {name}"):
            settings = settings.costing(model, name, _cost(model, name, options, loaded))
    except (EvenhandError, ModelError) as error:
        if not loaded.holds and not get_benchmark(name).card.sees:
            raise
        settings = settings.left(model, name, sentence_of(error))
    return settings.timed(model, time.monotonic() - start)


def _unable(model: str, name: str, options: ProfileOptions, loaded: Loaded) -> str:
    """Why a model can't do it, however long it had; "" where it may."""
    try:
        config_of(model, name, None, options, loaded)
    except (EvenhandError, ModelError) as error:
        return sentence_of(error)
    return ""


def _shared_out(settings: Settings, models: Sequence[str], costs: dict[str, Cost], options: ProfileOptions) -> Settings:
    """With rows for each of costs, which fit into what timing left of the budget."""
    seconds = budget(options.budget)
    longest = max((settings.timing.get(model, 0.0) for model in models), default=0.0)
    most = math.inf if options.limit is None else options.limit
    found = limits(costs, max(seconds - longest, (1 - MOST_TIMING) * seconds))  # one timing alone may take very long
    for name, cost in costs.items():
        rows = found[name]
        if rows == 0:
            needed = math.ceil((longest + FEWEST_ROWS * len(costs) * cost.a_row) / 60)
            why = f"fewer than {FEWEST_ROWS} rows fit into its share of {options.budget}: about {needed}m would do"
            for model in models:
                settings = settings.left(model, name, why)
            continue
        at_most = min(most, cost.rows if rows is None else rows)
        found[name] = None if rows is None and at_most == cost.rows else int(at_most)
    return replace(settings, limits={**settings.limits, **{name: found[name] for name in costs}})


def _cost(model: str, name: str, options: ProfileOptions, loaded: Loaded) -> Cost:
    """Of a whole run; without a budget nothing is timed."""
    config, asked = config_of(model, name, None, options, loaded)
    if math.isinf(budget(options.budget)):
        from evenhand.flow.evaluation import prepare

        prepared = prepare(config, asked)
        return Cost(len(prepared.rows.rows), prepared.config.n_runs, 0.0)
    found = plan(config, asked)
    handling = _handling(config, asked, found.rows) * found.runs if isinstance(asked, StubModel) else 0.0
    return Cost(found.rows, found.runs, max(found.seconds, handling))


def _handling(config: RunConfig[Any], stub: StubModel, rows: int) -> float:
    """Seconds of all rows asked once, by a small run that is thrown away.

    A stub takes no time to answer, which is all that a plan counts: what takes time is what is done with its answers.
    """
    few = min(rows, REHEARSED_ROWS)
    with TemporaryDirectory() as folder:
        start = time.monotonic()
        evaluate(replace(config, limit=few), Path(folder) / "run", stub, lambda rows, step: None)
        return (time.monotonic() - start) * rows / few
