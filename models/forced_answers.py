"""Writing what is given, so that a model says how likely it finds it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import LogitsProcessor

from evenhand.models.prefix_tree import Tokens


class ForcedAnswers(LogitsProcessor):  # type: ignore[misc]
    """Rules out all tokens but the next one of each row's answer; behind an answer's end stands `filling`."""

    def __init__(self, answers: Sequence[Tokens], filling: int):
        self.steps = max(map(len, answers))
        filled = [[*answer, *[filling] * (self.steps - len(answer))] for answer in answers]
        self.tokens = torch.tensor(filled).T  # (steps, rows)
        self.step = 0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        token = self.tokens[self.step].to(scores.device)
        self.step += 1
        return torch.full_like(scores, -torch.inf).scatter(-1, token[:, None], 0.0)
