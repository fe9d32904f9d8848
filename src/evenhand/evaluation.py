"""The main job: rows to episodes to predictions to scores to a report, in one run folder."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import datasets
import pandas as pd
from datasets.exceptions import DatasetsError

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.draw import draw
from evenhand.episode import Episode
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.library import load_dataset
from evenhand.models.protocol import Model
from evenhand.models.registry import load_model
from evenhand.report import write_report
from evenhand.run_folder import RunFolder
from evenhand.runner import Runner
from evenhand.settings import Settings
from evenhand.store import Store

VERSIONED = ("evenhand", "torch", "transformers", "datasets", "evaluate", "numpy", "scipy")

OnProgress = Callable[[int, int, int], None]


def evaluate(
    settings: Settings, output: Path, model: Model | None = None, on_progress: OnProgress | None = None
) -> RunFolder:
    """Run a benchmark to its end and leave its folder; a run that was interrupted goes on where it stopped.

    model: answers in place of the one that the settings name. on_progress(rows, finished, asked): rows in all, and how
    many more have finished and requests been asked.
    Raises UsageError for settings that don't fit, EvenhandError for what failed on the way.
    """
    benchmark = get_benchmark(settings.benchmark)
    benchmark.check(settings)
    rows = load_rows(benchmark, settings)
    model = model or load_model(
        settings.model, dtype=settings.dtype, batch_size=settings.batch_size, revision=settings.revision
    )
    folder = RunFolder.begin(output, settings)
    with folder.locked(), Store(folder.store, {"default": model.identity}) as store:
        progress = on_progress or (lambda rows, finished, asked: None)
        progress(len(rows), 0, 0)
        runner = Runner({"default": model}, store, lambda finished, asked: progress(len(rows), finished, asked))
        folder.write_predictions(each for row in runner.run(_episodes(benchmark, rows, settings)) for each in row)
        folder.write_results(_results(benchmark, settings, model, folder.read_predictions()))
        write_report(folder)
    return folder


def load_rows(benchmark: Benchmark, settings: Settings) -> datasets.Dataset:
    """The rows of all configurations, drawn down to the limit. Raises UsageError for unknown names and bad limits."""
    configs = settings.configs or benchmark.default_configs
    for config in configs:
        if config not in benchmark.configs:
            raise unknown_name(f"configuration of {benchmark.name}", config, benchmark.configs)
    if len(set(configs)) < len(configs):
        raise UsageError(f"a configuration is named twice: {', '.join(configs)}")
    parts = [_load(benchmark.name, config, settings.source) for config in configs]
    rows = datasets.concatenate_datasets(parts)
    if not len(rows):
        raise UsageError(
            f"{benchmark.name} ({', '.join(configs)}) has no rows; install evenhand again, or rebuild its data"
        )
    try:
        chosen = draw(rows.select_columns(list(benchmark.design_columns)).to_pandas(), settings.limit, settings.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return rows.select(chosen)


def _load(name: str, config: str, source: str) -> datasets.Dataset:
    try:
        return load_dataset(name, config, split="test", source=source)
    except UsageError:
        raise
    except (OSError, ValueError, DatasetsError) as error:
        raise EvenhandError(f"can't load {name} ({config}, source {source}): {error}") from error


def _episodes(benchmark: Benchmark, rows: datasets.Dataset, settings: Settings) -> Iterator[Episode]:
    return (benchmark.episode(row, settings) for row in rows)


def _results(benchmark: Benchmark, settings: Settings, model: Model, predictions: pd.DataFrame) -> dict[str, object]:
    metrics = benchmark.score(predictions, settings)
    return {
        "benchmark": benchmark.name,
        "config": settings.to_json() | {"configs": list(settings.configs or benchmark.default_configs)},
        "model": settings.model,
        "model_name": model.identity.split("@")[0],
        "model_identity": model.identity,
        "n": metrics["n"],
        "metrics": metrics,
        "published": benchmark.published(settings),
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED},
    }
