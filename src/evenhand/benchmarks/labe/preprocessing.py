"""Which rows of a file of texts are scored: all, or those that LABE chose of its sets of human-written texts.

Section 4.1.1 and Appendix C of the paper; Tables 13 and 14 show the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evenhand.benchmarks.labe.options import Preprocess

GENDERS = ("male", "female")
MIN_REVIEWS = 10  # of either gender, for a department to stay (LABE, section 4.1.1)
BIOGRAPHIES = 120  # drawn for each gender and profession (LABE, section 4.1.1)
# LABE, Table 13, in alphabetical order: a profession's place is its code in the Hub's copy of Bias in Bios.
PROFESSIONS = (
    "accountant", "architect", "attorney", "chiropractor", "comedian", "composer", "dentist", "dietitian", "dj",
    "filmmaker", "interior_designer", "journalist", "model", "nurse", "painter", "paralegal", "pastor",
    "personal_trainer", "photographer", "physician", "poet", "professor", "psychologist", "rapper",
    "software_engineer", "surgeon", "teacher", "yoga_teacher",
)  # fmt: skip


class Chosen(NamedTuple):
    """The rows that are scored, how many are not, by reason, and sentences for the report's warnings."""

    rows: pd.DataFrame
    left_out: dict[str, int]
    notes: list[str]


def choose_rows(rows: pd.DataFrame, preprocess: Preprocess, seed: int) -> Chosen:
    """Choose among rows with the columns gender and group, in their order. seed: for the draw of biographies."""
    if preprocess == "none":
        return Chosen(rows, {}, [])
    gendered = rows[rows["gender"].isin(GENDERS)]
    if preprocess == "ratemyprofessor":
        choose = _large_departments(gendered)
    elif preprocess == "bias_in_bios":
        choose = _draw_biographies(gendered, seed)
    else:  # Wan et al.'s letters were taken whole
        choose = Chosen(gendered, {}, [])
    if no_gender := len(rows) - len(gendered):
        text = {"ratemyprofessor": "Reviews", "bias_in_bios": "Biographies", "reference_letters": "Letters"}[preprocess]
        choose.notes.insert(0, f"{text} without a gender, left out: {no_gender:,} of {len(rows):,}.")
    return Chosen(choose.rows.reset_index(drop=True), {"gender": no_gender, **choose.left_out}, choose.notes)


def _large_departments(reviews: pd.DataFrame) -> Chosen:
    """Keep departments with at least 10 reviews of each gender (LABE, section 4.1.1; Table 14)."""
    counts = pd.crosstab(reviews["group"], reviews["gender"]).reindex(columns=list(GENDERS), fill_value=0)
    large = counts.index[(counts >= MIN_REVIEWS).all(axis=1) & (counts.index != "")]
    kept = reviews[reviews["group"].isin(large)]
    left_out = len(reviews) - len(kept)
    n_small = len({*counts.index} - {*large, ""})
    note = (
        f"Reviews of departments that are unknown or have fewer than {MIN_REVIEWS} of either gender, left out: "
        f"{left_out:,}, in {n_small} departments."
    )
    return Chosen(kept, {"group": left_out}, [note] if left_out else [])


def _draw_biographies(biographies: pd.DataFrame, seed: int) -> Chosen:
    """Draw 120 biographies of each gender and profession at random (LABE, section 4.1.1; Table 13)."""
    known = biographies[biographies["group"] != ""]
    rng = np.random.default_rng(seed)
    drawn: list[int] = []
    short = []
    for profession in sorted(known["group"].unique()):
        for gender in GENDERS:
            places = known.index[(known["group"] == profession) & (known["gender"] == gender)].to_numpy()
            if len(places) < BIOGRAPHIES:
                short.append(f"{profession} ({gender}: {len(places)})")
            drawn += places[rng.permutation(len(places))[:BIOGRAPHIES]].tolist()
    notes = []
    if unknown := len(biographies) - len(known):
        notes.append(f"Biographies without a profession, left out: {unknown:,}.")
    if short:
        notes.append(f"Fewer than {BIOGRAPHIES} biographies, of which all were taken: {', '.join(short)}.")
    return Chosen(known.loc[sorted(drawn)], {"group": unknown, "draw": len(known) - len(drawn)}, notes)
