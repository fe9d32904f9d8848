"""The main job: rows to episodes to predictions to scores to a report, in one run folder."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import datasets
import pandas as pd
from datasets.exceptions import DatasetsError

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.errors import EvenhandError, UsageError, unknown_name
from evenhand.flow.draw import draw, draw_matched, draw_together
from evenhand.flow.episode import Episode
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Runner
from evenhand.flow.settings import Settings
from evenhand.flow.store import Store
from evenhand.library import load_dataset
from evenhand.mitigation import Mitigation
from evenhand.mitigations import chosen_mitigation
from evenhand.models.protocol import Model
from evenhand.models.registry import load_model
from evenhand.report.pages import write_report

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
    settings.check_options(benchmark.options)
    settings = settings.filled(benchmark.defaults)
    settings.check_sampling()
    benchmark.check(settings)
    mitigation = chosen_mitigation(settings)
    rows, notes = load_rows(benchmark, settings)
    measured = load_agents(settings, model)
    if "box_scale" in benchmark.options and settings.box_scale is None:
        settings = replace(settings, box_scale=getattr(measured["default"], "box_scale", None))
    models = {**measured, **benchmark.helpers(settings)}
    if mitigation:
        further = mitigation.agents(settings).items()
        models |= {agent: load_measured(replace(settings, model=name, revision=None)) for agent, name in further}
    folder = RunFolder.begin(output, settings)
    with folder.locked(), Store(folder.store, {agent: each.identity for agent, each in models.items()}) as store:
        progress = on_progress or (lambda rows, finished, asked: None)
        n_episodes = len(rows) * settings.runs
        progress(n_episodes, 0, 0)
        runner = Runner(models, store, lambda finished, asked: progress(n_episodes, finished, asked))
        folder.write_predictions(
            each for row in runner.run(_episodes(benchmark, mitigation, rows, settings)) for each in row
        )
        folder.write_results(_results(benchmark, settings, measured, models, folder.read_predictions(), notes))
        if benchmark.shows_pictures:
            _keep_pictures(folder, benchmark, rows)
        write_report(folder)
    return folder


def _keep_pictures(folder: RunFolder, benchmark: Benchmark, rows: datasets.Dataset) -> None:
    """Those of the report's examples, so that the report can be written again wherever the folder goes."""
    findings = benchmark.findings(folder.read_predictions(), folder.read_results())
    shown = {example.picture for example in findings.examples}
    for place, name in enumerate(rows["id"]):
        if name in shown and (content := benchmark.picture(rows[place])):
            folder.keep_picture(name, content)


def load_measured(settings: Settings) -> Model:
    """The model that the settings name; one that sees where their benchmark shows pictures."""
    benchmark = (
        get_benchmark(settings.benchmark) if settings.benchmark in BENCHMARKS else None
    )  # generation has settings, too, and is no benchmark
    return load_model(
        settings.model,
        dtype=settings.dtype,
        batch_size=settings.batch_size,
        revision=settings.revision,
        pictures=benchmark is not None and benchmark.shows_pictures,
    )


def load_agents(settings: Settings, model: Model | None = None) -> dict[str, Model]:
    """The models that are measured, by agent: one ("default") unless the settings name several, none for texts.

    model: answers in place of each of them.
    """
    if settings.texts:
        return {}
    named = settings.agents or (("default", settings.model),)
    loaded = {name: model or load_measured(replace(settings, model=name)) for name in dict(named).values()}
    return {agent: loaded[name] for agent, name in named}


def load_rows(benchmark: Benchmark, settings: Settings) -> tuple[datasets.Dataset, tuple[str, ...]]:
    """The rows of all configurations or of a file of texts, drawn down, and what is to be said of them.

    Raises UsageError for unknown names and bad limits.
    """
    if settings.texts:
        file = read_texts(
            Path(settings.texts.path), settings.texts.columns, settings.texts.preprocess, seed=settings.seed
        )
        if not file.rows[["gender", "race"]].ne("").any(axis=None):
            raise UsageError(
                f"no text in {settings.texts.path} has a gender or a race that is understood, so no groups can be "
                f"compared; --gender-column and --race-column name theirs. {' '.join(file.notes)}"
            )
        rows = datasets.Dataset.from_pandas(file.rows, preserve_index=False)
        return rows.select(_drawn(rows, ("gender", "race", "group"), settings)), file.notes
    rows, notes = benchmark.usable(_load_configs(benchmark, settings), settings)
    return rows.select(_drawn(rows, benchmark.design_columns, settings, benchmark.drawn_together)), notes


def _configs(benchmark: Benchmark, settings: Settings) -> list[str]:
    return list(settings.configs or benchmark.default_configs)


def _load_configs(benchmark: Benchmark, settings: Settings) -> datasets.Dataset:
    configs = _configs(benchmark, settings)
    for config in configs:
        if config not in benchmark.configs:
            raise unknown_name(f"configuration of {benchmark.name}", config, benchmark.configs)
    if len(set(configs)) < len(configs):
        raise UsageError(f"a configuration is named twice: {', '.join(configs)}")
    parts = [_matched(benchmark, _load(benchmark, config, settings), settings) for config in configs]
    rows = datasets.concatenate_datasets(parts)
    if not len(rows):
        raise UsageError(
            f"{benchmark.name} ({', '.join(configs)}) has no rows; install evenhand again, or rebuild its data"
        )
    return rows


def _drawn(
    rows: datasets.Dataset, columns: Sequence[str], settings: Settings, together: Sequence[str] = ()
) -> list[int]:
    design = rows.select_columns(list(dict.fromkeys((*columns, *together)))).to_pandas()
    try:
        if together:
            return draw_together(design[[*columns]], design[[*together]], settings.limit, settings.seed)
        return draw(design, settings.limit, settings.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _matched(benchmark: Benchmark, rows: datasets.Dataset, settings: Settings) -> datasets.Dataset:
    """A sample of a configuration's rows in which every group has the same descriptors."""
    if settings.sample is None:
        return rows
    if benchmark.matched_column is None:
        raise UsageError(f"{benchmark.name} has no rows that differ in their group alone: give --limit, not --sample")
    try:
        return rows.select(draw_matched(rows[benchmark.matched_column], settings.sample, settings.seed))
    except ValueError as error:
        raise UsageError(str(error)) from error


def _load(benchmark: Benchmark, config: str, settings: Settings) -> datasets.Dataset:
    options, source = benchmark.load_options(config, settings), settings.source
    try:
        return load_dataset(benchmark.dataset, config, split=benchmark.split, source=source, **options)
    except UsageError:
        raise
    except (OSError, ValueError, DatasetsError) as error:
        raise EvenhandError(f"can't load {benchmark.dataset} ({config}, source {source}): {error}") from error


def _episodes(
    benchmark: Benchmark, mitigation: Mitigation | None, rows: datasets.Dataset, settings: Settings
) -> Iterator[Episode]:
    for run in range(settings.runs):
        for row in rows:
            episode = benchmark.episode(row, settings, run)
            yield mitigation.wrap(episode, row, settings, run) if mitigation else episode


def _results(
    benchmark: Benchmark,
    settings: Settings,
    measured: Mapping[str, Model],
    models: Mapping[str, Model],
    predictions: pd.DataFrame,
    notes: Sequence[str],
) -> dict[str, object]:
    metrics = benchmark.score(predictions, settings)
    metrics["warnings"] = [*notes, *metrics["warnings"]]
    name, identity = _measured(settings, measured)
    return {
        "benchmark": benchmark.name,
        "config": settings.to_json() | {"configs": [] if settings.texts else _configs(benchmark, settings)},
        "model": settings.model,
        "model_name": name,
        "model_identity": identity,
        "agents": {agent: each.identity for agent, each in models.items()},
        "helpers": benchmark.described_helpers(settings),
        "texts_sha256": _sha256(settings.texts.path) if settings.texts else None,
        "n": metrics["n"],
        "metrics": metrics,
        "published": benchmark.published(settings),
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in VERSIONED},
    }


def _sha256(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _measured(settings: Settings, measured: Mapping[str, Model]) -> tuple[str, str]:
    """Name and identity of what was measured: a model, several, or a file of texts."""
    if settings.texts:
        return (Path(settings.texts.path).name,) * 2
    identities = {agent: model.identity for agent, model in measured.items()}
    if not settings.agents:
        return identities["default"].split("@")[0], identities["default"]
    return (
        ", ".join(f"{agent}: {identity.split('@')[0]}" for agent, identity in identities.items()),
        ", ".join(f"{agent}: {identity}" for agent, identity in identities.items()),
    )
