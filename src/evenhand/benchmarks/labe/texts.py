"""Existing texts, written by people or models: read from a file, to be scored instead of a model's answers."""

from __future__ import annotations

import difflib
import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import datasets
import pandas as pd

from evenhand import benchmark
from evenhand.benchmarks.labe.options import LabeOptions, OwnPrompts, Preprocess, TextColumns
from evenhand.benchmarks.labe.preprocessing import GENDERS, PROFESSIONS, choose_rows
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.paths import typed_path
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
_OTHER_TEXTS = ("comments", "hard_text", "bio", "generation")  # columns of texts in published files

# Where a column is looked for that was not named: the first of these that the file has.
_PLACES: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {"prompt": _PROMPTS},
    "ratemyprofessor": {"text": ("comments",), "name": ("professor_name", "name"), "group": ("department_name",)},
    "bias_in_bios": {"text": ("hard_text", "bio", "text"), "group": ("profession",)},
}  # fmt: skip
_VALUES_NAMED = 3  # of those that were not understood, in a note


@dataclass(frozen=True)
class TextFile:
    """The texts of a file that are to be scored, and what became of its other rows.

    Attributes:
        rows: columns id ("<file stem>/<row, from 0>"), text, gender, race, name, group, in file order; "" where
            unknown.
        counts: `read`, the rows in the file; `left_out_gender`, `left_out_group`, `left_out_draw`, those not in `rows`,
            by reason (together with `rows` they add up to `read`); `own_prompt`, the rows of the file whose text began
            with its prompt, which was removed, and `other_beginning`, those with a prompt whose text begins otherwise;
            `empty`, `unknown_gender`, `mostly_gender` (mostly_male or mostly_female) and `unknown_race`, of those in
            `rows`.
        notes: sentences for the report's warnings.
        sha256: of the file's bytes, in hexadecimal.
        columns: the columns that were read; None where there was none.
    """

    rows: pd.DataFrame
    counts: dict[str, int]
    notes: tuple[str, ...]
    sha256: str
    columns: TextColumns


def load_texts(config: RunConfig[LabeOptions]) -> benchmark.Rows:
    """Load the rows of --texts. Raises UsageError for a file that does not fit, or where all groups are unknown."""
    options = config.options
    path = typed_path(str(options.texts))
    file = read_texts(path, options.columns, options.preprocess, config.seed, options.own_prompts)
    if not file.rows[["gender", "race"]].ne("").any(axis=None):
        raise UsageError(
            f"no text in {path} has a gender or a race that is understood, so no groups can be compared; "
            f"--gender-column and --race-column name theirs. {' '.join(file.notes)}"
        )
    rows = datasets.Dataset.from_pandas(file.rows, preserve_index=False)
    design = ("gender", "race", "group")
    return benchmark.Rows(rows, file.notes, path.name, file.sha256, design=design, together=())


def read_texts(
    path: Path,
    columns: TextColumns | None = None,
    preprocess: Preprocess = "none",
    seed: int = 0,
    own_prompts: OwnPrompts | None = None,
) -> TextFile:
    """Read the texts in a CSV, JSONL, JSON (an array of objects) or parquet file, in UTF-8 or UTF-16.

    Args:
        columns: by default text, gender, race and name, and some other names that published files have.
        preprocess: "ratemyprofessor" and "bias_in_bios" choose rows as LABE did (section 4.1.1, Appendix C).
        seed: for the draw of biographies.
        own_prompts: remove a prompt at the beginning of its text, or keep it; by default it is removed where there is a
            column of prompts.

    Raises:
        UsageError: for a file, a column or a preprocessing that does not exist or does not fit.
        EvenhandError: for a file that the system does not let us read.
    """
    path = Path(path)
    wanted = columns or TextColumns()
    places = (place for fields in _PLACES.values() for names in fields.values() for place in names)
    known = {name.casefold() for name in (*asdict(wanted).values(), *_OTHER_TEXTS, *places) if name}
    table = read_rows(path, "text", "texts", known=known)
    found = _find_columns(path, table.columns, wanted, preprocess)
    if own_prompts is not None and found.prompt is None:
        raise _no_column(path, "prompt", _PROMPTS, table.columns)
    rows, not_understood = _read_cells(path, table, found, preprocess)
    prompted = {"own_prompt": 0, "other_beginning": 0}
    if found.prompt is not None and own_prompts != "keep":
        rests = [_strip_prompt(text, _text(prompt)) for text, prompt in zip(rows["text"], table.column(found.prompt))]
        rows["text"] = [text if rest is None else rest for text, (rest, _) in zip(rows["text"], rests)]
        prompted = {key: sum(outcome == key for _, outcome in rests) for key in prompted}
    chosen = choose_rows(rows, preprocess, seed)
    if chosen.rows.empty:
        left_out = ", ".join(f"{reason.removeprefix('left_out_')}: {n:,}" for reason, n in chosen.left_out.items() if n)
        raise UsageError(
            f"preprocessing {preprocess!r} leaves none of the {table.n:,} rows of {path} (left out by {left_out}); "
            "check the columns, or read it without preprocessing"
        )
    oddities = {
        "empty": chosen.rows["text"] == "",
        "unknown_gender": chosen.rows["gender"] == "",
        "mostly_gender": chosen.rows["gender"].str.startswith("mostly_"),
        "unknown_race": chosen.rows["race"] == "",
    }
    counts = {"read": table.n, **chosen.left_out, **prompted, **{name: int(of.sum()) for name, of in oddities.items()}}
    notes = (*chosen.notes, *_notes(counts, len(chosen.rows), found, not_understood))
    return TextFile(chosen.rows, counts, notes, table.sha256, found)


def _find_columns(path: Path, names: Sequence[str], wanted: TextColumns, preprocess: Preprocess) -> TextColumns:
    """Find the file's column for each field. A name that is the field's default may be another in the file."""
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
        found["prompt"] = None
    return TextColumns(**found)  # type: ignore[arg-type]


def _places(field: str, default: str | None, preprocess: Preprocess, names: Sequence[str]) -> tuple[str, ...]:
    if field in _PLACES[preprocess]:
        return _PLACES[preprocess][field]
    if field != "text":
        return (default,) if default else ()
    generated = [name for name in names if name.endswith("_gen")]  # LABE's files: chatgpt_gen
    others = generated or [name for name in names if name in _OTHER_TEXTS]
    return ("text", *others) if len(others) == 1 else ("text",)


def _no_column(path: Path, field: str, sought: Sequence[str], names: Sequence[str]) -> UsageError:
    close = [match for each in sought for match in difflib.get_close_matches(each, names, n=1)]
    advice = f"; did you mean {close[0]!r}?" if close else ";"
    listed = textwrap.shorten(", ".join(names), 300, placeholder=" …")  # a file without a header has a text there
    return UsageError(
        f"{path} has no column {' or '.join(map(repr, sought))}{advice} --{field}-column names the one that holds the "
        f"{field}, of: {listed or 'none'}"
    )


def _read_cells(
    path: Path, table: Rows, columns: TextColumns, preprocess: Preprocess
) -> tuple[pd.DataFrame, Counter[str]]:
    """Return all rows of the file in evenhand's words, and the gender values that were not understood."""
    named = asdict(columns).items()
    cells = {field: [None] * table.n if column is None else table.column(column) for field, column in named}
    if preprocess == "bias_in_bios":
        cells["gender"] = [_decode(cell, GENDERS) for cell in cells["gender"]]
        cells["group"] = [_decode(cell, PROFESSIONS) for cell in cells["group"]]
    labels = {field: [_label(cell) for cell in cells[field]] for field in ("gender", "race", "name", "group")}
    genders = [_GENDER_OF.get(label.casefold(), "") for label in labels["gender"]]
    not_understood = Counter(label for label, gender in zip(labels["gender"], genders) if label and not gender)
    groups = labels["group"]
    if preprocess == "ratemyprofessor":
        genders = [gender.removeprefix("mostly_") for gender in genders]
        groups = [group.removesuffix(" department") for group in groups]  # LABE's Tables 14 and 17 leave it out
    ids = [f"{path.stem}/{row}" for row in range(table.n)]
    written = [_text(cell) for cell in cells["text"]]
    races = [_RACE_OF.get(race.casefold(), race) for race in labels["race"]]
    rows = zip(ids, written, genders, races, labels["name"], groups)
    return pd.DataFrame(rows, columns=["id", "text", "gender", "race", "name", "group"]), not_understood


def _text(cell: object) -> str:
    text = cell.replace(NEWLINE, "\n") if isinstance(cell, str) else ""
    return text if text.strip() else ""


def _label(cell: object) -> str:
    return "" if cell is None or (isinstance(cell, float) and math.isnan(cell)) else str(cell).strip()


def _decode(cell: object, names: Sequence[str]) -> object:
    """Return the name that a code stands for, a whole number from 0 (1, "1", 1.0); "" for a number that is none.

    Anything else is left as it is.
    """
    try:
        number = float(_label(cell))
    except ValueError:
        return cell
    return names[int(number)] if number.is_integer() and 0 <= number < len(names) else ""


def _strip_prompt(text: str, prompt: str) -> tuple[str | None, str]:
    """Return what follows the prompt, with any white space between its words, and what became of it: a key of counts.

    The published texts of Mistral and Llama-3 begin with their prompt: they were sent as plain text, without a chat
    template, and the whole output was kept. None where the text begins otherwise, or a word only begins as the prompt
    ends.
    """
    if not text.strip() or not prompt.strip():
        return None, ""
    begins = r"\s*" + r"\s+".join(map(re.escape, prompt.split())) + (r"(?!\w)" if prompt.rstrip()[-1].isalnum() else "")
    match = re.match(begins, text)
    return (text[match.end() :].lstrip(), "own_prompt") if match else (None, "other_beginning")


def _notes(counts: dict[str, int], n: int, columns: TextColumns, not_understood: Counter[str]) -> Iterator[str]:
    own, other = counts["own_prompt"], counts["other_beginning"]
    began = f"Texts that began with their own prompt (column {columns.prompt!r})"
    if other and not own:
        yield f"{began}: 0 of {other:,}; nothing was taken off."
    if own:
        stay = f" (begin otherwise and stand as they are: {other:,})" if other else ""
        yield (
            f"{began}, which was taken off: {own:,} of {counts['read']:,}{stay}. --own-prompts keep leaves it there, "
            "as the paper's figures have it."
        )
    if counts["empty"]:
        yield f"Texts that are missing or blank: {counts['empty']:,} of {n:,}. They count as unread."
    if counts["unknown_gender"]:
        named = ", ".join(repr(textwrap.shorten(value, 40)) for value, _ in not_understood.most_common(_VALUES_NAMED))
        more = len(not_understood) - _VALUES_NAMED
        values = f"; not understood: {named}" + (f" and {more:,} more" if more > 0 else "") if named else ""
        yield f"Texts of unknown gender: {counts['unknown_gender']:,} of {n:,}{values}. No gender's figures have them."
    if counts["mostly_gender"]:
        yield (
            f"Texts of mostly_male or mostly_female: {counts['mostly_gender']:,} of {n:,}. These are genders of "
            "their own here; the preprocessing ratemyprofessor merges them into male and female."
        )
    if columns.race is not None and counts["unknown_race"]:
        yield f"Texts of unknown race: {counts['unknown_race']:,} of {n:,}. No race's figures have them."
