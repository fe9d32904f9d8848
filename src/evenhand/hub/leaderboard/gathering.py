"""All sources in the order in which they are trusted, and of several results of one cell the one that stands."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.hub.leaderboard.hub_places import fetched, repository_named
from evenhand.hub.leaderboard.places import Place, read
from evenhand.hub.leaderboard.records import Column, Record, Refused
from evenhand.hub.submission.validation import parse_date

SAME = 1e-3  # of two roundings of one figure


@dataclass(frozen=True)
class Gathered:
    records: tuple[Record, ...]
    refused: tuple[Refused, ...]
    rehearsal: bool = False


def gathered(
    sources: Sequence[str], models: Mapping[Path, str], bases: Mapping[str, str], now: datetime, rehearsal: bool = False
) -> Gathered:
    """models: ids by folder. bases: {model: its base}, before what is read. rehearsal: of run folders here, stubs and
    parts of the rows are read, too. Raises UsageError for an unknown source."""
    records: list[Record] = []
    refused: list[Refused] = []
    for source in dict.fromkeys(sources):
        own: list[Record] = []
        found = list(_read(source, models, now, rehearsal))
        if not found:
            refused.append(Refused(source, "all of it", "no run, record or .eval_results was found there"))
        for each in found:
            if isinstance(each, Refused):
                refused.append(each)
            else:
                own.append(replace(each, base=bases.get(each.model, each.base)))
        records, duplicates = without_duplicates([*records, *_by_age(own)])
        refused += duplicates
    return Gathered(tuple(records), tuple(refused), rehearsal)


def _read(source: str, models: Mapping[Path, str], now: datetime, rehearsal: bool) -> Iterator[Record | Refused]:
    here = Path(source)
    if not source.startswith("hf://") and os.path.lexists(here):
        yield from read(Place(source, here, models, rehearsal=rehearsal), now)
        return
    repository = repository_named(source)
    if repository is not None and here.parent.is_dir() and here.parent != Path():
        raise UsageError(
            f"{source!r} is not there, though {here.parent} is; for a repository of the Hub write hf://{source}"
        )
    if repository is None:
        raise UsageError(
            f"{source!r} is no folder or file here, and no id of the Hub; name run folders, records of Every Eval "
            "Ever, folders of them, ORG/NAME of a model, or datasets/ORG/NAME"
        )
    with fetched(repository, source) as (place, too_large):
        yield from too_large
        yield from read(place, now)


def _by_age(records: Sequence[Record]) -> list[Record]:
    """The youngest first; as they were read where they are as old."""
    return sorted(records, key=lambda each: -parse_date(each.date).timestamp())


def without_duplicates(records: Sequence[Record]) -> tuple[list[Record], list[Refused]]:
    """The first of each cell stands."""
    standing: dict[tuple[Column, str], Record] = {}
    refused = []
    for each in records:
        first = standing.setdefault((each.column, each.row), each)
        if first is each:
            continue
        same = abs(first.value - each.value) <= SAME
        what = "the same result as" if same else "another result of the model in this column stands, of"
        why = f"a duplicate: {what} {first.source}, {first.place} ({first.date})"
        task = f"{each.column.benchmark}.{each.column.task}"
        refused.append(Refused(each.source, f"{each.place}: {task} of {each.row}", why))
    return list(standing.values()), refused
