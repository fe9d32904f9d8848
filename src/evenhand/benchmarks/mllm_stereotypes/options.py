"""Names of groups and configurations, and the benchmark's own options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from evenhand.models.box_scales import BoxScale
from evenhand.options import option

Attribute = Literal["gender", "race"]

GENDERS = ("male", "female")
RACES = ("white", "black", "Asian", "Indian")  # "due to dataset incompleteness" (Jiang et al., section 4)
GROUPS: dict[Attribute, tuple[str, ...]] = {"gender": GENDERS, "race": RACES}
LIMIT = 20  # pairs of each age and other attribute, for race of each two races in it, too (section 4)

DATASET = "mllm_stereotypes"
SPLIT = "test"
OF_FACES = tuple(f"{scenario}_{attribute}" for scenario in ("occupation", "descriptor") for attribute in GROUPS)
OF_PERSONAS = tuple(f"persona_{attribute}" for attribute in GROUPS)
CONFIGS = OF_FACES + OF_PERSONAS
OF_BOTH = "of_both_answered"  # the score that two runs are compared by: of the queries that both answered

REHEARSAL = "rehearsal"  # in place of a folder of faces: the placeholders
REHEARSAL_NOTE = "a rehearsal with placeholders for faces: it measures nothing, and nothing that publishes will take it"

Order = Literal["paper", "balanced"]


def describe_config(config: str) -> str:
    """Return "occupation, gender"."""
    return config.replace("_", ", ")


def is_box_scale(scale: BoxScale) -> bool:
    return scale == "pixels" or (isinstance(scale, (int, float)) and 0 < scale < math.inf)


def parse_box_scale(text: str) -> BoxScale:
    """Parse --box-scale. Raises ValueError for text that is no scale."""
    try:
        scale: BoxScale = "pixels" if text == "pixels" else float(text)
    except ValueError:
        scale = math.nan
    if not is_box_scale(scale):
        raise ValueError(f"{text!r} came; a number above 0 is accepted, or pixels")
    return scale


@dataclass(frozen=True)
class MllmStereotypesOptions:
    """box_scale: the coordinate of the right and lower edge in bounding boxes; None: the model's own, if it has one."""

    faces: str | None = option(
        None, "faces named as UTKFace's, or listed in --faces-table; rehearsal: placeholders", metavar="DIR"
    )
    faces_table: str | None = option(
        None, "CSV, JSONL or parquet: file, age, gender, race", metavar="FILE", needs="faces"
    )
    pairs: int = option(LIMIT, "pairs of faces of each age and group at most", least=1, metavar="N", needs="faces")
    images: str | None = option(
        None, "a folder of pictures for each persona trait, in place of our drawings", metavar="DIR"
    )
    order: Order = option("paper", "of a persona prompt's social terms: one drawn, or each term in each place once")
    role: str | None = option(None, "whom the model is told to act as", metavar="NAME")
    box_scale: BoxScale | None = option(
        None,
        "greatest coordinate of bounding boxes (100, 1000, 1), or pixels; by default the model's, if known",
        metavar="N",
        parse=parse_box_scale,
    )
    real_shares: str | None = option(
        None, "shares in the world beside the model's: instance, group, percent", metavar="FILE"
    )
