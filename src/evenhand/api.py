"""Runs from Python, as `import evenhand` offers them. Errors name arguments, not options of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow import configuration, evaluation
from evenhand.flow.configuration import RunConfig
from evenhand.gating import gate as gating
from evenhand.models.errors import ModelError
from evenhand.models.function_model import FunctionModel, Generate
from evenhand.models.protocol import Model
from evenhand.models.registry import LoadModel
from evenhand.options import fields_of
from evenhand.paths import typed_path
from evenhand.report import comparison
from evenhand.report.pages import ReportedRun

_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)\b")
_NAMES = {each.flag: each.name for each in fields_of(RunConfig)}


@contextmanager
def naming_arguments() -> Iterator[None]:
    """Name arguments instead of command-line options in errors: `max_failed` for --max-failed."""
    try:
        yield
    except (EvenhandError, ModelError) as error:
        text = _FLAG.sub(lambda flag: _NAMES.get(flag[1], flag[1].replace("-", "_")), str(error))
        error.args = (text, *error.args[1:])
        raise


@naming_arguments()
def evaluate(
    benchmark: str | RunConfig[Any],
    output: str | PathLike[str] | None = None,
    model: str | Model | Generate | None = None,
    on_progress: evaluation.OnProgress | None = None,
    load: LoadModel | None = None,
    new: bool = False,
    **options: object,
) -> ReportedRun:
    """Run a benchmark to its end; an interrupted run resumes, and a finished one is read.

    Args:
        benchmark: its name, with `options` as for `run_config`; or such a configuration.
        output: the run folder; by default runs/BENCHMARK-MODEL-NUMBER, where the same call resumes.
        model: what `--model` takes; a model; or a function from a list of prompts to a list of texts, which can't
            score options.
        on_progress: called with the number of episodes and each step, instead of a progress bar.
        load: loads models elsewhere, such as `RayCluster.load_model`.
        new: begin another default folder.

    Raises:
        UsageError: for what does not fit.
        EvenhandError, ModelError: where the run can't go on; what was answered is stored.
    """
    if callable(model) and not hasattr(model, "answer"):
        model = FunctionModel(model)  # type: ignore[arg-type]
    if isinstance(benchmark, str):
        name = model if isinstance(model, str) else "" if model is None else model.name  # type: ignore[union-attr]
        benchmark = configuration.run_config(benchmark, name, **options)
        model = None if isinstance(model, str) else model
    elif options or isinstance(model, str):
        raise UsageError("a configuration has a model and options already: give them to evenhand.run_config")
    folder = None if output is None else typed_path(output)
    return evaluation.evaluate(benchmark, folder, model, on_progress, load, new)  # type: ignore[arg-type]


@naming_arguments()
def open_run(path: str | PathLike[str]) -> ReportedRun:
    """Open the folder of a finished run. Raises UsageError where it is none."""
    return ReportedRun.open(typed_path(path))


run_config = naming_arguments()(configuration.run_config)
compare = naming_arguments()(comparison.compare)
gate = naming_arguments()(gating.gate)
