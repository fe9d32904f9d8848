"""How a server is asked: patience, its key, limits. Read without importing what speaks to servers."""

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
    """What --model URL takes. attempts count the first one, too. Limits are of one command, for each server that it
    asks: what an earlier command spent doesn't count. timeout bounds how long a server may ask to wait, too
    (Retry-After)."""

    timeout: float = option(
        600.0,
        "that a server may be silent, write one answer, or ask to wait",
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
    max_requests: int | None = option(
        None,
        "sent by this command at most, those that failed counted in; then it stops, and goes on when given again",
        least=1,
        metavar="N",
        incidental=True,
    )
    max_total_tokens: int | None = option(
        None, "read and written by this command at most, likewise", least=1, metavar="N", incidental=True
    )
    max_cost: float | None = option(
        None,
        "of this command by --prices at most, likewise",
        above=0,
        metavar="AMOUNT",
        incidental=True,
        needs="prices",
    )
    prices: str | None = option(
        None,
        "table (CSV or JSON) of what tokens cost: model, input and output (of a million tokens), currency",
        metavar="FILE",
        incidental=True,
    )
    requests_per_minute: float | None = option(
        None, "sent at most, evenly spaced", above=0, metavar="N", incidental=True
    )
    tokens_per_minute: float | None = option(
        None, "read and written at most, on average", above=0, metavar="N", incidental=True
    )
    tokenizer: str | None = option(
        None,
        "Hub id or folder of the served model's tokenizer, to score options where the server has no /tokenize",
        metavar="NAME",
    )


DEFAULT_OPTIONS = ServerOptions()
