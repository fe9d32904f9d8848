"""Absolute paths in a text: places of somebody's machine, by how a path is written and not by where it leads.

`/data/ann/x`, `C:\\Users\\ann`, `\\\\server\\share`, `file:///x`. What only looks alike is none: addresses
(https://host/a/b), dates and ratios (1/2/2026), alternatives (and/or), folders that are the same on every machine
(/usr/bin/env), routes of a server (/api/models, GET /models/x), and one name alone behind a slash (/think).
"""

from __future__ import annotations

import re
from pathlib import Path

# A path begins a word: at a line's start, behind a blank, a quotation mark, a bracket, "=", ":", "," and the like.
_BEGINS = r"(?:^|(?<=[\s\"'`(\[{=:,;|>]))"
_NAME, _REST = r"[\w.@+~%-]+", r"[^\s\"'`<>)\]]*"
_SAME_EVERYWHERE = r"(?:usr/)?s?bin/|dev/|proc/|sys/|etc/"
_ROUTES = r"api/|v\d+/|chat/completions"
_ALTERNATIVES = r"(?:he|she|they|him|her|them|his|hers|theirs)/"
_ASKED = "".join(f"(?<!{each} )" for each in ("GET", "POST", "PUT", "PATCH", "HEAD", "DELETE"))  # of a server
_TWO_NAMES = rf"[A-Za-z_.~][\w.@+~%-]+/{_NAME}|[A-Za-z]/{_NAME}/{_NAME}"
_POSIX = rf"{_BEGINS}{_ASKED}/(?!{_SAME_EVERYWHERE}|{_ROUTES}|{_ALTERNATIVES})(?:{_TWO_NAMES}){_REST}"
_PART = r"[\w.$~@&-](?:[\w.$~@& -]*[\w.$~@&-])"  # of two characters at least: "x:\d\w" is a regular expression
_WINDOWS = rf"(?<![A-Za-z0-9])[A-Za-z]:(?:\\{{1,2}}|/(?!/)){_PART}(?:\\{{1,2}}|/)[\w.$~@&-]{_REST}"
_UNC = rf"(?<![\\\w])\\{{2}}(?:\\{{2}})?[\w.-]{{2,}}\\{{1,2}}[\w.$~@&-]{_REST}"
_FILE = r"file://[^\s\"'`<>]+"
_HOME = re.compile(rb"(?:/home|/Users|[A-Za-z]:\\{1,2}Users)[/\\]{1,2}[\w.-]+[/\\]{1,2}[\w.-]+")
_PLACE = re.compile("|".join((_POSIX, _WINDOWS, _UNC, _FILE)), re.MULTILINE)

_ESCAPED = (".json", ".jsonl", ".ipynb", ".py", ".yaml", ".yml", ".js", ".html")  # where "\n" is a new line
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\"\\/bfnrt])")
_MEANT = {"b": " ", "f": " ", "n": "\n", "r": "\n", "t": "\t"}


def place_in(text: str, name: str = "") -> str | None:
    """The first path; None where there is none. name: of the file, by which escapes are read: "A:\\nB" is no path."""
    if name.lower().endswith(_ESCAPED):
        text = _ESCAPE.sub(_unescaped, text)
    found = _PLACE.search(text)
    return found.group().strip() if found else _own_place(text)


def home_in(content: bytes) -> str | None:
    """The first path of a home, of what is no text: other paths are not told from its bytes there."""
    found = _HOME.search(content)
    return found.group().decode(errors="replace") if found else None


def _unescaped(found: re.Match[str]) -> str:
    escape = found.group(1)
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _MEANT.get(escape, escape)


def _own_place(text: str) -> str | None:
    """The home or the working folder of whoever publishes, wherever it lies."""
    for place in map(str, (Path.home(), Path.cwd())):
        if len(Path(place).parts) > 2 and re.search(r"(?<![\w.:/-])" + re.escape(place), text):
            return place
    return None
