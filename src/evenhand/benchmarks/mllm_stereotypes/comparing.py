"""Compare runs: changes by a prefix or a role (Tables 3, A7, A8, A11), and the share of equal answers (A3, A4, A10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmark import Comparing
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.mllm_stereotypes.options import CONFIGS, DATASET, OF_BOTH, describe_config
from evenhand.benchmarks.mllm_stereotypes.statistics import pair_answers, score_differences
from evenhand.flow.results import PUBLISHED_FILE, read_published
from evenhand.report.differences import headline, paired_groups
from evenhand.report.findings import Panel, Run, not_beside_them
from evenhand.report.layout import side_by_side
from evenhand.report.tables import Cell, Table, count

if TYPE_CHECKING:
    from evenhand.figure import Sample

PUBLISHED = Path(__file__).with_name(PUBLISHED_FILE)
SCORES = ("association_score", "association_score_answered")
CHANGES = tuple(f"change_of_{key}" for key in SCORES)
DIGITS = 4

Row = tuple[Cell, ...]


class AssociationComparing(Comparing):
    note = (
        "B minus A is the difference of the two scores shown, as in the paper. Noise raises scores; less noise is the "
        "difference of what is left without it: found and p are of that. Scores without unread answers are compared on "
        "the queries that both answered. "
    )

    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """Put all runs in one panel: they are paired by the queries that they share."""
        why_not = not_beside_them(runs, lambda run: describe_prefixes(*_prefix_and_role(run)))
        tables = (_compare_scores(runs, why_not), _compare_answers(runs, why_not))
        return (Panel(tuple(runs), (side_by_side(runs), *(table for table in tables if table.rows))),)


def describe_prefixes(mitigation: str | None, role: str | None) -> tuple[str, ...]:
    """Describe what precedes the prompts: Table 2 is of prompts without any, other tables of what they change."""
    return (
        *([f"mitigation {mitigation}"] if mitigation else []),
        *([f"the model asked to act as {role}"] if role else []),
    )


def _prefix_and_role(run: Run) -> tuple[str | None, str | None]:
    return run.results.option("mitigation"), run.results.option("role")


def _pair_configs(one: Run, other: Run) -> Iterator[tuple[str, Sample, Sample]]:
    """Yield each configuration that both runs asked, with the rows of both."""
    for figure, groups, first, second in paired_groups(get_benchmark(DATASET), one.sample, other.sample, headline):
        if figure.key == SCORES[0]:
            yield groups["config"], first, second


def _compare_scores(runs: Sequence[Run], why_not: str) -> Table:
    """Subtract the first run from each; below each configuration, the paper's changes by the same prefix."""
    base, *others = runs
    rows: list[Row] = []
    sources: list[str] = []
    for run in others:
        mitigation, role = _prefix_and_role(run)
        label = ", ".join(filter(None, (run.results.model_name, role and f"as {role}", mitigation)))
        for config, first, second in _pair_configs(base, run):
            if found := score_differences(first, second):
                score = found[SCORES[0]]
                plain = (Cell(found[key].plain, digits=DIGITS, style="signed") for key in SCORES)
                corrected = (score, found[OF_BOTH])
                less_noise = (Cell(each.estimate, each.low, each.high, DIGITS, "signed") for each in corrected)
                n = (count(score.n), count(score.n_clusters))
                rows.append((Cell(f"{describe_config(config)}, {run.letter}: {label}"), *plain, *less_noise, *n))
                prefix = mitigation or role or ""
                if not why_not:
                    rows += _read_published(f"{{}}, {prefix}", sources, CHANGES, 7, config=config, prefix=prefix)
    note = (
        f"Minus {base.letter}; negative: less bias. A score that falls while the one without unread answers does not "
        "has fallen by leaving questions unanswered (section 7). Association score, unread left out: the plain "
        "difference of two scores as reported, as in the paper. Noise raises scores, most those near 0 and of few "
        "answers: less noise is the difference of what is left without it, which may be the larger one. Brackets: its "
        "95 % interval, paired, over pictures or faces. Both answered: without unread answers, on the queries that "
        f"both answered. {why_not or _cite(sources)}"
    )
    columns = (
        *("run", "association score", "unread left out", "association score, less noise"),
        *("both answered, less noise", "n", "clusters"),
    )
    return Table("Difference of association bias scores", columns, tuple(rows), note.strip())


def _compare_answers(runs: Sequence[Run], why_not: str) -> Table:
    """Count the answers that two runs have in common."""
    from evenhand.statistics.clustered import clustered_mean

    measured: dict[str, list[Row]] = {config: [] for config in CONFIGS}
    for one, other in combinations(runs, 2):
        for config, first, second in _pair_configs(one, other):
            both = pair_answers(first, second)
            if len(both):
                same = 100.0 * (both["chosen_first"] == both["chosen_second"])
                answered = (both["chosen_first"] != "") & (both["chosen_second"] != "")
                means = [clustered_mean(each, both["pair"], (0, 100)) for each in (same, same.where(answered))]
                cells = (Cell(mean.estimate, mean.low, mean.high) for mean in means)
                runs_compared = Cell(f"{describe_config(config)}, {one.letter} and {other.letter}")
                measured[config].append((runs_compared, *cells, *(count(mean.n) for mean in means)))
    roles = dict.fromkeys(role for run in runs if (role := run.results.option("role")))
    published = [("identical_with_role", f"{{}} with and without {role}", {"prefix": role}) for role in roles]
    rows: list[Row] = []
    sources: list[str] = []
    for config, of_config in measured.items():
        rows += of_config
        if of_config and not why_not:
            for figure, name, groups in published or [("identical_answers", "{}", {})]:
                rows += _read_published(name, sources, (figure,), 5, config=config, **groups)
    note = (
        "Percent of queries with the same answer as read, unread counting as an answer; and of those that both "
        f"answered. Brackets: 95 % interval over pictures or pairs. {why_not or _cite(sources)}"
    )
    columns = ("scenario, attribute, runs", "identical", "of both answered", "n", "both answered")
    return Table("Similarity of answers", columns, tuple(rows), note)


def _read_published(name: str, sources: list[str], figures: Sequence[str], width: int, **groups: str) -> Iterator[Row]:
    """Yield a row of the paper's figures for each model. name: with {} for the model; sources: are added to."""
    records = [record for key in figures for record in read_published(PUBLISHED, figure=key, **groups)]
    for model in dict.fromkeys(record["model"] for record in records):
        of_model = [record for record in records if record["model"] == model]
        sources += [record["source"] for record in of_model]
        digits, style = (DIGITS, "signed") if figures == CHANGES else (2, "plain")
        cells = [Cell(each["value"], digits=digits, style=style, published=True) for each in of_model]  # type: ignore[arg-type]
        blanks = [Cell("", published=True)] * (width - 1 - len(cells))
        yield (Cell(f" {name.format(model)}, published", published=True), *cells, *blanks)


def _cite(sources: Sequence[str]) -> str:
    return f"Published: {'; '.join(dict.fromkeys(sources))}." if sources else ""
