"""Whether a run's figures are for others to read: all of the benchmark's own rows, read, and as evenhand wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.library import dataset_names

if TYPE_CHECKING:
    from evenhand.figure import FigureTable
    from evenhand.flow.results import Results
    from evenhand.flow.run_folder import RunFolder

MOST_UNREAD = 0.5  # of a run's answers
ROUNDING = 1e-6


def packaged(results: Results) -> bool:
    """Whether its rows are those of a dataset that evenhand ships, which has versions and can be published."""
    return results.config.get("source") == "evenhand" and dataset_of(results) in dataset_names()


def dataset_of(results: Results) -> str:
    """The dataset's name; the benchmark's, where that brings its own rows."""
    from evenhand.benchmarks import get_benchmark

    card = get_benchmark(results.benchmark).card
    return card.dataset or card.name


def in_place_of_all(results: Results) -> str | None:
    """What was asked instead of all of the benchmark's own rows; None: these were."""
    if results.rows_sha256 is not None:
        return "the rows of a file"
    if held_out := results.option("held_out"):
        return f"what a training held out (--held-out {held_out})"
    return "prompts of a file (--own-prompts)" if results.option("own_prompts") else None


def refuse_weak_results(run: RunFolder) -> None:
    """Raise UsageError for a rehearsal, a part of the rows, mostly unread answers, or figures that were changed."""
    run.publishable()
    results = run.read_results()
    only = next((each for each in results.differs if each.startswith("only ")), None)
    if (limit := results.config.get("limit")) is not None:
        part = f"is limited to {limit} rows (--limit)"
    elif (sample := results.option("sample")) is not None:
        part = f"asked a sample of {sample} in place of all rows (--sample)"
    else:
        part = f"asked {only}" if only else ""
    if part:
        raise UsageError(f"{run.path} {part}: it is not published; run it on all rows")
    if wrong := contradiction(results.figures):
        raise UsageError(
            f"{run.path} is not as evenhand wrote it ({wrong}): it is not published; repeat its evenhand run command "
            "with another --output"
        )
    if results.unread_rate > MOST_UNREAD:
        raise UsageError(
            f"{run.path}: {100 * results.unread_rate:.0f} % of the answers could not be read "
            f"({100 * MOST_UNREAD:.0f} % are the most), so its figures say little: it is not published; look at its "
            "answers, or try another --protocol"
        )


def contradiction(table: FigureTable) -> str | None:
    """The first figure that lies outside its own interval, or has more answers read than asked."""
    for row in table:
        name = ", ".join((row.figure, *row.groups.values()))
        if row.n_read > row.n:
            return f"{name}: {row.n_read} of {row.n} answers were read"
        if row.interval is not None:
            low, high = row.interval
            least = ROUNDING * max(1.0, abs(row.value))
            if not low - least <= row.value <= high + least:
                return f"{name} is {row.value}, and its own interval [{low}, {high}]"
    return None
