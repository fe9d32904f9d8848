"""Finds the key of a server, and keeps it out of what is stored or shown.

A key is sent to the host that it was given for, and to no other:

1. `--api-key-env NAME`: the environment variable NAME holds the key of the server that --model names.
2. `EVENHAND_API_KEYS` names a file of lines "HOST[:PORT] KEY"; "#" begins a comment.
3. `OPENAI_API_KEY` is sent to https://api.openai.com.
"""

from __future__ import annotations

import html
import ipaddress
import json
import logging
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, quote

from evenhand.models.errors import ModelError
from evenhand.models.server_options import variable_name

KEYS_FILE = "EVENHAND_API_KEYS"
_OPENAI, _OPENAI_HOST = "OPENAI_API_KEY", "api.openai.com"
_LONG_ENOUGH = 8  # characters: "EMPTY" and the like are no keys, and may be anyone's words
_LINE = re.compile(r"(?:(?P<place>(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d+)?)\s+(?P<key>\S+)\s*)?(?:#.*)?", re.ASCII)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Key:
    """secret: "" for none. source: where it was found, for messages. Its repr doesn't show it."""

    secret: str = field(default="", repr=False)
    source: str = ""

    def __post_init__(self) -> None:
        if not all("!" <= character <= "~" for character in self.secret):
            raise ModelError(
                f"the key in {self.source} has a space, a line break or a letter beyond ASCII, which no header takes; "
                "copy it again"
            )

    def masked(self, text: str) -> str:
        """Return the text with the key, plain or escaped as in URLs, HTML or JSON, replaced by "[key]"."""
        if self.secret:
            in_json = json.dumps(self.secret)[1:-1]
            forms = (quote(self.secret, safe=""), html.escape(self.secret), in_json, in_json.replace("/", "\\/"))
            for form in (self.secret, *forms):
                text = text.replace(form, "[key]")
        return text

    def masked_reply(self, text: str) -> str:
        """Mask the key in a model's reply, which may hold words as short as "EMPTY"."""
        return self.masked(text) if len(self.secret) >= _LONG_ENOUGH else text


def key_for(url: SplitResult, variable: str | None = None) -> Key:
    """Find the key for the server at this URL, and warn where it would be sent unencrypted to another machine.

    Args:
        variable: the value of `--api-key-env`.

    Raises:
        ModelError: the key can't be read. The message holds no key.
    """
    key = _find_key(url, variable)
    if key.secret and url.scheme != "https" and not is_local(url.hostname or ""):
        logger.warning(
            "the key in %s goes to %s unencrypted, because its URL begins with http; use https where the server has it",
            key.source,
            url.hostname,
        )
    return key


def is_local(host: str) -> bool:
    """Whether the host is this machine: localhost, 127.0.0.0/8, ::1, 0.0.0.0 or ::."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def advise(key: Key) -> str:
    """Say what to do where a server refuses the key, or asks for one."""
    give = f"--api-key-env NAME names the variable that holds it; {KEYS_FILE} names a file of lines HOST[:PORT] KEY"
    if key.secret:
        return f"does it accept the key in {key.source}? {give}"
    elsewhere = f" ({_OPENAI} goes to https://{_OPENAI_HOST} alone)" if os.environ.get(_OPENAI) else ""
    return f"no key was sent: {give}{elsewhere}"


def _find_key(url: SplitResult, variable: str | None) -> Key:
    port = url.port or {"https": 443, "http": 80}[url.scheme]
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname or ""
    if variable is not None:
        try:
            key = Key(os.environ.get(variable_name(variable), "").strip(), variable)
        except ValueError as error:
            raise ModelError(f"--api-key-env: {error}") from None
        if not key.secret:
            raise ModelError(f"--api-key-env {variable}: that environment variable is not set, or blank")
        return key
    keys = _read_keys(os.environ[KEYS_FILE]) if os.environ.get(KEYS_FILE) else {}
    found = keys.get(f"{host}:{port}") or keys.get(host)
    if found is None and (url.scheme, host, port) == ("https", _OPENAI_HOST, 443):
        return Key(os.environ.get(_OPENAI, "").strip(), _OPENAI)
    return found or Key()


def _read_keys(name: str) -> dict[str, Key]:
    """Keys by HOST or HOST:PORT. Messages don't repeat the file's name: it may be a misplaced key."""
    path = Path(os.path.expanduser(name))
    try:
        if not path.is_file():
            raise OSError
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):  # ValueError: a NUL in the name, or no UTF-8
        raise ModelError(f"{KEYS_FILE} names no readable file of keys: lines HOST[:PORT] KEY in UTF-8") from None
    if os.name == "posix" and path.stat().st_mode & 0o077:
        logger.warning("the file that %s names can be read by others than its owner: chmod 600 it", KEYS_FILE)
    keys: dict[str, Key] = {}
    for number, line in enumerate(text.split("\n"), 1):
        where = f"line {number} of the file that {KEYS_FILE} names"
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise ModelError(f"{where} can't be read: expected HOST KEY or HOST:PORT KEY, and # before comments")
        if found["key"]:
            keys[found["place"].lower()] = Key(found["key"], where)
    return keys
