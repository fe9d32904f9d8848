"""Asks models all benchmarks that they can do, one after another; what was finished is not asked again."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenhand.at_work import AtWork
from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import NEEDS, RunConfig, run_config
from evenhand.flow.evaluation import OnProgress, evaluate
from evenhand.flow.plan import plan
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.models.protocol import Model
from evenhand.models.registry import load_model, options_by_model
from evenhand.models.stub import StubModel
from evenhand.options import made, values_of
from evenhand.profiling.budget import FEWEST_ROWS, Cost, budget, dearer, limits
from evenhand.profiling.settings import ProfileOptions, Settings, begun, place

Say = Callable[[str], None]
Bar = Callable[[str], AbstractContextManager[OnProgress]]
"""A progress bar of that name."""

LONGEST = 500  # characters of a reason
REHEARSED_ROWS = 48  # few enough that what begins and ends a run counts as well: a careful estimate


class Loaded:
    """The model that is held in memory: one at a time, loaded when it is needed."""

    def __init__(self, options: ProfileOptions):
        self._options = options
        self._held: tuple[str, bool] | None = None
        self._model: Model | None = None

    def get(self, name: str, pictures: bool) -> Model:
        """pictures: whether it will be shown some. Raises ModelError, UsageError."""
        if self._model is None or self._held != (name, pictures):
            self.close()
            given = options_by_model([name], dict(self._options.model_options))[name]
            self._model = load_model(
                name, dtype=self._options.dtype, batch_size=self._options.batch_size, pictures=pictures, options=given
            )
            self._held = (name, pictures)
        return self._model

    @property
    def holds(self) -> bool:
        return self._model is not None

    def close(self) -> None:
        if self._model is not None:
            self._model.close()
        self._model = self._held = None


def ask_all(
    models: Sequence[str], benchmarks: Sequence[str], options: ProfileOptions, folder: Path, say: Say, bar: Bar
) -> Settings:
    """Leaves a run folder for each model and benchmark, and profile.json, which says what was left out and why.

    Raises UsageError for a folder of something else, and ModelError for a model that can't be loaded at all.
    """
    _check_options(benchmarks, options)
    settings = begun(folder, options)
    folder.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, models=tuple(dict.fromkeys((*settings.models, *models))))
    loaded = Loaded(options)
    try:
        settings = _planned(settings, models, benchmarks, options, folder, loaded, say)
        settings.write(folder)
        for model in models:
            for count, name in enumerate(benchmarks, 1):
                rows = settings.limits.get(name, 0)
                if rows == 0 or _finished(folder, model, name):
                    if name in settings.limits and rows == 0 and name not in settings.left_out.get(model, {}):
                        settings = settings.left(model, name, "too few rows fitted into the budget of this profile")
                    continue
                say(f"{model}, {count} of {len(benchmarks)}: {name}, {'all' if rows is None else f'{rows:,}'} rows")
                settings = settings.left(model, name, _ask(model, name, rows, options, folder, loaded, bar))
                if _finished(folder, model, name):
                    held = loaded.get(model, get_benchmark(name).card.sees)
                    if left_out := get_benchmark(name).part(held, _given(name, options)).left_out:
                        what, why = left_out
                        settings = settings.left(model, f"{name}, {what}", why)
                settings.write(folder)
    finally:
        loaded.close()
    return settings


def _check_options(benchmarks: Sequence[str], options: ProfileOptions) -> None:
    """Raises UsageError for those that a benchmark hasn't, that come twice, and of a benchmark that isn't asked."""
    keys = [key.replace("-", "_") for key, _ in options.benchmark_options]
    for key in keys:
        name = key.partition(".")[0]
        benchmark = get_benchmark(name)
        if name not in benchmarks:
            raise UsageError(
                f"--benchmark-option {key} came, and {name} is not asked: leave one out, or name the other"
            )
        if keys.count(key) > 1:
            raise UsageError(f"--benchmark-option {key} came twice; give one value")
        made(benchmark.Options, _given(name, options))


def _given(name: str, options: ProfileOptions) -> dict[str, object]:
    """A benchmark's own options. Raises UsageError for one that it hasn't."""
    return values_of(get_benchmark(name).Options, options.of(name), name)


def _finished(folder: Path, model: str, name: str) -> bool:
    return RunFolder(place(folder, model, name)).report.is_file()


def _planned(
    settings: Settings, models: Sequence[str], benchmarks: Sequence[str], options: ProfileOptions, folder: Path,
    loaded: Loaded, say: Say,
) -> Settings:  # fmt: skip
    """With a number of rows for each benchmark that has none so far and that a model can do."""
    costs: dict[str, Cost] = {}
    longest = 0.0  # that timing one model took
    for model in models:
        start = time.monotonic()
        new = [name for name in benchmarks if name not in settings.limits]
        for count, name in enumerate(new, 1):
            if not math.isinf(budget(options.budget)):
                say(f"{model}, {count} of {len(new)}: timing {name}, for a budget of {options.budget}")
            try:
                with AtWork(f"timing {name}"):
                    cost = _cost(model, name, options, loaded)
            except (EvenhandError, ModelError) as error:
                if not loaded.holds and not get_benchmark(name).card.sees:
                    raise
                settings = settings.left(model, name, _sentence(error))
                continue
            costs[name] = dearer(costs[name], cost) if name in costs else cost
        longest = max(longest, time.monotonic() - start)
    seconds = budget(options.budget)
    most = math.inf if options.limit is None else options.limit
    found = limits(costs, max(seconds - longest, seconds / 2))  # timing is paid from it, too, but never all of it
    for name, cost in costs.items():
        rows = found[name]
        if rows == 0:
            needed = math.ceil(FEWEST_ROWS * len(costs) * cost.a_row / 60)
            why = f"fewer than {FEWEST_ROWS} rows fit into its share of {options.budget}: about {needed}m would do"
            for model in models:
                settings = settings.left(model, name, why)
            continue
        at_most = min(most, cost.rows if rows is None else rows)
        found[name] = None if rows is None and at_most == cost.rows else int(at_most)
    return replace(settings, limits={**settings.limits, **{name: found[name] for name in costs}})


def _cost(model: str, name: str, options: ProfileOptions, loaded: Loaded) -> Cost:
    """Of a whole run; without a budget nothing is timed."""
    config, asked = _config(model, name, None, options, loaded)
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


def _config(
    model: str, name: str, limit: int | None, options: ProfileOptions, loaded: Loaded
) -> tuple[RunConfig[Any], Model]:
    """A benchmark's run by default, or of the part that the model can do. Raises UsageError where there is none."""
    card = get_benchmark(name).card
    asked = loaded.get(model, card.sees)
    if card.sees and "see" not in asked.can:
        raise UsageError(f"{name} shows pictures, and {model} takes none")
    if not any(NEEDS[each] in asked.can for each in card.protocols):  # type: ignore[index]
        needed = " or ".join(dict.fromkeys(NEEDS[each] for each in card.protocols))  # type: ignore[index]
        raise UsageError(f"{name} needs a model that can {needed}, and {model} can't")
    given = _given(name, options)
    own: dict[str, Any] = {**get_benchmark(name).part(asked, given).options, **given}
    return (
        run_config(
            name, model, limit=limit, seed=options.seed, dtype=options.dtype, batch_size=options.batch_size,
            model_options=options.model_options, **own,
        ),
        asked,
    )  # fmt: skip


def _ask(
    model: str, name: str, limit: int | None, options: ProfileOptions, folder: Path, loaded: Loaded, bar: Bar
) -> str | None:
    """Why nothing came of it; None: a finished run."""
    try:
        config, asked = _config(model, name, limit, options, loaded)
        with bar(f"{name}, {model}") as progress:
            evaluate(config, place(folder, model, name), asked, progress)
    except (EvenhandError, ModelError) as error:
        return _sentence(error)
    return None


def _sentence(error: Exception) -> str:
    """In one line, however long a library's words were."""
    return textwrap.shorten(str(error), LONGEST, placeholder=" …")
