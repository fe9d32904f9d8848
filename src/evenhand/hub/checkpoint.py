"""A checkpoint's repository: adapter or full weights, tokenizer, chat template, training.json and the card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.foreign_files import shortened
from evenhand.hub.contents import CARD, Contents, check_repository_id, files_of, repository_id
from evenhand.paths import typed_path
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED, RECORD, base_of, is_folder, without_folders

if TYPE_CHECKING:
    from evenhand.hub.publish_command import ModelOptions

ADAPTER, CONFIG, UNFINISHED = "adapter_config.json", "config.json", ".asked.json"
_SHARD = "[0-9]" * 5
OWNED = (
    "model.safetensors", f"model-{_SHARD}-of-{_SHARD}.safetensors", "model.safetensors.index.json",
    "adapter_model.safetensors", ADAPTER, RECORD,
)  # fmt: skip


def model_contents(name: str, asked: ModelOptions) -> Contents:
    """Return a checkpoint's repository. name: the checkpoint's folder.

    Raises UsageError for what is no finished checkpoint, for an adapter whose base others could not find, and for runs
    of other models.
    """
    folder = typed_path(name).resolve()
    _check_finished(folder)
    repo_id = repository_id(str(asked.namespace), asked.name or folder.name, "--name gives it another name")
    files: dict[str, Path | bytes] = dict(files_of(folder, deep=False))
    _read_object(folder / CONFIG)
    adapter, record = _read_object(folder / ADAPTER), _read_object(folder / RECORD)
    with _naming_damage(folder / ADAPTER):
        base = asked.base or _find_public_base(adapter.get("base_model_name_or_path") or base_of(record))
    if base is not None:
        check_repository_id(base, "--base is the base model's id")
    if ADAPTER in files:
        if base is None:
            raise UsageError(f"{folder} is an adapter of a local model; name its base's id on the Hub with --base ID")
        files[ADAPTER] = _as_json({**adapter, "base_model_name_or_path": base})
    if record:
        with _naming_damage(folder / RECORD):
            files[RECORD] = _as_json(_remove_folders(record, base))
    files[CARD] = _write_card(folder, asked.runs, base, repo_id).encode()
    return Contents(
        "model",
        repo_id,
        files,
        title=f"Publish {repo_id.partition('/')[2]} with evenhand",
        tag=f"v{asked.version}",
        private=asked.private,
        owned=OWNED,
        fixed=("*.safetensors", "*.safetensors.index.json"),
        base=base,
    )


def _check_finished(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name the folder of a checkpoint, as evenhand train leaves one")
    if (folder / UNFINISHED).exists():
        raise UsageError(f"{folder} holds an unfinished training; repeat its command to finish it")
    has_config = (folder / ADAPTER).is_file() or (folder / CONFIG).is_file()
    if not has_config or not any(folder.glob("*.safetensors")):
        raise UsageError(f"{folder} is no checkpoint: it needs {CONFIG} or {ADAPTER}, and weights in safetensors")


def _find_public_base(named: str | None) -> str | None:
    """Return the base model's id on the Hub; None where it is a local folder, or unknown."""
    if not named or is_folder(named):
        return None
    return PUBLIC_ID_OF_EMBEDDED if named == "embedded" else named


def _read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one where there is no file."""
    with _naming_damage(path):
        return {**json.loads(path.read_text(encoding="utf-8"))} if path.is_file() else {}


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Raise UsageError naming the file, where reading what it holds fails within."""
    try:
        yield
    except EvenhandError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else shortened(error)
        raise UsageError(f"{path} is damaged ({what}); save the checkpoint again, or correct the file") from error


def _remove_folders(record: Mapping[str, Any], base: str | None) -> dict[str, Any]:
    """Return the record with the last part of paths alone, and with the base's public id where it is known."""
    of_base = dict(record.get("base") or {})
    model, identity = of_base.get("model"), of_base.get("identity")
    paths = ["mix", "pairs"]  # settings of a training that name files of the machine
    if isinstance(model, str) and is_folder(model):
        paths.append("model")
        of_base["model"] = base or Path(model).name
        if isinstance(identity, str):  # "/home/ann/base@0123456789abcdef float32": the fingerprint stays
            of_base["identity"] = "".join((of_base["model"], *identity.rpartition("@")[1:]))
    recipe = {name: without_folders(value, name in paths) for name, value in record.get("recipe", {}).items()}
    return {**record, "recipe": recipe, "base": of_base}


def _as_json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _write_card(folder: Path, runs: Sequence[Path], base: str | None, repo_id: str) -> str:
    """Return the card: written from training.json and runs, unless it was written by hand.

    Raises UsageError where there is neither training.json nor a card, and for runs with a card written by hand.
    """
    from evenhand.hub.cards.model import model_card

    path = folder / CARD
    with _naming_damage(path):
        written = path.read_text(encoding="utf-8") if path.is_file() else None
    if (folder / RECORD).is_file():
        with _naming_damage(folder / RECORD):
            if written is None or written == model_card(folder):
                return model_card(folder, runs, base, repo_id)
    if written is None:
        raise UsageError(f"{folder} has no {CARD}: write its card, which says what it is and what it is not for")
    if runs:
        raise UsageError(f"{path} was not written by evenhand, or was changed; remove --runs, or move the card away")
    return written
