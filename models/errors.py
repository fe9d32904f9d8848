"""Errors of models; their messages say what to do."""

from __future__ import annotations

from evenhand.models.request import FinishReason


class ModelError(Exception):
    """A model could not be loaded, or could not answer; the message says what to do."""


class LimitReached(ModelError):
    """A limit of requests, tokens or cost is reached: the run stops with every answer kept, and can go on."""


class Unanswerable(Exception):
    """One request can't be answered; others may. reason: its reply's; the message says why."""

    def __init__(self, reason: FinishReason, why: str):
        super().__init__(why)
        self.reason = reason


def too_long(tokens: int, context: int) -> Unanswerable:
    """Return the error of a request that exceeds the context window."""
    return Unanswerable(
        "context_exceeded",
        f"it needs {tokens:,} tokens, prompt and answer, but the model's context window holds {context:,}; nothing was "
        "cut. Use a model with a longer context, or fewer new tokens",
    )


def first_line(error: Exception) -> str:
    """Return an exception's message in one line without a full stop at its end; its type where it has none."""
    first, *more = [line.strip() for line in str(error).strip().split("\n")]
    whole = f"{first} {more[0]}" if first.endswith(":") and more else first
    return whole.rstrip(".") or type(error).__name__
