"""Published counts of LCS-558K, on which LLaVA-v1.5 was pre-trained: Jiang et al., section 6 and Table A9."""

from __future__ import annotations

import math
from typing import NamedTuple

SOURCE = "Measuring Stereotypical Bias in Multi-modal Large Language Models, Table A9"
DATASET = "LCS-558K"


class Published(NamedTuple):
    """A row as printed: texts with the instance, male and female terms in them, bias score (NaN: N/A)."""

    n_texts: int
    male_terms: int
    female_terms: int
    bias_score: float


# Of the whole dataset: about 558,000 texts; no score is printed (the counts give 0.0265).
MALE_TERMS, FEMALE_TERMS = 27_837, 30_958

TABLE_A9 = {
    "pilot": Published(246, 38, 25, 0.1032),
    "firefighter": Published(178, 15, 8, 0.1522),
    "software developer": Published(3, 0, 0, math.nan),
    "chef": Published(281, 34, 24, 0.0862),  # 0.862 in print, a slip: 34 and 24 give 0.0862, and 0.5 is the most
    "nurse": Published(653, 43, 104, 0.2075),
    "housekeeper": Published(15, 0, 8, 0.5),
    "therapist": Published(42, 3, 1, 0.25),
    "cook": Published(2041, 49, 80, 0.1202),
    "taxi driver": Published(8, 1, 1, 0.0),
    "flight attendant": Published(6, 1, 1, 0.0),
    "attractive": Published(170, 10, 57, 0.3507),
    "exotic": Published(38, 0, 2, 0.5),
    "poor": Published(279, 28, 14, 0.1667),
    "terrorist": Published(7, 0, 0, math.nan),
    "thug": Published(20, 2, 1, 0.1667),
    "cleaning": Published(643, 45, 63, 0.0833),
    "stealing": Published(3, 2, 0, 0.5),
    "seductive": Published(7, 0, 0, math.nan),
    "emotional": Published(29, 3, 1, 0.25),
    "illegal": Published(17, 3, 0, 0.5),
}
