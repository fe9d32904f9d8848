"""A base with an adapter's weights in its layers, not merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from peft import PeftConfig, PeftModel
from safetensors import safe_open
from transformers import PreTrainedModel

from evenhand.models.adapters import WEIGHTS

_OF_BASE = "base_model.model."  # before the names of a base's own weights in an adapter's file


class _Whole(PeftModel):  # type: ignore[misc]
    """Of whose weights none are made up, and none left over: peft itself only warns of the first."""

    def load_adapter(self, *args: Any, **kwargs: Any) -> Any:
        report = super().load_adapter(*args, **kwargs)
        for what, names in (("no", report.missing_keys), ("unknown", report.unexpected_keys)):
            if names:
                raise ValueError(f"it has {what} weights for {', '.join(sorted(names)[:3])}")
        return report


def with_adapter(base: PreTrainedModel, folder: Path, n_tokens: int) -> PreTrainedModel:
    """The base itself, changed: what asks it need not know of the adapter. n_tokens: of the tokenizer.

    The adapter is in the base's dtype. Raises ValueError, or whatever peft raises, where it doesn't fit.
    """
    _fit_vocabulary(base, folder / WEIGHTS)
    rows = base.get_input_embeddings().weight.shape[0]
    if n_tokens > rows:
        raise ValueError(f"its tokenizer has {n_tokens:,} tokens, and its base {rows:,}")
    config = PeftConfig.from_pretrained(str(folder))
    config.task_type = None  # else peft takes a class of its own in place of _Whole
    whole = _Whole.from_pretrained(base, str(folder), config=config, autocast_adapter_dtype=False, torch_device="cpu")
    return whole.get_base_model()


def _fit_vocabulary(base: PreTrainedModel, weights: Path) -> None:
    """As many tokens as the adapter brings: training on new tokens saves the whole embedding."""
    names = {id(module): name for name, module in base.named_modules()}
    embeddings = [base.get_input_embeddings(), base.get_output_embeddings()]
    with safe_open(weights, "pt") as file:
        keys = [f"{_OF_BASE}{names[id(module)]}.weight" for module in embeddings if module is not None]
        saved = [key for key in keys if key in file.keys()]  # noqa: SIM118 (no mapping)
        if not saved:
            return
        rows = file.get_slice(saved[0]).get_shape()[0]
    if rows == embeddings[0].weight.shape[0]:
        return
    tied = len({module.weight.data_ptr() for module in embeddings if module is not None}) == 1
    if len(saved) < len(keys) and not tied:
        raise ValueError(f"it brings {rows:,} tokens, but not for both ends of the model")
    with torch.no_grad():
        base.resize_token_embeddings(rows, mean_resizing=False)
