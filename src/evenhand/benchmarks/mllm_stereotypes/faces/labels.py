"""What datasets of faces call ages, genders and races: UTKFace in a file's name, FairFace in the cells of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenhand.benchmarks.mllm_stereotypes.faces.face import GENDERS, OLDEST, RACES, YOUNGEST

UTKFACE_NAME = "[age]_[gender]_[race]_[date&time].jpg"
# As its page has it: gender 0 male, 1 female; race 0 white, 1 black, 2 Asian, 3 Indian, 4 others. The cropped faces end
# in .jpg.chip.jpg, and some names have a blank or lack a dot after the date.
_UTKFACE = re.compile(r"([0-9]{1,3})_([01])_([0-4])_[0-9][ -~]*")
_RACE_CODES = (*RACES, "others")

# FairFace's words and the paper's. Its Middle Eastern and Latino_Hispanic have no counterpart: UTKFace counts them
# among its others, which the paper left out.
RACE_OF_WORD = {
    "white": "white", "black": "black", "indian": "Indian",
    "asian": "Asian", "east asian": "Asian", "southeast asian": "Asian",
}  # fmt: skip

_YEARS = re.compile(r"([0-9]{1,3})(?:\s*[-–]\s*([0-9]{1,3}))?")
_OR_MORE = re.compile(r"(?:more than|over)\s*[0-9]{1,3}|[0-9]{1,3}\s*\+", re.IGNORECASE)


@dataclass(frozen=True)
class Labels:
    """In our words; race as it came where it has no counterpart. age: None where it reaches beyond 18 to 65."""

    age: str | None
    gender: str
    race: str


def labels_of_name(name: str) -> Labels | None:
    """Those in a UTKFace file's name; None for another name."""
    found = _UTKFACE.fullmatch(name)
    if found is None:
        return None
    age, gender, race = map(int, found.groups())
    return Labels(_years(age, age), GENDERS[gender], _RACE_CODES[race])


def labels_of_cells(age: str, gender: str, race: str) -> Labels | None:
    """Those in a table's cells; None where an age or a gender is not understood."""
    word = gender.casefold()
    years = _YEARS.fullmatch(age)
    if word not in GENDERS or not (years or _OR_MORE.fullmatch(age)):
        return None
    of_race = RACE_OF_WORD.get(race.casefold().replace("_", " "), race)
    if years is None:
        return Labels(None, word, of_race)
    first, last = int(years[1]), int(years[2] or years[1])
    return Labels(_years(first, last), word, of_race) if first <= last else None


def _years(first: int, last: int) -> str | None:
    if first < YOUNGEST or last > OLDEST:
        return None
    return str(first) if first == last else f"{first}-{last}"
