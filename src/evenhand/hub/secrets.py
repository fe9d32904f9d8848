"""Secrets by how they look: tokens and keys of known forms, and what is assigned to a name that says so."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from evenhand.errors import EvenhandError, UsageError

HIDDEN = "(a secret, not shown)"
LONG_ENOUGH = 9  # characters of a token that is hidden in messages, or it may be any word
LONGEST_WORD = 11  # characters of an environment variable's value that may be anyone's word
_FORMS = {
    "a token of the Hub": rb"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "a key of AWS": rb"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----",
    "a password in an address": rb"://[^\s/:@\"'<>{}$]*:[^\s/@\"'<>{}$]+@",
    "an authorization header": rb"uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[A-Za-z0-9+/._=-]{12,}",
    "a password of .netrc": rb"machine\s+\S+\s+login\s+\S+\s+password\s+\S+",
    "a token or a key of a service": rb"(?<![A-Za-z0-9])(?:"
    rb"sk-(?:[a-z0-9]+-){0,2}[A-Za-z0-9_]{20,}|(?:gh[oprsu]|github_pat|gsk|dop_v1|shpat|figd|glsa|pplx|r8)[_-]\w{20,}|"
    rb"(?:glpat|nvapi|xai|xox[abprs]|pypi|GOCSPX)-[\w-]{20,}|AIza[\w-]{35}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})",
}
_KNOWN = {what: re.compile(form) for what, form in _FORMS.items()}
_VALUE = rb"[^\s\"'`,;<>(){}\[\]|\\]"
_ASSIGNED = re.compile(
    rb"(?i)(?:(?P<password>passw|pwd|_pass)|secret|token(?!s\b|iz)|key)[\w-]{0,20}[\"']?\s*(?:=>|[:=])\s*[\[\s]*[\"'`]?"
    rb"(?P<value>" + _VALUE + rb"{8,200})(?=[\"'`\]\s]*(?:[,;}\r\n]|$))"
)
_PLACEHOLDER = re.compile(
    rb"(?i)your|example|placeholder|change.?me|redacted|xxx|\.\.\.|\*\*\*|dummy|^\$|^[a-z_]+\.[a-z_]|"
    rb"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
)
_LETTER_AND_DIGIT = re.compile(rb"(?=.*[A-Za-z]).*[0-9]")
_LONG = 15  # characters of a key; shorter ones are words of a tokenizer
_OF_ENVIRONMENT = re.compile(r"(TOKEN|_KEY|SECRET|PASSWORD)S?$")


def forms_in(content: bytes) -> Iterator[tuple[str, int]]:
    """("a token of the Hub", its place) of what has a known form; content need not be text."""
    for what, pattern in _KNOWN.items():
        if found := pattern.search(content):
            yield what, found.start()


def assigned_in(text: bytes) -> tuple[str, int] | None:
    """The first of `WANDB_API_KEY=…`, `password: …`, `"api_keys": ["…"]`, but for placeholders."""
    for found in _ASSIGNED.finditer(text):
        value = found["value"]
        long_enough = found["password"] or len(value) >= _LONG
        if long_enough and _LETTER_AND_DIGIT.match(value) and not _PLACEHOLDER.search(value):
            return "what is assigned as a password, a key or a token", found.start()
    return None


def secrets_of_environment() -> Iterator[tuple[str, bytes]]:
    """Values of this process's environment that are secrets by their names, and the Hub's token where it is kept."""
    from huggingface_hub import get_token

    values = {name: value for name, value in os.environ.items() if _OF_ENVIRONMENT.search(name.upper())}
    for name, value in {**values, "HF_TOKEN": get_token() or ""}.items():
        if len(value) > LONGEST_WORD and not os.path.exists(value):
            yield name, value.encode()


def without_secrets(text: str) -> str:
    """The text with HIDDEN in the place of what has a secret's form."""
    content = text.encode()
    for pattern in _KNOWN.values():
        content = pattern.sub(HIDDEN.encode(), content)
    return content.decode()


def masked(text: str) -> str:
    """The text without secrets, and without the Hub's token that is used here."""
    from huggingface_hub import get_token

    said, own = without_secrets(text), (get_token() or "").strip()
    return said.replace(own, HIDDEN) if len(own) >= LONG_ENOUGH else said


@contextmanager
def without_secrets_in_errors() -> Iterator[None]:
    """Within, errors are raised without secrets: somebody may have typed a token where a name was asked for."""
    try:
        yield
    except EvenhandError as error:
        said = masked(str(error))
        if said == str(error):
            raise
        raise (UsageError if isinstance(error, UsageError) else EvenhandError)(said) from None
