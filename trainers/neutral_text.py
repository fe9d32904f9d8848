"""How well a model still writes about other things: its perplexity on neutral texts of ours."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

from evenhand.models.protocol import Model, replies
from evenhand.models.request import Message, Request

TEXTS = Path(__file__).with_name("neutral_texts.jsonl")
"""24 texts of about fifty words on cooking, weather, repairs and the like; nobody's group stands in them."""


@cache
def neutral_requests() -> tuple[Request, ...]:
    """Of each text, its first sentence as the prompt, without a chat template, and what follows as the only choice."""
    texts = [json.loads(line)["text"] for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    return tuple(_request(place, *text.split(". ", 1)) for place, text in enumerate(texts))


def _request(place: int, first: str, rest: str) -> Request:
    return Request((Message("user", first + "."),), choices=(rest,), name=f"neutral/{place}", template=False)


def neutral_perplexity(model: Model) -> float:
    """exp of the mean negative log-likelihood of all tokens after the first sentences; lower is better, 1 the least."""
    scored = [token for reply in replies(model, neutral_requests()) for token in reply.choice_log_probs[0]]
    return math.exp(-sum(scored) / len(scored))
