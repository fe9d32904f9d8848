"""Whether a dataset's folder holds what it says: no file more, none less, in its card and in eval.yaml, too.

`load_dataset` reads by the card's `data_files`: what is missing fails there, and what is not named is never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.hub.contents import matches

CARD, SCRIPT, TASKS = "README.md", "loading_script.py", "eval.yaml"
SOURCES = ("sources/*", "sources/*/*")


def refuse_odd_files(name: str, folder: Path, files: Sequence[str], rows: Mapping[str, str]) -> None:
    """files: the paths in the folder. rows: {"config/split": path of the parquet file that the script builds}.

    Raises UsageError naming all that is odd.
    """
    found = [*_others(files, rows), *_of_card(folder / CARD, rows), *_of_tasks(name, folder / TASKS)]
    if found:
        raise UsageError(f"dataset {name} is not published: {'; '.join(found[:5])}{' …' if found[5:] else ''}")


def _others(files: Sequence[str], rows: Mapping[str, str]) -> Iterator[str]:
    known = {CARD, SCRIPT, TASKS, *rows.values()}
    for path in files:
        if path not in known and not matches(path, SOURCES):
            yield f"{path} is no file of a dataset, and nothing reads it; take it out"


def _of_card(card: Path, rows: Mapping[str, str]) -> Iterator[str]:
    """What the card's configurations name, against what is there."""
    from huggingface_hub import DatasetCard

    try:
        told = DatasetCard(card.read_text(encoding="utf-8")).data.to_dict()  # type: ignore[no-untyped-call]
        named = dict(_named(told))
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        yield f"{CARD}'s configurations can't be read ({error}): each needs config_name, data_files with split, path"
        return
    for split, path in named.items():
        if split not in rows:
            yield f"{CARD} names {path} for {split}, which is not there"
        elif path != rows[split]:
            yield f"{CARD} names {path} for {split}, and its rows are in {rows[split]}"
    for split in sorted(rows.keys() - named.keys()):
        yield f"{CARD} does not name {rows[split]}, so that nobody would find {split}"


def _named(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """("config/split", path) of each data file."""
    for config in card.get("configs", []):
        for each in config["data_files"]:
            yield f"{config['config_name']}/{each['split']}", str(each["path"])


def _of_tasks(name: str, path: Path) -> Iterator[str]:
    """eval.yaml is written of the benchmark's tasks; the Hub refuses a commit with one that it can't read."""
    from evenhand.tools.dataset_upkeep.hub_tasks import eval_yaml

    due = eval_yaml(name)
    there = path.read_bytes() if path.is_file() else None
    if there != (None if due is None else due.encode()):
        what = "has no place there" if due is None else "is not what the benchmark's tasks are"
        yield f"{TASKS} {what}; write it anew (python scripts/build_datasets.py {name})"
