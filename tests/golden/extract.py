"""What golden numbers are, each part by one function: these follow the code, the recorded JSON stays as it is."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.figure import FigureRow
from evenhand.flow.run_folder import RunFolder
from evenhand.gating.gate import gate
from evenhand.gating.judgement import list_judgeable
from evenhand.gating.pairs import pair_runs
from evenhand.gating.policy import Policy
from evenhand.hub.leaderboard.board import make_board
from evenhand.hub.leaderboard.sources import build_run_record, gather
from evenhand.profiling.found import read_profile
from evenhand.profiling.settings import ProfileOptions, open_settings
from evenhand.report.agreement import agree, distance_from_no_bias
from evenhand.report.comparison import compare
from evenhand.report.differences import differences, exploratory
from evenhand.report.tables import Table

FIRST_ROWS = 5
FIRST_LEAVES = 12  # of what is long; all of it is in its sums
LONG = 40  # leaves
LONGEST_TEXT = 40
FIRST_CHARACTERS = 90  # of a refusal
DIGITS = 9
DIFFERENCE = ("first", "second", "estimate", "low", "high", "p_value", "n", "n_clusters", "smallest_p")
WORSE = ("estimate", "low", "high", "n", "n_clusters")
WIDE = Policy(max_increase=60.0, max_utility_loss=60.0, max_unread=0.5)


# Plain values


def plain(value: Any) -> Any:
    """As JSON has it: numbers rounded, NaN as null, long texts shortened to what tells them apart."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return round(float(value), DIGITS) + 0.0 if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    text = str(value)
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT - 16]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """{path/to/it: scalar} of all that is nested in it."""
    if isinstance(value, Mapping):
        nested = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, (list, tuple)):
        nested = [(str(k), each) for k, each in enumerate(value)]
    else:
        return {path: plain(value)}
    found: dict[str, Any] = {}
    for key, each in nested:
        found |= leaves(each, f"{path}/{key}" if path else key)
    return found


def shortened(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is long as its first leaves and, of all leaves by their last name, how many there are and their sum."""
    if len(found) <= LONG:
        return dict(found)
    sums: dict[str, list[Any]] = {}
    for path, value in found.items():
        last = next((part for part in reversed(path.split("/")) if not part.isdecimal()), "")
        sums.setdefault(last if len(last) <= 24 else "", []).append(value)
    if len(sums) > FIRST_LEAVES:
        sums = {"": [each for of in sums.values() for each in of]}
    return {path: found[path] for path in sorted(found)[:FIRST_LEAVES]} | {
        f"all of {name}": _summed(of) for name, of in sums.items()
    }


def _summed(values: Sequence[Any]) -> dict[str, Any]:
    known = [float(each) for each in values if isinstance(each, (bool, int, float))]
    return {"n": len(values), "null": sum(each is None for each in values), "sum": plain(math.fsum(known))}


def without_places(value: Any, root: Path) -> Any:
    """Without the folder of all runs, in keys and texts."""
    if isinstance(value, Mapping):
        return {key.replace(str(root), "RUNS"): without_places(each, root) for key, each in value.items()}
    if isinstance(value, list):
        return [without_places(each, root) for each in value]
    return value.replace(str(root), "RUNS") if isinstance(value, str) else value


# The parts


def predictions(run: Path) -> dict[str, Any]:
    """(a) The first rows, and of each numeric or boolean column its sum."""
    table = RunFolder.open(run).read_predictions()
    sums = {}
    for name in table:
        column = table[name]
        known = column.dropna()
        if len(known) and all(isinstance(each, (bool, np.bool_, numbers.Real)) for each in known):
            sums[name] = {"null": int(column.isna().sum()), "sum": plain(math.fsum(map(float, known)))}
        else:
            sums[name] = {"null": int(column.isna().sum())}
    first = table.head(FIRST_ROWS)
    rows = {str(name): [_of_row(each) for each in first[name]] for name in table}
    return {"n": len(table), "sums": sums, "rows": rows}


def _of_row(value: Any) -> Any:
    """A cell; what is nested, as one text; of a path, its name."""
    found = plain(Path(value).name if isinstance(value, str) and value.startswith("/") else value)
    return plain(str(found)) if isinstance(found, (list, dict)) else found


def results(run: Path) -> dict[str, Any]:
    """(b) The table of a run's figures, its warnings, and what the paper has."""
    found = RunFolder.open(run).read_results()
    headline = {_name(row): _row(row) for row in found.figures if row.headline or not row.groups}
    others = {f"{_name(row)}/{key}": each for row in found.figures if row.groups for key, each in _row(row).items()}
    return {
        "headline": headline,
        "others": shortened(others),
        "warnings": [f"{each.code} {dict(each.groups)}" for each in found.warnings],
        "published": [dict(each) for each in found.published][:FIRST_ROWS],
        "differs": list(found.differs),
        "n": found.n,
        "n_read": found.n_read,
    }


def _name(row: FigureRow) -> str:
    return " ".join((row.figure, *(f"{name}={value}" for name, value in row.groups.items())))


def _row(row: FigureRow) -> dict[str, Any]:
    return _fields(row, ("value", "low", "high", "n", "n_read", "n_clusters", "chance"))


def comparison(one: Path, other: Path) -> dict[str, Any]:
    """(c) Paired differences: the headline family and the exploratory one."""
    try:
        found = compare(one, other)
    except EvenhandError as error:
        return {"refused": _why(error, one, other)}
    return {
        "headline": {name: _fields(each, DIFFERENCE) for name, each in found.differences.items()},
        "exploratory": shortened(leaves(_exploratory(one, other))),
        "tables": shortened(leaves({table.title: _numbers(table) for table in found.more})),
    }


def _exploratory(one: Path, other: Path) -> dict[str, Any]:
    runs = [RunFolder.open(path) for path in (one, other)]
    benchmark = get_benchmark(runs[0].read_results().benchmark)
    samples = [benchmark.sample(run.read_predictions()) for run in runs]
    found = differences(benchmark, *samples, exploratory)
    return {key.label: _fields(each, DIFFERENCE) for key, each in found.items()}


def _numbers(table: Table) -> dict[str, Any]:
    """Of a table's cells, by row and column."""
    return {
        row[0].text: {
            name: plain([each.value, each.low, each.high])
            for name, each in zip(table.columns[1:], row[1:])
            if not isinstance(each.value, str)
        }
        for row in table.rows
    }


def gated(one: Path, other: Path, figures: Sequence[str] = ()) -> dict[str, Any]:
    """(d) What the default policy judges, or a wide one that names figures."""
    policy = replace(WIDE, figures=tuple((name, 60.0) for name in figures)) if figures else Policy()
    try:
        found = gate(one, other, policy)
    except EvenhandError as error:
        return {"refused": _why(error, one, other)}
    judged = {
        each.figure: {
            "of": each.of,
            "base": plain(each.base),
            "candidate": plain(each.candidate),
            "worse": _fields(each.worse, WORSE),
            "margin": plain(each.margin),
            "verdict": each.verdict,
        }
        for each in found.judgements
    }
    return {"verdict": found.verdict, "judgements": judged}


def figures_to_name(one: Path, other: Path) -> list[str]:
    """All that a policy may name."""
    try:
        [pair] = pair_runs(one, other)
    except EvenhandError:
        return []
    return [figure.label(row.groups) for figure, row in list_judgeable(pair)]


def submitted(run: Path) -> dict[str, Any]:
    """(e) The record of Every Eval Ever, and entries of .eval_results where a board can hold them."""
    try:
        record, _ = build_run_record(run, None, rehearsal=True)
    except EvenhandError as error:
        return {"refused": _why(error, run)}
    found = {}
    for each in record["evaluation_results"]:
        metric, details = each["metric_config"], each["score_details"]
        interval = details["uncertainty"].get("confidence_interval", {})
        found[f"{each['evaluation_name']} {metric['metric_id']}"] = {
            "score": plain(details["score"]),
            "low": plain(interval.get("lower")),
            "high": plain(interval.get("upper")),
            "n": details["details"]["n"],
            "n_read": details["uncertainty"]["num_samples"],
            "unread_rate": plain(float(details["details"]["unread_rate"])),
            "min": plain(metric.get("min_score")),
            "max": plain(metric.get("max_score")),
            "lower_is_better": metric["lower_is_better"],
            "unit": metric.get("metric_unit"),
        }
    return {"record": found}


def _why(said: object, *runs: Path) -> str:
    """How a refusal begins, whose end is cut by the length of the paths in it."""
    text = str(said)
    for run in runs:
        text = text.replace(str(run), run.name)
    return text[:FIRST_CHARACTERS]


def leaderboard(*runs: Path) -> dict[str, Any]:
    """(f) Cells of a board of these runs, as a rehearsal."""
    found = gather(list(map(str, runs)), rehearsal=True)
    made = make_board(found)
    cells = {}
    for (column, row), cell in made.cells.items():
        name = f"{column.benchmark}.{column.task} {column.metric}, {column.setting}: {row}"
        cells[name] = {
            "value": plain(cell.record.value),
            "interval": plain(cell.record.interval),
            "rank": str(cell.rank),
            "n_read": cell.record.n_read,
        }
    return {"cells": cells, "refused": sorted(_why(each.reason, *runs) for each in found.refused)}


def profiled(folder: Path, options: ProfileOptions) -> dict[str, Any]:
    """(g) Figures of the runs in a profile's folder."""
    found = read_profile(folder, open_settings(folder, options))
    return {
        f"{measure.card.name}: {run.model}: {key.label}": {
            "value": plain(row.value),
            "interval": plain(row.interval),
            "chance": plain(row.chance),
        }
        for measure in found.measures
        for run in measure.runs
        for key, row in run.rows.items()
    }


def agreement(*runs: Path) -> dict[str, Any]:
    """(h) Scores by model, and how alike measures rank them, as the tables tell it."""
    found = agree(*runs)
    tables = {table.title: _numbers(table) for table in found.tables}
    scores = {}
    for run in runs:
        results = RunFolder.open(run).read_results()
        distance = distance_from_no_bias(get_benchmark(results.benchmark), results.figures)
        scores[f"{results.benchmark}: {results.model_name}"] = plain(distance)
    return {"tables": tables, "scores": scores}


def _fields(of: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: plain(getattr(of, name)) for name in names}
