"""Labels of several annotators, merged: a majority vote as LABE took it (Appendix B.4).

An entry that anybody labelled "na" is out; a label that more than half gave is the majority's; other entries are
ambiguous, and out until a third annotator has decided them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import EvenhandError, UsageError
from evenhand.paths import typed_path
from evenhand.report.tables import Cell, Table
from evenhand.row_files.opening import refuse_twice
from evenhand.tools.annotation.files import Sheet, read_sheet, write_rows
from evenhand.tools.annotation.scheme import RESERVED, Scheme
from evenhand.tools.annotation.to_sheets import DEFAULT, ENTRY, SWAPPED

STATUSES = ("majority", "third", "ambiguous", "na", "incomplete")
KEPT = ("majority", "third")
_PROBLEMS_NAMED = 5


@dataclass(frozen=True)
class Merged:
    """Rows with the columns id, question, one a rater (in the order of `raters`), third (where one decided), majority
    and status; labels by their names in the scheme, "" where there is none.

    counts: `unknown_ids` and `unknown_labels`, those that were skipped, and `duplicates`, rows that repeat an entry
    without contradiction.
    """

    scheme: Scheme
    raters: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    counts: Mapping[str, int]

    def write(self, path: Path) -> None:
        write_rows(path, self.columns, self.rows)

    def skipped(self) -> str:
        ids, labels, duplicates = (self.counts[name] for name in ("unknown_ids", "unknown_labels", "duplicates"))
        return (
            f"Left out: {ids:,} unknown ids, {labels:,} labels not in the scheme. Duplicates, rows that repeat an "
            f"entry without contradiction: {duplicates:,}."
        )

    def left_empty(self) -> tuple[str, ...]:
        """Who left cells empty, or lacks rows, and how many of each question."""
        found = Counter(
            (rater, row["question"])
            for row in self.rows
            for rater in self.raters
            if rater != "default" and not row[rater]
        )
        of_each = len(self.rows) // len(self.scheme.questions)
        return tuple(
            f"Left empty by {rater}: {count:,} of {of_each:,} entries ({question})."
            for (rater, question), count in found.items()
        )

    def status_table(self) -> Table:
        """How many entries were kept, and why the others were not; under each question."""
        questions = [question.name for question in self.scheme.questions]
        found = Counter((row["question"], row["status"]) for row in self.rows)
        lines = [("kept", [sum(found[name, status] for status in KEPT) for name in questions])]
        for status in STATUSES:
            if status != "third" or "third" in self.columns:
                title = {"majority": "  by majority", "third": "  by the third annotator"}.get(status, status)
                lines.append((title, [found[name, status] for name in questions]))
        return _table("Entries", ("status", *questions), lines)

    def label_table(self) -> Table:
        """The labels of the entries that were kept."""
        questions = [question.name for question in self.scheme.questions]
        found = Counter((row["question"], row["majority"]) for row in self.rows if row["status"] in KEPT)
        labels = [label.name for label in self.scheme.labels if label.name not in self.scheme.na]
        lines = [(label, [found[name, label] for name in questions]) for label in labels]
        note = "A: the first of the two sources that were exported, B: the second." if self.scheme.sides else ""
        return _table("Labels of the entries kept", ("label", *questions), lines, note)


def _table(title: str, columns: Sequence[str], lines: Sequence[tuple[str, list[int]]], note: str = "") -> Table:
    rows = tuple((Cell(name), *(Cell(f"{count:,}") for count in counts)) for name, counts in lines)
    return Table(title, tuple(columns), rows, note)


@dataclass(frozen=True)
class Key:
    """What annotators did not see: ids by entry code, and by id, what was swapped and each question's default label."""

    ids: Mapping[str, str]
    swapped: frozenset[str]
    default: Mapping[str, Mapping[str, str]]


@dataclass
class _Labels:
    """What one annotator's file says: labels by (id, question), and what was odd."""

    found: dict[tuple[str, str], str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # where an id stood first
    unknown_ids: list[str] = field(default_factory=list)
    unknown_labels: list[str] = field(default_factory=list)
    duplicates: int = 0

    def add(self, entry: str, question: str, label: str, where: str) -> None:
        """Raises UsageError where the entry has another label already."""
        before = self.found.get((entry, question), "")
        if label and before and label != before:
            both = f"{where} and {self.places[entry]}: {entry!r} has two labels, {label!r} and {before!r}"
            raise UsageError(f"{both}; take one of the rows out")
        self.found[entry, question] = label or before


def is_merged(path: Path) -> bool:
    """Whether a file is what `Merged.write` writes."""
    try:
        columns = read_sheet(path).columns
    except EvenhandError:
        return False
    return columns[:2] == ("id", "question") and columns[-2:] == ("majority", "status")


def merge(
    sheets: Mapping[str, Path],
    scheme: Scheme,
    key: Path | None = None,
    with_default: bool = False,
    third: Path | None = None,
    skip_unknown: bool = False,
) -> Merged:
    """The labels of each annotator (name: labelled file) side by side, with their majority and its status.

    key: of the export; sheets that were not exported have a column id, and need none. with_default: the key's default
    labels vote like one more annotator's. third: labels that decide what is ambiguous. skip_unknown: leave out labels
    that are not in the scheme, and entries that are not in the key.
    Raises UsageError naming such labels and entries with their lines, an entry with two labels, and files or columns
    that are absent or don't fit.
    """
    _check_names(sheets)
    refuse_twice([*sheets.values(), *filter(None, (key, third))], "labels")
    known = read_key(key, scheme) if key else None
    if known is None and (scheme.sides or with_default):
        need = "the sides were swapped at random" if scheme.sides else "--with-default takes default labels from it"
        raise UsageError(f"--key is needed: {need}; name the export's OUT.key.csv")
    if with_default and known and not known.default:
        raise UsageError(f"{key} has no default labels; export with --label-column, or leave --with-default out")
    read = {name: _read_labels(read_sheet(path, verbatim=key is None), scheme, known) for name, path in sheets.items()}
    deciding = _read_labels(read_sheet(third, verbatim=key is None), scheme, known) if third else None
    everyone = [*read.values(), *([deciding] if deciding else [])]
    if not skip_unknown:
        _refuse_unknown(everyone, scheme)
    raters = (*sheets, "default") if with_default else tuple(sheets)
    ids = list(known.ids.values()) if known else sorted({entry for labels in everyone for entry, _ in labels.found})
    rows = []
    for question in scheme.questions:
        votes: dict[str, Mapping[str, str]] = {name: _of(labels.found, question.name) for name, labels in read.items()}
        if known and with_default and question.name in known.default:
            votes["default"] = known.default[question.name]
        decisions = _of(deciding.found, question.name) if deciding else None
        rows += [_row(entry, question.name, votes, decisions, raters, scheme) for entry in ids]
    counts = {
        "unknown_ids": sum(len(labels.unknown_ids) for labels in everyone),
        "unknown_labels": sum(len(labels.unknown_labels) for labels in everyone),
        "duplicates": sum(labels.duplicates for labels in everyone),
    }
    return Merged(scheme, raters, tuple(rows[0]), tuple(rows), counts)


def _of(found: Mapping[tuple[str, str], str], question: str) -> dict[str, str]:
    return {entry: label for (entry, asked), label in found.items() if asked == question}


def _row(
    entry: str,
    question: str,
    votes: Mapping[str, Mapping[str, str]],
    decisions: Mapping[str, str] | None,
    raters: Sequence[str],
    scheme: Scheme,
) -> dict[str, str]:
    """votes: rater: {id: label}. A rater whom nobody asked this question (the default labels) has none there."""
    given = {name: labels.get(entry, "") for name, labels in votes.items()}
    third = {} if decisions is None else {"third": decisions.get(entry, "")}
    majority, status = decide(list(given.values()), third.get("third", ""), scheme.na)
    shown = {name: given.get(name, "") for name in raters}
    return {"id": entry, "question": question, **shown, **third, "majority": majority, "status": status}


def decide(votes: Sequence[str], decision: str = "", na: Sequence[str] = ()) -> tuple[str, str]:
    """The label of an entry and its status (LABE, Appendix B.4).

    votes: a label a rater, "" where one is missing. decision: the third annotator's, which counts where no label has
    more than half of the votes.
    """
    if any(vote in na for vote in votes):
        return "", "na"
    if not votes or "" in votes:
        return "", "incomplete"
    [(label, most)] = Counter(votes).most_common(1)
    if 2 * most > len(votes):
        return label, "majority"
    if decision in na:
        return "", "na"
    return (decision, "third") if decision else ("", "ambiguous")


def read_key(path: Path, scheme: Scheme) -> Key:
    """Raises UsageError for a file that is no key of an export with this scheme."""
    sheet = read_sheet(path)
    needed = (ENTRY, "id", SWAPPED) if scheme.sides else (ENTRY, "id")
    if not {*needed} <= {*sheet.columns}:
        raise UsageError(
            f"{path} is no key of an export with scheme {scheme.name!r}: it has no column "
            f"{', '.join(name for name in needed if name not in sheet.columns)}; name the export's OUT.key.csv"
        )
    ids = [row["id"] for row in sheet.rows]
    if len({*ids}) < len(ids) or len({row[ENTRY] for row in sheet.rows}) < len(ids):
        raise UsageError(f"{path} has an entry twice; name the export's OUT.key.csv as it was written")
    default: dict[str, dict[str, str]] = {}
    for question in scheme.questions:
        column = DEFAULT + question.name
        if column in sheet.columns:
            labels = {entry: scheme.read(row[column]) for entry, row in zip(ids, sheet.rows)}
            default[question.name] = {entry: label for entry, label in labels.items() if label is not None}
            strange = [entry for entry, label in labels.items() if label is None]
            if strange:
                raise UsageError(f"{path}: the default label of {strange[0]!r} is none of {scheme.accepted()}")
    swapped = frozenset(entry for entry, row in zip(ids, sheet.rows) if scheme.sides and row[SWAPPED] == "yes")
    return Key({row[ENTRY]: row["id"] for row in sheet.rows}, swapped, default)


def annotator_files(named: Sequence[str]) -> dict[str, Path]:
    """NAME=FILE, or FILE, whose annotator is what stands last in its name: annotator-1 of sheet.annotator-1.csv."""
    files: dict[str, Path] = {}
    for each in named:
        name, equals, path = each.partition("=")
        if not equals or os.path.exists(each):
            name, path = Path(each).stem.rpartition(".")[2], each
        elif not (name.strip() and path.strip()):
            lacks = "an annotator's name before" if path.strip() else "a file behind"
            raise UsageError(
                f"{each!r} came, without {lacks} the =; NAME=FILE is accepted, as ada={path or 'labels.csv'}"
            )
        if name in files:
            raise UsageError(f"two files of annotator {name!r}: {files[name]} and {path}; name them: NAME=FILE")
        files[name] = typed_path(path)
    return files


def _check_names(sheets: Mapping[str, Path]) -> None:
    for name, path in sheets.items():
        if name in RESERVED or not name.strip():
            raise UsageError(f"annotator {name!r} came; columns of ours are named so: name another, as in ada={path}")


def _read_labels(sheet: Sheet, scheme: Scheme, key: Key | None) -> _Labels:
    if key is None and ENTRY in sheet.columns:
        raise UsageError(f"{sheet.name} was exported: --key is needed, which tells what its entries are (OUT.key.csv)")
    id_column = sheet.column(ENTRY if key else "id")
    columns = {question.name: sheet.column(question.name) for question in scheme.questions}
    labels = _Labels()
    for place, row in zip(sheet.places, sheet.rows):
        came, where = row[id_column].strip(), f"{sheet.name}, {place}"
        entry = key.ids.get(came, "") if key else came
        if not entry:
            labels.unknown_ids.append(f"{where}: {ENTRY if key else 'id'} {came!r}")
            continue
        labels.duplicates += entry in labels.places
        labels.places.setdefault(entry, place)
        for question, column in columns.items():
            label = scheme.read(row[column])
            if label is None:
                labels.unknown_labels.append(f"{where}: {question} {row[column]!r}")
            labels.add(entry, question, _unswapped(label or "", entry, scheme, key), where)
    return labels


def _unswapped(label: str, entry: str, scheme: Scheme, key: Key | None) -> str:
    """The label of the source that stood on the side which the annotator chose."""
    if key is None or scheme.sides is None or entry not in key.swapped or label not in scheme.sides:
        return label
    return scheme.sides[1 - scheme.sides.index(label)]


def _refuse_unknown(everyone: Sequence[_Labels], scheme: Scheme) -> None:
    ids = [problem for labels in everyone for problem in labels.unknown_ids]
    strange = [problem for labels in everyone for problem in labels.unknown_labels]
    problems = [*strange, *ids]
    if not problems:
        return
    more = len(problems) - _PROBLEMS_NAMED
    named = "; ".join(problems[:_PROBLEMS_NAMED]) + (f"; and {more:,} more" if more > 0 else "")
    accepted = [f"Labels accepted: {scheme.accepted()}."] if strange else []
    accepted += ["Entries accepted: those of the key that came with the sheets."] if ids else []
    raise UsageError(
        f"not understood: {named}. {' '.join(accepted)} Mend the files, or leave these out: --skip-unknown"
    )
