"""Secrets by how they look: words drawn by chance, what is assigned to a name that says so, and a few known forms.

Makers of services invent new beginnings of their keys all the time (nvapi-, gsk_, shpat_), so the beginnings are not
asked: a key is a long word that nobody would write. Checksums, which are in hexadecimal digits alone, are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

HIDDEN = "(a secret, not shown)"
_FORMS = {
    "a token of the Hub": rb"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "a key of AWS": rb"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a private key": rb"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File|AGE-SECRET-KEY-1",
    "a password in an address": rb"://(?:[0-9a-f]{32}|[^\s/:@\"'<>{}$]*:[^\s/@\"'<>{}$]+)@",
    "an authorization header": rb"uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[A-Za-z0-9+/._=-]{12,}",
    "a password of .netrc": rb"machine\s+\S+\s+login\s+\S+\s+password\s+\S+",
    "a key that is logged in with": rb"login\s+(?:-\S+\s+)*[0-9a-f]{40}\b",
}
_KNOWN = {what: re.compile(form) for what, form in _FORMS.items()}

# Pictures in letters (base64) are longer than keys, or said to be such.
_WORD = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,500}(?![A-Za-z0-9+/_-])")
_LETTERS_OF_A_PICTURE = re.compile(rb";base64,[A-Za-z0-9+/=]+")
_PART = re.compile(rb"[A-Za-z0-9]{7,}")
_CHECKSUM = re.compile(rb"(?:sha|md5|blake|commit|snapshot)\w*[_-]")
_NAME_AND_HEX = re.compile(rb"[a-z]\w*[_-][0-9a-f]{32}")
_WRITTEN = re.compile(rb"[A-Z][a-z]+|[a-z]{3,}")  # in names: "Phi3SmallForCausalLM" is such words and "3LM"
_COUNTED = re.compile(  # checksums, and the lines of a drawing
    rb"[0-9a-f]+|[0-9A-F]+|(?i:[mlhvcsqtaz]?(?:[0-9]+[mlhvcsqtaz])+[0-9]*)"
)
_KINDS = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", b"a" * 26 + b"A" * 26 + b"0" * 10
)
_ENOUGH = 16  # characters drawn by chance

_NAME = re.compile(  # in small letters
    rb"(?P<password>passw|passphrase|pwd|_pass|contrase)|(?P<long>key|token(?!s\b|iz))|secret|credential|signature"
)
_VALUE = re.compile(
    rb"[\w\xc3\xb1]{0,20}[\"']?(?P<sign>\s*(?::=|=>|=|:)\s*)[\[{\s]*(?:-\s+)?(?P<quote>[\"'`]?)"
    rb"(?P<value>[^\s\"'`,;<>(){}\[\]|\\]{8,200})(?P<next>.?)"
)
_PLACEHOLDER = re.compile(
    rb"(?i)your|example|placeholder|change.?me|redacted|xxx|\.\.\.|\*\*\*|dummy|^\$|^[a-z_]+\.[a-z_]"
)
_WORD_AND_NUMBER = re.compile(rb"[A-Za-z]+[-_]?[0-9]{1,4}")
_UUID = re.compile(rb"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])")  # of JSON, which may write any letter so


def forms_in(content: bytes) -> Iterator[tuple[str, int]]:
    """("a token of the Hub", its place) of what has a known form; it may be sought in what is no text, too."""
    for what, pattern in _KNOWN.items():
        if found := pattern.search(content):
            yield what, found.start()


def drawn_in(content: bytes) -> tuple[str, int] | None:
    """The first word that was drawn by chance."""
    return next((("what looks like a token or a key", found.start()) for found in _drawn(content)), None)


def assigned_in(text: bytes) -> tuple[str, int] | None:
    """Of `WANDB_API_KEY=…`, `password: …`, `"api_keys": ["…"]`."""
    for name in _NAME.finditer(text.lower()):
        if (found := _VALUE.match(text, name.end())) and _is_secret(text[name.start() : name.end()], name, found):
            return "what is assigned as a password, a key or a token", name.start()
    return None


def without_secrets(text: str) -> str:
    """With HIDDEN in the place of what has a secret's form, or was drawn by chance."""
    content = text.encode()
    for pattern in _KNOWN.values():
        content = pattern.sub(HIDDEN.encode(), content)
    for found in reversed([*_drawn(content)]):
        content = content[: found.start()] + HIDDEN.encode() + content[found.end() :]
    return content.decode()


def unescaped(content: bytes) -> bytes:
    """With the letters that are written as \\u0068."""
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), content)


def _drawn(content: bytes) -> Iterator[re.Match[bytes]]:
    if b";base64," in content:
        content = _LETTERS_OF_A_PICTURE.sub(lambda found: b" " * len(found[0]), content)
    for found in _WORD.finditer(content):
        word = found[0]
        if _CHECKSUM.match(word):
            continue
        if sum(len(each) for each in _PART.findall(word) if _is_drawn(each)) >= _ENOUGH or _NAME_AND_HEX.match(word):
            yield found


def _is_drawn(part: bytes) -> bool:
    """Whether letters and digits follow each other as they come.

    Of letters and digits drawn evenly 62 % stand beside another kind, of small letters and digits 40 %; in names that
    people write the kinds change at the words' ends alone.
    """
    kinds = part.translate(_KINDS)
    if b"0" not in kinds or part.isdigit() or _COUNTED.fullmatch(part):
        return False
    of_three = b"a" in kinds and b"A" in kinds
    changes = sum(one != other for one, other in pairwise(kinds)) / (len(part) - 1)
    if changes < (0.35 if of_three else 0.2) or len(part) < (7 if of_three else 20):
        return False
    return len(_WRITTEN.sub(b"", part)) >= len(part) / 4


def _is_secret(written: bytes, name: re.Match[bytes], found: re.Match[bytes]) -> bool:
    """Not a word ("required"), a name of code ("os.environ"), or a placeholder ("YOUR_KEY_1234")."""
    value = found["value"]
    if _PLACEHOLDER.search(value) or found["next"] == b"(" or len(set(value.lower())) < 4:
        return False
    if name["long"] and (len(value) < _ENOUGH - 1 or _UUID.fullmatch(value)):  # others are words of a tokenizer
        return False
    letters, digits = re.search(rb"[A-Za-z]", value), re.search(rb"[0-9]", value)
    if letters and digits and not _WORD_AND_NUMBER.fullmatch(value):
        return True
    if written.isupper() and found["sign"] == b"=" and letters:  # of an environment
        return len(value) >= 12
    whole = (found["quote"] or b"\n") == (found["next"] or b"\n")
    return bool(name["password"]) and letters is not None and ((whole and digits is not None) or len(value) >= 20)
