"""A packaged dataset's repository: its folder as it is, whose parquet is what its script builds."""

from __future__ import annotations

from pathlib import Path

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, files_of, repository_id
from evenhand.hub.dataset_files import refuse_odd_files
from evenhand.library import DATASETS, dataset_version, refuse_unpackaged

ROWS = ("data/*/*.parquet",)
OWNED = (*ROWS, "sources/*", "sources/*/*", "loading_script.py", "eval.yaml")


def dataset_contents(name: str, namespace: str, private: bool = False, datasets: Path = DATASETS) -> Contents:
    """Raises UsageError for unknown names, rows that the loading script does not build, and changed versions."""
    from evenhand.tools.dataset_upkeep.building import differing_splits
    from evenhand.tools.dataset_upkeep.versions import split_files

    refuse_unpackaged(name)
    if differing := differing_splits(name, datasets):
        raise UsageError(
            f"dataset {name}: {', '.join(differing)} of data/ in {datasets / name} differ from what loading_script.py "
            f"builds; build them anew (python scripts/build_datasets.py {name}), or undo what was changed"
        )
    files = files_of(datasets / name)
    rows = {split: path.relative_to(datasets / name).as_posix() for split, path in split_files(name, datasets).items()}
    refuse_odd_files(name, datasets / name, [*files], rows)
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
