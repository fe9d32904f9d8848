"""Which stories of told assignments a model is tuned on, and which are held out of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evenhand.errors import EvenhandError, UsageError

Data = Literal["full", "half"]
Source = Literal["evenhand", "official"]
Row = Mapping[str, Any]

OF_PAPER = 176
"""Lines of the published file with which the paper's 222 stories begin: 88 scenarios told by stereotype, then the same
told evenly. Its other 76 tell a scenario both ways in one text."""


@dataclass(frozen=True)
class Told:
    """train: rows of finetune_full or finetune_half, drawn. held_out: of other scenarios, by stereotype and evenly;
    none where the published file of them is not at hand.
    """

    train: tuple[Row, ...]
    held_out: tuple[Row, ...]
    what: str


def told(data: Data, source: Source, every_line: bool, limit: int | None, seed: int) -> Told:
    """full: told by stereotype and evenly; half: evenly alone. limit: stories, drawn by the seed.

    No scenario that is held out is among them: ours are split by scenario, and so are the paper's 222 stories of the
    published files, in order. Raises UsageError where `every_line` would do nothing, EvenhandError for files that can't
    be read.
    """
    from evenhand.benchmarks.implicit_bias.understanding.benchmark import Understanding
    from evenhand.flow.rows import load_config

    if every_line and (source, data) != ("official", "full"):
        raise UsageError(
            "--every-line is of the published file of --source official --data full, and would do nothing here; leave "
            "it out"
        )
    rows: list[Row] = list(load_config(replace(Understanding.card, split="train"), f"finetune_{data}", source, {}))
    held_out = _held_out(source)
    if source == "official":
        whole = len(rows)
        rows = rows if every_line else rows[:OF_PAPER]
        what = f"{len(rows)} of {whole} lines of the published file"
    else:
        what = f"{_scenarios(rows)} scenarios, {_scenarios(held_out)} others held out"
    if limit is not None and limit < len(rows):
        drawn = random.Random(f"told {seed}").sample(range(len(rows)), limit)
        rows = [rows[place] for place in sorted(drawn)]
        what += f"; {limit} stories drawn"
    return Told(tuple(rows), held_out, what)


def _held_out(source: Source) -> tuple[Row, ...]:
    from evenhand.benchmarks.implicit_bias.understanding.benchmark import N_STORIES, Understanding
    from evenhand.flow.rows import load_config

    card = Understanding.card
    if source == "evenhand":
        return tuple(load_config(card, "finetune_full", source, {}))
    try:
        return tuple(load_config(card, "finetune_full", source, {}))[:N_STORIES]
    except EvenhandError:  # a mirror may lack it, and nothing is learned from it
        return ()


def _scenarios(rows: Sequence[Row]) -> int:
    return len({row["scenario_id"] for row in rows})
