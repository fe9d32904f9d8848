"""How a classifier of language agency is asked about a sentence, and how its reply is read."""

from __future__ import annotations

import math

from evenhand.models.request import Message, Reply, Request

LABELS = ("communal", "agentic")  # in the order of LAC's labels 0 and 1


def label_request(sentence: str, agent: str) -> Request:
    return Request(messages=(Message("user", sentence),), choices=LABELS, agent=agent)


def agentic_probability(reply: Reply) -> float:
    """Of a reply to a label request. The label is agentic above one half."""
    return math.exp(reply.choice_log_probs[LABELS.index("agentic")][0])
