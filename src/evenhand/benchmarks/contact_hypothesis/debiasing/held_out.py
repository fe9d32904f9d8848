"""The rows that a setting of Social Contact Debiasing leaves for the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import datasets
import pyarrow as pa

from evenhand.benchmarks.contact_hypothesis.debiasing.cuts import Setting, cut
from evenhand.benchmarks.contact_hypothesis.plausible import some_rows
from evenhand.errors import UsageError


def held_out_rows(
    setting: Setting, seed: int, configs: Sequence[str], load: Callable[[str], datasets.Dataset]
) -> datasets.Dataset:
    """Those of these configurations. load: a configuration's rows. Raises UsageError where none of them is tested."""
    test = cut(setting, load, seed).test
    ids = {row["id"] for row in test}
    found = []
    for rows in map(load, configs):
        kept = pa.array([place for place, name in enumerate(rows["id"]) if name in ids], pa.int64())
        found.append(some_rows(rows, rows.data.table.take(kept), "held out", setting, seed))
    rows = datasets.concatenate_datasets(found)
    if not len(rows):
        scales = ", ".join(sorted({row["scale"] for row in test}))
        raise UsageError(
            f"--held-out {setting} leaves nothing of {', '.join(configs)} for the test, but prompt sets of {scales}: "
            "choose these with --config"
        )
    return rows
