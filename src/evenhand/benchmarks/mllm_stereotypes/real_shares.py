"""Shares of groups in the world, such as labour statistics, as a reference for a model's choices (Figure 3)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.benchmarks.mllm_stereotypes.options import GROUPS
from evenhand.errors import UsageError
from evenhand.paths import typed_path
from evenhand.row_files import read_rows

if TYPE_CHECKING:
    import datasets

COLUMNS = ("instance", "group", "percent")


def read_real_shares(file: str | None) -> dict[str, dict[str, float]]:
    """Read {instance: {group: percent}} of a CSV, JSON or parquet file with the columns instance, group and percent.

    No file has no shares.

    Raises UsageError for a file that does not fit.
    """
    if not file:
        return {}
    path = typed_path(file)
    read = read_rows(path, "share", "shares", edited=True, known=COLUMNS)
    if missing := [name for name in COLUMNS if name not in read.columns]:
        raise UsageError(f"{path} has no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    groups = {group.casefold(): group for names in GROUPS.values() for group in names}
    shares: dict[str, dict[str, float]] = defaultdict(dict)
    for instance, group, percent, place in zip(*(read.words(name) for name in COLUMNS), read.places):
        known = groups.get(group.casefold())
        try:
            value = float(percent.removesuffix("%"))
        except ValueError:
            value = math.nan
        if known is None or not 0 <= value <= 100 or known in shares[instance]:
            raise UsageError(
                f"{path}, {place}: expected one of {', '.join(groups.values())}, once for each instance, with a number "
                f"from 0 to 100, got {group!r} with {percent!r} percent"
            )
        shares[instance][known] = value
    if all(value <= 1 for of_instance in shares.values() for value in of_instance.values()):
        raise UsageError(f"{path} has no share above 1 percent; expected percent (87.4), not fractions (0.874)")
    return dict(shares)


def add_real_shares(rows: datasets.Dataset, shares: Mapping[str, Mapping[str, float]]) -> datasets.Dataset:
    """Add the column real_shares: percent of each group of the row's attribute, in GROUPS' order; NaN: unknown."""
    known = [
        [shares.get(instance, {}).get(group, math.nan) for group in GROUPS[attribute]]
        for instance, attribute in zip(rows["instance"], rows["attribute"])
    ]
    return rows.add_column("real_shares", known)
