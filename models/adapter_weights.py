"""A base with an adapter's weights in its layers, not merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from peft import PeftConfig, PeftModel
from safetensors import safe_open
from transformers import PreTrainedModel

from evenhand.models.adapters import WEIGHTS

_COPIES = (".modules_to_save.", ".token_adapter.")
"""peft saves whole embeddings a second time under these names where tokens were added, and doesn't read them again."""


class _CompleteModel(PeftModel):  # type: ignore[misc]
    """Refuses adapters that lack weights or have others: peft itself only warns of the first."""

    def load_adapter(self, *args: Any, **kwargs: Any) -> Any:
        report = super().load_adapter(*args, **kwargs)
        unknown = [name for name in report.unexpected_keys if not any(each in name for each in _COPIES)]
        for what, names in (("no", report.missing_keys), ("unknown", unknown)):
            if names:
                raise ValueError(f"it has {what} weights for {', '.join(sorted(names)[:3])}")
        return report


def with_adapter(base: PreTrainedModel, folder: Path, n_tokens: int) -> PreTrainedModel:
    """The base, changed in place: callers need not know of the adapter. n_tokens: of the tokenizer.

    The adapter is in the base's dtype. Raises ValueError, or whatever peft raises, where it doesn't fit.
    """
    before = base.get_input_embeddings().weight.shape[0]
    rows = _find_rows(base, folder / WEIGHTS) or max(before, n_tokens)
    if n_tokens > rows:
        raise ValueError(f"its tokenizer has {n_tokens:,} tokens, and its base {rows:,}")
    if rows != before:
        base.resize_token_embeddings(rows, mean_resizing=False)
        with torch.no_grad():  # what the adapter doesn't bring stays undefined, and is found below
            for layer in (base.get_input_embeddings(), base.get_output_embeddings()):
                layer.weight[before:] = torch.nan
    config = PeftConfig.from_pretrained(str(folder))
    config.task_type = None  # else peft takes a class of its own in place of _CompleteModel
    peft_model = _CompleteModel.from_pretrained(
        base, str(folder), config=config, autocast_adapter_dtype=False, torch_device="cpu"
    )
    model: PreTrainedModel = peft_model.get_base_model()
    if rows > before:
        _check_new_tokens(model, before, rows)
    return model


def _find_rows(base: PreTrainedModel, weights: Path) -> int | None:
    """How many tokens an adapter brings embeddings for, where it brings whole ones."""
    embeddings = (base.get_input_embeddings(), base.get_output_embeddings())
    names = {name for name, module in base.named_modules() if any(module is each for each in embeddings)}
    with safe_open(weights, "pt") as file:
        for key in file.keys():  # noqa: SIM118 (no mapping)
            if key.endswith(".weight") and ".lora_" not in key and any(f".{name}." in key for name in names):
                rows: int = file.get_slice(key).get_shape()[0]
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
