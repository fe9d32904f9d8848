"""Adapters as peft saves them: where they are, and what their base is."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import snapshot_download
from transformers.utils.peft_utils import find_adapter_config_file

from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint
from evenhand.training_record import base_of, base_version, training_record

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
KINDS = ("LORA", "ADALORA", "LOHA", "LOKR", "OFT", "BOFT", "IA3", "VERA", "HRA", "LN_TUNING", "TRAINABLE_TOKENS")
"""Of peft's, those whose weights stand in the base's own layers: the base then answers as any model. Others put tokens
before the prompt, or want to be told by each call what to do."""
_FILES = ["*.json", "*.jinja", "*.txt", "*.model", WEIGHTS]


@dataclass(frozen=True)
class Adapter:
    """folder: of its weights, and perhaps of a tokenizer. version: its commit, or the fingerprint of a local folder.
    base, base_revision: as it names them itself; None where it doesn't. trained_on: the version of the base then, where
    its training.json says it."""

    name: str
    folder: Path
    version: str
    base: str | None
    base_revision: str | None
    trained_on: str | None = None

    @property
    def advice(self) -> str:
        trained_on = f" It names {self.base!r} itself" if self.base else ""
        return (
            "Name the base that it was trained on by --model-option base=NAME (embedded, a Hub id, or a local folder)."
            + trained_on
        )


def find_adapter(path: str, name: str, revision: str | None) -> Adapter | None:
    """The adapter of a Hub id or local folder; None where it is none.

    Raises ModelError for one whose weights are no safetensors, or are of no kind in KINDS.
    """
    config_file = find_adapter_config_file(path, revision=revision)
    if config_file is None:
        return None
    if Path(path).is_dir():
        folder = Path(path)
        version = fingerprint(folder)
    else:
        folder = Path(snapshot_download(path, revision=revision, allow_patterns=_FILES, ignore_patterns=["*/*"]))
        version = folder.name
    config = json.loads(Path(config_file).read_text(encoding="utf-8"))
    if not isinstance(config, dict):
        raise ValueError(f"its {CONFIG} holds no mapping")
    if not (folder / WEIGHTS).is_file():
        raise ModelError(
            f"adapter {name!r} has no {WEIGHTS} (pickled weights are not loaded: they can run code); save it again by "
            "a current peft (save_pretrained)"
        )
    kind = str(config.get("peft_type"))
    if kind not in KINDS or config.get("alora_invocation_tokens") or config.get("megatron_config"):
        raise ModelError(
            f"adapter {name!r} is of a kind that does not stand in its base's layers alone ({kind}); accepted: "
            f"{', '.join(KINDS)}; merge another into its base (peft's merge_and_unload), and name that folder"
        )
    record = training_record(str(folder))
    if base_of(record) == "embedded":  # its weights are not quite those of its public id
        return Adapter(name, folder, version, "embedded", None, base_version(record))
    trained_on = base_of(record)
    if trained_on is not None and os.path.isabs(trained_on) and os.path.isdir(trained_on):
        return Adapter(name, folder, version, trained_on, None, base_version(record))  # it names no folder itself
    base, base_revision = config.get("base_model_name_or_path") or None, config.get("revision")
    return Adapter(name, folder, version, base, base_revision, base_version(record))
