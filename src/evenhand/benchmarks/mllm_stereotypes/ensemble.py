"""The consensus of several runs of mllm_stereotypes, scored as a run of its own.

"a new model, Ensemble, which represents a consensus (intersection) of the responses from all three models" (Measuring
Stereotypical Bias in Multi-modal Large Language Models, section 5.3, Table 2).
"""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.mllm_stereotypes.configs import DATASET
from evenhand.benchmarks.mllm_stereotypes.consensus import comparable, consensus
from evenhand.benchmarks.mllm_stereotypes.options import MllmStereotypesOptions
from evenhand.errors import UsageError
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import RunConfig, deciding
from evenhand.flow.figure_warnings import figure_warnings
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import SCHEMA_VERSION, Results, RunWarning, versions
from evenhand.flow.run_folder import RunFolder
from evenhand.report.findings import Run
from evenhand.report.pages import write_report

ENSEMBLE = "Ensemble of the three"  # as published.csv names it
_TOLD = ("mitigation", "role", "order", "temperature", "faces", "images")  # members may differ in them, which is said


def ensemble(paths: Sequence[Path], output: Path) -> RunFolder:
    """Leave a run folder of the answers that all runs have in common, which `report` and `compare` take like any run's.

    Its configuration is the first run's, of the datasets' configurations that all have; its figures have further
    `agreed`, `disagreed` and `unread_by_one`, of all queries and of each configuration. An `output` that holds an
    ensemble of the same models with the same settings is written again.
    Raises UsageError for fewer than two runs, runs of other benchmarks, unfinished or the same ones, ensembles, runs
    that were not asked the same, and an `output` of something else; then nothing is written.
    """
    members = _members(paths)
    with as_written(*paths):
        return _ensemble(members, output)


def _ensemble(members: Sequence[Run], output: Path) -> RunFolder:
    predictions = consensus(members)
    config = replace(
        _config(members[0]),
        model=f"ensemble of {', '.join(_name(member.results) for member in members)}",
        configs=tuple(predictions["config"].unique()),
    )
    with RunFolder.begin(output, config) as folder:
        folder.write_predictions(_records(predictions))
        folder.write_results(_results(members, config, folder.read_predictions()))
        _keep_pictures(folder, members)
        write_report(folder)
    return folder


# The runs


def _members(paths: Sequence[Path]) -> list[Run]:
    if not 2 <= len(paths) <= len(ascii_uppercase):
        raise UsageError(f"{len(paths)} came; a consensus is of 2 to {len(ascii_uppercase)} runs")
    members = [_member(letter, path) for letter, path in zip(ascii_uppercase, paths)]
    for one, other in combinations(members, 2):
        if _is_same(one, other):
            raise UsageError(f"{one.path} and {other.path} are the same run, which agrees with itself: name others")
    return members


def _member(letter: str, path: Path) -> Run:
    folder = RunFolder.open(path)
    results = folder.read_results()
    if results.benchmark != DATASET:
        raise UsageError(f"{path} is a run of {results.benchmark}; an ensemble is of runs of {DATASET}")
    if "agreed" in results.figures:
        raise UsageError(f"{path} is an ensemble itself; name the runs that it is made of")
    return Run(letter, path, results, folder.read_predictions())


def _is_same(one: Run, other: Run) -> bool:
    """The same folder, or a copy of it."""
    first, second = (RunFolder(run.path).predictions for run in (one, other))
    return first.samefile(second) or (_asking(one) == _asking(other) and filecmp.cmp(first, second, shallow=False))


def _asking(run: Run) -> tuple[str, dict[str, Any]]:
    """Who was asked, and how."""
    return run.results.model_identity, deciding(_config(run), run.results.config)


def _config(member: Run) -> RunConfig[MllmStereotypesOptions]:
    return RunConfig.from_json(member.results.config)


# What is said of them


def _results(members: Sequence[Run], config: RunConfig[MllmStereotypesOptions], predictions: pd.DataFrame) -> Results:
    benchmark = get_benchmark(DATASET)
    sample = benchmark.sample(predictions)
    figures = FigureTable(figure_rows(benchmark.figures, sample))
    # The file of real shares was read when the members ran, and may be gone.
    without_file = replace(config, options=replace(config.options, real_shares=None))
    warnings = (
        *_members_differ(members, len(predictions)),
        *figure_warnings(benchmark, figures),
        *benchmark.warnings(sample.rows, figures, without_file),
    )
    n, n_read = benchmark.count_read(sample.rows, figures)
    identities = {member.letter: member.results.model_identity for member in members}
    return Results(
        schema_version=SCHEMA_VERSION,
        benchmark=DATASET,
        config=config.to_json(),
        model=config.model,
        model_name=config.model,
        model_identity=f"ensemble of {', '.join(identities.values())}",
        agents=identities,
        helpers=[],
        n=n,
        n_read=n_read,
        figures=figures,
        warnings=warnings,
        published=_published(members, config.configs),
        versions=versions(),
        differs=_differs(members),
    )


def _name(results: Results) -> str:
    """ "llava as Barack Obama with debiasing" """
    role, mitigation = results.option("role"), results.option("mitigation")
    return results.model_name + (f" as {role}" if role else "") + (f" with {mitigation}" if mitigation else "")


def _published(members: Sequence[Run], configs: tuple[str, ...]) -> list[dict[str, Any]]:
    """Table 2's Ensemble, where all members are the paper's protocol; else none.

    The table has one number where models have two. It is compared with association_score_answered, for it can't have
    the share answered as a factor: by Tables A3 and A4 (77.36, 80.61 and 81.82 % of answers on gender and occupation
    equal, of two groups) all three agree on 69.9 %, which would make 0.35 the most; 0.4338 is printed.
    """
    if _differs(members):
        return []
    records = get_benchmark(DATASET).published(replace(_config(members[0]), configs=configs))
    return [record for record in records if record["model"] == ENSEMBLE]


def _differs(members: Sequence[Run]) -> list[str]:
    """In what any member is not as in the paper."""
    return list(dict.fromkeys(each for member in members for each in member.results.differs))


def _members_differ(members: Sequence[Run], n: int) -> Iterator[RunWarning]:
    """Warn of queries that not all runs have, and of settings that differ. n: queries that all have."""
    ids = [set(member.predictions["id"]) for member in members]
    every = len(set.union(*ids))
    if every > n:
        lacking = ", ".join(f"{member.letter} lacks {every - len(of):,}" for member, of in zip(members, ids))
        text = f"{every - n:,} of {every:,} queries are left out, for not every run has them: {lacking}."
        yield RunWarning("queries_left_out", text)
    for name in _TOLD:
        values: dict[str, list[str]] = {}
        for member in members:
            value = member.results.option(name)
            values.setdefault("none" if value is None else str(value), []).append(member.letter)
        if len(values) > 1:
            named = "; ".join(f"{', '.join(letters)}: {value}" for value, letters in values.items())
            text = f"The runs differ in their {name} ({named}): the consensus is not of their models alone."
            yield RunWarning("members_differ", text)


def _records(predictions: pd.DataFrame) -> Iterator[dict[str, Any]]:
    names = list(predictions.columns)
    for row in predictions.itertuples(index=False, name=None):
        values = (list(each) if isinstance(each, tuple) else each for each in map(comparable, row))
        yield dict(zip(names, values))


def _keep_pictures(folder: RunFolder, members: Sequence[Run]) -> None:
    """Those of the report's examples, from the first member that kept them."""
    benchmark = get_benchmark(DATASET)
    findings = benchmark.findings(benchmark.prepare(folder.read_predictions()), folder.read_results())
    for name in filter(None, (example.picture for example in findings.examples)):
        kept = (RunFolder(member.path).picture(name) for member in members)
        content = next(filter(None, kept), None)
        if content is not None:
            folder.keep_picture(name, content)
