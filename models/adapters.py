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
"""Of peft's, those whose weights are in the base's own layers: the base then answers as any model. Others put tokens
before the prompt, or need more than the prompt at each call."""
_FILES = ["*.json", "*.jinja", "*.txt", "*.model", WEIGHTS]


@dataclass(frozen=True)
class Adapter:
    """An adapter that was found.

    folder: of its weights, and perhaps of a tokenizer. version: its commit, or the fingerprint of a local folder.
    base, base_revision: as it names them itself; None where it doesn't. trained_on: the version of the base then, where
    its training.json has it.
    """

    name: str
    folder: Path
    version: str
    base: str | None
    base_revision: str | None
    trained_on: str | None = None

    @property
    def advice(self) -> str:
        return (
            "Name the base that it was trained on by --model-option base=NAME (embedded, a Hub id, or a local folder)."
            + (f" It names {self.base!r} itself" if self.base else "")
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
    base, revision = base_of(record), None
    # The embedded model's weights are not quite those of its public id; of a local base the adapter names no folder.
    if base != "embedded" and not (base and os.path.isabs(base) and os.path.isdir(base)):
        base, revision = config.get("base_model_name_or_path") or None, config.get("revision")
    if not isinstance(base, str | None) or not isinstance(revision, str | None):
        raise ValueError(f"its {CONFIG} names its base by {base!r}, at {revision!r}; texts are expected")
    return Adapter(name, folder, version, base, revision, base_version(record))
