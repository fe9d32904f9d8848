"""Absolute paths in a text: places of somebody's machine, by how a path is written and not by where it leads.

`/data/ann/x`, `C:\\Users\\ann`, `\\\\server\\share`, `file:///x`. What only looks alike is none: addresses
(https://host/a/b), dates and ratios (1/2/2026), alternatives (and/or), folders that are the same on every machine
(/usr/bin/env), routes of a server (/api/models, GET /models/x), and one name alone behind a slash (/think).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

# Before a path stands no part of a longer name or address, or one option's letter: -I/home/ann/include.
_BEGINS = r"(?:(?<![\w./\\~%@+)}*-])|(?<=\s-[A-Za-z]))"
_NAME, _REST = r"[\w.@+~%*-]+", r"[^\s\"'`<>)\]]*"
_SAME_EVERYWHERE = r"(?:usr/)?s?bin/|dev/|proc/|sys/|etc/"
_ROUTES = r"api/|v\d+/|chat/completions|(?:[a-z]{2}/)?docs/|help/"
_ALTERNATIVES = r"(?:he|she|they|him|her|them|his|hers|theirs)/"
_SOUNDS = r"[^\s]*[ˈˌːəɪʊɔɒŋθðʃʒ]"  # of a pronunciation
_ASKED = "".join(f"(?<!{each} )" for each in ("GET", "POST", "PUT", "PATCH", "HEAD", "DELETE"))  # of a server
_NAMES = rf"[^\W\d][\w.@+~%*-]+/{_NAME}|[A-Za-z_.~][\w.@+~%*-]+/{_NAME}|(?:[A-Za-z]|\d+)/[^\W\d]{_NAME}/{_NAME}"
_POSIX = rf"{_BEGINS}{_ASKED}/(?!{_SAME_EVERYWHERE}|{_ROUTES}|{_ALTERNATIVES}|{_SOUNDS})(?:{_NAMES}){_REST}"
_PART = r"[\w.$~@&-](?:[\w.$~@& -]*[\w.$~@&-])"  # of two characters at least: "x:\d\w" is a regular expression
_WINDOWS = (
    rf"(?<![A-Za-z0-9])[A-Za-z]:(?:(?:\\{{1,2}}|/(?!/)){_PART}(?:\\{{1,2}}|/)[\w.$~@&-]{_REST}"
    r"|\\{1,2}[\w-]{2,}\.\w{2,4}\b)"
)
_UNC = rf"(?<![\\\w])\\{{2}}(?:\\{{2}})?[\w.-]{{2,}}\\{{1,2}}[\w.$~@&-]{_REST}"
_FILE = r"(?:file|nfs|smb|sftp)://[^\s\"'`<>]+"
_HOME = re.compile(rb"(?:/home|/Users|[A-Za-z]:\\{1,2}Users)[/\\]{1,2}[\w.-]+[/\\]{1,2}[\w.-]+")
_PLACE = re.compile("|".join((_POSIX, _WINDOWS, _UNC, _FILE)))

_ESCAPED = (".json", ".jsonl", ".ipynb", ".py", ".yaml", ".yml", ".js", ".html")  # where "\n" is a new line
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\"\\/bfnrt])")
_MEANT = {"b": " ", "f": " ", "n": "\n", "r": "\n", "t": "\t"}


def place_in(text: str, name: str = "") -> tuple[str, int] | None:
    """The first path, and about where it stands; None where there is none.

    name: of the file, by which escapes are read: "A:\\nB" is no path.
    """
    escaped, start = name.lower().endswith(_ESCAPED), 0
    for line in text.split("\n"):
        if "/" in line or "\\" in line or "%2" in line:  # which is looked for sooner than the pattern, in many rows
            read = _ESCAPE.sub(_unescaped, line) if escaped else line.replace("\\/", "/")
            read = read.replace("%2F", "/").replace("%2f", "/")
            if found := _PLACE.search(read):
                return found.group().strip(), start
            if own := _own_place(read):
                return own, start
        start += len(line.encode()) + 1
    return None


def home_in(content: bytes) -> tuple[str, int] | None:
    """The first path of a home, of what is no text: other paths are not told from its bytes there."""
    found = _HOME.search(content)
    return (found.group().decode(errors="replace"), found.start()) if found else None


def _unescaped(found: re.Match[str]) -> str:
    escape = found.group(1)
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _MEANT.get(escape, escape)


def _own_place(text: str) -> str | None:
    """The home or the working folder of whoever publishes, wherever it lies."""
    return next(
        (place for place in _own() if place in text and re.search(rf"(?<![\w.:/-]){re.escape(place)}", text)), None
    )


@cache
def _own() -> tuple[str, ...]:
    return tuple(str(place) for place in (Path.home(), Path.cwd()) if len(place.parts) > 2)
