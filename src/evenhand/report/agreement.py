"""Whether measures agree on which models are the more biased.

Short forced answers need not predict what long texts do: "standard bias metrics have no significant correlation with
long-form output metrics" (Lum, Anthis, Robinson, Nagpal and D'Amour, "Bias in Language Models: Beyond Trick Tests and
Towards RUTEd Evaluation", ACL 2025, long papers, pages 137-161).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from evenhand.benchmark import Benchmark
from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.figure import FigureTable
from evenhand.flow.configuration import RunConfig, deciding, run_config
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.findings import WEIGHTS, Findings
from evenhand.report.tables import Cell, Table, count, figure, n_of, p_text
from evenhand.statistics.families import holm
from evenhand.statistics.rank_correlation import FEWEST_PAIRS, RankCorrelation, rank_correlation
from evenhand.statistics.resampling import FEWEST_CLUSTERS, LEVEL

MOSTLY_UNREAD = 0.5  # beyond this share of unread answers a run says little
_OF_THE_MODEL = (
    "benchmark", "options", "model", "model_options", "template_options", "date", "revision", "dtype", "batch_size",
    "max_failed", "seed",
    "mitigation", "mitigation_options", "agents", "box_scale", "texts",
)  # fmt: skip
"""Settings that say which model is asked, or whose texts are read, or decide no measure; all others do."""
_SHOWN = 12  # characters of a commit or fingerprint
NOTE = (
    "Spearman's r between distances from no bias. Brackets: 95 % interval over bases (Fisher's z; Bonett and "
    "Wright 2000), none where r is 1 or -1. p: share of all orders of the bases that correlate as much; of four "
    "it is 1 in 12 at least. Bases: models of one base (its adapters, revisions, dtypes, options and mitigations) "
    "count as one, by their mean; whether a model was merged from another isn't known here. {family}Noise in the "
    "scores themselves takes correlations towards 0. Short forced answers need not predict long texts (Lum et al., "
    "Bias in Language Models: Beyond Trick Tests and Towards RUTEd Evaluation, ACL 2025)."
)


@dataclass(frozen=True)
class Measured:
    """A run that counts.

    Attributes:
        benchmark, settings: the measure; the settings as JSON.
        loaded: what else decides what the model says, by name.
        base: marks of its base model.
    """

    path: Path
    benchmark: str
    settings: str
    model: str
    loaded: Mapping[str, str]
    base: frozenset[str]
    score: float


@dataclass(frozen=True)
class Pair:
    """Two measures over the models that both have.

    Attributes:
        found: their correlation over independent bases.
        n_models: models of these bases.
        adjusted: p over the family; NaN where so few bases can't reject anything.
    """

    first: str
    second: str
    found: RankCorrelation
    n_models: int
    adjusted: float = math.nan

    @property
    def p_value(self) -> float:
        """NaN where so few bases can't reject anything: such a test would only dilute the family."""
        return math.nan if self.found.smallest_p > LEVEL else self.found.p_value


def agree(*paths: Path) -> Findings:
    """Correlate how the measures of these runs rank the models that they have in common.

    A measure is a benchmark with its settings. A model is its name, weights, dtype, mitigation and all options that
    decide what it says. Models of one base are no independent evidence: they count as one, by their mean. Several runs
    of a model in one measure count by their mean. Runs that say nothing are left out, and named.

    Raises:
        UsageError: for folders that are no finished runs, and for runs of fewer than two measures.
        EvenhandError: for a run of another version.
    """
    measured, left_out = _read_runs(paths)
    measured, told_apart = _tell_apart(measured)
    rows = [(run.model, _name_measure(run), run.score) for run in measured]
    runs = pd.DataFrame(rows, columns=["model", "measure", "score"])
    cells = runs.groupby(["model", "measure"], sort=False)["score"]
    scores = cells.mean().unstack().reindex(index=runs["model"].unique(), columns=runs["measure"].unique())
    if len(scores.columns) < 2:
        there = f"these are of {', '.join(scores.columns) or 'none'}"
        without = f" (left out: {'; '.join(left_out)})" if left_out else ""
        raise UsageError(f"runs of two measures or more are needed, of the same models; {there}{without}")
    bases = find_bases((run.model, run.base) for run in measured)
    pairs = [_correlate(scores[[*both]].dropna(), bases) for both in combinations(scores.columns, 2)]
    pairs = [replace(pair, adjusted=p) for pair, p in zip(pairs, holm([pair.p_value for pair in pairs]))]
    sizes = [(model, measure, n) for (model, measure), n in cells.size().items() if n > 1]
    several = (f"{model} has {n} runs of {measure}: the mean of their scores counts" for model, measure, n in sizes)
    return Findings(
        title="Do measures agree?",
        sentences=tuple(map(_state, pairs)),
        tables=(_correlations(pairs), _scores(scores)),
        warnings=(
            *left_out, *told_apart, *_name_bases(bases, scores.index[scores.notna().sum(axis=1) > 1]), *several
        ),
    )  # fmt: skip


# Runs


def _read_runs(paths: Sequence[Path]) -> tuple[list[Measured], list[str]]:
    """Return runs that count, and why others are left out."""
    found, left_out = [], []
    for path in {each.resolve(): each for each in paths}.values():  # named as given: pages are shown to others
        results = RunFolder.open(path).read_results()
        score = distance_from_no_bias(get_benchmark(results.benchmark), results.figures)
        if why := _why_left_out(results, score):
            left_out.append(f"{path} is left out: {why}")
            continue
        mitigation, revision = results.option("mitigation"), results.option("revision")
        model = results.model_name + f"@{revision}" * bool(revision) + f" with {mitigation}" * bool(mitigation)
        of_measure, loaded = json.dumps(_settings(results.config)), _loaded(results)
        found.append(Measured(path, results.benchmark, of_measure, model, loaded, base_marks(results), score))
    return found, left_out


def distance_from_no_bias(benchmark: Benchmark[Any], table: FigureTable) -> float:
    """Return how far a run's main figures are from their best values, on average.

    NaN where they measure no bias, or no answer of one was read. A figure that is undefined though answers were read
    is left out, such as a bias score over groups of which none was named.
    """
    rows = [row for row in benchmark.main_rows(table) if benchmark.figure(row.figure).best is not None]
    if not benchmark.comparing.measures_bias or not all(row.n_read for row in rows):
        return math.nan
    known = [abs(row.value - benchmark.figure(row.figure).best_value) for row in rows if not math.isnan(row.value)]
    return fmean(known) if known else math.nan


def _why_left_out(results: Results, score: float) -> str | None:
    if results.rehearsal:
        return "a rehearsal with placeholders in place of data"
    if not results.unread_rate <= MOSTLY_UNREAD:
        return f"{results.n_read:,} of {results.n:,} answers were read"
    if math.isnan(score):
        return "it has no score"
    if results.is_constant({}):
        return "its answers are constant, so that its score says nothing of bias"
    main = get_benchmark(results.benchmark).figures[0].key
    n = max((row.n_clusters for row in results.figures if row.figure == main), default=0)
    return f"its score is of {n_of(n, 'cluster')}, and chance alone ranks so few" if n < FEWEST_CLUSTERS else None


def _loaded(results: Results) -> dict[str, str]:
    """Return what else decides what a model says, by name: its weights, their dtype, options of its backend and so on.

    The dtype in which it computed, where the model's identity has it, is the same whether it was chosen or the default.
    """
    held = WEIGHTS.search(results.model_identity)
    weights, dtype = held.groups() if held else ("", results.option("dtype") or "auto")
    options = deciding(RunConfig.from_json(results.config), results.config)
    loaded = {"weights": weights[:_SHOWN], "dtype": str(dtype)}
    for name in ("model_options", "template_options"):
        pairs = (f"{key}={value}" for key, value in sorted(map(tuple, options.get(name, ()))))
        loaded[name.replace("_", " ")] = " ".join(pairs)
    loaded["date"] = options.get("date") or ""
    if results.rows_sha256:  # of a file of texts, whose name does not say what is in it
        loaded["texts"] = results.rows_sha256[:_SHOWN]
    of_mitigation = options.get("mitigation_options", {})
    return loaded | {name.replace("_", " "): _in_words(value) for name, value in of_mitigation.items()}


def _tell_apart(measured: Sequence[Measured]) -> tuple[list[Measured], list[str]]:
    """Rename runs of one name that were loaded in several ways, by what differs; and say so."""
    renamed: dict[Path, str] = {}
    warnings = []
    for name in dict.fromkeys(run.model for run in measured):
        runs = [run for run in measured if run.model == name]
        differ = [key for key in runs[0].loaded if len({run.loaded.get(key, "") for run in runs}) > 1]
        if differ:
            shown = {run.path: [f"{key} {run.loaded.get(key) or 'none'}" for key in differ] for run in runs}
            names = {path: f"{name} ({', '.join(each)})" for path, each in shown.items()}
            several = ", ".join(dict.fromkeys(names.values()))
            warnings.append(f"{name} was not run in one way, and what differs makes models of their own: {several}")
            renamed |= names
    return [replace(run, model=renamed.get(run.path, run.model)) for run in measured], warnings


# Measures


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked, and how, by flat names."""
    config = deciding(RunConfig.from_json(config), config)
    flat = {**config, **config.get("options", {})}
    return {name: flat[name] for name in sorted(flat) if name not in _OF_THE_MODEL}


def _name_measure(run: Measured) -> str:
    """Return the benchmark's name, with the settings that are not its defaults."""
    defaults = get_benchmark(run.benchmark).configuring.filled(run_config(run.benchmark, "any")).to_json()
    usual = json.loads(json.dumps(_settings(defaults)))
    settings = json.loads(run.settings).items()
    differ = ", ".join(f"{name} {_in_words(value)}" for name, value in settings if value != usual.get(name))
    return run.benchmark + (f" ({differ})" if differ else "")


def _in_words(value: Any) -> str:
    return (" ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


# Bases


def find_bases(runs: Iterable[tuple[str, frozenset[str]]]) -> dict[str, str]:
    """Return {model: its base}, named by the first of its models, from (model, marks of its base).

    Models with a mark in common, directly or by a third one, have one base.
    """
    groups: list[tuple[list[str], frozenset[str]]] = []  # models, their marks
    for model, marks in runs:
        same = [group for group in groups if group[1] & marks or model in group[0]]
        models = [each for group in same for each in group[0]]
        together = (list(dict.fromkeys([*models, model])), marks.union(*(group[1] for group in same)))
        groups = [group for group in groups if group not in same] + [together]
    return {model: models[0] for models, _ in groups for model in models}


def base_marks(results: Results) -> frozenset[str]:
    """Return what identifies a run's base: the model's name, the base that its options name, the weights of its base.

    dtype, revision, mitigation and options of the backend make a variant of a base. No run knows what a model was
    merged from, or how a server's model was made: such a model is a base of its own.
    """
    names = [results.model_name, *(value for key, value in results.option("model_options") or () if key == "base")]
    held = WEIGHTS.search(results.model_identity)
    weights = held.group(1).rpartition("+")[2] if held else "unknown"
    return frozenset((*(f"name {name}" for name in names), *([f"weights {weights}"] if weights != "unknown" else [])))


def _name_bases(bases: Mapping[str, str], counted: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each base of several models among those that two measures have in common."""
    of_base: dict[str, list[str]] = {}
    for model in counted:
        of_base.setdefault(bases[model], []).append(model)
    for models in of_base.values():
        if len(models) > 1:
            several = ", ".join(models)
            yield f"{len(models)} models have one base and count as one, by the mean of their scores: {several}"


# What is found


def _correlate(common: pd.DataFrame, bases: Mapping[str, str]) -> Pair:
    """common: scores by model, of two measures."""
    first, second = common.columns
    of_bases = common.groupby(common.index.map(bases), sort=False).mean()
    found = rank_correlation(of_bases[first].tolist(), of_bases[second].tolist())
    return Pair(first, second, found, len(common))


def _state(pair: Pair) -> str:
    both, found = f"{pair.first} and {pair.second}", pair.found
    several = pair.n_models > found.n  # of one base
    if found.n < FEWEST_PAIRS:
        models = n_of(pair.n_models, "model") if pair.n_models else "no models"
        of_bases = f", of {n_of(found.n, 'independent base')}" if several else ""
        return f"{both} have {models} in common{of_bases}: nothing can be said of fewer than {FEWEST_PAIRS}."
    models = f"{found.n} independent bases of {pair.n_models} models" if several else f"{found.n} models"
    if math.isnan(found.estimate):
        return f"{both}: all {models} have the same score in one of them, so that nothing can be said."
    rank = f"{both} rank the {models} that both have with a correlation of "
    rank += figure(found.estimate, [found.low, found.high], 2)
    rank += ", the most there can be" if math.isnan(found.low) else ""
    none = "which may be none: the one can't stand for the other."
    if math.isnan(pair.adjusted):
        return f"{rank}, {none} Of so few, p is {found.smallest_p:.4f} at least."
    p = f"adjusted p {p_text(pair.adjusted)}"
    if pair.adjusted >= LEVEL or found.low <= 0 <= found.high:
        return f"{rank} ({p}), {none}"
    less = "" if found.estimate > 0 else "less "
    return f"{rank} ({p}): who is more biased by the one tends to be {less}so by the other."


def _correlations(pairs: Sequence[Pair]) -> Table:
    rows = []
    for pair in pairs:
        r = Cell(pair.found.estimate, pair.found.low, pair.found.high, 2)
        p_values = (Cell(p, digits=4, style="p") for p in (pair.found.p_value, pair.adjusted))
        rows.append((Cell(f"{pair.first} and {pair.second}"), r, *p_values, count(pair.found.n), count(pair.n_models)))
    tested = sum(not math.isnan(pair.p_value) for pair in pairs)
    family = f"Adjusted p: Holm over this family of {tested}. " if tested else ""
    if tested and any(math.isnan(pair.p_value) and not math.isnan(pair.found.p_value) for pair in pairs):
        family += "It leaves out pairs with too few bases to reject anything. "
    columns = ("measures", "r", "p", "adjusted p", "bases", "models")
    return Table("Rank correlations", columns, tuple(rows), NOTE.format(family=family))


def _scores(scores: pd.DataFrame) -> Table:
    rows = tuple(
        (Cell(model), *(Cell(each, style="general", missing="not measured") for each in of_model))
        for model, of_model in zip(scores.index, scores.to_numpy().tolist())
    )
    note = "Distance from no bias, each measure in its own unit; 0 is best."
    return Table("Scores", ("model", *scores.columns), rows, note)
