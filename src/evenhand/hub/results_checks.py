"""Whether a run's figures are for others to read: of all of the benchmark's own rows, read, and not edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.library import dataset_names

if TYPE_CHECKING:
    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results
    from evenhand.flow.run_folder import RunFolder

MOST_UNREAD = 0.5  # of a run's answers
ROUNDING = 1e-6


def is_packaged(results: Results) -> bool:
    """Return whether its rows are those of a dataset that evenhand ships, which has versions and can be published."""
    return results.config.get("source") == "evenhand" and name_dataset(results) in dataset_names()


def name_dataset(results: Results) -> str:
    """Return the dataset's name; the benchmark's, where that brings its own rows."""
    card = get_benchmark(results.benchmark).card
    return card.dataset or card.name


def name_other_rows(results: Results) -> str | None:
    """Return what was asked instead of all of the benchmark's own rows; None: these were."""
    if results.rows_sha256 is not None:
        return "the rows of a file"
    if held_out := results.option("held_out"):
        return f"what a training held out (--held-out {held_out})"
    return "prompts of a file (--own-prompts)" if results.option("own_prompts") else None


def refuse_weak_results(run: RunFolder) -> None:
    """Raise UsageError for a rehearsal, a part of the rows, mostly unread answers, or figures that were edited."""
    results = run.publishable().read_results()
    limit, sample = results.config.get("limit"), results.option("sample")
    problem = ""
    if limit is not None:
        problem = f"is limited to {limit} rows (--limit); run it on all rows"
    elif sample is not None:
        problem = f"asked a sample of {sample} in place of all rows (--sample); run it on all rows"
    elif part := next((each for each in results.differs if each.startswith("only ")), None):
        problem = f"asked {part}; run it on all rows"
    elif wrong := _find_contradiction(results.figures):
        problem = f"is not as evenhand wrote it ({wrong}); repeat its evenhand run command with another --output"
    elif results.unread_rate > MOST_UNREAD:
        unread = f"{100 * results.unread_rate:.0f} % of the answers could not be read"
        problem = f"says little: {unread} (at most {100 * MOST_UNREAD:.0f} %); look at them, or try another --protocol"
    if problem:
        raise UsageError(f"{run.path} is not published: it {problem}")


def _find_contradiction(table: FigureTable) -> str | None:
    """Return the first figure that lies outside its own interval, or has more answers read than asked."""
    for row in table:
        name = ", ".join((row.figure, *row.groups.values()))
        if row.n_read > row.n:
            return f"{name}: {row.n_read} of {row.n} answers were read"
        low, high = row.interval or (row.value, row.value)
        tolerance = ROUNDING * max(1.0, abs(row.value))
        if row.interval and not low - tolerance <= row.value <= high + tolerance:
            return f"{name} is {row.value}, and its own interval [{low}, {high}]"
    return None
