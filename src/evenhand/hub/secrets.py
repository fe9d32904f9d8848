"""Tokens, keys and passwords: found in texts, and masked in messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from evenhand.errors import EvenhandError, UsageError

HIDDEN = "(a secret, not shown)"
LONG_ENOUGH = 9  # characters from which the user's own token is masked in messages; less may be any word
LONGEST_WORD = 11  # an environment variable's value of more characters is no ordinary word
_FORMS = {
    "a token of the Hub": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "a key of AWS": r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----",
    "a password in a URL": r"://[^\s/:@\"'<>{}$]*:[^\s/@\"'<>{}$]+@",
    "a token or a key of a service": r"(?<![A-Za-z0-9])(?:sk-(?:[a-z0-9]+-){0,2}[A-Za-z0-9_]{20,}|"
    r"(?:gh[oprsu]|github_pat|gsk)_\w{20,}|(?:glpat|xox[abprs]|pypi)-[\w-]{20,}|AIza[\w-]{35})",
}
_ASSIGNED = (
    r"(?i)(?:(?:secret|token(?!s\b|iz)|key)\w{0,20}[\"']?\s*[:=]\s*[\"']?(?=\S*[0-9])(?=\S*[a-z])[\w+/-]{20,}|"
    r"passw(?:or)?d[\"']?\s*[:=]\s*[\"']?(?=\S*[0-9])(?=\S*[a-z])[\w+/-]{8,})"
)
_SECRET_VARIABLE = re.compile(r"(TOKEN|_KEY|SECRET|PASSWORD)S?$")


def find_secret(text: str) -> tuple[str, int] | None:
    """Return what the first secret is ("a token of the Hub") and its position; None where there is none."""
    for what, form in {**_FORMS, "a value assigned to a password, key or token": _ASSIGNED}.items():
        if found := re.search(form, text):
            return what, found.start()
    return None


def secrets_of_environment() -> Iterator[tuple[str, str]]:
    """Yield name and value of environment variables that hold secrets by their names, and the Hub's stored token."""
    from huggingface_hub import get_token

    values = {name: value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper())}
    for name, value in {**values, "HF_TOKEN": get_token() or ""}.items():
        if len(value) > LONGEST_WORD and not os.path.exists(value):
            yield name, value


def mask_secrets(text: str) -> str:
    """Replace what has the form of a token, key or password in a URL."""
    for form in _FORMS.values():
        text = re.sub(form, HIDDEN, text)
    return text


def masked(text: str) -> str:
    """Mask secrets in a message, also the Hub's token that is used here."""
    from huggingface_hub import get_token

    own = (get_token() or "").strip()
    text = mask_secrets(text)
    return text.replace(own, HIDDEN) if len(own) >= LONG_ENOUGH else text


@contextmanager
def without_secrets_in_errors() -> Iterator[None]:
    """Mask secrets in errors raised within: a token may have been given in place of a name."""
    try:
        yield
    except EvenhandError as error:
        text = masked(str(error))
        if text == str(error):
            raise
        raise (UsageError if isinstance(error, UsageError) else EvenhandError)(text) from None
