"""What an OpenAI-style server's answer means: a text, a refusal by its filter, a prompt that is too long."""

from __future__ import annotations

import re

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer
from evenhand.models.request import FinishReason, Reply
from evenhand.models.spending import Usage

FILTERED = frozenset({"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation"})
"""Codes of errors by which OpenAI and Azure say that their filter refused a prompt, or a picture in it."""

_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum model length|prompt is too long|`inputs` tokens", re.IGNORECASE
)
_SCHEMA = re.compile(r"response.?format|json.?schema|structured.?output|guided|grammar", re.IGNORECASE)
_MOST_TOKENS = 10_000_000  # of one reply; a count beyond it is none
_OF_ONE = (400, 413, 422)
# What an error says of these, it says of every request of a run.
_SETTINGS = ("model", "temperature", "top_p", "top_k", "seed", "stop", "max_tokens", "max_completion_tokens")


class Malformed(Exception):
    """An answer that is none to what was asked; the message says what it lacks."""


class Withheld(Malformed):
    """Likewise, of what it may be that the server never gives it: whoever tries that need not wait in between."""


def failure(answer: Answer) -> FinishReason | None:
    """Why this one request fails for good, where an error says so of it: refused by the server's content filter, more
    than the context window holds, or not understood. None where it is no error, or one of other requests, too."""
    if _is_filtered(answer):
        return "refused"
    if _is_too_long(answer):
        return "context_exceeded"
    return "not_understood" if answer.status in _OF_ONE and answer.error.get("param") not in _SETTINGS else None


def wants_other_limit(answer: Answer) -> bool:
    """Whether it takes max_completion_tokens in place of max_tokens, as OpenAI's reasoning models do."""
    error = answer.error
    unsupported = error.get("param") == "max_tokens" and error.get("code") == "unsupported_parameter"
    return answer.status == 400 and unsupported and "max_completion_tokens" in answer.message


def refuses_schema(answer: Answer) -> bool:
    """Of a request with a schema: whether the error says that the server keeps to none, or not to such."""
    said = (answer.error.get("param"), answer.message)
    of_it = any(isinstance(each, str) and _SCHEMA.search(each) for each in said)
    return answer.status in _OF_ONE and failure(answer) not in ("refused", "context_exceeded") and of_it


def read_reply(content: object, stop: tuple[str, ...] = ()) -> Reply:
    """The first choice of a chat completion.

    Parts that are no text are left out, and so is what a model thought before it answered; no content is an empty
    text. It is cut at a stop string that the server let through.

    Raises Malformed, and Unanswerable where the server's filter withheld it.
    """
    if isinstance(content, dict) and content.get("error"):
        raise Malformed("an error in it")
    choices = content.get("choices") if isinstance(content, dict) else None
    if not isinstance(choices, list) or not choices:
        raise Malformed("no choices in it")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Malformed("no message in its first choice")
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        raise Unanswerable("refused", "the server's content filter withheld the answer")
    if finish in ("abort", "error"):
        raise Malformed(f"a text that broke off ({finish})")
    text = _whole_characters(_text(message.get("content")))
    cut = min((found for each in stop if (found := text.find(each)) >= 0), default=len(text))
    reason: FinishReason = "length" if finish == "length" and cut == len(text) else "stop"
    return Reply(text=text[:cut], finish_reason=reason)


def completion_tokens(content: object) -> int:
    """Tokens that were written, as the server counts them; 0 where it does not say."""
    return _count(content, "completion_tokens") or 0


def usage_of(content: object) -> Usage | None:
    """Tokens that were read and written, as the server counts them; None where it does not say."""
    read, written = (_count(content, name) for name in ("prompt_tokens", "completion_tokens"))
    return None if read is None or written is None else Usage(read, written)


def _count(content: object, name: str) -> int | None:
    usage = content.get("usage") if isinstance(content, dict) else None
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Malformed(f"content of type {type(content).__name__} in its message")
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _whole_characters(text: str) -> str:
    """Halves of a character become one where they stand together, else the replacement character."""
    return text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="replace")


def _is_filtered(answer: Answer) -> bool:
    """Told by the error's code alone, never by its words."""
    inner = answer.error.get("innererror")
    codes = [answer.error.get("code"), inner.get("code") if isinstance(inner, dict) else None]
    return answer.status in (400, 403) and any(isinstance(code, str) and code in FILTERED for code in codes)


def _is_too_long(answer: Answer) -> bool:
    said = (answer.error.get("code"), answer.error.get("type"), answer.message)
    return answer.status in _OF_ONE and any(isinstance(each, str) and _TOO_LONG.search(each) for each in said)
