"""What a model can't do, said so that a person knows what to do."""

from __future__ import annotations

from evenhand.models.request import FinishReason


class ModelError(Exception):
    """A model could not be loaded, or could not answer; the message says what to do."""


class LimitReached(ModelError):
    """What a run may ask, or spend, is used up: it stops here, with every answer kept, and can go on."""


class Unanswerable(Exception):
    """One request that can't be answered, whatever becomes of others. reason: its reply's; the message says why."""

    def __init__(self, reason: FinishReason, why: str):
        super().__init__(why)
        self.reason = reason


def too_long(tokens: int, context: int) -> Unanswerable:
    """Nothing was cut."""
    return Unanswerable(
        "context_exceeded",
        f"it needs {tokens:,} tokens, prompt and answer, but the model's context window holds {context:,}; nothing was "
        "cut. Use a model with a longer context, or fewer new tokens",
    )


def first_line(error: Exception) -> str:
    """What an exception says, in one line without a full stop at its end; its kind, where it says nothing."""
    first, *more = [line.strip() for line in str(error).strip().split("\n")]
    whole = f"{first} {more[0]}" if first.endswith(":") and more else first
    return whole.rstrip(".") or type(error).__name__
