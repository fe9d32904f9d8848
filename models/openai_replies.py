"""Reads a server's answers: a reply, a refusal by its filter, a prompt that is too long."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer
from evenhand.models.request import FinishReason, Reply
from evenhand.models.spending import Usage
from evenhand.models.thoughts import make_reply

FILTERED = frozenset({"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation"})
"""Codes of errors by which OpenAI and Azure say that their filter refused a prompt, or a picture in it."""

_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum model length|prompt is too long|`inputs` tokens", re.IGNORECASE
)
_MOST_TOKENS = 10_000_000  # of one reply; a larger count is none
_OF_ONE = (400, 413, 422)


class Malformed(Exception):
    """An answer of another form than what was asked for; the message says what it lacks."""


class Withheld(Malformed):
    """A malformed answer that the server may always give: the next attempt needs no pause."""


def failure(answer: Answer) -> FinishReason | None:
    """Why this one request fails for good: refused by the server's content filter, longer than the context window, or
    not understood. None where the answer is no error, or an error of other requests, too."""
    inner = answer.error.get("innererror")
    codes = [answer.error.get("code"), inner.get("code") if isinstance(inner, dict) else None]
    if answer.status in (400, 403) and any(isinstance(code, str) and code in FILTERED for code in codes):
        return "refused"
    if answer.status not in _OF_ONE:
        return None
    said = (answer.error.get("code"), answer.error.get("type"), answer.message)
    too_long = any(isinstance(each, str) and _TOO_LONG.search(each) for each in said)
    return "context_exceeded" if too_long else "not_understood"


def read_reply(content: object, stop: tuple[str, ...] = ()) -> Reply:
    """Read the first choice of a chat completion, its thought apart from its text.

    Parts that are no text are left out; no content is an empty text. The text is cut at a stop text that the server let
    through.

    Raises Malformed, and Unanswerable where the server's filter withheld the text.
    """
    if isinstance(content, dict) and content.get("error"):
        raise Malformed("an error in it")
    choice = first_choice(content)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Malformed("no message in its first choice")
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        raise Unanswerable("refused", "the server's content filter withheld the answer")
    if finish in ("abort", "error"):
        raise Malformed(f"a text that broke off ({finish})")
    text = _whole_characters(_text(message.get("content") or message.get("refusal")))
    reply = make_reply(text, "length" if finish == "length" else "stop", thought=thought_of(message))
    cut = min((found for each in stop if (found := reply.text.find(each)) >= 0), default=None)
    if not text and finish == "length" and _count(content, "completion_tokens_details", "reasoning_tokens"):
        return replace(reply, finish_reason="thought")  # which the server keeps to itself
    return reply if cut is None else replace(reply, text=reply.text[:cut], finish_reason="stop")


def first_choice(content: object) -> dict[str, Any]:
    choices = content.get("choices") if isinstance(content, dict) else None
    if not isinstance(choices, list) or not choices:
        raise Malformed("no choices in it")
    first: object = choices[0]
    return first if isinstance(first, dict) else {}


def thought_of(message: dict[str, Any]) -> str:
    """What a reasoning model thought, where the server gives it apart from the text."""
    given = [message.get("reasoning_content"), message.get("reasoning")]
    content = message.get("content")
    parts = [each.get("thinking") for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    given += [_text(each) for each in parts if isinstance(each, str | list)]
    return _whole_characters(next((each for each in given if isinstance(each, str) and each.strip()), ""))


def completion_tokens(content: object) -> int:
    """Tokens that were written, as the server counts them; 0 where it gives no count."""
    return _count(content, "completion_tokens") or 0


def usage_of(content: object) -> Usage | None:
    """Tokens that were read and written, as the server counts them; None where it gives no count."""
    read, written = (_count(content, name) for name in ("prompt_tokens", "completion_tokens"))
    return None if read is None or written is None else Usage(read, written)


def _count(content: object, *names: str) -> int | None:
    count = content
    for name in ("usage", *names):
        count = count.get(name) if isinstance(count, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _text(content: object) -> str:
    """A text, or the texts of a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Malformed(f"content of type {type(content).__name__} in its message")
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _whole_characters(text: str) -> str:
    """Halves of a character become one where they are next to each other, else the replacement character."""
    return text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="replace")
