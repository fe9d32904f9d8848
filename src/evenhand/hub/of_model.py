"""A checkpoint's repository: adapter or full weights, tokenizer, template, training.json and the card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.foreign_files import shortened
from evenhand.hub.contents import Contents, files_of, refuse_secret, repository_id
from evenhand.paths import typed_path
from evenhand.training_record import PUBLIC_ID_OF_EMBEDDED, RECORD, base_of, is_folder, training_record, without_folders

ADAPTER, CARD, UNFINISHED = "adapter_config.json", "README.md", ".asked.json"
WEIGHTS = ("*.safetensors", "*.safetensors.index.json")
_SHARD = "[0-9]" * 5
OWNED = (
    "model.safetensors", f"model-{_SHARD}-of-{_SHARD}.safetensors", "model.safetensors.index.json",
    "adapter_model.safetensors", ADAPTER, RECORD,
)  # fmt: skip
_OF_FILES = ("mix", "pairs")  # of a recipe, what names files of the machine of whoever trained, or is a single word


def model_contents(
    name: str,
    namespace: str,
    private: bool = False,
    repository: str | None = None,
    base: str | None = None,
    version: str = "1.0.0",
    runs: Sequence[Path] = (),
) -> Contents:
    """name: the checkpoint's folder. repository: its name on the Hub, the folder's by default. base: the base model's
    id on the Hub, in place of a local folder's name. runs: of the checkpoint and of its base, for the card.

    Raises UsageError for what is no finished checkpoint, for an adapter whose base nobody else could find, and for runs
    that say nothing of it.
    """
    folder = typed_path(name).resolve()
    _refuse_unfinished(folder)
    for file in (ADAPTER, RECORD, "config.json"):
        _object(folder / file)
    repo_id = repository_id(namespace, repository or folder.name, "--name gives it another name than the folder's")
    if base is not None:
        _refuse_no_id(base)
    record = training_record(str(folder))
    named = base or _public_base(folder, record)
    files: dict[str, Path | bytes] = dict(files_of(folder, deep=False))
    if ADAPTER in files:
        if named is None:
            raise UsageError(
                f"{folder} is an adapter of a model in a local folder, which nobody else could load; name the base "
                "model's id on the Hub with --base ID"
            )
        files[ADAPTER] = _with_base(folder / ADAPTER, named)
    if record:
        with _as_trained(folder / RECORD):
            files[RECORD] = _as_json(_without_places(record, named))
    files[CARD] = _card(folder, runs, named, repo_id).encode()
    return Contents(
        "model",
        repo_id,
        files,
        title=f"Publish {repo_id.partition('/')[2]} with evenhand",
        tag=f"v{version}",
        private=private,
        owned=OWNED,
        fixed=WEIGHTS,
        base=named,
    )


def _refuse_no_id(base: str, which: str = "--base") -> None:
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    refuse_secret(base)
    try:
        validate_repo_id(base)
    except HFValidationError as error:
        raise UsageError(
            f"{which} {base[:100]!r} came; the base model's id on the Hub is accepted, ORG/NAME (--base says it)"
        ) from error


def _refuse_unfinished(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name the folder of a checkpoint, as evenhand train leaves one")
    if (folder / UNFINISHED).exists():
        raise UsageError(f"{folder} holds a training that was cut off; repeat its command to finish it")
    whole = (folder / ADAPTER).is_file() or (folder / "config.json").is_file()
    if not whole or not any(folder.glob("*.safetensors")):
        raise UsageError(
            f"{folder} is no checkpoint: config.json or {ADAPTER} is needed, and weights in safetensors beside it"
        )


def _public_base(folder: Path, record: Mapping[str, Any]) -> str | None:
    """The base model's id on the Hub; None where it is a local folder, or nobody says."""
    named = _object(folder / ADAPTER).get("base_model_name_or_path")
    if named is not None and not isinstance(named, str):
        raise UsageError(
            f"{folder / ADAPTER}: {str(named)[:100]!r} came as base_model_name_or_path; a model's name is accepted"
        )
    named = named or base_of(dict(record))
    if not named or is_folder(named):
        return None
    public = PUBLIC_ID_OF_EMBEDDED if named == "embedded" else named
    _refuse_no_id(public, f"{folder} is of the base model")
    return public


def _object(path: Path) -> dict[str, Any]:
    """What a file of JSON holds; nothing where there is no file. Raises UsageError for what is no JSON object."""
    if not path.is_file():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON ({shortened(error)}); save the checkpoint again, or mend it") from error
    if not isinstance(told, dict):
        raise UsageError(f"{path} holds no JSON object, as a checkpoint has it; save the checkpoint again, or mend it")
    return told


def _with_base(config: Path, base: str) -> bytes:
    return _as_json({**_object(config), "base_model_name_or_path": base})


def _without_places(record: Mapping[str, Any], base: str | None) -> dict[str, Any]:
    """Of paths their last part stays, as on the card; the base is the public one where it is known."""
    of_base = dict(record.get("base") or {})
    model = of_base.get("model")
    of_files = list(_OF_FILES)
    if isinstance(model, str) and is_folder(model):
        of_base["model"] = base or Path(model).name
        identity = of_base.get("identity")
        if isinstance(identity, str):  # "/home/ann/base@0123456789abcdef float32": the version tells the weights
            of_base["identity"] = "".join((of_base["model"], *identity.rpartition("@")[1:]))
        of_files.append("model")  # as it was typed: a relative path may look like an id on the Hub
    recipe = {name: without_folders(value, name in of_files) for name, value in record.get("recipe", {}).items()}
    return {**record, "recipe": recipe, "base": of_base}


def _as_json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


@contextmanager
def _as_trained(path: Path) -> Iterator[None]:
    """Within, whatever trips over what the record of a training says raises UsageError."""
    try:
        yield
    except EvenhandError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else shortened(error)
        raise UsageError(
            f"{path} is not as evenhand train writes it ({what}); take it out and write {CARD} yourself, or train again"
        ) from error


def _card(folder: Path, runs: Sequence[Path], base: str | None, repo_id: str) -> str:
    """Written anew, with what runs say; one that somebody wrote by hand stays as it is.

    Raises UsageError where there is neither training.json nor a card, and for runs beside a card written by hand.
    """
    path = folder / CARD
    try:
        written = path.read_text(encoding="utf-8") if path.is_file() else None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not in UTF-8, which cards on the Hub are in; save it as UTF-8") from error
    if (folder / RECORD).is_file():
        from evenhand.hub.cards.model import model_card

        with _as_trained(folder / RECORD):
            if written is None or written == model_card(folder):
                return model_card(folder, runs, base, repo_id)
    if written is None:
        raise UsageError(f"{folder} has no {CARD}: write its card, which says what it is and what it is not for")
    if runs:
        raise UsageError(
            f"{path} was not written by evenhand, or was changed: what --runs say can't be put into it; move it away "
            f"to have it written, where there is a {RECORD}, or leave --runs out"
        )
    return written
