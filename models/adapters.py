"""Adapters as peft saves them: where they are, what their base is, and how they are put on it, not merged."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from safetensors import safe_open
from transformers import PreTrainedModel
from transformers.utils.peft_utils import find_adapter_config_file

from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint
from evenhand.training_record import base_of, base_version, training_record

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
KINDS = ("LORA", "ADALORA", "LOHA", "LOKR", "OFT", "BOFT", "IA3", "VERA", "HRA", "LN_TUNING", "TRAINABLE_TOKENS")
"""Of peft's, those whose weights are in the base's own layers: the base then answers as any model. Others put tokens
before the prompt, or need more than the prompt at each call."""
_COPIES = (".modules_to_save.", ".token_adapter.")
"""peft saves whole embeddings a second time under these names where tokens were added, and doesn't read them again."""
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


def put_adapter(base: PreTrainedModel, folder: Path, n_tokens: int) -> PreTrainedModel:
    """The base, changed in place: callers need not know of the adapter. n_tokens: of the tokenizer.

    The adapter is in the base's dtype. Raises ValueError, or whatever peft raises, where it doesn't fit.
    """
    from peft import PeftConfig, PeftModel  # takes seconds

    before = base.get_input_embeddings().weight.shape[0]
    rows = _find_rows(base, folder / WEIGHTS) or max(before, n_tokens)
    if n_tokens > rows:
        raise ValueError(f"its tokenizer has {n_tokens:,} tokens, and its base {rows:,}")
    if rows != before:
        base.resize_token_embeddings(rows, mean_resizing=False)
        with torch.no_grad():  # what the adapter doesn't bring stays undefined, and is found below
            for layer in (base.get_input_embeddings(), base.get_output_embeddings()):
                layer.weight[before:] = torch.nan

    class CompleteModel(PeftModel):  # type: ignore[misc]
        """Refuses adapters that lack weights or have others: peft itself only warns of the first."""

        def load_adapter(self, *args: Any, **kwargs: Any) -> Any:
            report = super().load_adapter(*args, **kwargs)
            unknown = [name for name in report.unexpected_keys if not any(each in name for each in _COPIES)]
            for what, names in (("no", report.missing_keys), ("unknown", unknown)):
                if names:
                    raise ValueError(f"it has {what} weights for {', '.join(sorted(names)[:3])}")
            return report

    config = PeftConfig.from_pretrained(str(folder))
    config.task_type = None  # else peft takes a class of its own in place of CompleteModel
    peft_model = CompleteModel.from_pretrained(
        base, str(folder), config=config, autocast_adapter_dtype=False, torch_device="cpu"
    )
    model: PreTrainedModel = peft_model.get_base_model()
    if rows > before:
        _check_new_tokens(model, before, rows)
    return model


def _find_rows(base: PreTrainedModel, file: Path) -> int | None:
    """How many tokens an adapter brings embeddings for, where it brings whole ones."""
    embeddings = (base.get_input_embeddings(), base.get_output_embeddings())
    names = {name for name, module in base.named_modules() if any(module is each for each in embeddings)}
    with safe_open(file, "pt") as weights:
        for key in weights.keys():  # noqa: SIM118 (no mapping)
            if key.endswith(".weight") and ".lora_" not in key and any(f".{name}." in key for name in names):
                rows: int = weights.get_slice(key).get_shape()[0]
                return rows
    return None


def _check_new_tokens(model: PreTrainedModel, before: int, rows: int) -> None:
    """Raises ValueError where new tokens have no weights, at either end of the model: none are made up."""
    into, out = model.get_input_embeddings(), model.get_output_embeddings()
    device, dtype = next(model.parameters()).device, next(model.parameters()).dtype
    with torch.inference_mode():
        embedded = into(torch.arange(before, rows, device=device))
        logits = out(torch.ones(1, embedded.shape[-1], device=device, dtype=dtype))
    for what, values in (("input", embedded), ("output", logits)):
        if values.isnan().any():
            raise ValueError(
                f"its tokenizer has {rows:,} tokens, and its base {before:,}: it brings no {what} embeddings for the "
                "new ones"
            )
