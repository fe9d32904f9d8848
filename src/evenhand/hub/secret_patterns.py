"""Secrets by how they are written: tokens and keys by the beginnings that their makers gave them, and assignments.

Few and well known, after the documented forms of the services; what has no form of its own (a key of Weights & Biases,
a password) is found where it is assigned to a name that says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = "(a secret, not shown)"
_BY_FORM = {
    "a token of the Hub": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "a key of OpenAI or Anthropic": r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}",
    "a token of GitHub": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}",
    "a token of GitLab": r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}",
    "a key of AWS": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a key of Google": r"AIza[A-Za-z0-9_-]{35}",
    "a token of Slack": r"xox[abprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T[A-Za-z0-9/]{20,}",
    "a key of Stripe": r"(?:sk|rk)_live_[A-Za-z0-9]{20,}",
    "a token of a package registry": r"pypi-AgE[A-Za-z0-9_-]{50,}|npm_[A-Za-z0-9]{36}",
    "a signed web token": r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----",
    "a password in an address": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>{}$]*:[^\s/@\"'<>{}$]+@",
    "an authorization header": r"\b[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[A-Za-z0-9+/._=-]{12,}",
    "a password of .netrc": r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+\S+",
}
_FORMS = {what: re.compile(pattern.encode()) for what, pattern in _BY_FORM.items()}
_ASSIGNED = re.compile(
    rb"(?i)(?:passw(?:or)?d|passphrase|secret(?:_?access)?(?:_?key)?|api_?key|access_?key|account_?key|private_?key"
    rb"|(?:access|auth|api|bearer|secret)_?token)[\"']?\s*(?::|=|=>)\s*[\"']?([A-Za-z0-9_+/=.!@#%^&*~-]{8,200})"
)
_NAMED = re.compile(  # any other name that ends so; of tokens a long value, for a tokenizer's own are words
    rb"(?i)(?:(?:(?<=[a-z0-9])|(?<=[a-z0-9]_))(?:pwd|secret)[\"']?\s*(?::|=|=>)\s*[\"']?([A-Za-z0-9_+/=.!@#%^&*~-]{8,200})"
    rb"|(?<![a-z0-9])token(?:_[a-z0-9]{1,8})?[\"']?\s*(?::|=|=>)\s*[\"']?([A-Za-z0-9_+=-]{16,200})(?![A-Za-z0-9_+=.(\[-]))"
)
_WORDS = (b"passw", b"passphrase", b"secret", b"key", b"token", b"pwd")
_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])")  # of JSON, which may write any letter so


def forms_in(content: bytes) -> Iterator[str]:
    """ "a token of the Hub", of what has a form of its own, so that it may be sought in what is no text, too."""
    for what, pattern in _FORMS.items():
        if pattern.search(content):
            yield what


def without_secrets(text: str) -> str:
    """With HIDDEN in the place of what has such a form."""
    content = text.encode()
    for pattern in _FORMS.values():
        content = pattern.sub(HIDDEN.encode(), content)
    return content.decode()


def assigned_in(text: bytes) -> bool:
    """Whether a secret is assigned: `WANDB_API_KEY=…`, `password: …`; letters and digits of some length, no word."""
    lowered = text.lower()
    if not any(word in lowered for word in _WORDS):  # which is looked for sooner than the patterns, in many rows
        return False
    found = (*_ASSIGNED.finditer(text), *_NAMED.finditer(text))
    return any(_is_secret(next(filter(None, each.groups()))) for each in found)


def unescaped(content: bytes) -> bytes:
    """With the letters that are written as \\u0068."""
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), content)


def _is_secret(value: bytes) -> bool:
    """Not a word ("required"), a name of code ("os.environ"), or a placeholder ("xxxxxxxx1")."""
    return (
        re.search(rb"[A-Za-z]", value) is not None
        and re.search(rb"[0-9]", value) is not None
        and len(set(value.lower())) > 3
    )
