"""Which prompt sets are for training, and which for the test, in each setting of the paper (Table 6; "Debiasing
Approach").

The paper's settings 1 and 3 share situations and descriptors between train and test. The setting `disjoint`, which is
not the paper's, shares neither.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from evenhand.errors import UsageError

if TYPE_CHECKING:
    import datasets

Descriptors = Literal["evenhand", "holistic_bias"]
Setting = Literal["1", "2", "3a", "3b", "3c", "4", "5", "6", "disjoint"]
SETTINGS: tuple[str, ...] = get_args(Setting)
MAIN = ("certainty", "likelihood", "frequency")
NEW = ("new_certainty", "new_likelihood", "new_frequency")
ONE_SCALE = {"3a": "certainty", "3b": "likelihood", "3c": "frequency"}
N_TRAIN, N_VALIDATION = 10_000, 5_000  # prompt sets of every setting of the paper
N_TEST = 20_000  # of setting 1; the others test on all of the rest
TRAINED_ON: dict[str, tuple[str, tuple[str, ...]]] = {
    "4": ("scenario", ("education", "workplace")),
    "5": ("principle", ("equal_group_status", "common_goals", "intergroup_cooperation")),
    "6": ("axis", ("ability", "age", "body_type", "characteristics", "cultural", "gender_and_sex")),
}
DECIDING = ["id", "scale", "action", "situation", "axis", "descriptor", "scenario", "principle"]
"""Columns by which rows are cut: the others, texts of 100,000 rows, need not be read for it."""
TEST_SHARE, VALIDATION_SHARE = 1 / 3, 1 / 10  # of situations, and of descriptors, in setting disjoint

Row = dict[str, Any]
Load = Callable[[str], "datasets.Dataset"]  # a configuration's rows, by its name


@dataclass(frozen=True)
class Cut:
    """Rows for three uses; each row is a prompt set. what: the cut in a sentence, for training.json and cards."""

    train: list[Row]
    validation: list[Row]
    test: list[Row]
    what: str


def cut(setting: Setting, load: Load, seed: int) -> Cut:
    """Divide the prompt sets as a setting says. seed: for random draws; the paper's code uses 42."""
    rng = random.Random(f"{setting} {seed}")
    trained = [ONE_SCALE[setting]] if setting in ONE_SCALE else MAIN
    rows = _load_rows(load, *trained)
    if setting == "disjoint":
        return _cut_disjoint(rows, rng)
    column, values = TRAINED_ON.get(setting, ("", ()))
    others = [row for row in rows if column and row[column] not in values]
    rows = [row for row in rows if not column or row[column] in values]
    rng.shuffle(rows)
    n_validation = min(N_VALIDATION, len(rows) // 3)  # of few rows a third
    n = min(N_TRAIN, len(rows) - n_validation)
    train, validation, rest = rows[:n], rows[n : n + n_validation], rows[n + n_validation :]
    if column:
        named = ", ".join(value.replace("_", " ") for value in values)
        return Cut(train, validation, others, f"trained on {column} {named}, tested on all rows of the others")
    if setting == "1":
        what = "drawn from the main half: train and test share situations and groups"
        return Cut(train, validation, rest[:N_TEST], what)
    if setting == "2":
        what = "trained on a draw of the main half, tested on the new half whole"
        return Cut(train, validation, _load_rows(load, *NEW), what)
    scales = [name for name in MAIN if name not in trained]
    what = f"trained on {trained[0]}, tested on {' and '.join(scales)} whole, of the same situations and groups"
    return Cut(train, validation, _load_rows(load, *scales), what)


def only_held_out(setting: str) -> str:
    """Say how a run differs from Table 3 that asks what a setting holds out."""
    return f"what setting {setting} holds out alone"


def select_plausible(rows: datasets.Dataset) -> datasets.Dataset:
    """Keep the rows whose descriptor and situation do not contradict each other."""
    return _select(rows, rows.data.table["plausible"], "plausible")


def select_held_out(setting: Setting, seed: int, configs: Sequence[str], load: Load) -> datasets.Dataset:
    """Keep the rows of these configurations that a setting leaves for the test.

    Raises UsageError where it leaves none.
    """
    import datasets
    import pyarrow
    import pyarrow.compute

    load = cache(load)
    test = cut(setting, lambda name: load(name).select_columns(DECIDING), seed).test
    rows = datasets.concatenate_datasets([load(name) for name in configs])
    tested = pyarrow.array([row["id"] for row in test], pyarrow.string())
    kept = _select(rows, pyarrow.compute.is_in(rows.data.table["id"], value_set=tested), "held out", setting, seed)
    if not len(kept):
        scales = ", ".join(sorted({row["scale"] for row in test}))
        raise UsageError(
            f"--held-out {setting} leaves no rows of {', '.join(configs)} for the test, only rows of {scales}; choose "
            "these with --config"
        )
    return kept


def _select(rows: datasets.Dataset, mask: Any, *reason: object) -> datasets.Dataset:
    """Copy the chosen rows into a table of their own: reading through an index would be slow for every column.

    reason: identifies the choice in the fingerprint, so that the library need not read the whole table for one.
    """
    from datasets import Dataset
    from datasets.fingerprint import Hasher
    from datasets.table import InMemoryTable

    fingerprint = Hasher.hash([rows._fingerprint, *reason])
    return Dataset(InMemoryTable(rows.data.table.filter(mask)), info=rows.info, fingerprint=fingerprint)


def _load_rows(load: Load, *configs: str) -> list[Row]:
    """Read whole configurations through arrow, which is many times as fast as row by row."""
    return [row for config in configs for row in load(config).with_format("arrow")[:].to_pylist()]


def _cut_disjoint(rows: Sequence[Row], rng: random.Random) -> Cut:
    """Give each situation and each descriptor one use; leave out rows that mix two. Actions stay balanced."""
    situations = _assign_uses({(row["action"], row["situation"]) for row in rows}, rng)
    descriptors = _assign_uses({(row["axis"], row["descriptor"]) for row in rows}, rng)
    found: dict[str, list[Row]] = {"train": [], "validation": [], "test": []}
    for row in rows:
        use = situations[row["action"], row["situation"]]
        if use == descriptors[row["axis"], row["descriptor"]]:
            found[use].append(row)
    rng.shuffle(found["train"])
    return Cut(**found, what="training, validation and test share neither situations nor groups")


def _assign_uses(pairs: set[tuple[str, str]], rng: random.Random) -> dict[tuple[str, str], str]:
    """Draw the same shares within each group (the first of a pair), at least one of it for each use."""
    uses: dict[tuple[str, str], str] = {}
    for group in sorted({first for first, _ in pairs}):
        members = sorted(pair for pair in pairs if pair[0] == group)
        rng.shuffle(members)
        n_test, n_validation = (max(1, round(share * len(members))) for share in (TEST_SHARE, VALIDATION_SHARE))
        for place, pair in enumerate(members):
            uses[pair] = "test" if place < n_test else "validation" if place < n_test + n_validation else "train"
    return uses
