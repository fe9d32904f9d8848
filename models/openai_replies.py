"""Reads a server's answers: a reply, a refusal by its filter, a prompt that is too long."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer
from evenhand.models.request import FinishReason, Reply, Request
from evenhand.models.server_oddities import EXCERPT, Oddities
from evenhand.models.spending import Usage
from evenhand.models.thoughts import ends_unopened, make_reply, split_thought

FILTERED = frozenset({"content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation"})
"""Codes of errors by which OpenAI and Azure say that their filter refused a prompt, or a picture in it."""

_TOO_LONG = re.compile(
    r"context.?(length|window|size)|maximum model length|prompt is too long|`inputs` tokens", re.IGNORECASE
)
# Reasons to end a text, as servers name them.
_ENDED_TEXTS = frozenset({
    "complete", "completed", "end_turn", "eos", "eos_token", "finish", "finished", "stop", "stop_sequence", "success",
    "tool_calls",
})  # fmt: skip
_CUT_TEXTS = frozenset({
    "alternative_status_truncated_final", "length", "max_context_length", "max_output_tokens", "max_tokens",
    "model_context_window_exceeded", "model_length",
})  # fmt: skip
_FILTERED_TEXTS = frozenset({
    "blocklist", "content_filter", "content_filtered", "error_toxic", "guardrail_intervened", "prohibited_content",
    "recitation", "refusal", "safety", "sensitive", "spii",
})  # fmt: skip
_BROKEN_TEXTS = frozenset({"abort", "cancelled", "error", "insufficient_system_resource", "network_error", "timeout"})
# Special tokens that a server left in a text, and the header of its own turn.
_END_OF_TURN = re.compile(
    r"<\|im_end\|>|<\|eot_id\|>|<\|eom_id\|>|<\|endoftext\|>|<\|end_of_text\|>|<end_of_turn>|</s>|<｜end▁of▁sentence｜>"
    r"|\[INST\]|\n### ?(?:Instruction|Human|User):"
)
_OWN_TURN = re.compile(
    r"\A\s*(?:<\|im_start\|>\s*)?(?:<\|start_header_id\|>)?assistant(?:<\|end_header_id\|>)?\s*\n\s*"
)
# Types of parts that hold a thought.
_THOUGHTS = frozenset({
    "thinking", "thought", "reasoning", "reasoning_content", "reasoning_text", "redacted_thinking", "summary_text",
})  # fmt: skip
_MOST_TOKENS = 10_000_000  # of one reply; a larger count is none
_OF_ONE = (400, 413, 422)


class Malformed(Exception):
    """An answer of another form than what was asked for; the message says what it lacks."""


class Withheld(Malformed):
    """A malformed answer that the server may always give: the next attempt needs no pause."""


def failure(answer: Answer) -> FinishReason | None:
    """Return why this one request fails for good: refused by the server's content filter, longer than the context
    window, or not understood. None where the answer is no error, or an error of other requests, too."""
    inner = answer.error.get("innererror")
    codes = [answer.error.get("code"), inner.get("code") if isinstance(inner, dict) else None]
    if answer.status in (400, 403) and any(isinstance(code, str) and code in FILTERED for code in codes):
        return "refused"
    if answer.status not in _OF_ONE:
        return None
    said = (answer.error.get("code"), answer.error.get("type"), answer.message)
    too_long = any(isinstance(each, str) and _TOO_LONG.search(each) for each in said)
    return "context_exceeded" if too_long else "not_understood"


class ReplyReader:
    """Reads the chat completions of one model. Safe in threads. oddities: what is noted of them."""

    def __init__(self, oddities: Oddities):
        self.oddities = oddities
        self._opens_thoughts = self._cut_before = False

    def read(self, content: object, request: Request) -> Reply:
        """Read the first choice of a chat completion, its thought apart from its text.

        No content is an empty text. The text is cut at a stop text that the server ignored.

        Raises Malformed, and Unanswerable where the server's filter withheld the text.
        """
        if isinstance(content, dict) and content.get("error"):
            raise Malformed("an error in it")
        choice = first_choice(content)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise Malformed("no message in its first choice")
        finish = read_finish(choice)
        if finish == "none":
            self.oddities.note("no_finish_reason", "the server doesn't say why replies end: some may have been cut off")
        elif finish not in _ENDED_TEXTS | _CUT_TEXTS | _BROKEN_TEXTS:
            self.oddities.note(
                "unknown_finish_reason", f"replies end for a reason that evenhand doesn't know: {finish[:EXCERPT]!r}"
            )
        if finish in _BROKEN_TEXTS or choice.get("error"):
            raise Malformed(f"a text that broke off ({finish})")
        text = _whole_characters(_text(message.get("content")) or _text(message.get("refusal")))
        thought = read_thought(message)
        written = completion_tokens(content) or len(text.split())
        limit = request.sampling.max_new_tokens
        is_cut = finish in _CUT_TEXTS or (written == limit and not thought)  # some servers always say "stop"
        ended, *rest = _END_OF_TURN.split(_OWN_TURN.sub("", text), maxsplit=1)
        if rest:
            ended = ended.rstrip()
        if "".join(rest).strip():
            self.oddities.note("beyond_its_turn", "replies that go on after the mark that ends a turn are cut there")
        reply = self._make_reply(ended, is_cut and not rest, thought)
        if not text and is_cut and _count(content, "completion_tokens_details", "reasoning_tokens") != 0:
            reply = replace(reply, finish_reason="thought")  # which the server keeps to itself
        self.oddities.look_at_answer(content, request)
        stopped_by = choice.get("stop_reason") or (finish == "stop_sequence" and finish)
        self.oddities.look_at_reply(request, reply, written, stopped_by)
        cut = min((found for each in request.sampling.stop if (found := reply.text.find(each)) >= 0), default=None)
        return reply if cut is None else replace(reply, text=reply.text[:cut], finish_reason="stop")

    def _make_reply(self, text: str, is_cut: bool, thought: str) -> Reply:
        """A text without marks that was cut off is a thought where the chat template opens one."""
        if ends_unopened(text):
            self._opens_thoughts = True
        unmarked = is_cut and not thought and not split_thought(text)[1]
        self._cut_before |= unmarked and not self._opens_thoughts
        if self._opens_thoughts:
            said = (
                "the server's chat template opens a thought, and no reasoning parser takes it out of the text. Replies "
                "without its closing mark that were cut off are unread"
            )
            if self._cut_before:
                said += "; some were taken for answers before that was known: run again in another --output"
            self.oddities.note("opened_thought", said)
        return make_reply(text, "length" if is_cut else "stop", unmarked and self._opens_thoughts, thought)


def read_finish(choice: dict[str, Any]) -> str:
    """Return the server's word for why a text ended. Raises Unanswerable where its filter withheld the text."""
    finish = choice.get("finish_reason")
    finish = str(finish.get("type") if isinstance(finish, dict) else finish).lower()
    if finish in _FILTERED_TEXTS:
        raise Unanswerable("refused", "the server's content filter withheld the answer")
    return finish


def first_choice(content: object) -> dict[str, Any]:
    choices = content.get("choices") if isinstance(content, dict) else None
    if not isinstance(choices, list) or not choices:
        raise Malformed("no choices in it")
    first: object = choices[0]
    return first if isinstance(first, dict) else {}


def read_thought(message: dict[str, Any]) -> str:
    """Return what a reasoning model thought, where the server gives it apart from the text."""
    given = [message.get("reasoning_content"), message.get("reasoning")]
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and _is_thought(part):
            found = next(
                (part[name] for name in ("thinking", "reasoning", "reasoning_content", "text") if part.get(name)), ""
            )
            given.append(_text(found) if isinstance(found, str | list) else "")
    return _whole_characters(next((each for each in given if isinstance(each, str) and each.strip()), ""))


def completion_tokens(content: object) -> int:
    """Return how many tokens were written, as the server counts them; 0 where it gives no count."""
    return _count(content, "completion_tokens") or 0


def read_usage(content: object) -> Usage | None:
    """Return how many tokens were read and written, as the server counts them; None where it gives no count.

    Written are all but the prompt's: some servers leave thoughts out of their completion tokens.
    """
    read, written, total = (_count(content, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    return Usage(read, max(written, (total or 0) - read)) if read and written is not None else None


def _count(content: object, *names: str) -> int | None:
    count = content
    for name in ("usage", *names):
        count = count.get(name) if isinstance(count, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else None


def _text(content: object) -> str:
    """Return a text, or the texts of a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Malformed(f"content of type {type(content).__name__} in its message")
    parts = [part for part in content if isinstance(part, dict) and not _is_thought(part)]
    texts = [part.get("text") or part.get("refusal") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _is_thought(part: dict[str, Any]) -> bool:
    return str(part.get("type")) in _THOUGHTS or part.get("thought") is True


def _whole_characters(text: str) -> str:
    """Halves of a character become one where they are next to each other, else the replacement character."""
    return text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="replace")
