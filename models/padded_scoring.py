"""Choice scoring in padded batches: for any model, one row a distinct input."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import torch
from transformers import PreTrainedModel

from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.scoring import LogProbs, Scoring


class PaddedScoring(Scoring):
    """Each row is what the model reads before an answer's last token; answers that differ only there share it."""

    name = "padded batches"

    def __init__(self, model: PreTrainedModel, padding: int, batch_size: int):
        self.model = model
        self.padding = padding
        self.batch_size = batch_size
        self._accepts = frozenset(inspect.signature(model.forward).parameters)

    def scored(self, continuations: Sequence[Continuation]) -> Iterator[tuple[int, LogProbs]]:
        rows: dict[Tokens, list[int]] = {}
        for i, continuation in enumerate(continuations):
            rows.setdefault(continuation.read, []).append(i)
        ordered = sorted(rows, key=len)
        for start in range(0, len(ordered), self.batch_size):
            batch = ordered[start : start + self.batch_size]
            steps = max(len(continuations[i].answer) for row in batch for i in rows[row])
            log_probs = self._last_log_probs(batch, steps)
            for place, row in enumerate(batch):
                for i in rows[row]:
                    answer = continuations[i].answer
                    tokens = zip(range(steps - len(answer), steps), answer)
                    yield i, tuple(float(log_probs[place, step, token]) for step, token in tokens)

    def _last_log_probs(self, rows: Sequence[Tokens], steps: int) -> torch.Tensor:
        """Log-probabilities (rows, steps, vocabulary) of what follows each of the last `steps` tokens of each row."""
        input_ids, attention_mask = left_padded(rows, self.padding)
        device = self.model.get_input_embeddings().weight.device
        inputs = {"input_ids": input_ids.to(device), "attention_mask": attention_mask.to(device)}
        if "position_ids" in self._accepts:
            inputs["position_ids"] = (inputs["attention_mask"].cumsum(dim=-1) - 1).clamp(min=0)
        keep = {"logits_to_keep": steps} if "logits_to_keep" in self._accepts else {}
        with torch.inference_mode():
            logits = self.model(**inputs, **keep, use_cache=False).logits[:, -steps:]
            return torch.log_softmax(logits.float(), dim=-1).cpu()


def left_padded(rows: Sequence[Tokens], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask (rows, longest)."""
    longest = max(len(row) for row in rows)
    input_ids = torch.tensor([[padding] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return input_ids, mask
