"""Where the texts that people label come from: packaged datasets, files, and finished runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import UsageError, unknown_name
from evenhand.flow.run_folder import RunFolder
from evenhand.library import dataset_names, load_dataset, packaged_dataset_names
from evenhand.paths import typed_path
from evenhand.row_files import as_text
from evenhand.tools.annotation.files import Sheet, read_sheet
from evenhand.tools.annotation.scheme import Item, Shown

if TYPE_CHECKING:
    import datasets


def read_source(source: str, rows_from: str = "evenhand") -> Sheet:
    """The rows of a dataset, a file or a finished run. Raises UsageError for what is none of these.

    rows_from: of a dataset, "evenhand" or "official", as `load_dataset` has it.
    """
    path = typed_path(source)
    if rows_from != "evenhand" and (path.suffix or path.exists()):
        raise UsageError(f"--source {rows_from} came, which is of datasets; {source} is a file or a run: leave it out")
    if path.is_dir():
        return read_sheet(RunFolder.open(path).predictions)
    if path.suffix or path.exists():
        return read_sheet(path, verbatim=True)
    return _dataset(source, rows_from)


def is_shown(source: str, shown: Shown) -> bool:
    """Whether the source is the packaged dataset, and no file or folder of that name."""
    path = typed_path(source)
    return source.partition(":")[0] == shown.dataset and not path.suffix and not path.exists()


def dataset_items(source: str, shown: Shown, rows_from: str = "evenhand") -> list[Item]:
    """The entries of a packaged dataset that a scheme was made for. Raises UsageError for a config of other columns."""
    import datasets

    items: list[Item] = []
    for part in _splits(source, rows_from, shown.config):
        part = part.select_columns([column for column in shown.reads if column in part.features])
        for column, kind in part.features.items():
            if isinstance(kind, datasets.Image):
                part = part.cast_column(column, datasets.Image(decode=False))
        names = {column: kind.names for column, kind in part.features.items() if isinstance(kind, datasets.ClassLabel)}
        try:
            for row in part.to_list():
                row |= {column: names[column][row[column]] for column in names if row[column] is not None}
                items.extend(shown.items(row))
        except KeyError as error:
            raise UsageError(
                f"{source} has no column {error}, which is judged; {shown.dataset}:{shown.config} has it"
            ) from error
    if not items:
        raise UsageError(f"{source} has no rows")
    return items


def _dataset(source: str, rows_from: str) -> Sheet:
    """All splits unless one is named. Classes by their names, and without images."""
    import datasets

    rows: list[dict[str, str]] = []
    for part in _splits(source, rows_from):
        features = part.features
        classes = [column for column, kind in features.items() if isinstance(kind, datasets.ClassLabel)]
        part = part.remove_columns([column for column, kind in features.items() if isinstance(kind, datasets.Image)])
        for row in part:
            row |= {column: features[column].int2str(row[column]) for column in classes if row[column] is not None}
            rows.append({column: as_text(cell) for column, cell in row.items()})
    if not rows:
        raise UsageError(f"{source} has no rows")
    return Sheet(source, tuple(rows[0]), tuple(rows), tuple(f"row {number}" for number in range(1, len(rows) + 1)))


def _splits(source: str, rows_from: str, default: str | None = None) -> list[datasets.Dataset]:
    """default: the configuration where none is named."""
    name, config, split, *more = [*source.split(":"), "", ""]
    if any(more):
        raise UsageError(f"{source!r} came; NAME, NAME:CONFIG or NAME:CONFIG:SPLIT is accepted")
    if rows_from != "official" and name in dataset_names() and name not in packaged_dataset_names():
        raise UsageError(f"{name} has published rows alone; add --source official, which reads them")
    splits = load_dataset(name, config or default, source=rows_from)
    if split and split not in splits:
        raise unknown_name(f"split of {name}", split, list(splits))
    return [splits[split]] if split else list(splits.values())
