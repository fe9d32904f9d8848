"""Whether a model gives of trees what it gives of padded batches, tried once before anything is learned."""

from __future__ import annotations

from typing import Any

import torch

from evenhand.models.choice_scoring import AGREEMENT, disagreement, forked_sample
from evenhand.models.prefix_tree import Continuation
from evenhand.trainers.batches import Batching

LENGTH = 48  # tokens of the longest prompt that is tried


def tree_fails(model: Any, tree: Batching, padded: Batching, n_tokens: int) -> str:
    """Why its trees can't be trusted; nothing where they can. Configurations don't tell all that layers do.

    Each continuation is computed by itself, then all in a tree. model: with its adapter, or without; it is as it was
    afterwards, and so is all chance.
    """
    sample = forked_sample(n_tokens, LENGTH)
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            apart = disagreement(
                [each for one in sample for each in _log_probs(model, padded, [one])], _log_probs(model, tree, sample)
            )
    except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"  # of a model's own code, whose masks are of another kind
    finally:
        model.train(was_training)
    return f"log-probabilities differ by {apart:.2g} nats" if apart > AGREEMENT[model.dtype] else ""


def _log_probs(model: Any, batching: Batching, some: list[Continuation]) -> list[list[float]]:
    device = next(model.parameters()).device
    batch = {
        name: value.to(device) if isinstance(value, torch.Tensor) else value
        for name, value in batching.batch(some).items()
    }
    of_tokens = batching.logits(model, batch).answers.float().log_softmax(dim=-1)
    found = of_tokens.gather(1, batch["tokens"][:, None])[:, 0].tolist()
    return [[found.pop(0) for _ in each.answer] for each in some]
