"""An episode is a generator: it yields requests, receives their replies, and returns predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from evenhand.models.request import Reply, Request

Value = str | int | float | bool | list[str] | list[float] | None
Prediction = dict[str, Value]
"""A flat record that the metric takes; `id` is unique, and an answer that could not be read is None, never guessed."""

Episode = Generator[Sequence[Request], Sequence[Reply], list[Prediction]]
"""One row's conversation. All requests of one yield are answered, in order, before the episode goes on."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as data, with where it is printed."""

    text: str
    source: str


EXCHANGE = ("messages", "thought", "log_probs")
"""Columns that a run adds to predictions: the chat that the model was sent, [{"role", "content"}]; what it thought; the
log-probabilities of each option's tokens, [[nats]], where options were scored."""


def record_exchanges(episode: Episode) -> Episode:
    """Run an episode, mitigations and all, and add to its predictions the requests that were sent and their replies."""
    exchanges: list[tuple[Request, Reply]] = []
    try:
        requests = next(episode)
        while True:
            replies = yield requests
            exchanges += zip(requests, replies)
            requests = episode.send(replies)
    except StopIteration as end:
        return add_exchanges(end.value, exchanges)


def add_exchanges(
    predictions: Sequence[Prediction], exchanges: Sequence[tuple[Request, Reply]]
) -> list[dict[str, Any]]:
    """Add to each prediction the request that its id, or what it begins with, names, with its reply.

    Where no request has such a name it is the one in the same place, or the only one.
    """
    named = {request.name: (request, reply) for request, reply in reversed(exchanges)}
    in_place = exchanges if len(exchanges) == len(predictions) else [*exchanges] * len(predictions)
    found = []
    for place, prediction in enumerate(predictions):
        names = accumulate(str(prediction["id"]).split("/"), "{}/{}".format)
        exchange = next((named[name] for name in reversed([*names]) if name in named), None)
        if exchange is None and len(in_place) == len(predictions):
            exchange = in_place[place]
        found.append({**prediction, **(dict.fromkeys(EXCHANGE) if exchange is None else _describe(*exchange))})
    return found


def _describe(request: Request, reply: Reply) -> dict[str, Any]:
    messages = [
        {"role": each.role, "content": "".join(part if isinstance(part, str) else "<image>" for part in each.parts)}
        for each in request.messages
    ]
    log_probs = [list(each) for each in reply.choice_log_probs] or None
    return dict(zip(EXCHANGE, (messages, reply.thought or None, log_probs)))


def run_name(run: int) -> str:
    """Name a run in ids of its requests and predictions; "" for the first."""
    return f"/run-{run}" if run else ""


def derive_seed(run_seed: int, row: str, step: int = 0, agent: str = "default") -> int:
    """The seed of one request: runs, rows, steps and agents differ, and no batch position comes into it."""
    digest = hashlib.sha256(repr((run_seed, row, step, agent)).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1  # fits a signed 64-bit integer
