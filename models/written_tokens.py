"""Telling how many tokens have been written, while they are."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import StoppingCriteria

from evenhand.models.protocol import OnTokens


class CountsWritten(StoppingCriteria):  # type: ignore[misc]
    """Stops nothing. After each step it tells how many rows still wrote.

    A row ends at an end token; one that ended at a stop string shows it by the padding that follows.
    """

    def __init__(self, on_tokens: OnTokens, ends: Sequence[int], padding: int):
        self.on_tokens = on_tokens
        self._last = torch.tensor([*ends, padding])
        self._writing: torch.Tensor | None = None  # (rows,)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **kwargs: object) -> torch.BoolTensor:
        nobody = torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
        writing = ~nobody if self._writing is None else self._writing
        self.on_tokens(int(writing.sum()))
        self._writing = writing & ~torch.isin(input_ids[:, -1], self._last.to(input_ids.device))
        return nobody  # type: ignore[return-value]
