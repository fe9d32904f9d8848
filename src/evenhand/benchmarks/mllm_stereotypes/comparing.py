"""Runs side by side: what a prefix or a role changes (Tables 3, A7, A8, A11), and how often answers are the same (A3,
A4, A10).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Comparing
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.mllm_stereotypes.configs import CONFIGS, DATASET, in_words
from evenhand.benchmarks.mllm_stereotypes.statistics import OF_BOTH, paired_answers, score_differences
from evenhand.published import NAME, read_published
from evenhand.report.differences import headline, paired_groups
from evenhand.report.findings import Panel, Run, not_beside_them
from evenhand.report.layout import side_by_side
from evenhand.report.tables import Cell, Table, count

if TYPE_CHECKING:
    from evenhand.figure import Sample

PUBLISHED = Path(__file__).with_name(NAME)
SCORES = ("association_score", "association_score_answered")
DIGITS = 4


class AssociationComparing(Comparing):
    note = (
        "Association scores are as reported; noise raises them. Their differences are less noise, and may exceed those "
        "of the two scores shown. Scores without unread answers are compared on the queries that both answered. "
    )

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """All runs: whatever they were asked, they are paired by the queries that they share."""
        return (Panel(tuple(runs), (side_by_side(runs), *_changes(runs), _similarity(runs))),)


def prefixes(mitigation: str | None, role: str | None) -> tuple[str, ...]:
    """What stood before the prompts, in words: Table 2 is of prompts without any, other tables of what they change."""
    return (
        *([f"mitigation {mitigation}"] if mitigation else []),
        *([f"the model told to act as {role}"] if role else []),
    )


def _prefixes(run: Run) -> tuple[str, ...]:
    return prefixes(run.results.option("mitigation"), run.results.option("role"))


def _label(run: Run) -> str:
    role, mitigation = run.results.option("role"), run.results.option("mitigation")
    return f"{run.letter}: " + ", ".join(
        [run.results.model_name, *([f"as {role}"] if role else []), *([mitigation] if mitigation else [])]
    )


def _common(one: Run, other: Run) -> Iterator[tuple[str, Sample, Sample]]:
    """Each configuration that both runs asked, with the rows of both."""
    for figure, groups, first, second in paired_groups(get_benchmark(DATASET), one.sample, other.sample, headline):
        if figure.key == SCORES[0]:
            yield groups["config"], first, second


def _changes(runs: Sequence[Run]) -> tuple[Table, ...]:
    """Each run minus the first; below each configuration, the paper's changes by the same mitigation or role."""
    base, *others = runs
    why_not = not_beside_them(runs, _prefixes)
    rows: list[tuple[Cell, ...]] = []
    sources: dict[str, None] = {}
    for run in others:
        prefix = run.results.option("mitigation") or run.results.option("role") or ""
        for config, first, second in _common(base, run):
            found = score_differences(first, second)
            if not found:
                continue
            changes = [found[key] for key in (*SCORES, OF_BOTH)]
            cells = (Cell(each.estimate, each.low, each.high, DIGITS, "signed") for each in changes)
            n = (count(changes[0].n), count(changes[0].n_clusters))
            rows.append((Cell(f"{in_words(config)}, {_label(run)}"), *cells, *n))
            if why_not:
                continue
            printed = _by_model([f"change_of_{key}" for key in SCORES], config=config, prefix=prefix)
            sources |= dict.fromkeys(each["source"] for of in printed.values() for each in of.values())
            for model, of in printed.items():
                values = [of[f"change_of_{key}"]["value"] for key in SCORES]
                rows.append(_published_row(f"{model}, {prefix}", values, 6, DIGITS, signed=True))
    if not rows:
        return ()
    note = (
        f"Minus {base.letter}; negative: less bias. A score that falls while the one without unread answers does not "
        "has fallen by leaving questions unanswered (section 7). Noise raises scores, most those near 0 and of few "
        "answers: these are differences of the scores less their noise, and may exceed those of the scores as they are "
        "reported. Brackets: 95 % interval, paired, over pictures or faces. Both answered: without unread answers, on "
        f"the queries that both answered. {why_not or _source(sources)}"
    )
    columns = ("run", "association score", "unread left out", "both answered", "n", "clusters")
    return (Table("Difference of association bias scores", columns, tuple(rows), note.strip()),)


def _similarity(runs: Sequence[Run]) -> Table:
    """The share of answers that two runs have in common."""
    why_not = not_beside_them(runs, _prefixes)
    roles = dict.fromkeys(role for run in runs if (role := run.results.option("role")))
    of_config: dict[str, list[tuple[Cell, ...]]] = {config: [] for config in CONFIGS}
    for one, other in combinations(runs, 2):
        for config, first, second in _common(one, other):
            of_config[config] += _similarity_rows(f"{in_words(config)}, {one.letter} and {other.letter}", first, second)
    sources: dict[str, None] = {}
    for config, rows in of_config.items():
        if not rows or why_not:
            continue
        for role in roles or [""]:
            figure, groups = ("identical_with_role", {"prefix": role}) if role else ("identical_answers", {})
            for model, of in _by_model([figure], config=config, **groups).items():
                name = f"{model} with and without {role}" if role else model
                rows.append(_published_row(name, [of[figure]["value"]], 5, 2))
                sources[of[figure]["source"]] = None
    note = (
        "Percent of queries with the same answer as read, unread counting as an answer; and of those that both "
        f"answered. Brackets: 95 % interval over pictures or pairs. {why_not or _source(sources)}"
    )
    columns = ("scenario, attribute, runs", "identical", "of both answered", "n", "both answered")
    return Table("Similarity of answers", columns, tuple(row for rows in of_config.values() for row in rows), note)


def _similarity_rows(name: str, first: Sample, second: Sample) -> Iterator[tuple[Cell, ...]]:
    from evenhand.statistics.clustered import clustered_mean

    both = paired_answers(first, second)
    if len(both):
        same = 100.0 * (both["chosen_first"] == both["chosen_second"])
        answered = (both["chosen_first"] != "") & (both["chosen_second"] != "")
        means = [clustered_mean(each, both["pair"], (0, 100)) for each in (same, same.where(answered))]
        cells = (Cell(mean.estimate, mean.low, mean.high) for mean in means)
        yield (Cell(name), *cells, *(count(mean.n) for mean in means))


def _by_model(figures: Sequence[str], **groups: str) -> dict[str, dict[str, dict[str, Any]]]:
    """{model: {figure: the paper's record}}"""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for figure in figures:
        for record in read_published(PUBLISHED, figure=figure, **groups):
            found.setdefault(record["model"], {})[figure] = record
    return found


def _published_row(
    name: str, values: Sequence[float], width: int, digits: int, signed: bool = False
) -> tuple[Cell, ...]:
    style = "signed" if signed else "plain"
    numbers = [Cell(value, digits=digits, style=style, published=True) for value in values]  # type: ignore[arg-type]
    blanks = [Cell("", published=True)] * (width - 1 - len(numbers))
    return (Cell(f" {name}, published", published=True), *numbers, *blanks)


def _source(sources: dict[str, None]) -> str:
    return f"Published: {'; '.join(sources)}." if sources else ""
