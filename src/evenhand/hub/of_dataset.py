"""A packaged dataset's repository: its folder as it is, whose parquet is what its script builds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, files_of, matches, repository_id
from evenhand.library import DATASETS, dataset_version, refuse_unpackaged

CARD, SCRIPT, TASKS = "README.md", "loading_script.py", "eval.yaml"
SOURCES = ("sources/*", "sources/*/*")
ROWS = ("data/*/*.parquet",)
OWNED = (*ROWS, *SOURCES, SCRIPT, TASKS)


def dataset_contents(name: str, namespace: str, private: bool = False, datasets: Path = DATASETS) -> Contents:
    """Raises UsageError for unknown names, rows that the loading script does not build, and changed versions."""
    from evenhand.tools.dataset_upkeep.versions import differing_splits, split_files

    refuse_unpackaged(name)
    if differing := differing_splits(name, datasets):
        raise UsageError(
            f"dataset {name}: {', '.join(differing)} of data/ in {datasets / name} differ from what loading_script.py "
            f"builds; build them anew (python scripts/build_datasets.py {name}), or undo what was changed"
        )
    files = files_of(datasets / name)
    rows = {split: path.relative_to(datasets / name).as_posix() for split, path in split_files(name, datasets).items()}
    _refuse_odd_files(name, datasets / name, [*files], rows)
    return Contents(
        "dataset",
        repository_id(namespace, name),
        dict(files),
        title=f"Publish {name} with evenhand",
        tag=f"v{dataset_version(name)}",
        private=private,
        owned=OWNED,
        fixed=ROWS,
    )


def _refuse_odd_files(name: str, folder: Path, files: Sequence[str], rows: Mapping[str, str]) -> None:
    """files: the paths in the folder. rows: {"config/split": path of the parquet file that the script builds}.

    Raises UsageError naming all that is odd.
    """
    found = [*_others(files, rows), *_of_tasks(name, folder / TASKS)]
    if found:
        raise UsageError(f"dataset {name} is not published: {'; '.join(found[:5])}{' …' if found[5:] else ''}")


def _others(files: Sequence[str], rows: Mapping[str, str]) -> Iterator[str]:
    known = {CARD, SCRIPT, TASKS, *rows.values()}
    for path in files:
        if path not in known and not matches(path, SOURCES):
            yield f"{path} is no file of a dataset, and nothing reads it; take it out"


def _of_tasks(name: str, path: Path) -> Iterator[str]:
    """eval.yaml is written of the benchmark's tasks; the Hub refuses a commit with one that it can't read."""
    from evenhand.tools.dataset_upkeep.hub_tasks import eval_yaml

    due = eval_yaml(name)
    there = path.read_bytes() if path.is_file() else None
    if there != (None if due is None else due.encode()):
        what = "has no place there" if due is None else "is not what the benchmark's tasks are"
        yield f"{TASKS} {what}; write it anew (python scripts/build_datasets.py {name})"
