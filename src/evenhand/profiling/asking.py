"""Asks models all benchmarks that they can do, one after another; what was finished is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.evaluation import evaluate
from evenhand.flow.progress import ProgressBar
from evenhand.flow.run_folder import RunFolder
from evenhand.models.errors import ModelError
from evenhand.options import made
from evenhand.profiling.fitting import LoadedModel, configure, in_one_line, own_options
from evenhand.profiling.settings import ProfileOptions, Settings, begun, place
from evenhand.profiling.timing import share_budget


def ask_all(
    models: Sequence[str],
    benchmarks: Sequence[str],
    options: ProfileOptions,
    folder: Path,
    say: Callable[[str], None],
) -> Settings:
    """Leave a run folder for each model and benchmark, and profile.json, which says what was left out and why.

    Raises UsageError for a folder of something else, and ModelError for a model that can't be loaded at all.
    """
    for name in benchmarks:
        get_benchmark(name)  # raises UsageError for an unknown one
    for key, _ in options.benchmark_options:
        name = key.replace("-", "_").partition(".")[0]
        made(get_benchmark(name).Options, own_options(name, options))
        if name not in benchmarks:
            raise UsageError(f"--benchmark-option {key} has no effect: {name} is not asked. Remove it, or name {name}")
    settings = begun(folder, options)
    options = replace(options, date=settings.date)
    folder.mkdir(parents=True, exist_ok=True)
    settings.models = list(dict.fromkeys((*settings.models, *models)))
    loaded = LoadedModel(options)
    try:
        share_budget(settings, models, benchmarks, options, folder, loaded, say)
        settings.write(folder)
        for model in models:
            for count, name in enumerate(benchmarks, 1):
                rows = settings.limits.get(name, 0)
                if rows == 0 and name in settings.limits:
                    why = "too few rows fitted into the budget of this profile"
                    settings.left_out.setdefault(model, {}).setdefault(name, why)
                elif rows != 0 and not RunFolder(place(folder, model, name)).report.is_file():
                    say(f"{model}, {count} of {len(benchmarks)}: {name}, {'all' if rows is None else f'{rows:,}'} rows")
                    _ask(settings, model, name, options, folder, loaded)
                    settings.write(folder)
    finally:
        loaded.close()
    return settings


def _ask(settings: Settings, model: str, name: str, options: ProfileOptions, folder: Path, loaded: LoadedModel) -> None:
    """Run a benchmark; where that fails, or a part of it was not asked, the settings say why."""
    try:
        config, asked = configure(model, name, settings.limits[name], options, loaded)
        with ProgressBar(f"{name}, {model}") as bar:
            evaluate(config, place(folder, model, name), asked, bar.update)
    except (EvenhandError, ModelError) as error:
        settings.leave_out(model, name, in_one_line(error))
        return
    settings.left_out.get(model, {}).pop(name, None)
    if left_out := get_benchmark(name).configuring.part(asked, own_options(name, options)).left_out:
        settings.leave_out(model, f"{name}, {left_out[0]}", left_out[1])
