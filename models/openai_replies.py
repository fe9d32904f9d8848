"""What an OpenAI-style server's answer means: a text, a refusal by its filter, a prompt that is too long."""

from __future__ import annotations

import re
from typing import Literal

from evenhand.models.openai_http import Answer
from evenhand.models.request import Reply

FILTERED = frozenset({"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation"})
"""Codes of errors by which OpenAI and Azure say that their filter refused a prompt, or a picture in it."""

_TOO_LONG = re.compile(r"context.?(length|window|size)|`inputs` tokens", re.IGNORECASE)
_NUMBER, _MANY = r"(\d{1,9})", 10**9
_CONTEXT = (rf"context (?:length|window|size)[^\d]{{0,30}}{_NUMBER}", rf"must be <= {_NUMBER}")  # the latter: TGI
_PROMPT = (
    rf"{_NUMBER} input tokens",  # vLLM
    rf"messages resulted in {_NUMBER} tokens",  # OpenAI
    rf"{_NUMBER} `inputs` tokens",  # TGI
)
_WHOLE = rf"requested {_NUMBER} tokens"  # OpenAI, older vLLM


class Malformed(Exception):
    """An answer that is no chat completion; the message says what it lacks."""


def is_filtered(answer: Answer) -> bool:
    """Whether an error is a refusal by the server's content filter: told by its code alone, never by its words."""
    inner = answer.error.get("innererror")
    codes = [answer.error.get("code"), inner.get("code") if isinstance(inner, dict) else None]
    return answer.status in (400, 403) and any(isinstance(code, str) and code in FILTERED for code in codes)


def wants_other_limit(answer: Answer) -> bool:
    """Whether it takes max_completion_tokens in place of max_tokens, as OpenAI's reasoning models do."""
    error = answer.error
    unsupported = error.get("param") == "max_tokens" and error.get("code") == "unsupported_parameter"
    return answer.status == 400 and unsupported and "max_completion_tokens" in answer.message


def is_too_long(answer: Answer) -> bool:
    """Whether it says that the prompt and its answer exceed the context window."""
    code = answer.error.get("code"), answer.error.get("type")
    return answer.status in (400, 413, 422) and bool(_TOO_LONG.search(f"{code} {answer.message}"))


def tokens_and_context(answer: Answer, max_new_tokens: int) -> tuple[int, int] | None:
    """Tokens of prompt and answer, and of the context window, where a server names them in words that are known."""
    prompt, context = _count(answer, "n_prompt_tokens"), _count(answer, "n_ctx")  # llama.cpp
    prompt = _first(answer.message, *_PROMPT) if prompt is None else prompt
    context = _first(answer.message, *_CONTEXT) if context is None else context
    whole = _first(answer.message, _WHOLE) if prompt is None else prompt + max_new_tokens
    return None if whole is None or context is None or whole <= context else (whole, context)


def read_reply(content: object, stop: tuple[str, ...] = ()) -> Reply | None:
    """The first choice of a chat completion; None where the server's filter withheld it (finish_reason says so).

    Parts that are no text are left out, and so is what a model thought before it answered; no content is an empty
    text. It is cut at a stop string that the server let through.

    Raises Malformed.
    """
    choices = content.get("choices") if isinstance(content, dict) else None
    if not isinstance(choices, list) or not choices:
        raise Malformed("no choices in it")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Malformed("no message in its first choice")
    finish = choice.get("finish_reason")
    if finish == "content_filter":
        return None
    text = _whole_characters(_text(message.get("content")))
    cut = min((found for each in stop if (found := text.find(each)) >= 0), default=len(text))
    reason: Literal["stop", "length"] = "length" if finish == "length" and cut == len(text) else "stop"
    return Reply(text=text[:cut], finish_reason=reason)


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


def _count(answer: Answer, field: str) -> int | None:
    value = answer.error.get(field)
    return value if isinstance(value, int) and 0 < value < _MANY else None


def _first(text: str, *patterns: str) -> int | None:
    found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    return next((int(match[1]) for match in found if match), None)
