"""Texts without secrets: somebody may have typed a token where a name was asked for, or an option that is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.secret_patterns import HIDDEN, without_secrets

LONG_ENOUGH = 8  # characters of a token, or it may be any word


def masked(text: str) -> str:
    """With HIDDEN in the place of what has a secret's form, and of the Hub's token that is used here."""
    from huggingface_hub import get_token

    said = without_secrets(text)
    own = (get_token() or "").strip()
    return said.replace(own, HIDDEN) if len(own) > LONG_ENOUGH else said


@contextmanager
def unsaid() -> Iterator[None]:
    """Within, errors are raised without secrets."""
    try:
        yield
    except EvenhandError as error:
        said = masked(str(error))
        if said == str(error):
            raise
        raise (UsageError if isinstance(error, UsageError) else EvenhandError)(said) from None
