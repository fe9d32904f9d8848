"""How well a model still writes about other things: its perplexity on neutral texts of ours."""

from __future__ import annotations

from functools import cache

from evenhand.benchmarks.utility.reading import continuation_request
from evenhand.library import load_dataset
from evenhand.models.protocol import Model, replies
from evenhand.models.request import Request
from evenhand.statistics.estimators import exp


@cache
def neutral_requests() -> tuple[Request, ...]:
    """Of the 24 texts that `utility` marks as probes, each one's continuation after its first sentence."""
    rows = load_dataset("utility", "texts", split="test")
    texts = [row["text"] for row in rows if row["probe"]]
    return tuple(continuation_request(f"neutral/{place}", text) for place, text in enumerate(texts))


def neutral_perplexity(model: Model) -> float:
    """exp of the mean negative log-likelihood of all tokens after the first sentences; lower is better, 1 the least."""
    scored = [token for reply in replies(model, neutral_requests()) for token in reply.choice_log_probs[0]]
    return exp(-sum(scored) / len(scored))
