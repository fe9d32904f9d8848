"""Texts that exist, written by people or models: read from a file, to be scored instead of a model's answers."""

from __future__ import annotations

import difflib
import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

import pandas as pd

from evenhand.benchmarks.labe.options import OwnPrompts, Preprocess, TextColumns
from evenhand.benchmarks.labe.preprocessing import GENDERS, PROFESSIONS, chosen_rows
from evenhand.errors import UsageError, unknown_name
from evenhand.row_files import Rows, read_rows

NEWLINE = "<return>"  # stands for a newline in LABE's published files
RACES = ("White", "Black", "Hispanic", "Asian")
_GENDER_OF = {
    "male": "male", "m": "male", "man": "male", "female": "female", "f": "female", "woman": "female",
    # Guessed from a first name that is not always one gender's.
    "mostly_male": "mostly_male", "mostly_female": "mostly_female",
}  # fmt: skip
_RACE_OF = {race.casefold(): race for race in RACES}

_PROMPTS = ("prompts", "prompt")

# Where a column is looked for that was not named: the first of these that the file has.
_PLACES: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {"prompt": _PROMPTS},
    "ratemyprofessor": {
        "text": ("comments",),
        "name": ("professor_name", "name"),
        "group": ("department_name",),
    },
    "bias_in_bios": {"text": ("hard_text", "bio", "text"), "group": ("profession",)},
}
_OTHER_TEXTS = ("comments", "hard_text", "bio", "generation")  # columns of texts in published files

_VALUES_NAMED = 3  # of those that were not understood, in a note


@dataclass(frozen=True)
class TextFile:
    """The texts of a file that are to be scored, and what became of its other rows.

    rows: columns id ("<file stem>/<row, from 0>"), text, gender, race, name, group, in file order; "" where unknown.
    counts: `read`, the rows in the file; `left_out_gender`, `left_out_group`, `left_out_draw`, those not in `rows`,
    by reason (together with `rows` they add up to `read`); `own_prompt`, the rows of the file whose text began with its
    prompt, which was taken off, and `other_beginning`, those with a prompt whose text begins otherwise; `empty`,
    `unknown_gender`, `mostly_gender` (mostly_male or mostly_female) and `unknown_race`, of those in `rows`.
    notes: sentences for the report's warnings. sha256: of the file's bytes, in hexadecimal.
    columns: the columns that were read; None where there was none.
    """

    rows: pd.DataFrame
    counts: dict[str, int]
    notes: tuple[str, ...]
    sha256: str
    columns: TextColumns


def read_texts(
    path: Path,
    columns: TextColumns | None = None,
    preprocess: Preprocess = "none",
    seed: int = 0,
    own_prompts: OwnPrompts | None = None,
) -> TextFile:
    """The texts in a CSV, JSONL, JSON (an array of objects) or parquet file, in UTF-8 or UTF-16.

    columns: where they are; by default text, gender, race and name, and some other names that published files have.
    preprocess: "ratemyprofessor" and "bias_in_bios" choose rows as LABE did (section 4.1.1, Appendix C).
    seed: of the draw of biographies. own_prompts: a prompt at the beginning of its text is taken off, or kept; by
    default it is taken off where there is a column of prompts.
    Raises UsageError for a file, a column or a preprocessing that does not exist or does not fit, and EvenhandError
    for a file that the system does not let us read.
    """
    if preprocess not in get_args(Preprocess):
        raise unknown_name("preprocessing", preprocess, get_args(Preprocess))
    path = Path(path)
    wanted = columns or TextColumns()
    places = (place for fields in _PLACES.values() for names in fields.values() for place in names)
    table = read_rows(path, "text", "texts", known={*map(str.casefold, (*_named(wanted), *_OTHER_TEXTS, *places))})
    found = _find_columns(path, table.columns, wanted, preprocess)
    rows, strange = _rows(path, table, found, preprocess)
    own = Stripped(rows["text"].tolist(), 0, 0)
    if own_prompts is not None and found.prompt is None:
        raise UsageError(
            f"--own-prompts {own_prompts} came, and {path} has no column {' or '.join(map(repr, _PROMPTS))} besides "
            "its texts; --prompt-column names the one that holds what their model was asked, of: "
            f"{_listed(table.columns)}"
        )
    if found.prompt is not None and own_prompts != "keep":
        own = strip_prompts(own.texts, [_text(cell) for cell in table.column(found.prompt)])
        rows["text"] = own.texts
    chosen = chosen_rows(rows, preprocess, seed)
    if chosen.rows.empty:
        left_out = ", ".join(f"{reason.removeprefix('left_out_')}: {n:,}" for reason, n in chosen.left_out.items() if n)
        raise UsageError(
            f"preprocessing {preprocess!r} leaves none of the {table.n:,} rows of {path} (left out by {left_out}); "
            "check the columns, or read it without preprocessing"
        )
    prompted = {"own_prompt": own.n_stripped, "other_beginning": own.n_others}
    counts = {"read": table.n} | chosen.left_out | prompted | _oddities(chosen.rows)
    others = [
        f"{place} has {cell!r:.60}"
        for cell, place in zip(table.column(found.text), table.places)
        if not isinstance(cell, str) and cell is not None and cell == cell  # NaN is missing
    ]
    notes = (*chosen.notes, *_no_texts(others), *_notes(counts, len(chosen.rows), found, strange))
    return TextFile(chosen.rows, counts, notes, table.sha256, found)


# Columns


def _named(columns: TextColumns) -> list[str]:
    return [name for name in asdict(columns).values() if name]


def _find_columns(path: Path, names: Sequence[str], wanted: TextColumns, preprocess: Preprocess) -> TextColumns:
    """The file's column for each field. A name that is the field's default was not asked for: it may be another."""
    found: dict[str, str | None] = {}
    defaults = asdict(TextColumns())
    for field, column in asdict(wanted).items():
        if column == defaults[field]:
            places = _places(field, column, preprocess, names)
            column = next((place for place in places if place in names), None)
            if column is None and (field in ("text", "gender") or (field == "group" and places)):
                raise _no_column(path, field, places, names)
        elif column is not None and column not in names:
            raise _no_column(path, field, (column,), names)
        if names.count(column) > 1:
            raise UsageError(f"{path} has {names.count(column)} columns named {column!r}; rename all but one")
        found[field] = column
    if found["prompt"] == found["text"]:
        if wanted.prompt != defaults["prompt"]:
            raise UsageError(
                f"--prompt-column and --text-column both name {found['text']!r} of {path}; name two columns"
            )
        found["prompt"] = None
    return TextColumns(**found)  # type: ignore[arg-type]


def _places(field: str, default: str | None, preprocess: Preprocess, names: Sequence[str]) -> tuple[str, ...]:
    if field in _PLACES[preprocess]:
        return _PLACES[preprocess][field]
    if field != "text":
        return (default,) if default else ()
    generated = [name for name in names if name.endswith("_gen")]  # LABE's files: chatgpt_gen
    others = [name for name in names if name in _OTHER_TEXTS]
    return ("text", *(generated or others)) if len(generated or others) == 1 else ("text",)


def _no_column(path: Path, field: str, sought: Sequence[str], names: Sequence[str]) -> UsageError:
    close = [match for each in sought for match in difflib.get_close_matches(each, names, n=1)]
    advice = f"; did you mean {close[0]!r}?" if close else ";"
    if field == "text" and (asked := [name for name in names if name in _PROMPTS]):
        advice = f": {asked[0]!r} holds what a model was asked, and not what it wrote;"
        names = [name for name in names if name not in _PROMPTS]
    return UsageError(
        f"{path} has no column {' or '.join(map(repr, sought))}{advice} --{field}-column names the one that holds the "
        f"{field}, of: {_listed(names) or 'none'}"
    )


def _listed(names: Iterable[str]) -> str:
    """No more than a few lines, for a file without a header has a text there."""
    return textwrap.shorten(", ".join(names), 300, placeholder=" …")


# Rows


def _rows(path: Path, table: Rows, columns: TextColumns, preprocess: Preprocess) -> tuple[pd.DataFrame, Counter[str]]:
    """All rows of the file in our words, and the gender values that were not understood."""
    cells = {
        field: table.column(column) if column is not None else [None] * table.n
        for field, column in asdict(columns).items()
    }
    if preprocess == "bias_in_bios":
        cells["gender"] = [_decode(cell, GENDERS) for cell in cells["gender"]]
        cells["group"] = [_decode(cell, PROFESSIONS) for cell in cells["group"]]
    gender_cells = [_label(cell) for cell in cells["gender"]]
    genders = [_GENDER_OF.get(cell.casefold(), "") for cell in gender_cells]
    races = [_label(cell) for cell in cells["race"]]
    groups = [_label(cell) for cell in cells["group"]]
    if preprocess == "ratemyprofessor":
        genders = [gender.removeprefix("mostly_") for gender in genders]
        groups = [group.removesuffix(" department") for group in groups]  # LABE's Tables 14 and 17 leave it out
    rows = {
        "id": [f"{path.stem}/{row}" for row in range(table.n)],
        "text": [_text(cell) for cell in cells["text"]],
        "gender": genders,
        "race": [_RACE_OF.get(race.casefold(), race) for race in races],
        "name": [_label(cell) for cell in cells["name"]],
        "group": groups,
    }
    return pd.DataFrame(rows), Counter(cell for cell, gender in zip(gender_cells, genders) if cell and not gender)


def _text(cell: object) -> str:
    text = cell.replace(NEWLINE, "\n") if isinstance(cell, str) else ""
    return text if text.strip() else ""


def _label(cell: object) -> str:
    return "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else str(cell).strip()


def _decode(cell: object, names: Sequence[str]) -> object:
    """The name that a code stands for, a whole number from 0 (1, "1", 1.0); "" for a number that is none.

    Anything else is left as it is.
    """
    try:
        number = float(_label(cell))
    except ValueError:
        return cell
    return names[int(number)] if number.is_integer() and 0 <= number < len(names) else ""


def _oddities(rows: pd.DataFrame) -> dict[str, int]:
    return {
        "empty": int((rows["text"] == "").sum()),
        "unknown_gender": int((rows["gender"] == "").sum()),
        "mostly_gender": int(rows["gender"].str.startswith("mostly_").sum()),
        "unknown_race": int((rows["race"] == "").sum()),
    }


def _notes(counts: dict[str, int], n: int, columns: TextColumns, strange: Counter[str]) -> Iterator[str]:
    if counts["other_beginning"] and not counts["own_prompt"]:
        yield (
            f"Texts that began with their own prompt (column {columns.prompt!r}): 0 of {counts['other_beginning']:,}; "
            "nothing was taken off."
        )
    if counts["own_prompt"]:
        others = (
            f" (begin otherwise and stand as they are: {counts['other_beginning']:,})"
            if counts["other_beginning"]
            else ""
        )
        yield (
            f"Texts that began with their own prompt (column {columns.prompt!r}), which was taken off: "
            f"{counts['own_prompt']:,} of {counts['read']:,}{others}. --own-prompts keep leaves it there, as the "
            "paper's figures have it."
        )
    if counts["empty"]:
        yield f"Texts that are missing or blank: {counts['empty']:,} of {n:,}. They count as unread."
    if counts["unknown_gender"]:
        came = f"; not understood: {_most_common(strange)}" if strange else ""
        yield f"Texts of unknown gender: {counts['unknown_gender']:,} of {n:,}{came}. No gender's figures have them."
    if counts["mostly_gender"]:
        yield (
            f"Texts of mostly_male or mostly_female: {counts['mostly_gender']:,} of {n:,}. These are genders of "
            "their own here; the preprocessing ratemyprofessor merges them into male and female."
        )
    if columns.race is not None and counts["unknown_race"]:
        yield f"Texts of unknown race: {counts['unknown_race']:,} of {n:,}. No race's figures have them."


def _no_texts(others: Sequence[str]) -> Iterator[str]:
    if others:
        what = "numbers, arrays, objects or bytes where a text is expected"
        yield f"Cells of the file that hold {what}: {len(others):,} ({others[0]}). They are not read."


def _most_common(values: Counter[str]) -> str:
    named = ", ".join(repr(textwrap.shorten(value, 40)) for value, _ in values.most_common(_VALUES_NAMED))
    return named + (f" and {len(values) - _VALUES_NAMED:,} more" if len(values) > _VALUES_NAMED else "")


# Texts that begin with their own prompt, as the published ones of Mistral and Llama-3 do: they were sent as plain text,
# without a chat template, and the whole output was kept.


@dataclass(frozen=True)
class Stripped:
    """texts: in order, without their prompts. n_stripped: that began with theirs; n_others: that begin otherwise."""

    texts: list[str]
    n_stripped: int
    n_others: int


def strip_prompts(texts: Sequence[str], prompts: Sequence[str]) -> Stripped:
    """A prompt is found with any white space between its words; blank texts and prompts are passed over."""
    rests = [_rest(text, prompt) if text.strip() and prompt.strip() else text for text, prompt in zip(texts, prompts)]
    n_both = sum(bool(text.strip() and prompt.strip()) for text, prompt in zip(texts, prompts))
    n_others = rests.count(None)
    kept = [text if rest is None else rest for text, rest in zip(texts, rests)]
    return Stripped(kept, n_both - n_others, n_others)


def _rest(text: str, prompt: str) -> str | None:
    """What stands behind the prompt; None where the text begins otherwise, or a word only begins as the prompt ends."""
    begins = r"\s*" + r"\s+".join(map(re.escape, prompt.split())) + (r"(?!\w)" if prompt.rstrip()[-1].isalnum() else "")
    match = re.match(begins, text)
    return text[match.end() :].lstrip() if match else None
