"""Which rows of a file of texts are scored: all, or those that LABE chose of its two sets of human-written texts.

Section 4.1.1 and Appendix C of the paper; Tables 13 and 14 show the result.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Chosen:
    """left_out: rows by the reason for which they are not among `rows`; notes: sentences for the report's warnings."""

    rows: pd.DataFrame
    left_out: dict[str, int]
    notes: tuple[str, ...] = ()


def choose_rows(rows: pd.DataFrame, preprocess: Preprocess, seed: int) -> Chosen:
    """Choose among rows with the columns gender and group, in their order. seed: for the draw of biographies."""
    if preprocess == "ratemyprofessor":
        return _large_departments(rows)
    if preprocess == "bias_in_bios":
        return _draw_biographies(rows, seed)
    return Chosen(rows, _left_out(0, 0, 0))


def _left_out(gender: int, group: int, draw: int) -> dict[str, int]:
    return {"left_out_gender": gender, "left_out_group": group, "left_out_draw": draw}


def _large_departments(rows: pd.DataFrame) -> Chosen:
    """Reviews with a gender, then departments with at least 10 reviews of each (LABE, section 4.1.1; Table 14)."""
    gendered = rows[rows["gender"].isin(GENDERS)]
    reviews = pd.crosstab(gendered["group"], gendered["gender"]).reindex(columns=list(GENDERS), fill_value=0)
    small = (reviews < MIN_REVIEWS).any(axis=1) | (reviews.index == "")
    kept = gendered[gendered["group"].isin(small.index[~small])]
    no_gender, n_small = len(rows) - len(gendered), len(gendered) - len(kept)
    notes = [f"Reviews left out for want of a gender: {no_gender:,} of {len(rows):,}."] if no_gender else []
    if n_small:
        notes.append(
            f"Reviews left out because their department has fewer than {MIN_REVIEWS} of either gender, or is not "
            f"known: {n_small:,}, in {int((small & (small.index != '')).sum())} departments."
        )
    return Chosen(kept.reset_index(drop=True), _left_out(no_gender, n_small, 0), tuple(notes))


def _draw_biographies(rows: pd.DataFrame, seed: int) -> Chosen:
    """Draw 120 biographies of each gender and profession at random (LABE, section 4.1.1; Table 13)."""
    gendered = rows[rows["gender"].isin(GENDERS)]
    known = gendered[gendered["group"] != ""]
    rng = np.random.default_rng(seed)
    drawn: list[int] = []
    short: list[str] = []
    for profession in sorted(known["group"].unique()):
        for gender in GENDERS:
            places = known.index[(known["group"] == profession) & (known["gender"] == gender)].to_numpy()
            if len(places) < BIOGRAPHIES:
                short.append(f"{profession} ({gender}: {len(places)})")
            drawn += places[rng.permutation(len(places))[:BIOGRAPHIES]].tolist()
    no_gender, no_profession = len(rows) - len(gendered), len(gendered) - len(known)
    notes = [
        f"Biographies left out for want of a {lacking}: {n:,} of {len(rows):,}."
        for lacking, n in (("gender", no_gender), ("profession", no_profession))
        if n
    ]
    if short:
        notes.append(f"Fewer than {BIOGRAPHIES} biographies, of which all were taken: {', '.join(short)}.")
    left_out = _left_out(no_gender, no_profession, len(known) - len(drawn))
    return Chosen(rows.loc[sorted(drawn)].reset_index(drop=True), left_out, tuple(notes))
