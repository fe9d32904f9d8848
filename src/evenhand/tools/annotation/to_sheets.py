"""Sheets for annotators: the same entries in a random order for each annotator, with an empty column per question.

What annotators should not see goes to a key file: default labels, which of two responses is on which side, and ids,
since some tell the label ("h-086/agentic"). Sheets name an entry by a code without meaning.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jinja2
import numpy as np

from evenhand.errors import UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.language_agency.sentences import sentence_id
from evenhand.options import option
from evenhand.output_files import check_output
from evenhand.paths import typed_path
from evenhand.row_files.opening import refuse_twice
from evenhand.tools.annotation.files import (
    check_suffix,
    format_rows,
    is_shown,
    read_items,
    read_sheet,
    read_source,
)
from evenhand.tools.annotation.schemes import Scheme, normalize
from evenhand.whole_files import explained, write_whole

DEFAULT = "default_"  # before a question's name: the column of its default labels
SWAPPED = "swapped"
ENTRY = "entry"
_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=jinja2.select_autoescape(["html"]),
    keep_trailing_newline=True,
    trim_blocks=True,
)


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    columns: tuple[str, ...] = option(
        (), "columns to show; by default text, or what the scheme shows", metavar="NAME", flag="column", repeated=True
    )
    each: str | None = option(
        None, "a column of lists, such as a run's sentences; each item is an entry", metavar="NAME"
    )
    context: tuple[str, ...] = option((), "pairwise: columns shown once per entry", metavar="NAME", repeated=True)
    id_column: str | None = option(None, "column of row ids; by default id, or else the row's number", metavar="NAME")
    label_column: tuple[str, ...] = option(
        (), "column of labels that rows already have", metavar="[QUESTION=]NAME", repeated=True
    )
    label_means: tuple[str, ...] = option(
        (), "the scheme's name for such a label", metavar="CAME=LABEL", repeated=True, needs="label_column"
    )
    show_label: bool = option(False, "show such labels to annotators, too", needs="label_column")
    source: Literal["evenhand", "official"] = option("evenhand", "rows of datasets: packaged or published")
    n: int | None = option(None, "number of entries to draw at random; all by default", least=1, metavar="N")
    seed: int = option(0, "random seed of the draw, the order and the sides", least=0, metavar="S")
    annotators: int = option(1, "number of sheets, each in another order", least=1, most=100, metavar="K")
    ambiguous_in: str | None = option(None, "a merged table: show only its ambiguous entries", metavar="MERGED")


@dataclass(frozen=True)
class ExportSettings(ExportOptions):
    """What to export, and where to.

    Attributes:
        sources: one source, or two to compare. Each is a dataset (NAME[:CONFIG[:SPLIT]]), a file or a run folder.
        output: the sheet, .csv or .jsonl; the other files are written next to it.
    """

    sources: tuple[str, ...]
    scheme: Scheme
    output: Path

    @property
    def texts(self) -> tuple[str, ...]:
        return self.columns or ("text",)

    @property
    def default_columns(self) -> dict[str, str]:
        """{question: column of its default labels}."""
        first = self.scheme.questions[0].name
        named = (each if "=" in each else f"{first}={each}" for each in self.label_column)
        return dict(each.partition("=")[::2] for each in named)


@dataclass(frozen=True)
class Exported:
    """The files that were written.

    Attributes:
        pages: the pictures of each sheet, where the scheme shows pictures.
        n: entries in each sheet.
        left_out: {why: number of entries of the sources}.
    """

    sheets: tuple[Path, ...]
    pages: tuple[Path, ...]
    instructions: Path
    key: Path
    n: int
    left_out: Mapping[str, int]

    def sentences(self) -> tuple[str, ...]:
        pages = f"; their pictures: {', '.join(map(str, self.pages))}" if self.pages else ""
        return (
            *(f"Left out, entries that {why}: {n:,}." for why, n in self.left_out.items() if n),
            f"{self.n:,} entries each: {', '.join(map(str, self.sheets))}{pages}",
            f"Instructions: {self.instructions}",
            f"Key, not for annotators: {self.key} (evenhand annotate import … --key {self.key})",
        )


@dataclass(frozen=True)
class Entry:
    """What annotators see of an entry, and what goes to the key. picture: a PNG, on a page next to the sheet."""

    id: str
    shown: Mapping[str, str]
    key: Mapping[str, str]
    picture: bytes = b""

    def code(self, seed: int) -> str:
        """Hash the texts and the seed, so that sheets of another export don't fit a key.

        It begins with a letter, since spreadsheets would read some codes as numbers.
        """
        return "e" + hashlib.sha256(repr((seed, self.id, [*self.shown.items()])).encode()).hexdigest()[:12]


def export(settings: ExportSettings) -> Exported:
    """Write OUT.csv (or OUT.annotator-1.csv, …), OUT.instructions.md, OUT.key.csv, and OUT.pictures.html of pictures.

    Raises:
        UsageError: for sources, columns or labels that don't fit, and for other files of these names: they may hold
            labels.
    """
    if problem := next(_find_problems(settings), None):
        raise UsageError(problem)
    check_output(settings.output, (), "new", lambda _: True)
    scheme, left_out = settings.scheme, dict[str, int]()
    chosen = settings.columns or settings.each or settings.id_column or settings.label_column
    shown = None if chosen or not scheme.shown or not is_shown(settings.sources[0], scheme.shown) else scheme.shown
    if shown:
        items = read_items(settings.sources[0], shown, settings.source)
        labels = [scheme.read(item.label) or "" for item in items]
        default = [DEFAULT + scheme.questions[0].name] if any(labels) else []
        keys = [dict.fromkeys(default, label) for label in labels]
        entries = [Entry(item.id, item.shown, key, item.picture) for item, key in zip(items, keys)]
    elif scheme.sides:
        entries, left_out = _pair_sources(settings)
    elif settings.each:
        entries = _split_lists(settings, settings.each)
    else:
        entries = _read_entries(settings)
    if settings.ambiguous_in:
        entries = _keep_ambiguous(entries, typed_path(settings.ambiguous_in))
    if settings.n is not None and settings.n > len(entries):
        raise UsageError(f"--n must be from 1 to {len(entries):,}, the number of entries, got {settings.n}")
    places = np.random.default_rng([settings.seed, 0]).permutation(len(entries))[: settings.n]
    entries = [entries[place] for place in sorted(places)]

    stem, suffix = settings.output.with_suffix(""), settings.output.suffix
    numbered = tuple(Path(f"{stem}.annotator-{number}{suffix}") for number in range(1, settings.annotators + 1))
    sheets = numbered if settings.annotators > 1 else (settings.output,)
    pages = tuple(Path(f"{sheet.with_suffix('')}.pictures.html") for sheet in sheets if shown and shown.pictures)
    found = Exported(sheets, pages, Path(f"{stem}.instructions.md"), Path(f"{stem}.key.csv"), len(entries), left_out)
    _write(_make_files(settings, found, entries))
    return found


def instructions(scheme: Scheme) -> str:
    """Write in Markdown what annotators read: the instructions, the columns to fill in, the labels."""
    return _TEMPLATES.get_template("instructions.md").render(scheme=scheme)


def _make_files(settings: ExportSettings, files: Exported, entries: Sequence[Entry]) -> dict[Path, bytes]:
    codes = [entry.code(settings.seed) for entry in entries]
    key = [{ENTRY: code, "id": entry.id, **entry.key} for code, entry in zip(codes, entries)]
    made = {files.key: format_rows(".csv", tuple(key[0]), key)}
    made[files.instructions] = instructions(settings.scheme).encode()
    questions = {question.name: "" for question in settings.scheme.questions}
    for annotator, sheet in enumerate(files.sheets):
        order = np.random.default_rng([settings.seed, 1 + annotator]).permutation(len(entries))
        rows = []
        for place in order:
            labels = {name: label for name, label in entries[place].key.items() if name.startswith(DEFAULT)}
            default = labels if settings.show_label else {}
            rows.append({ENTRY: codes[place], **entries[place].shown, **default, **questions})
        made[sheet] = format_rows(sheet.suffix, tuple(rows[0]), rows)
        if files.pages:
            pictures = [(codes[place], base64.b64encode(entries[place].picture).decode()) for place in order]
            made[files.pages[annotator]] = _TEMPLATES.get_template("pictures.html").render(pictures=pictures).encode()
    return made


def _write(files: Mapping[Path, bytes]) -> None:
    """Write files that don't exist, or are as this same export left them. Raises UsageError for others."""
    others = []
    for path, content in files.items():
        check_output(path, (), "new", lambda _: True)
        with explained(path):
            if os.path.lexists(path) and not (path.is_file() and path.read_bytes() == content):
                others.append(str(path))
    if others:
        raise UsageError(f"already there, perhaps with labels: {', '.join(others)}; choose another --output")
    for path, content in files.items():
        write_whole(path, content)


def _find_problems(settings: ExportSettings) -> Iterator[str]:
    """Name what doesn't fit together."""
    scheme, texts = settings.scheme, settings.texts
    questions = [question.name for question in scheme.questions]
    check_suffix(settings.output, (".csv", ".jsonl"))
    if len(settings.sources) != (2 if scheme.sides else 1):
        compares = "compares two sources" if scheme.sides else "shows the texts of one source"
        yield f"scheme {scheme.name!r} {compares}, got {len(settings.sources)}"
    refuse_twice((Path(source) for source in settings.sources if os.path.exists(source)), "texts")
    if scheme.sides and len(texts) != 1:
        yield f"--column must name one column to compare, got {len(texts)}; --context shows others"
    if scheme.sides and settings.label_column:
        yield f"scheme {scheme.name!r} compares texts and takes no default labels; remove --label-column"
    if settings.context and not scheme.sides:
        yield f"scheme {scheme.name!r} compares nothing; name every text with --column, not --context"
    if settings.each and (scheme.sides or settings.label_column or settings.columns or settings.id_column):
        yield "--each can't be combined with --column, --id-column, --label-column or a comparison"
    if wrong := [each for each in settings.label_means if not all(each.partition("="))]:
        yield f"--label-means must be CAME=LABEL, as 0=communal, got {wrong[0]!r}"
    if len(questions) > 1 and (bare := [named for named in settings.label_column if "=" not in named]):
        yield f"--label-column {bare[0]!r} names no question; write {questions[0]}={bare[0]}"
    if unknown := [question for question in settings.default_columns if question not in questions]:
        raise unknown_name(f"question of scheme {scheme.name}", unknown[0], questions)
    reserved = {name.casefold() for name in (ENTRY, "id", *questions, *(DEFAULT + each for each in questions))}
    if taken := [column for column in (*texts, *settings.context) if column.casefold() in reserved]:
        yield f"--column {taken[0]!r}: the sheets have a column of that name; rename it in the source"


def _read_entries(settings: ExportSettings) -> list[Entry]:
    default = settings.default_columns
    entries = []
    for entry, row in _read_by_id(settings, settings.sources[0], (*settings.texts, *default.values())).items():
        labels = {DEFAULT + name: _read_default(settings, entry, row[column]) for name, column in default.items()}
        entries.append(Entry(entry, {column: row[column] for column in settings.texts}, labels))
    return entries


def _split_lists(settings: ExportSettings, column: str) -> list[Entry]:
    """Make an entry of each distinct text in a column of lists, with an id made from the text."""
    sheet = read_source(settings.sources[0], settings.source)
    column = sheet.column(column, "--each")
    texts: dict[str, str] = {}
    for place, row in zip(sheet.places, sheet.rows):
        try:
            listed = json.loads(row[column] or "[]")
        except ValueError:
            listed = None
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise UsageError(f"{sheet.name}, {place}: --each needs a list of texts, such as a run's sentences")
        texts |= {sentence_id(text): text for text in listed if text.strip()}
    if not texts:
        raise UsageError(f"{sheet.name} has no text in its column {column!r}")
    return [Entry(entry, {"text": text}, {}) for entry, text in texts.items()]


def _read_default(settings: ExportSettings, entry: str, label: str) -> str:
    """Read a default label. Numbers need --label-means: 0 is neutral in Table 8, and communal in LAC's own files."""
    if not label:
        return ""
    meanings = dict(each.partition("=")[::2] for each in settings.label_means)
    is_number = normalize(label).lstrip("-").isdigit()
    found = settings.scheme.read(meanings.get(label, "" if is_number else label))
    if not found:
        names, advice = ", ".join(each.name for each in settings.scheme.labels), f"--label-means {label}=LABEL"
        raise UsageError(f"{settings.sources[0]}: the label {label!r} of {entry!r} is none of {names}; give {advice}")
    return found


def _pair_sources(settings: ExportSettings) -> tuple[list[Entry], dict[str, int]]:
    """Pair the entries of two sources by id, each pair's sides in random order. Count those that can't be compared."""
    [column] = settings.texts
    first = _read_by_id(settings, settings.sources[0], (column, *settings.context))
    second = _read_by_id(settings, settings.sources[1], (column,))
    sides = [f"response_{side.casefold()}" for side in settings.scheme.sides or ()]
    common = [entry for entry in first if entry in second]
    both = " and ".join(settings.sources)
    if not common:
        raise UsageError(f"{both} have no id in common; --id-column names what they share")
    entries = []
    for entry in common:
        context = {name: first[entry][name] for name in settings.context}
        if differing := [name for name, text in context.items() if second[entry].get(name, text) != text]:
            raise UsageError(f"--context {differing[0]!r} of {entry!r} is not the same in {both}")
        swapped = derive_seed(settings.seed, entry, agent="sides") % 2 == 1
        pair = [first[entry][column], second[entry][column]]
        if any(map(str.strip, pair)):
            shown = context | dict(zip(sides, reversed(pair) if swapped else pair))
            entries.append(Entry(entry, shown, {SWAPPED: "yes" if swapped else "no"}))
    if not entries:
        raise UsageError(f"{both}: the column {column!r} of all {len(common):,} common entries is empty; try --column")
    unpaired, unanswered = len(first) + len(second) - 2 * len(common), len(common) - len(entries)
    return entries, {"only one of the two sources has": unpaired, "neither source answers": unanswered}


def _read_by_id(settings: ExportSettings, source: str, columns: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Read rows by id (by number where the source has no ids), with the wanted columns under the names given."""
    sheet = read_source(source, settings.source)
    named = {column: sheet.column(column, "--column") for column in columns}
    has_ids = settings.id_column or "id" in [column.strip().casefold() for column in sheet.columns]
    id_column = sheet.column(settings.id_column or "id", "--id-column") if has_ids else None
    rows: dict[str, Mapping[str, str]] = {}
    for number, row in enumerate(sheet.rows):
        entry = row[id_column].strip() if id_column else f"{Path(sheet.name).stem}/{number}"
        if not entry or entry in rows:
            what = f"the id {entry!r} twice" if entry else "no id"
            raise UsageError(f"{sheet.name}, {sheet.places[number]}: {what}; give every entry an id of its own")
        rows[entry] = {**row, **{column: row[found] for column, found in named.items()}}
    return rows


def _keep_ambiguous(entries: Sequence[Entry], merged: Path) -> list[Entry]:
    table = read_sheet(merged)
    ids, status = table.column("id"), table.column("status")
    wanted = {row[ids] for row in table.rows if row[status] == "ambiguous"}
    missing = wanted - {entry.id for entry in entries}
    if missing or not wanted:
        what = f"ids that the source lacks, as {min(missing)!r}" if missing else "no ambiguous entry"
        raise UsageError(f"{merged} has {what}; name the merged table of this source's labels")
    return [entry for entry in entries if entry.id in wanted]
