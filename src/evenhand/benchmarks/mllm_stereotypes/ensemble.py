"""The consensus of several runs of mllm_stereotypes, scored as a run of its own (`evenhand ensemble`).

"a new model, Ensemble, which represents a consensus (intersection) of the responses from all three models" (Measuring
Stereotypical Bias in Multi-modal Large Language Models, section 5.3, Table 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

import numpy as np
import pandas as pd
import pyarrow as pa

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.mllm_stereotypes.options import DATASET, MllmStereotypesOptions
from evenhand.errors import UsageError
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import RunConfig
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import SCHEMA_VERSION, Results, RunWarning, figure_warnings, versions
from evenhand.flow.run_folder import RunFolder
from evenhand.report.findings import Run
from evenhand.report.pages import write_report

ENSEMBLE = "Ensemble of the three"  # as published.csv names it
OUTCOMES = ("agreed", "disagreed", "unread")

_WARNED = ("mitigation", "role", "order", "temperature", "faces", "images")
"""Settings in which runs may differ, with a warning."""


def ensemble(paths: Sequence[Path], output: Path) -> RunFolder:
    """Write a run folder of the answers that all runs have in common, which `report` and `compare` take like any other.

    Its configuration is the first run's, with the dataset configurations that all have; its figures include `agreed`,
    `disagreed` and `unread_by_one`. An `output` that holds an ensemble of the same models with the same settings is
    written again.
    Raises UsageError for fewer than two runs, runs of other benchmarks, unfinished runs, ensembles, the same run twice,
    runs without a common query, and an `output` of something else; then nothing is written.
    """
    if not 2 <= len(paths) <= len(ascii_uppercase):
        raise UsageError(f"an ensemble needs 2 to {len(ascii_uppercase)} runs, got {len(paths)}")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("an ensemble needs different runs; the same run is named twice")
    members = [_open_member(letter, path) for letter, path in zip(ascii_uppercase, paths)]
    with as_written(*paths):
        predictions = find_consensus(members)
        config: RunConfig[MllmStereotypesOptions] = replace(
            RunConfig.from_json(members[0].results.config),
            model=f"ensemble of {', '.join(_name_member(member.results) for member in members)}",
            configs=tuple(predictions["config"].unique()),
        )
        with RunFolder.begin(output, config) as folder:
            folder.write_predictions(pa.Table.from_pandas(predictions, preserve_index=False).to_pylist())
            folder.write_results(_compute_results(members, config, folder.read_predictions()))
            _keep_pictures(folder, members)
            write_report(folder)
    return folder


def _open_member(letter: str, path: Path) -> Run:
    folder = RunFolder.open(path)
    results = folder.read_results()
    if results.benchmark != DATASET:
        raise UsageError(f"{path} is a run of {results.benchmark}; an ensemble is of runs of {DATASET}")
    if "agreed" in results.figures:
        raise UsageError(f"{path} is an ensemble itself; name the runs that it is made of")
    return Run(letter, path, results, folder.read_predictions())


def find_consensus(members: Sequence[Run]) -> pd.DataFrame:
    """Return predictions on the queries that all members have, in the first one's order.

    `consensus` is "unread" where a member's answer is, "agreed" where all chose the same group, else "disagreed";
    `chosen` and `side` are null unless agreed. text: each member's answer as it was read.
    Raises UsageError where no query is common.
    """
    common = set.intersection(*(set(member.predictions["id"]) for member in members))
    if not common:
        folders = " and ".join(str(member.path) for member in members)
        raise UsageError(
            f"{folders} have no query in common; run them with the same --config, --limit, --seed and pictures"
        )
    ids = [each for each in members[0].predictions["id"] if each in common]
    asked = [member.predictions.set_index("id").loc[ids].astype(object) for member in members]
    first = asked[0]
    chosen = pd.concat([each["chosen"] for each in asked], axis=1, keys=[member.letter for member in members])
    read = chosen.notna().all(axis=1)
    agreed = read & chosen.eq(chosen.iloc[:, 0], axis=0).all(axis=1)
    texts = [
        "; ".join(f"{letter}: {group}" for letter, group in zip(chosen, row)) for row in chosen.fillna("unread").values
    ]
    shares = [{"real_shares": each["real_shares"]} for each in asked if "real_shares" in each]
    return first.assign(
        **(shares or [{}])[0],
        rehearsal=np.any([each["rehearsal"].astype(bool) for each in asked], axis=0),
        text=texts,
        finish_reason=None,
        side=first["side"].where(agreed),
        chosen=first["chosen"].where(agreed),
        consensus=np.select([agreed, read], OUTCOMES[:2], OUTCOMES[2]),
    ).reset_index()


def _compute_results(
    members: Sequence[Run], config: RunConfig[MllmStereotypesOptions], predictions: pd.DataFrame
) -> Results:
    benchmark = get_benchmark(DATASET)
    sample = benchmark.sample(predictions)
    figures = FigureTable(figure_rows(benchmark.figures, sample))
    # The file of real shares was read when the members ran, and may be gone.
    without_file = replace(config, options=replace(config.options, real_shares=None))
    main = benchmark.main_rows(figures)
    first = members[0].results
    identities = {member.letter: member.results.model_identity for member in members}
    differs = list(dict.fromkeys(each for member in members for each in member.results.differs))
    # Table 2 has one number where models have two. It is compared with association_score_answered, since it can't have
    # the share answered as a factor: by Tables A3 and A4 (77.36, 80.61 and 81.82 % of answers on gender and occupation
    # equal, of two groups) all three agree on 69.9 %, which would make 0.35 the most; 0.4338 is printed.
    asked = replace(RunConfig.from_json(first.config), configs=config.configs)
    published = [] if differs else benchmark.configuring.published(asked)
    return replace(
        first,
        schema_version=SCHEMA_VERSION,
        config=config.to_json(),
        model=config.model,
        model_name=config.model,
        model_identity=f"ensemble of {', '.join(identities.values())}",
        agents=identities,
        n=sum(row.n for row in main),
        n_read=sum(row.n_read for row in main),
        figures=figures,
        warnings=(
            *_compare_members(members, len(predictions)),
            *figure_warnings(benchmark, figures),
            *benchmark.warnings(sample.rows, figures, without_file),
        ),
        published=[record for record in published if record["model"] == ENSEMBLE],
        versions=versions(),
        differs=differs,
        predictions_sha256=None,
    )


def _name_member(results: Results) -> str:
    """Return "llava as Barack Obama with debiasing"."""
    role, mitigation = results.option("role"), results.option("mitigation")
    return results.model_name + (f" as {role}" if role else "") + (f" with {mitigation}" if mitigation else "")


def _compare_members(members: Sequence[Run], n: int) -> Iterator[RunWarning]:
    """Warn of queries that not all runs have, and of settings that differ. n: queries that all have."""
    every = len(set().union(*(member.predictions["id"] for member in members)))
    if every > n:
        lacking = ", ".join(f"{member.letter} lacks {every - len(member.predictions):,}" for member in members)
        text = f"{every - n:,} of {every:,} queries are left out, for not every run has them: {lacking}."
        yield RunWarning("queries_left_out", text)
    for name in _WARNED:
        values: dict[str, list[str]] = {}
        for member in members:
            value = member.results.option(name)
            values.setdefault("none" if value is None else str(value), []).append(member.letter)
        if len(values) > 1:
            named = "; ".join(f"{', '.join(letters)}: {value}" for value, letters in values.items())
            text = f"The runs differ in their {name} ({named}): the consensus is not of their models alone."
            yield RunWarning("members_differ", text)


def _keep_pictures(folder: RunFolder, members: Sequence[Run]) -> None:
    """Copy the pictures of the report's examples from the first member that has them."""
    benchmark = get_benchmark(DATASET)
    findings = benchmark.findings(benchmark.prepare(folder.read_predictions()), folder.read_results())
    for name in filter(None, (example.picture for example in findings.examples)):
        contents = (RunFolder(member.path).picture(name) for member in members)
        if (content := next(filter(None, contents), None)) is not None:
            folder.keep_picture(name, content)
