"""Sampling in which every request draws from random numbers of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import LogitsProcessor

from evenhand.models.request import Sampling


class SeededSampling(LogitsProcessor):  # type: ignore[misc]
    """Draws each row's next token with that row's own generator, by inverse distribution over the sorted tokens.

    Temperature first, then top-k, then top-p, as in transformers. One uniform number a token, fixed by the request's
    seed: what a request says depends neither on its place in the batch nor on its neighbors. All other tokens are
    ruled out, so that greedy decoding then takes the token drawn.
    """

    def __init__(self, sampling: Sampling, seeds: Sequence[int]):
        self.sampling = sampling
        draws = [np.random.Generator(np.random.PCG64(seed)).random(sampling.max_new_tokens) for seed in seeds]
        self.uniforms = torch.from_numpy(np.stack(draws, axis=1))  # (max_new_tokens, rows)
        self.step = 0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        uniform = self.uniforms[self.step].to(scores.device)
        self.step += 1
        probabilities = torch.softmax(scores.double() / self.sampling.temperature, dim=-1)
        probabilities, tokens = probabilities.sort(dim=-1, descending=True, stable=True)
        if self.sampling.top_k:
            probabilities[:, self.sampling.top_k :] = 0
        cumulative = probabilities.cumsum(dim=-1)
        kept = cumulative - probabilities < self.sampling.top_p * cumulative[:, -1:]  # the first always is
        cumulative = torch.where(kept, probabilities, 0).cumsum(dim=-1)
        drawn = torch.searchsorted(cumulative, uniform[:, None] * cumulative[:, -1:], right=True)
        drawn = drawn.clamp(max=kept.sum(dim=-1, keepdim=True) - 1)
        token = tokens.gather(-1, drawn)
        return torch.full_like(scores, -torch.inf).scatter(-1, token, 0.0)
