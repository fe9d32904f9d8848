"""Existing texts, written by people or models: read from a file, to be scored instead of a model's answers."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
RACES = {race.casefold(): race for race in ("White", "Black", "Hispanic", "Asian")}
GENDER_OF = {
    "male": "male", "m": "male", "man": "male", "female": "female", "f": "female", "woman": "female",
    # Guessed from a first name that is not always one gender's.
    "mostly_male": "mostly_male", "mostly_female": "mostly_female",
}  # fmt: skip
OTHER_TEXTS = ("comments", "hard_text", "bio", "generation")  # columns of texts in published files
# Where a field is looked for unless its column is named: the first of these that the file has.
DEFAULT_PLACES: dict[str, tuple[str, ...]] = {
    "text": ("text",), "gender": ("gender",), "race": ("race",), "name": ("name",), "group": (),
    "prompt": ("prompts", "prompt"),
}  # fmt: skip
PLACES: dict[str, dict[str, tuple[str, ...]]] = {
    "none": {},
    "reference_letters": {},
    "ratemyprofessor": {"text": ("comments",), "name": ("professor_name", "name"), "group": ("department_name",)},
    "bias_in_bios": {"text": ("hard_text", "bio", "text"), "group": ("profession",)},
}
NEEDED = ("text", "gender", "group")
MOST_NAMED = 3  # unknown values in a note


@dataclass(frozen=True)
class TextFile:
    """The texts of a file that are scored.

    Attributes:
        rows: columns id ("<file stem>/<row, from 0>"), text, gender, race, name, group, in file order; "" where
            unknown.
        left_out: {reason: rows of the file that are not scored}.
        notes: sentences for the report's warnings.
        sha256: of the file's bytes, in hexadecimal.
        columns: the columns that were read; None where there was none.
    """

    rows: pd.DataFrame
    left_out: Mapping[str, int]
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
            f"no text in {path} has a known gender or race, so no groups can be compared; name the columns that hold "
            f"them with --gender-column and --race-column. {' '.join(file.notes)}"
        )
    rows = datasets.Dataset.from_pandas(file.rows, preserve_index=False)
    return benchmark.Rows(rows, file.notes, path.name, file.sha256, design=("gender", "race", "group"), together=())


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
        preprocess: "ratemyprofessor", "bias_in_bios" and "reference_letters" (all of them) choose rows as LABE did
            (section 4.1.1, Appendix C).
        seed: for the draw of biographies.
        own_prompts: remove a prompt at the beginning of its text, or keep it; by default it is removed where there is a
            column of prompts.

    Raises:
        UsageError: for a file, a column or a preprocessing that does not exist or does not fit.
        EvenhandError: for a file that the system does not let us read.
    """
    path = Path(path)
    wanted = columns or TextColumns()
    places = [name for fields in (DEFAULT_PLACES, *PLACES.values()) for names in fields.values() for name in names]
    known = {name.casefold() for name in (*asdict(wanted).values(), *OTHER_TEXTS, *places) if name}
    table = read_rows(path, "text", "texts", known=known)
    found = _find_columns(path, table.columns, wanted, preprocess)
    if own_prompts and found.prompt is None:
        raise _no_column(path, "prompt", DEFAULT_PLACES["prompt"], table.columns)
    rows, unknown_genders = _read_cells(path, table, found, preprocess)
    notes = []
    if found.prompt and own_prompts != "keep":
        rows["text"], note = _strip_prompts(rows["text"].tolist(), table.column(found.prompt), found.prompt)
        notes += note
    chosen = choose_rows(rows, preprocess, seed)
    if chosen.rows.empty:
        left_out = ", ".join(f"{reason}: {n:,}" for reason, n in chosen.left_out.items() if n)
        raise UsageError(
            f"preprocessing {preprocess!r} leaves none of the {table.n:,} rows of {path} (left out by {left_out}); "
            "check the columns, or read it without preprocessing"
        )
    notes = [*chosen.notes, *notes, *_describe_gaps(chosen.rows, found, unknown_genders)]
    return TextFile(chosen.rows, chosen.left_out, tuple(notes), table.sha256, found)


def _find_columns(path: Path, names: Sequence[str], wanted: TextColumns, preprocess: Preprocess) -> TextColumns:
    """Find the file's column for each field."""
    places = DEFAULT_PLACES | PLACES[preprocess]
    generated = [each for each in names if each.endswith("_gen")]  # LABE's files: chatgpt_gen
    others = generated or [each for each in names if each in OTHER_TEXTS]
    if not PLACES[preprocess] and len(others) == 1:
        places["text"] = ("text", *others)
    found: dict[str, str | None] = {}
    for field, column in asdict(wanted).items():
        named = column != getattr(TextColumns, field)
        sought = ((column,) if column else ()) if named else places[field]
        found[field] = next((each for each in sought if each in names), None)
        if sought and found[field] is None and (named or field in NEEDED):
            raise _no_column(path, field, sought, names)
        if names.count(found[field]) > 1:
            raise UsageError(f"{path} has {names.count(found[field])} columns named {column!r}; rename all but one")
    if found["prompt"] == found["text"]:
        found["prompt"] = None
    return TextColumns(**found)  # type: ignore[arg-type]


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
    """Return all rows of the file in evenhand's words, and the gender values that are unknown."""
    named = asdict(columns).items()
    cells = {field: [None] * table.n if column is None else table.column(column) for field, column in named}
    labels = {field: [_label(cell) for cell in cells[field]] for field in ("gender", "race", "name", "group")}
    if preprocess == "bias_in_bios":
        labels["gender"] = [_decode(label, GENDERS) for label in labels["gender"]]
        labels["group"] = [_decode(label, PROFESSIONS) for label in labels["group"]]
    genders = [GENDER_OF.get(label.casefold(), "") for label in labels["gender"]]
    unknown = Counter(label for label, gender in zip(labels["gender"], genders) if label and not gender)
    if preprocess == "ratemyprofessor":
        genders = [gender.removeprefix("mostly_") for gender in genders]
        labels["group"] = [group.removesuffix(" department") for group in labels["group"]]  # as in Tables 14 and 17
    rows = {
        "id": [f"{path.stem}/{row}" for row in range(table.n)],
        "text": [_text(cell) for cell in cells["text"]],
        **labels | {"gender": genders, "race": [RACES.get(race.casefold(), race) for race in labels["race"]]},
    }
    return pd.DataFrame(rows, dtype=object), unknown


def _text(cell: object) -> str:
    text = cell.replace(NEWLINE, "\n") if isinstance(cell, str) else ""
    return text if text.strip() else ""


def _label(cell: object) -> str:
    return "" if cell is None or cell != cell else str(cell).strip()


def _decode(label: str, names: Sequence[str]) -> str:
    """Return the name that a code stands for, a whole number from 0 (1 or 1.0); "" for any other number."""
    try:
        number = float(label)
    except ValueError:
        return label
    return names[int(number)] if number.is_integer() and 0 <= number < len(names) else ""


def _strip_prompts(texts: Sequence[str], cells: Sequence[object], column: str) -> tuple[list[str], list[str]]:
    """Remove each text's own prompt from its beginning, with any white space between its words; and say how often.

    The published texts of Mistral and Llama-3 begin with their prompt: they were sent as plain text, without a chat
    template, and the whole output was kept.
    """
    stripped, n_own, n_other = [], 0, 0
    for text, prompt in zip(texts, map(_text, cells)):
        if text and prompt:
            words = r"\s*" + r"\s+".join(map(re.escape, prompt.split()))
            match = re.match(words + (r"(?!\w)" if prompt.rstrip()[-1].isalnum() else ""), text)
            n_own, n_other = n_own + bool(match), n_other + (not match)
            text = text[match.end() :].lstrip() if match else text
        stripped.append(text)
    began = f"Texts that begin with their own prompt (column {column!r})"
    if n_own:
        kept = "--own-prompts keep leaves it there, as in the paper's figures."
        return stripped, [f"{began}, which was removed: {n_own:,} of {n_own + n_other:,}. {kept}"]
    return stripped, [f"{began}: 0 of {n_other:,}."] if n_other else []


def _describe_gaps(rows: pd.DataFrame, columns: TextColumns, unknown_genders: Counter[str]) -> Iterator[str]:
    """State how many texts, genders and races are missing or unknown."""

    def count(of: pd.Series) -> str:
        return f"{of.sum():,} of {len(rows):,}" if of.any() else ""

    if empty := count(rows["text"] == ""):
        yield f"Texts that are missing or blank: {empty}. They count as unread."
    if unknown := count(rows["gender"] == ""):
        named = ", ".join(repr(textwrap.shorten(value, 40)) for value, _ in unknown_genders.most_common(MOST_NAMED))
        more = len(unknown_genders) - MOST_NAMED
        values = f" (such as {named}{f' and {more:,} more' if more > 0 else ''})" if named else ""
        yield f"Texts of unknown gender{values}: {unknown}. They count in no gender's figures."
    if mostly := count(rows["gender"].str.startswith("mostly_")):
        yield (
            f"Texts of mostly_male or mostly_female: {mostly}. These are genders of their own here; --preprocess "
            "ratemyprofessor merges them into male and female."
        )
    if columns.race is not None and (unknown := count(rows["race"] == "")):
        yield f"Texts of unknown race: {unknown}. They count in no race's figures."
