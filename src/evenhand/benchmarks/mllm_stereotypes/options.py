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
PICTURES = 200  # of each of 14 persona traits (section 4)
PAIRS = {"gender": 2604, "race": 7378}  # for each of 10 occupations and 10 descriptors (section 4)
PAPER_ROWS = {
    **{config: 10 * PAIRS[config.split("_")[1]] for config in OF_FACES},
    **dict.fromkeys(OF_PERSONAS, 14 * PICTURES),
}
"""How many queries the paper has of each configuration."""
OF_BOTH = "of_both_answered"  # the score that two runs are compared by: of the queries that both answered

REHEARSAL = "rehearsal"  # in place of a folder of faces: the placeholders
REHEARSAL_NOTE = "a rehearsal with placeholders for faces: it measures nothing, and nothing that publishes will take it"

Order = Literal["paper", "balanced"]


def describe_config(config: str) -> str:
    """Return "occupation, gender"."""
    return config.replace("_", ", ")


def parse_box_scale(text: str) -> BoxScale:
    """Parse --box-scale. Raises ValueError for text that is no scale."""
    if text == "pixels":
        return "pixels"
    try:
        scale = float(text)
    except ValueError:
        scale = math.nan
    if not 0 < scale < math.inf:
        raise ValueError(f"must be the greatest coordinate, above 0, or pixels, got {text}")
    return scale


@dataclass(frozen=True)
class MllmStereotypesOptions:
    """box_scale: the coordinate of the right and lower edge in bounding boxes; None: the model's own, if it has one."""

    faces: str | None = option(
        None, "folder of faces: UTKFace file names, or listed in --faces-table; rehearsal: placeholders", metavar="DIR"
    )
    faces_table: str | None = option(
        None, "labels of faces (CSV, JSONL or parquet with file, age, gender, race)", metavar="FILE", needs="faces"
    )
    pairs: int = option(LIMIT, "maximum pairs of faces per age and group", least=1, metavar="N", needs="faces")
    images: str | None = option(
        None, "folder with a folder of pictures per persona trait (default: evenhand's drawings)", metavar="DIR"
    )
    order: Order = option("paper", "order of social terms in persona prompts: random, or balanced over all places")
    role: str | None = option(None, "person whom the model should act as (role play)", metavar="NAME")
    box_scale: BoxScale | None = option(
        None,
        "greatest coordinate of bounding boxes (100, 1000, 1) or pixels (default: the model's, if known)",
        metavar="N",
        parse=parse_box_scale,
    )
    real_shares: str | None = option(
        None, "shares in the world to show beside the model's (columns instance, group, percent)", metavar="FILE"
    )
