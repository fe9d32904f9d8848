"""Asks models all benchmarks that they can do, one after another; what was finished is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.evaluation import OnProgress, evaluate
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.options import made
from evenhand.profiling.fitting import Loaded, config_of, given, sentence_of
from evenhand.profiling.settings import ProfileOptions, Settings, begun, place
from evenhand.profiling.timing import Say, timed

Bar = Callable[[str], AbstractContextManager[OnProgress]]
"""A progress bar of that name."""


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
        settings = timed(settings, models, benchmarks, options, folder, loaded, say)
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
                    if left_out := get_benchmark(name).configuring.part(held, given(name, options)).left_out:
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
        made(benchmark.Options, given(name, options))


def _finished(folder: Path, model: str, name: str) -> bool:
    return RunFolder(place(folder, model, name)).report.is_file()


def _ask(
    model: str, name: str, limit: int | None, options: ProfileOptions, folder: Path, loaded: Loaded, bar: Bar
) -> str | None:
    """Why nothing came of it; None: a finished run."""
    try:
        config, asked = config_of(model, name, limit, options, loaded)
        with bar(f"{name}, {model}") as progress:
            evaluate(config, place(folder, model, name), asked, progress)
    except (EvenhandError, ModelError) as error:
        return sentence_of(error)
    return None
