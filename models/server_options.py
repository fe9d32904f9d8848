"""How a server is asked: patience, and where its key stands. Read without importing what speaks to servers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenhand.options import option


def variable_name(text: str) -> str:
    """The same. Raises ValueError for what is no name of an environment variable, in words that don't hold it: it may
    be the key itself."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", text):
        raise ValueError(
            "the name of an environment variable is accepted, in capitals, digits and _; the key itself stands in that "
            "variable, never on a command line"
        )
    return text


@dataclass(frozen=True)
class ServerOptions:
    """What --model URL takes. attempts count the first one, too."""

    timeout: float = option(
        600.0,
        "that a server may be silent, or write one answer, after which it is asked again",
        above=0,
        most=86400,
        metavar="SECONDS",
        incidental=True,
    )
    attempts: int = option(
        6, "how often a server is sent one request before the run ends", least=1, metavar="N", incidental=True
    )
    backoff: float = option(
        1.0,
        "before the second attempt, twice as long before each further one",
        least=0,
        metavar="SECONDS",
        incidental=True,
    )
    api_key_env: str | None = option(
        None,
        "environment variable with the server's key, in place of EVENHAND_API_KEYS",
        metavar="NAME",
        parse=variable_name,
        incidental=True,
    )


DEFAULT_OPTIONS = ServerOptions()
