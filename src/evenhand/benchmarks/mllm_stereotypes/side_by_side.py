"""Runs beside each other: what a prefix or a role changes (Tables 3, A7, A8, A11), and how alike answers are (A3, A4,
A10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from evenhand.benchmarks.mllm_stereotypes import published
from evenhand.benchmarks.mllm_stereotypes.configs import in_words
from evenhand.benchmarks.mllm_stereotypes.faces.pairs import faces_of
from evenhand.benchmarks.mllm_stereotypes.findings import DIGITS, SCORES, interval, place
from evenhand.benchmarks.mllm_stereotypes.score_difference import OF_BOTH, score_differences
from evenhand.report.findings import Panel, Run, not_beside_them
from evenhand.report.tables import Cell, Table, figure, n_with_clusters
from evenhand.statistics.clustered import Difference, Mean, clustered_mean


def panels(runs: Sequence[Run]) -> tuple[Panel, ...]:
    """All runs: whatever they were asked, they are paired by what they share."""
    return (Panel(tuple(runs), (_scores(runs), *_changes(runs), _similarity(runs))),)


def headline_differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, Difference]:
    """Of the scores, which are no means over rows, on what both runs were asked."""
    names = {"association_score": SCORES["association_score"], OF_BOTH: "score of queries that both answered"}
    return {
        f"{in_words(config)}: {names[key]}": difference
        for config, of in _differences(first, second).items()
        for key, difference in of.items()
        if key in names
    }


def _differences(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, dict[str, Difference]]:
    """{config: {score: difference}}"""
    both = paired(first, second)
    return {str(config): score_differences(of) for config, of in both.groupby("config", sort=False)}


def paired(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Rows that both have, by id: config, pair, attribute, instance, candidates, faces (of two names, None where things
    are shown), chosen_first and chosen_second ("": unread)."""
    columns = ["id", "config", "pair", "scenario", "attribute", "instance", "candidates", "chosen"]
    both = first[columns].merge(second[["id", "chosen"]], on="id", suffixes=("_first", "_second"))
    shows_faces = both["scenario"] != "persona"
    both["faces"] = [faces_of(pair) if shown else None for pair, shown in zip(both["pair"], shows_faces)]
    return both.fillna({"chosen_first": "", "chosen_second": ""})


def _prefix(run: Run) -> str | None:
    """What stood before its prompts: a mitigation's name, or a role."""
    told: str | None = run.results.option("mitigation") or run.results.option("role")
    return told


def _told(run: Run) -> tuple[str, ...]:
    return published.told(run.results.option("mitigation"), run.results.option("role"))


def _label(run: Run) -> str:
    role, mitigation = run.results.option("role"), run.results.option("mitigation")
    told = [f"as {role}"] if role else []
    mitigated = [mitigation] if mitigation else []
    return f"{run.letter}: " + ", ".join([run.results.model_name, *told, *mitigated])


def _configs(run: Run) -> Mapping[str, Any]:
    configs: Mapping[str, Any] = run.results.metrics["configs"]
    return configs


def _scores(runs: Sequence[Run]) -> Table:
    """Table 2, a row for each run."""
    rows = [
        (
            Cell(f"{in_words(config)}, {_label(run)}"),
            *(Cell(figure(of[key], interval(of, key), DIGITS)) for key in SCORES),
            Cell(figure(of["chance_score"], digits=DIGITS)),
            Cell(n_with_clusters(of)),
            Cell(figure(100 * of["unread_rate"])),
            Cell(place(of, with_interval=False)),
        )
        for config in dict.fromkeys(config for run in runs for config in _configs(run))
        for run in runs
        if (of := _configs(run).get(config))
    ]
    columns = ("scenario, attribute, run", *SCORES.values(), "chance", "n (clusters)", "unread %", "position")
    note = (
        "Brackets: 95 % interval, each run by itself. Position: share of answers at the left minus 50 %, in points, or "
        "the share that took the first term listed; far from even, a low score says little."
    )
    return Table("Association bias scores", columns, tuple(rows), note)


def _changes(runs: Sequence[Run]) -> tuple[Table, ...]:
    """Tables 3, A7, A8 and A11: each prefix against the first run, published changes below."""
    base, *others = runs
    beside = not not_beside_them(runs, _told)
    rows: list[tuple[Cell, ...]] = []
    for run in others:
        prefix = _prefix(run)
        for config, of in _differences(base.predictions, run.predictions).items():
            texts = [figure(of[key].estimate, [of[key].low, of[key].high], DIGITS) for key in (*SCORES, OF_BOTH)]
            asked = of["association_score"]
            texts.append(f"{asked.n:,} ({asked.n_clusters:,})")
            rows.append(tuple(map(Cell, (f"{in_words(config)}, {_label(run)}", *texts))))
            for model, changes in published.changes(prefix or "", config).items() if beside else ():
                texts = [*(f"{change:+.4f}" for change in changes), "", ""]
                rows.append(tuple(Cell(text, published=True) for text in (f" {model}, {prefix}, published", *texts)))
    if not rows:
        return ()
    note = (
        f"Minus {base.letter}; negative: less bias. A score that falls while the one without unread answers does not "
        "has fallen by leaving questions unanswered (section 7). Noise raises scores, most those near 0 and of few "
        "answers: these are differences of the scores less their noise, and may exceed those of the scores as they are "
        "reported. Brackets: 95 % interval, paired, of pictures or faces drawn anew. Without unread answers, compare "
        "on queries that both answered, whose number stands below. "
        + (not_beside_them(runs, _told) or f"{published.CHANGES_SOURCE}.")
    )
    columns = ("run", *SCORES.values(), "both answered", "n (clusters)")
    return (Table("Difference of association bias scores", columns, tuple(rows), note),)


def _similarity(runs: Sequence[Run]) -> Table:
    """Tables A3, A4 and A10: the share of outputs that two runs have in common."""
    rows: list[tuple[Cell, ...]] = []
    beside = not not_beside_them(runs, _told)
    pairs = list(combinations(runs, 2))
    of_pairs = {(one.letter, other.letter): paired(one.predictions, other.predictions) for one, other in pairs}
    configs = dict.fromkeys(config for both in of_pairs.values() for config in both["config"])
    for config in configs:
        for one, other in pairs:
            both = of_pairs[one.letter, other.letter]
            both = both[both["config"] == config]
            if len(both):
                rows.append(_similarity_row(f"{in_words(config)}, {one.letter} and {other.letter}", both))
        rows += [
            tuple(Cell(text, published=True) for text in (f" {name}, published", f"{percent:.2f}", "", "", ""))
            for name, percent in (_published_similarity(runs, config).items() if beside else ())
        ]
    note = (
        "Percent of queries with the same answer as read, unread counting as an answer; and of those that both "
        "answered. Brackets: 95 % interval over pictures or pairs. "
        + (not_beside_them(runs, _told) or f"{published.SIMILARITY_SOURCE}.")
    )
    columns = ("scenario, attribute, runs", "identical", "of both answered", "n", "both answered")
    return Table("Similarity of answers", columns, tuple(rows), note)


def _similarity_row(name: str, both: pd.DataFrame) -> tuple[Cell, ...]:
    same = (100.0 * (both["chosen_first"] == both["chosen_second"])).astype(float)
    answered = (both["chosen_first"] != "") & (both["chosen_second"] != "")
    identical, of_answered = (clustered_mean(each, both["pair"], (0, 100)) for each in (same, same.where(answered)))
    return tuple(map(Cell, (name, _mean(identical), _mean(of_answered), f"{identical.n:,}", f"{of_answered.n:,}")))


def _mean(mean: Mean) -> str:
    return figure(mean.estimate, [mean.low, mean.high])


def _published_similarity(runs: Sequence[Run], config: str) -> dict[str, float]:
    roles = list(dict.fromkeys(role for run in runs if (role := run.results.option("role"))))
    if roles:
        return {
            f"{model} with and without {role}": percent
            for role in roles
            for model, percent in published.role_similarity(role, config).items()
        }
    return {
        f"{one} and {other}": dict(zip(published.CONFIGS, percents))[config]
        for (one, other), percents in published.SIMILARITY.items()
    }
