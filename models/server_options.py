"""Options of servers: retries, key, limits, and fields of requests. Quick to import."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from evenhand.options import option


def variable_name(text: str) -> str:
    """Return the text. Raises ValueError, without repeating it (it may be the key itself), if it names no variable."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", text):
        raise ValueError(
            "expected the name of an environment variable, in capitals, digits and _; the key itself is the value of "
            "that variable, never part of a command"
        )
    return text


def _sorted_json(text: str) -> str:
    """The same JSON object with its names sorted. Raises ValueError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"""expected a JSON object such as {{"enable_thinking": false}}, got {text!r}""")
    return json.dumps(found, sort_keys=True)


@dataclass(frozen=True)
class ServerOptions:
    """Options of `--model URL`. Limits hold for one command and one server; earlier commands don't count."""

    timeout: float = option(
        600.0, "time limit of one request, and of a pause that the server asks for", above=0, most=86400,
        metavar="SECONDS", incidental=True,
    )  # fmt: skip
    attempts: int = option(
        6, "number of times that one request is sent before the run ends", least=1, metavar="N", incidental=True
    )
    backoff: float = option(
        1.0, "pause before the second attempt; doubles before each further one", least=0, metavar="SECONDS",
        incidental=True,
    )  # fmt: skip
    api_key_env: str | None = option(
        None, "environment variable with the server's key; replaces EVENHAND_API_KEYS", metavar="NAME",
        parse=variable_name, incidental=True,
    )  # fmt: skip
    max_requests: int | None = option(
        None, "most requests of this command, failed ones included; the same command then goes on", least=1,
        metavar="N", incidental=True,
    )  # fmt: skip
    max_total_tokens: int | None = option(
        None, "most tokens of this command, read and written", least=1, metavar="N", incidental=True
    )
    max_cost: float | None = option(
        None, "highest cost of this command by --prices", above=0, metavar="AMOUNT", incidental=True, needs="prices"
    )
    prices: str | None = option(
        None, "table of prices (CSV or JSON): model, input and output (of a million tokens), currency", metavar="FILE",
        incidental=True,
    )  # fmt: skip
    requests_per_minute: float | None = option(
        None, "most requests a minute, evenly spaced", above=0, metavar="N", incidental=True
    )
    tokens_per_minute: float | None = option(
        None, "most tokens a minute on average, read and written", above=0, metavar="N", incidental=True
    )
    tokenizer: str | None = option(
        None, "the served model's tokenizer (Hub id or folder), to score options without /tokenize", metavar="NAME"
    )
    chat_template_kwargs: str | None = option(
        None, "variables of the server's chat template, a JSON object", metavar="JSON", parse=_sorted_json
    )
    reasoning_effort: str | None = option(
        None, "how much a reasoning model thinks, in the server's words such as none, low or high", metavar="EFFORT"
    )


DEFAULT_OPTIONS = ServerOptions()
