"""Which key goes to which server, and keeping it out of everything that is stored or shown.

A key is sent to the host that it was given for, and to no other:

1. `--api-key-env NAME`: the environment variable NAME holds the key of the server that --model names.
2. `EVENHAND_API_KEYS` names a file of lines "HOST[:PORT] KEY", where "#" begins a comment.
3. `OPENAI_API_KEY` is OpenAI's own: it goes to https://api.openai.com.
"""

from __future__ import annotations

import base64
import html
import ipaddress
import logging
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import SplitResult, quote

from evenhand.models.errors import ModelError
from evenhand.models.server_options import variable_name

KEYS_FILE = "EVENHAND_API_KEYS"
_OPENAI, _OPENAI_HOST = "OPENAI_API_KEY", "api.openai.com"
_FORMER = "EVENHAND_API_KEY"  # went to every host
_GIVE = f"--api-key-env NAME names the variable that holds it; {KEYS_FILE} names a file of lines HOST[:PORT] KEY"

_LONG_ENOUGH = 8  # characters: "EMPTY" and the like stand for no key, and may be anybody's words
_MOST_BYTES = 1024**2  # of the file of keys
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?", re.ASCII)
# What may stand between a key's characters and is not seen: control and zero-width characters.
_UNSEEN = r"[\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Key:
    """secret: "" for none. source: where it stands, for messages. It shows itself nowhere."""

    secret: str = field(default="", repr=False)
    source: str = ""

    def __post_init__(self) -> None:
        if not all("!" <= character <= "~" for character in self.secret):
            raise ModelError(
                f"the key in {self.source} has a space, a line break or a letter beyond ASCII, which no header takes; "
                "copy it anew"
            )

    def masked(self, text: str) -> str:
        """The text without the key: as it is, in other capitals, reversed, encoded, or broken by what is not seen."""
        return self._pattern.sub("[key]", text) if self.secret else text

    def masked_reply(self, text: str) -> str:
        """Likewise; but words as short as "EMPTY", which stand for no key, may stand in a reply."""
        return self.masked(text) if len(self.secret) >= _LONG_ENOUGH else text

    def stands_in(self, text: str) -> bool:
        return self.masked_reply(text) != text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        secret = self.secret
        forms = [*_escaped(secret)]
        if len(secret) >= _LONG_ENOUGH:  # of less, too little is left to tell it from anybody's words
            forms += [form for each in (secret, secret[::-1]) for form in (*_escaped(each), *_encoded(each))]
        alike = dict.fromkeys(form.casefold() for form in forms)
        return re.compile("|".join(_UNSEEN.join(map(re.escape, form)) for form in alike), re.IGNORECASE)


def _escaped(secret: str) -> tuple[str, ...]:
    """As it stands in texts, URLs, HTML and JSON."""
    return secret, quote(secret, safe=""), html.escape(secret), secret.replace("/", "\\/")


def _encoded(secret: str) -> Iterator[str]:
    """With each character as in a URL, in hexadecimal, and in base64 of both alphabets.

    Base64 may be of a longer text: what does not depend on its neighbours is taken at each of three places.
    """
    plain = secret.encode("ascii")
    yield "".join(f"%{byte:02x}" for byte in plain)
    yield plain.hex()
    for before in range(3):
        coded = base64.b64encode(bytes(before) + plain).decode()
        whole = coded[-(-before * 4 // 3) : (before + len(plain)) * 4 // 3]
        yield whole
        yield whole.translate(str.maketrans("+/", "-_"))


def key_for(url: SplitResult, variable: str | None = None) -> Key:
    """The key that a server at this URL may see. variable: `--api-key-env`.

    A key that would go unencrypted to another machine is warned about.
    Raises ModelError where it can't be read, in words that hold no key.
    """
    key = _found(url, variable)
    if key.secret and url.scheme != "https" and not is_here(url.hostname or ""):
        logger.warning(
            "the key in %s goes to %s unencrypted, for its URL begins with http: whoever is on the way can read it; "
            "use https where the server has it",
            key.source,
            url.hostname,
        )
    return key


def is_here(host: str) -> bool:
    """Whether it is this machine: localhost, 127.0.0.0/8, ::1, or the address that stands for all of its own."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def advice(key: Key) -> str:
    """What to do where a server refused the key, or asks for one."""
    if key.secret:
        return f"does it accept the key in {key.source}? {_GIVE}"
    said = f"no key was sent: {_GIVE}"
    if os.environ.get(_FORMER):
        return f"{said} ({_FORMER} alone is sent nowhere any more: --api-key-env {_FORMER})"
    return f"{said} ({_OPENAI} goes to https://{_OPENAI_HOST} alone)" if os.environ.get(_OPENAI) else said


def _found(url: SplitResult, variable: str | None) -> Key:
    host, port = url.hostname or "", url.port or {"https": 443, "http": 80}[url.scheme]
    if variable is not None:
        return _named(variable)
    if os.environ.get(KEYS_FILE):
        keys = _read(os.environ[KEYS_FILE])
        found = keys.get((host, port)) or keys.get((host, None))
        if found is not None:
            return found
    if (url.scheme, host, port) == ("https", _OPENAI_HOST, 443):
        return Key(os.environ.get(_OPENAI, "").strip(), _OPENAI)
    return Key()


def _named(variable: str) -> Key:
    try:
        key = Key(os.environ.get(variable_name(variable), "").strip(), variable)
    except ValueError as error:
        raise ModelError(f"--api-key-env: {error}") from None
    if not key.secret:
        raise ModelError(f"--api-key-env {variable}: that environment variable is not set, or blank")
    return key


def _read(name: str) -> Mapping[tuple[str, int | None], Key]:
    """By host and port; a port of None stands for all. The file's name may be a key in the wrong place: it is not
    shown."""
    path = Path(os.path.expanduser(name))
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            raise OSError
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):  # ValueError: a NUL in the name, or no UTF-8
        raise ModelError(
            f"{KEYS_FILE} names no file of keys that can be read: lines HOST[:PORT] KEY in UTF-8, 1 MB at most"
        ) from None
    if os.name == "posix" and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        logger.warning("the file that %s names can be read by others than its owner: chmod 600 it", KEYS_FILE)
    keys: dict[tuple[str, int | None], Key] = {}
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        where = f"line {number} of the file that {KEYS_FILE} names"
        host = _HOST.fullmatch(words[0].lower())
        if len(words) < 2 or (words[2:] and not words[2].startswith("#")) or host is None:
            raise ModelError(f"{where} can't be read: HOST KEY or HOST:PORT KEY is accepted, and # before a comment")
        place = host[1] or host[2], int(host[3]) if host[3] else None
        if place in keys:
            raise ModelError(f"{where} names a host that a line above it names, too: leave one of them")
        keys[place] = Key(words[1], where)
    return keys
