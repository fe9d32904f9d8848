"""Labels of several annotators, merged by majority vote as in LABE (Appendix B.4).

An entry that anyone labelled "na" is out. A label that more than half gave is the majority's. Other entries are
ambiguous, and out until a third annotator decides them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import EvenhandError, UsageError
from evenhand.paths import typed_path
from evenhand.report.tables import Cell, Table, count
from evenhand.row_files.opening import refuse_twice
from evenhand.tools.annotation.files import read_sheet, write_rows
from evenhand.tools.annotation.schemes import RESERVED, Scheme
from evenhand.tools.annotation.to_sheets import DEFAULT, ENTRY, SWAPPED

STATUSES = {
    "majority": "  by majority",
    "third": "  by the third annotator",
    "ambiguous": "ambiguous",
    "na": "na",
    "incomplete": "incomplete",
}
KEPT = ("majority", "third")
ODD = ("unknown_ids", "unknown_labels", "duplicates")  # what is counted of the rows of each sheet
_PROBLEMS_NAMED = 5


@dataclass(frozen=True)
class Merged:
    """Labels side by side, one row per entry and question.

    Attributes:
        columns: id, question, one per rater, third (where there is a third annotator), majority, status.
        rows: labels by their names in the scheme; "" where there is none.
        counts: `unknown_ids` and `unknown_labels` that were skipped; `duplicates`, rows that repeat an entry.
    """

    scheme: Scheme
    raters: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    counts: Mapping[str, int]

    def write(self, path: Path) -> None:
        write_rows(path, self.columns, self.rows)

    def sentences(self) -> tuple[str, ...]:
        """Count what was left out, and the empty cells and missing rows of each rater."""
        people = [rater for rater in self.raters if rater != "default"]
        empty = Counter((rater, row["question"]) for row in self.rows for rater in people if not row[rater])
        n = len(self.rows) // len(self.scheme.questions)
        return (
            f"Left out: {self.counts['unknown_ids']:,} unknown ids, {self.counts['unknown_labels']:,} labels not in "
            f"the scheme. Duplicates, rows that repeat an entry: {self.counts['duplicates']:,}.",
            *(f"Left empty by {rater}: {k:,} of {n:,} entries ({question})." for (rater, question), k in empty.items()),
        )

    def tables(self) -> tuple[Table, Table]:
        """Count entries by status, and the labels of the entries that were kept."""
        questions = [question.name for question in self.scheme.questions]
        found = Counter((row["question"], row["status"]) for row in self.rows)
        kept = Counter((row["question"], row["majority"]) for row in self.rows if row["status"] in KEPT)
        statuses = {"kept": [sum(found[name, status] for status in KEPT) for name in questions]}
        for status, title in STATUSES.items():
            if status != "third" or "third" in self.columns:
                statuses[title] = [found[name, status] for name in questions]
        names = [label.name for label in self.scheme.labels if label.name not in self.scheme.na]
        labels = {label: [kept[name, label] for name in questions] for label in names}
        note = "A: the first of the two sources that were exported, B: the second." if self.scheme.sides else ""
        rows, label_rows = (
            tuple((Cell(title), *map(count, counts)) for title, counts in lines.items()) for lines in (statuses, labels)
        )
        kept_labels = Table("Labels of the entries kept", ("label", *questions), label_rows, note)
        return Table("Entries", ("status", *questions), rows), kept_labels


@dataclass(frozen=True)
class Key:
    """What annotators did not see.

    Attributes:
        ids: {entry code: id}.
        swapped: ids of the comparisons whose second source was shown on the left.
        default: {question: {id: default label}}.
    """

    ids: Mapping[str, str]
    swapped: frozenset[str]
    default: Mapping[str, Mapping[str, str]]


@dataclass
class Labels:
    """One annotator's labels: {question: {id: label}}, the place where each id was first, and what was odd."""

    found: dict[str, dict[str, str]]
    places: dict[str, str] = field(default_factory=dict)
    odd: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in ODD})


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
    """Merge the labels of several annotators by majority vote.

    Args:
        sheets: {annotator: labelled file}.
        key: the export's key. Sheets of other tools have a column id instead.
        with_default: let the key's default labels vote like one more annotator's.
        third: labels that decide ambiguous entries.
        skip_unknown: leave out labels that are not in the scheme, and entries that are not in the key.

    Raises:
        UsageError: for unknown labels and entries, an entry with two labels, and files that don't fit.
    """
    for name, path in sheets.items():
        if name in RESERVED or not name.strip():
            raise UsageError(f"an annotator can't be named {name!r}, as a column is; name another, as in ada={path}")
    refuse_twice([*sheets.values(), *filter(None, (key, third))], "labels")
    known = read_key(key, scheme) if key else None
    if known is None and (scheme.sides or with_default):
        need = "the sides were swapped at random" if scheme.sides else "--with-default takes default labels from it"
        raise UsageError(f"--key is needed: {need}; name the export's OUT.key.csv")
    if with_default and known and not known.default:
        raise UsageError(f"{key} has no default labels; export with --label-column, or remove --with-default")
    read = {name: read_labels(path, scheme, known) for name, path in sheets.items()}
    deciding = read_labels(third, scheme, known) if third else None
    everyone = [*read.values(), *([deciding] if deciding else [])]
    odd = {kind: [place for labels in everyone for place in labels.odd[kind]] for kind in ODD}
    if not skip_unknown and (problems := odd["unknown_labels"] + odd["unknown_ids"]):
        more = f"; and {len(problems) - _PROBLEMS_NAMED:,} more" if len(problems) > _PROBLEMS_NAMED else ""
        what = (
            f"a label of the scheme ({scheme.accepted()})" if odd["unknown_labels"] else "entries of the export's key"
        )
        named = f"{'; '.join(problems[:_PROBLEMS_NAMED])}{more}. Expected {what}"
        raise UsageError(f"not understood: {named}. Fix the files, or skip these: --skip-unknown")
    raters = (*sheets, "default") if with_default else tuple(sheets)
    ids = list(known.ids.values()) if known else sorted({entry for labels in everyone for entry in labels.places})
    rows = []
    for question in (each.name for each in scheme.questions):
        votes: dict[str, Mapping[str, str]] = {name: labels.found[question] for name, labels in read.items()}
        if known and with_default and question in known.default:  # of other questions there is no default label
            votes["default"] = known.default[question]
        for entry in ids:
            given = {name: labels.get(entry, "") for name, labels in votes.items()}
            decision = {"third": deciding.found[question].get(entry, "")} if deciding else {}
            majority, status = decide(list(given.values()), decision.get("third", ""), scheme.na)
            labels = {name: given.get(name, "") for name in raters} | decision
            rows.append({"id": entry, "question": question, **labels, "majority": majority, "status": status})
    return Merged(scheme, raters, tuple(rows[0]), tuple(rows), {kind: len(places) for kind, places in odd.items()})


def decide(votes: Sequence[str], decision: str = "", na: Sequence[str] = ()) -> tuple[str, str]:
    """Decide the label of an entry and its status (LABE, Appendix B.4).

    Args:
        votes: one label per rater, "" where one is missing.
        decision: the third annotator's label, which counts where no label has more than half of the votes.
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
    """Read the key of an export. Raises UsageError for a file that is no key of an export with this scheme."""
    sheet = read_sheet(path)
    needed = (ENTRY, "id", SWAPPED) if scheme.sides else (ENTRY, "id")
    if missing := [name for name in needed if name not in sheet.columns]:
        what = f"key of an export with scheme {scheme.name!r}"
        raise UsageError(f"{path} is no {what}: it has no column {', '.join(missing)}; name the export's OUT.key.csv")
    ids = {row[ENTRY]: row["id"] for row in sheet.rows}
    if len({*ids.values()}) < len(sheet.rows):
        raise UsageError(f"{path} has an entry twice; name the export's OUT.key.csv as it was written")
    default: dict[str, dict[str, str]] = {}
    for question in (each.name for each in scheme.questions if DEFAULT + each.name in sheet.columns):
        labels = {row["id"]: scheme.read(row[DEFAULT + question]) for row in sheet.rows}
        if unknown := [entry for entry, label in labels.items() if label is None]:
            raise UsageError(f"{path}: the default label of {unknown[0]!r} is none of {scheme.accepted()}")
        default[question] = {entry: label or "" for entry, label in labels.items()}
    swapped = frozenset(row["id"] for row in sheet.rows if scheme.sides and row[SWAPPED] == "yes")
    return Key(ids, swapped, default)


def name_annotators(arguments: Sequence[str]) -> dict[str, Path]:
    """Parse NAME=FILE, or FILE; the annotator of sheet.annotator-1.csv is annotator-1."""
    files: dict[str, Path] = {}
    for each in arguments:
        name, equals, path = each.partition("=")
        if not equals or os.path.exists(each):
            name, path = Path(each).stem.rpartition(".")[2], each
        elif not (name.strip() and path.strip()):
            raise UsageError(f"files must be NAME=FILE, as ada={path or 'labels.csv'}, got {each!r}")
        if name in files:
            raise UsageError(f"two files of annotator {name!r}: {files[name]} and {path}; name them: NAME=FILE")
        files[name] = typed_path(path)
    return files


def read_labels(path: Path, scheme: Scheme, key: Key | None) -> Labels:
    """Read one annotator's labels by id, those of swapped comparisons turned to their source.

    Raises UsageError where an entry has two labels.
    """
    sheet = read_sheet(path, verbatim=key is None)
    if key is None and ENTRY in sheet.columns:
        raise UsageError(f"{sheet.name} was exported: --key is needed, which has the ids of its entries (OUT.key.csv)")
    name = ENTRY if key else "id"
    id_column = sheet.column(name)
    columns = {question.name: sheet.column(question.name) for question in scheme.questions}
    labels = Labels({question: {} for question in columns})
    for place, row in zip(sheet.places, sheet.rows):
        code = row[id_column].strip()
        entry = key.ids.get(code, "") if key else code
        if not entry:
            labels.odd["unknown_ids"].append(f"{sheet.name}, {place}: {name} {code!r}")
            continue
        if entry in labels.places:
            labels.odd["duplicates"].append(entry)
        first = labels.places.setdefault(entry, place)
        for question, column in columns.items():
            label = scheme.read(row[column])
            if label is None:
                labels.odd["unknown_labels"].append(f"{sheet.name}, {place}: {question} {row[column]!r}")
            elif scheme.sides and key and entry in key.swapped and label in scheme.sides:
                label = scheme.sides[1 - scheme.sides.index(label)]
            before = labels.found[question].get(entry, "")
            if label and before and label != before:
                both = f"{sheet.name}, {place} and {first}: {entry!r} has two labels, {label!r} and {before!r}"
                raise UsageError(f"{both}; remove one of the rows")
            labels.found[question][entry] = label or before
    return labels
