"""Whether measures agree on which models are the more biased.

Short forced answers need not predict what long texts do: "standard bias metrics have no significant correlation with
long-form output metrics" (Lum, Anthis, Robinson, Nagpal and D'Amour, "Bias in Language Models: Beyond Trick Tests and
Towards RUTEd Evaluation", ACL 2025, long papers, pages 137-161).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig, deciding, run_config
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.one_base import WEIGHTS, Bases, marks_of_base, one_base
from evenhand.report.tables import Cell, Table, count, figure, p_text
from evenhand.statistics.families import holm
from evenhand.statistics.rank_correlation import FEWEST_PAIRS, RankCorrelation, rank_correlation
from evenhand.statistics.resampling import FEWEST_CLUSTERS, LEVEL

MOSTLY_UNREAD = 0.5  # beyond this share of unread answers a run says little
OF_THE_MODEL = (
    "model", "model_options", "revision", "dtype", "batch_size", "max_failed", "seed", "mitigation",
    "mitigation_options", "agents", "box_scale", "texts",
)  # fmt: skip
"""Settings that say who is asked, or whose texts are read, or decide no measure; all others do."""
_SHOWN = 12  # characters of a commit or fingerprint

Scores = Mapping[str, float]  # of models


@dataclass(frozen=True)
class Agreement:
    """What was found of several measures over the same models: in sentences and tables."""

    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A run that counts: what it measures, whom, how that model was run, what tells its base, and how biased it is."""

    path: Path
    benchmark: str
    settings: str
    model: str
    loaded: Mapping[str, str]
    base: frozenset[str]
    score: float


def agree(*paths: Path) -> Agreement:
    """How alike the measures of these runs rank the models that they have in common.

    A measure is a benchmark with its settings; a model, its name, weights, dtype, mitigation and all options that
    decide what it says: run in several ways it is several models, and that is said. Models of one base are no
    independent evidence: those that two measures have in common count as one, by their mean, and that is said, too.
    Several runs of a model in one measure count by their mean; runs that say nothing are left out, and named. Raises
    UsageError for folders that are no finished runs, and for runs of fewer than two measures; EvenhandError for a run
    of another version.
    """
    measured, left_out = _measured(paths)
    measured, told_apart = _told_apart(measured)
    names = _names(measured)
    scores = {name: _scores(measured, *key) for key, name in names.items()}
    if len(scores) < 2:
        raise UsageError(
            f"runs of two measures or more are needed, of the same models; these are of {', '.join(scores) or 'none'}"
            + (f" (left out: {'; '.join(left_out)})" if left_out else "")
        )
    bases = one_base((run.model, run.base) for run in measured)
    in_common = {model for one, other in combinations(scores.values(), 2) for model in one if model in other}
    pairs = {(one, other): _correlation(scores[one], scores[other], bases) for one, other in combinations(scores, 2)}
    adjusted = dict(zip(pairs, holm(_tests(pairs.values()))))
    return Agreement(
        title="Do measures agree?",
        sentences=tuple(_sentence(*pair, found, adjusted[pair]) for pair, found in pairs.items()),
        tables=(_correlations(pairs, adjusted), _table(scores)),
        warnings=(*left_out, *told_apart, *bases.said(in_common), *_several(measured, names)),
    )


# Runs


def _measured(paths: Sequence[Path]) -> tuple[list[Measured], list[str]]:
    """Runs that count, and what is said of the others."""
    found, left_out = [], []
    for path in {each.resolve(): each for each in paths}.values():  # as they were named: pages are shown to others
        results = RunFolder.open(path).read_results()
        score = get_benchmark(results.benchmark).distance(results.figures)
        why = _why_not(results, score)
        if why:
            left_out.append(f"{path} is left out: {why}")
        else:
            settings, model = _settings(results.config), _model(results)
            base = marks_of_base(results)
            found.append(Measured(path, results.benchmark, settings, model, _loaded(results), base, score))
    return found, left_out


def _why_not(results: Results, score: float) -> str | None:
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
    if n < FEWEST_CLUSTERS:
        return f"its score is of {n} cluster{'s' * (n != 1)}, and chance alone ranks so few"
    return None


def _model(results: Results) -> str:
    """Revisions of a model are models of their own."""
    mitigation, revision = results.option("mitigation"), results.option("revision")
    return results.model_name + (f"@{revision}" if revision else "") + (f" with {mitigation}" if mitigation else "")


def _loaded(results: Results) -> dict[str, str]:
    """What else decides what a model says, by name: its weights, their dtype, options of its backend and so on.

    The dtype that was computed in, where the model's identity tells it, is the same whether it was asked for or chosen.
    """
    held = WEIGHTS.search(results.model_identity)
    weights, dtype = held.groups() if held else ("", results.option("dtype") or "auto")
    options = deciding(RunConfig.from_json(results.config), results.config)
    pairs = [f"{key}={value}" for key, value in sorted(map(tuple, options.get("model_options", ())))]
    told = {"weights": weights[:_SHOWN], "dtype": str(dtype), "model options": " ".join(pairs)}
    if results.rows_sha256:  # of texts that exist: a file's name says nothing of what is in it
        told["texts"] = results.rows_sha256[:_SHOWN]
    return told | {
        name.replace("_", " "): _shown(value) for name, value in options.get("mitigation_options", {}).items()
    }


def _told_apart(measured: Sequence[Measured]) -> tuple[list[Measured], list[str]]:
    """Runs of one name that were not of one model get names of their own, of what differs; and what is said of it."""
    by_name: dict[str, list[Measured]] = {}
    for run in measured:
        by_name.setdefault(run.model, []).append(run)
    renamed: dict[Path, str] = {}
    said = []
    for name, runs in by_name.items():
        differ = [key for key in runs[0].loaded if len({run.loaded.get(key, "") for run in runs}) > 1]
        if differ:
            for run in runs:
                told = ", ".join(f"{key} {run.loaded.get(key) or 'none'}" for key in differ)
                renamed[run.path] = f"{name} ({told})"
            several = ", ".join(dict.fromkeys(renamed[run.path] for run in runs))
            said.append(f"{name} was not run in one way, and what differs makes models of their own: {several}")
    return [replace(run, model=renamed.get(run.path, run.model)) for run in measured], said


def _settings(config: Mapping[str, Any]) -> str:
    """What was asked, and how: JSON of flat names, of a configuration as config.json has it."""
    config = deciding(RunConfig.from_json(config), config)
    flat = {**config, **config.get("options", {})}
    return json.dumps(
        {name: flat[name] for name in sorted(flat) if name not in (*OF_THE_MODEL, "benchmark", "options")}
    )


# Measures


def _names(measured: Iterable[Measured]) -> dict[tuple[str, str], str]:
    """{(benchmark, settings): its name}: the benchmark's, with the settings that are not its defaults."""
    names: dict[tuple[str, str], str] = {}
    for run in measured:
        defaults = get_benchmark(run.benchmark).filled(run_config(run.benchmark, "any")).to_json()
        usual, settings = json.loads(_settings(defaults)), json.loads(run.settings)
        told = ", ".join(f"{name} {_shown(value)}" for name, value in settings.items() if value != usual.get(name))
        names[run.benchmark, run.settings] = run.benchmark + (f" ({told})" if told else "")
    return names


def _shown(value: Any) -> str:
    return (" ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def _scores(measured: Iterable[Measured], benchmark: str, settings: str) -> Scores:
    """{model: mean of its runs} in one measure."""
    scores: dict[str, list[float]] = {}
    for run in measured:
        if (run.benchmark, run.settings) == (benchmark, settings):
            scores.setdefault(run.model, []).append(run.score)
    return {model: fmean(of) for model, of in scores.items()}


def _several(measured: Sequence[Measured], names: Mapping[tuple[str, str], str]) -> list[str]:
    """Models that a measure has several runs of."""
    numbers: dict[tuple[str, str], int] = {}
    for run in measured:
        key = (run.model, names[run.benchmark, run.settings])
        numbers[key] = numbers.get(key, 0) + 1
    return [
        f"{model} has {n} runs of {measure}: the mean of their scores counts"
        for (model, measure), n in numbers.items()
        if n > 1
    ]


@dataclass(frozen=True)
class Correlation(RankCorrelation):
    """n: independent bases, of which both measures have n_models models."""

    n_models: int


def _correlation(first: Scores, second: Scores, bases: Bases) -> Correlation:
    common = [model for model in first if model in second]
    found = rank_correlation(*([*bases.means(scores, common).values()] for scores in (first, second)))
    return Correlation(**vars(found), n_models=len(common))


# What is said


def _sentence(first: str, second: str, found: Correlation, adjusted: float) -> str:
    """adjusted: p over the family; NaN where so few bases can't reject anything."""
    both = f"{first} and {second}"
    several = found.n_models > found.n  # of one base
    if found.n < FEWEST_PAIRS:
        have = f"{found.n_models or 'no'} model{'s' * (found.n_models != 1)}"
        of = f", of {found.n} independent base{'s' * (found.n != 1)}" if several else ""
        return f"{both} have {have} in common{of}: nothing can be said of fewer than {FEWEST_PAIRS}."
    models = f"{found.n} models"
    if several:
        models = f"{found.n} independent bases of {found.n_models} models"
    if math.isnan(found.estimate):
        return f"{both}: all {models} have the same score in one of them, so that nothing can be said."
    rank = f"{both} rank the {models} that both have with a correlation of {_figure(found)}"
    ends = [found.low, found.high]
    none = "which may be none: the one can't stand for the other."
    rank += ", the most there can be" if math.isnan(found.low) else ""
    if math.isnan(adjusted):
        return f"{rank}, {none} Of so few, p is {found.smallest_p:.4f} at least."
    p = f"adjusted p {p_text(adjusted)}"
    if adjusted >= LEVEL or ends[0] <= 0 <= ends[1]:
        return f"{rank} ({p}), {none}"
    less = "" if found.estimate > 0 else "less "
    return f"{rank} ({p}): who is more biased by the one tends to be {less}so by the other."


def _figure(found: Correlation) -> str:
    return figure(found.estimate, [found.low, found.high], 2)


def _tests(found: Iterable[Correlation]) -> list[float]:
    """p-values of the family; NaN where so few bases can't reject anything: such a test would only dilute it."""
    return [math.nan if each.smallest_p > LEVEL else each.p_value for each in found]


def _correlations(pairs: Mapping[tuple[str, str], Correlation], adjusted: Mapping[tuple[str, str], float]) -> Table:
    rows, tests = [], _tests(pairs.values())
    for pair, found in pairs.items():
        p_values = (Cell(p, digits=4, style="p") for p in (found.p_value, adjusted[pair]))
        r = Cell(found.estimate, found.low, found.high, 2)
        rows.append((Cell(" and ".join(pair)), r, *p_values, count(found.n), count(found.n_models)))
    tested = sum(not math.isnan(p) for p in tests)
    family = f"Adjusted p: Holm over this family of {tested}. " if tested else ""
    if any(math.isnan(p) and not math.isnan(found.p_value) for p, found in zip(tests, pairs.values())):
        family += "It leaves out pairs with too few bases to reject anything. " if tested else ""
    note = (
        "Spearman's r between distances from no bias. Brackets: 95 % interval over bases (Fisher's z; Bonett and "
        "Wright 2000), none where r is 1 or -1. p: share of all orders of the bases that correlate as much; of four "
        "it is 1 in 12 at least. Bases: models of one base (its adapters, revisions, dtypes, options and mitigations) "
        "count as one, by their mean; whether a model was merged from another isn't known here. "
        f"{family}Noise in the scores themselves takes correlations towards 0. Short forced answers need not predict "
        "long texts (Lum et al., Bias in Language Models: Beyond Trick Tests and "
        "Towards RUTEd Evaluation, ACL 2025)."
    )
    return Table("Rank correlations", ("measures", "r", "p", "adjusted p", "bases", "models"), tuple(rows), note)


def _table(scores: Mapping[str, Scores]) -> Table:
    models = dict.fromkeys(model for of in scores.values() for model in of)
    rows = tuple(
        (Cell(model), *(Cell(of.get(model), style="general", missing="not measured") for of in scores.values()))
        for model in models
    )
    return Table("Scores", ("model", *scores), rows, "Distance from no bias, each measure in its own unit; 0 is best.")
