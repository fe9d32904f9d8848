"""A packaged dataset's repository: its folder as it is, whose parquet is what its script builds."""

from __future__ import annotations

from pathlib import Path

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, files_of, repository_id
from evenhand.library import DATASETS, dataset_version, refuse_unpackaged

ROWS = ("data/*/*.parquet",)
OWNED = (*ROWS, "sources/*", "sources/*/*", "loading_script.py", "eval.yaml")


def dataset_contents(name: str, namespace: str, private: bool = False, datasets: Path = DATASETS) -> Contents:
    """Raises UsageError for unknown names, rows that the loading script does not build, and changed versions."""
    from evenhand.tools.dataset_upkeep.building import differing_splits

    refuse_unpackaged(name)
    if differing := differing_splits(name, datasets):
        raise UsageError(
            f"dataset {name}: {', '.join(differing)} of data/ in {datasets / name} differ from what loading_script.py "
            f"builds; build them anew (python scripts/build_datasets.py {name}), or undo what was changed"
        )
    return Contents(
        "dataset",
        repository_id(namespace, name),
        files_of(datasets / name),
        title=f"Publish {name} with evenhand",
        tag=f"v{dataset_version(name)}",
        private=private,
        owned=OWNED,
        fixed=ROWS,
    )
