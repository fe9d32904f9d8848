"""Sheets for annotators: the same entries in an order of each annotator's own, with an empty column a question.

What annotators should not see goes to a key file: default labels, which of two responses stands where, and ids, for
some of ours tell the label ("h-086/agentic"). Sheets call an entry by a code that says nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from evenhand.errors import UsageError, unknown_name
from evenhand.flow.episode import derive_seed
from evenhand.language_agency.sentences import sentence_id
from evenhand.output_files import check_output
from evenhand.row_files.opening import refuse_twice
from evenhand.tools.annotation.files import Sheet, check_suffix, read_sheet, write_rows
from evenhand.tools.annotation.picture_page import picture_page
from evenhand.tools.annotation.scheme import Scheme, Shown, is_number
from evenhand.tools.annotation.sources import dataset_items, is_shown, read_source
from evenhand.whole_files import write_whole

DEFAULT = "default_"  # before a question's name: the column of the default labels
SWAPPED = "swapped"
ENTRY = "entry"


@dataclass(frozen=True)
class ExportSettings:
    """What to show to whom.

    sources: one, or two whose texts are compared; each a dataset (name, name:config or name:config:split), a CSV, JSONL
    or parquet file, or a run folder. columns: the texts shown, by default `text`; context: of comparisons, what is
    shown once.
    labels: question: column of its default labels. meanings: a default label as it comes: the scheme's label.
    n: entries drawn at random; None: all. ambiguous_in: a merged table, whose ambiguous entries alone are shown.
    each: a column of lists of texts, such as a run's sentences, of which each different one is an entry.
    rows_from: of datasets, "evenhand", the packaged rows, or "official", the published ones.
    A scheme that was made for a dataset knows what to show of it, where no columns or labels are named.
    """

    sources: tuple[str, ...]
    scheme: Scheme
    output: Path
    columns: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    id_column: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    show_label: bool = False
    n: int | None = None
    seed: int = 0
    annotators: int = 1
    ambiguous_in: Path | None = None
    each: str | None = None
    rows_from: str = "evenhand"

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that are shown where no scheme knows better."""
        return self.columns or ("text",)


@dataclass(frozen=True)
class Exported:
    """The files that were written; n: entries in each sheet; left_out: entries that only one of two sources has;
    without_response: entries to which neither has a text, such as texts of which perplexity is measured.

    pages: the pictures of each sheet, where the scheme shows pictures.
    """

    sheets: tuple[Path, ...]
    pages: tuple[Path, ...]
    instructions: Path
    key: Path
    n: int
    left_out: int = 0
    without_response: int = 0

    def sentences(self) -> tuple[str, ...]:
        sheets = [f"Sheet: {sheet} ({self.n:,} entries)" for sheet in self.sheets]
        reasons = {
            "only one of the two sources has them": self.left_out,
            "neither source has a response to them": self.without_response,
        }
        return (
            *(f"Left out, since {reason}: {n:,}." for reason, n in reasons.items() if n),
            *sheets,
            *(f"Pictures, which go with the sheet: {page}" for page in self.pages),
            f"Instructions: {self.instructions}",
            f"Key, not for annotators: {self.key} (evenhand annotate import … --key {self.key})",
        )


@dataclass(frozen=True)
class Entry:
    """What annotators see, and what goes to the key with its id. picture: a PNG, on a page beside the sheet."""

    id: str
    shown: Mapping[str, str]
    key: Mapping[str, str]
    picture: bytes = b""

    def code(self, seed: int) -> str:
        """The same only for the same texts in the same places: sheets of another export, or seed, don't fit a key.

        A letter comes first, or spreadsheets would read some as numbers.
        """
        content = repr((seed, self.id, list(self.shown.items())))
        return "e" + hashlib.sha256(content.encode()).hexdigest()[:12]


def export(settings: ExportSettings) -> Exported:
    """Write OUT.csv (or OUT.annotator-1.csv, …), OUT.instructions.md, OUT.key.csv, and OUT.pictures.html of pictures.

    Raises UsageError for sources, columns or labels that don't fit, and for files that are there already: they may hold
    somebody's labels.
    """
    _check(settings)
    shown = _shown(settings)
    files = _files(settings, bool(shown and shown.pictures))
    left_out = without_response = 0
    if shown:
        entries = _made_for(settings, shown)
    elif settings.scheme.sides:
        found, left_out = _paired(settings)
        entries = [entry for entry in found if _is_answered(entry, settings.scheme)]
        without_response = len(found) - len(entries)
        if not entries:
            raise UsageError(
                f"{' and '.join(settings.sources)} have no response to any of {len(found):,} common entries: their "
                f"column {settings.texts[0]!r} is empty; --column names another"
            )
    else:
        entries = (_listed if settings.each else _single)(settings)
    if settings.ambiguous_in:
        entries = _ambiguous(entries, settings.ambiguous_in)
    entries = _drawn(entries, settings)
    hidden = tuple(entries[0].key)
    key = [{ENTRY: entry.code(settings.seed), "id": entry.id, **entry.key} for entry in entries]
    write_rows(files.key, (ENTRY, "id", *hidden), key)
    write_whole(files.instructions, instructions(settings.scheme))
    for annotator, sheet in enumerate(files.sheets):
        order = np.random.default_rng([settings.seed, 1 + annotator]).permutation(len(entries))
        rows = [_row(entries[place], settings) for place in order]
        write_rows(sheet, tuple(rows[0]), rows)
        if files.pages:
            pictures = [(entries[place].code(settings.seed), entries[place].picture) for place in order]
            write_whole(files.pages[annotator], picture_page(pictures))
    return replace(files, n=len(entries), left_out=left_out, without_response=without_response)


def instructions(scheme: Scheme) -> str:
    """What annotators read, in Markdown: the instructions, the columns to fill in, the labels."""
    questions = [f"- `{question.name}`: {question.text}" for question in scheme.questions]
    labels = [
        f"- `{label.name}`" + "".join(f" or `{also}`" for also in label.also) + f": {label.meaning}"
        for label in scheme.labels
    ]
    parts = [
        f"# Instructions: {scheme.name}",
        scheme.instructions.text,
        "## Columns to fill in\n\n" + "\n".join(questions),
        "## Labels\n\n" + "\n".join(labels),
        "Write one label into each of these columns, in every row. Leave the column `entry` as it is; rows may be put "
        "in another order. Save the file as CSV (UTF-8) or JSONL.",
        f"Source of the instructions: {scheme.instructions.source}.",
    ]
    return "\n\n".join(parts) + "\n"


def label_columns(named: Sequence[str], scheme: Scheme) -> dict[str, str]:
    """QUESTION=COLUMN, or COLUMN where the scheme has one question, as question: column."""
    columns = {}
    for each in named:
        question, equals, column = each.partition("=")
        if not equals and len(scheme.questions) > 1:
            first = scheme.questions[0].name
            raise UsageError(f"--label-column {each!r} came; name its question, as in --label-column {first}={each}")
        columns[question if equals else scheme.questions[0].name] = column if equals else each
    return columns


def meanings(named: Sequence[str]) -> dict[str, str]:
    """CAME=LABEL as came: label."""
    pairs = [each.partition("=") for each in named]
    for came, equals, label in pairs:
        if not (came and equals and label):
            raise UsageError(f"--label-means {came + equals + label!r} came; CAME=LABEL is accepted, as 0=communal")
    return {came: label for came, _, label in pairs}


# Checks


def _check(settings: ExportSettings) -> None:
    scheme = settings.scheme
    wanted = 2 if scheme.sides else 1
    if len(settings.sources) != wanted:
        compares = "compares two sources" if scheme.sides else "shows the texts of one source"
        raise UsageError(f"scheme {scheme.name!r} {compares}; {len(settings.sources)} came")
    refuse_twice((Path(source) for source in settings.sources if os.path.exists(source)), "texts")
    if scheme.sides and len(settings.texts) != 1:
        raise UsageError(f"one --column is compared, {len(settings.texts)} came; --context is shown beside it")
    if scheme.sides and settings.labels:
        raise UsageError(f"--label-column came; scheme {scheme.name!r} compares, and takes no default labels")
    if settings.context and not scheme.sides:
        raise UsageError(f"--context came; scheme {scheme.name!r} compares nothing: name every text with --column")
    if settings.each and (scheme.sides or settings.labels or settings.columns or settings.id_column):
        raise UsageError(
            "--each shows the texts of one column of lists, by ids of their own: no --column, --id-column, "
            "--label-column or comparison fits"
        )
    questions = [question.name for question in scheme.questions]
    for question in settings.labels:
        if question not in questions:
            raise unknown_name(f"question of scheme {scheme.name}", question, questions)
    taken = {name.casefold() for name in (ENTRY, "id", *questions, *(DEFAULT + each for each in questions))}
    for column in (*settings.texts, *settings.context):
        if column.casefold() in taken:
            raise UsageError(
                f"--column {column!r} came; the sheets have a column of that name: rename it in the source"
            )


def _files(settings: ExportSettings, pictures: bool) -> Exported:
    output = settings.output
    check_suffix(output, (".csv", ".jsonl"))
    stem, suffix = output.with_suffix(""), output.suffix
    numbered = [f"{stem}.annotator-{number}{suffix}" for number in range(1, settings.annotators + 1)]
    sheets = (output,) if settings.annotators == 1 else tuple(Path(name) for name in numbered)
    pages = tuple(Path(f"{sheet.with_suffix('')}.pictures.html") for sheet in sheets) if pictures else ()
    files = Exported(sheets, pages, Path(f"{stem}.instructions.md"), Path(f"{stem}.key.csv"), 0)
    written = (*sheets, *pages, files.instructions, files.key)
    for path in written:
        check_output(path, (), "new", lambda _: True)
    there = [str(path) for path in written if os.path.lexists(path)]
    if there:
        raise UsageError(f"already there, perhaps with labels: {', '.join(there)}; choose another --output")
    return files


# Entries


def _shown(settings: ExportSettings) -> Shown | None:
    """What the scheme shows by itself of the source: nothing where somebody said what to show."""
    shown = settings.scheme.shown
    said = settings.columns or settings.each or settings.id_column or settings.labels
    return shown if shown and not said and is_shown(settings.sources[0], shown) else None


def _made_for(settings: ExportSettings, shown: Shown) -> list[Entry]:
    """A row's own label goes to the key, where the scheme has it."""
    scheme, items = settings.scheme, dataset_items(settings.sources[0], shown, settings.rows_from)
    labels = [scheme.read(item.label) or "" for item in items]
    default = [DEFAULT + scheme.questions[0].name] if any(labels) else []
    return [
        Entry(item.id, item.shown, dict.fromkeys(default, label), item.picture) for item, label in zip(items, labels)
    ]


def _single(settings: ExportSettings) -> list[Entry]:
    rows = _by_id(
        read_source(settings.sources[0], settings.rows_from), settings, (*settings.texts, *settings.labels.values())
    )
    default = {question: DEFAULT + question for question in settings.labels}
    return [
        Entry(
            identity,
            {column: row[column] for column in settings.texts},
            {
                default[question]: _default(settings, identity, row[column])
                for question, column in settings.labels.items()
            },
        )
        for identity, row in rows.items()
    ]


def _listed(settings: ExportSettings) -> list[Entry]:
    """Each different text of a column of lists, by an id that its text gives it."""
    sheet = read_source(settings.sources[0], settings.rows_from)
    column = sheet.column(str(settings.each), "--each")
    texts: dict[str, str] = {}
    for place, row in zip(sheet.places, sheet.rows):
        for text in _texts_of(row[column], f"{sheet.name}, {place}"):
            texts.setdefault(sentence_id(text), text)
    if not texts:
        raise UsageError(f"{sheet.name} has no text in its column {column!r}")
    return [Entry(identity, {"text": text}, {}) for identity, text in texts.items()]


def _texts_of(cell: str, where: str) -> list[str]:
    """A list's texts; none of a missing one."""
    try:
        texts = json.loads(cell) if cell else []
    except ValueError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise UsageError(
            f"{where}: no list of texts stands there; --each takes a column of lists, as sentences of a run"
        )
    return [each for each in texts if each.strip()]


def _default(settings: ExportSettings, identity: str, came: str) -> str:
    """A default label of the scheme. Numbers are none: 0 is neutral in Table 8, and communal in LAC's own files."""
    if not came:
        return ""
    label = settings.scheme.read(settings.meanings.get(came, "" if is_number(came) else came))
    if not label:
        raise UsageError(
            f"{settings.sources[0]}: the default label of {identity!r} is {came!r}; scheme {settings.scheme.name!r} "
            f"accepts {', '.join(each.name for each in settings.scheme.labels)}: say what it means with --label-means "
            f"{came}=LABEL"
        )
    return label


def _paired(settings: ExportSettings) -> tuple[list[Entry], int]:
    """Entries of both sources, by id, with each response's side drawn at random; and how many only one has."""
    [column] = settings.texts
    first = _by_id(read_source(settings.sources[0], settings.rows_from), settings, (column, *settings.context))
    second = _by_id(read_source(settings.sources[1], settings.rows_from), settings, (column,))
    common = [identity for identity in first if identity in second]
    if not common:
        raise UsageError(f"{' and '.join(settings.sources)} have no id in common; --id-column names what they share")
    sides = _responses(settings.scheme)
    entries = []
    for identity in common:
        context = {name: first[identity][name] for name in settings.context}
        for name, text in context.items():
            if second[identity].get(name, text) != text:
                raise UsageError(
                    f"--context {name!r} of {identity!r} is not the same in {' and '.join(settings.sources)}"
                )
        swapped = derive_seed(settings.seed, identity, agent="sides") % 2 == 1
        pair = [first[identity][column], second[identity][column]]
        shown = context | dict(zip(sides, reversed(pair) if swapped else pair))
        entries.append(Entry(identity, shown, {SWAPPED: "yes" if swapped else "no"}))
    return entries, len(first) + len(second) - 2 * len(common)


def _responses(scheme: Scheme) -> list[str]:
    """The columns of a comparison's two texts."""
    return [f"response_{side.casefold()}" for side in scheme.sides or ()]


def _is_answered(entry: Entry, scheme: Scheme) -> bool:
    """Whether there is a text on either side: one that is empty beside one that isn't can be judged."""
    return any(entry.shown[side].strip() for side in _responses(scheme))


def _by_id(sheet: Sheet, settings: ExportSettings, columns: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """Rows by id (by place where the source has no column of ids); wanted columns under the names asked for."""
    named = {column: sheet.column(column, "--column") for column in columns}
    lower = [column.strip().casefold() for column in sheet.columns]
    id_column = sheet.column(settings.id_column or "id", "--id-column") if settings.id_column or "id" in lower else None
    rows: dict[str, Mapping[str, str]] = {}
    for place, row in enumerate(sheet.rows):
        identity = row[id_column].strip() if id_column else f"{Path(sheet.name).stem}/{place}"
        if not identity or identity in rows:
            what = f"the id {identity!r} twice" if identity else "no id"
            raise UsageError(f"{sheet.name}, {sheet.places[place]}: {what}; give every entry an id of its own")
        rows[identity] = {**row, **{column: row[found] for column, found in named.items()}}
    return rows


def _ambiguous(entries: Sequence[Entry], merged: Path) -> list[Entry]:
    table = read_sheet(merged)
    identities, status = table.column("id"), table.column("status")
    wanted = {row[identities] for row in table.rows if row[status] == "ambiguous"}
    missing = wanted - {entry.id for entry in entries}
    if missing or not wanted:
        what = f"ids that the source lacks, as {min(missing)!r}" if missing else "no ambiguous entry"
        raise UsageError(f"{merged} has {what}; name the merged table of this source's labels")
    return [entry for entry in entries if entry.id in wanted]


def _drawn(entries: Sequence[Entry], settings: ExportSettings) -> list[Entry]:
    if settings.n is not None and not 0 < settings.n <= len(entries):
        raise UsageError(f"--n {settings.n} came; from 1 to {len(entries):,}, the number of entries, is accepted")
    places = np.random.default_rng([settings.seed, 0]).permutation(len(entries))[: settings.n]
    return [entries[place] for place in sorted(places)]


def _row(entry: Entry, settings: ExportSettings) -> dict[str, str]:
    questions = [question.name for question in settings.scheme.questions]
    default = {name: label for name, label in entry.key.items() if name.startswith(DEFAULT) and settings.show_label}
    return {ENTRY: entry.code(settings.seed), **entry.shown, **default, **dict.fromkeys(questions, "")}
