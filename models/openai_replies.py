"""Reads a server's answers: a reply, a refusal by its filter, a prompt that is too long."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from evenhand.models.errors import Unanswerable
from evenhand.models.openai_http import Answer
from evenhand.models.request import FinishReason, Message, Reply, Request
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
_UNKNOWN_MARK = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|</?[\w:-]{0,20}(?:think|thought|reason|scratch|reflect|monologue)[\w:-]{0,20}>",
    re.IGNORECASE,
)
_LONG = 20  # characters of a question that no answer repeats by chance
_ADDED_LINKS = re.compile(r"\n\W*(?:sources?|references|citations)\W*\n(?:.*https?://.*(?:\n|\Z))+\s*\Z", re.IGNORECASE)
_DRAWS, _LONG_DRAW = 3, 80  # prompts whose draws are the same; characters of a text that isn't drawn twice
_MOST_DRAWS = 1_000  # prompts that are remembered
_ALIKE, _MOST_GROWTH = 4, 1.15  # prompts that the server counts alike, of so different lengths
_FIRST = 5  # replies, all of which were cut off
_EXCERPT = 100  # characters
# Types of parts that hold a thought.
_THOUGHTS = frozenset({"thinking", "reasoning", "reasoning_text", "redacted_thinking", "summary_text"})
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
    """Reads the chat completions of one model, and notes what is odd about them. Safe in threads.

    model: its name as the server was asked for it.
    """

    def __init__(self, model: str):
        self._model = model
        self._opens_thoughts = self._cut_before = False
        self._ids: dict[str, str] = {}  # {a reply's: its request's}
        self._ends: list[str] = []  # of the first replies
        self._draws: dict[tuple[Message, ...], tuple[int, str]] = {}  # {prompt: seed and text of its first draw}
        self._same_draws = 0
        self._most_read, self._lengths = 0, set[int]()  # tokens of the longest prompts, and their characters
        self.notes: dict[str, str] = {}
        """{code: sentence} for the report."""

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
        finish = choice.get("finish_reason")
        finish = str(finish.get("type") if isinstance(finish, dict) else finish).lower()
        if finish in _FILTERED_TEXTS:
            raise Unanswerable("refused", "the server's content filter withheld the answer")
        if finish == "none":
            self._note("no_finish_reason", "the server doesn't say why replies end: some may have been cut off")
        elif finish not in _ENDED_TEXTS | _CUT_TEXTS | _BROKEN_TEXTS:
            self._note(
                "unknown_finish_reason", f"replies end for a reason that evenhand doesn't know: {finish[:_EXCERPT]!r}"
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
            self._note("beyond_its_turn", "replies that go on after the mark that ends a turn are cut there")
        reply = self._make_reply(ended, is_cut and not rest, thought)
        if not text and is_cut and _count(content, "completion_tokens_details", "reasoning_tokens") != 0:
            reply = replace(reply, finish_reason="thought")  # which the server keeps to itself
        self._note_oddities(content, request, reply, written)
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
            self._note("opened_thought", said)
        return make_reply(text, "length" if is_cut else "stop", unmarked and self._opens_thoughts, thought)

    def _note_oddities(self, content: object, request: Request, reply: Reply, written: int) -> None:
        name = content.get("model") if isinstance(content, dict) else None
        if isinstance(name, str) and name.lower().rpartition("/")[2] != self._model.lower().rpartition("/")[2]:
            self._note("other_model", f"the server says that another model answered: {name[:_EXCERPT]!r}")
        named = content.get("id") if isinstance(content, dict) else None
        if isinstance(named, str) and named and self._ids.setdefault(named, request.name) != request.name:
            self._note(
                "repeated_reply", "the server gave the same reply (by its id) to several requests: from a cache?"
            )
        asked = request.messages[-1].text.strip()
        if len(asked) >= _LONG and reply.text.lstrip().startswith(asked):
            self._note("echoed_prompt", "replies begin with the question itself")
        if _ADDED_LINKS.search(reply.text):
            self._note(
                "added_links", "replies end with a list of links: the server may add what the model didn't write"
            )
        self._note_cut_prompts(request, _count(content, "prompt_tokens"))
        self._note_draws(request, reply)
        if written > request.sampling.max_new_tokens and not reply.thought:
            self._note("longer_than_asked", "the server writes more tokens than --max-new-tokens allows")
        if not reply.text.strip() and reply.finish_reason in ("stop", "length"):
            self._note("empty_replies", "the server gave empty replies without a reason")
        self._ends += [reply.finish_reason] if len(self._ends) < _FIRST else []
        if self._ends == ["length"] * _FIRST:
            self._note(
                "all_cut_off",
                f"each of the first {_FIRST} replies was cut off at --max-new-tokens: increase it, or, if the model "
                "thinks without a mark that evenhand knows, turn thinking off",
            )
        if mark := _UNKNOWN_MARK.search(reply.text):
            self._note(
                "unknown_mark",
                f"replies hold the mark {mark[0]!r}, which evenhand doesn't know: they may hold thoughts, too",
            )

    def _note_cut_prompts(self, request: Request, read: int | None) -> None:
        """Note fewer tokens than words, and long prompts of different lengths with one number of tokens."""
        if not read:
            return
        texts = [each.text for each in request.messages]
        if read >= self._most_read and not request.images:
            self._lengths = {*(self._lengths if read == self._most_read else ()), sum(map(len, texts))}
            self._most_read = read
        alike = len(self._lengths) >= _ALIKE and max(self._lengths) > _MOST_GROWTH * min(self._lengths)
        if alike or read < sum(len(each.split()) for each in texts):
            self._note(
                "prompt_cut",
                "the server counts fewer tokens in a prompt than it has words, or as many in prompts of different "
                "lengths: it may have cut them. Let it serve the model with a longer context",
            )

    def _note_draws(self, request: Request, reply: Reply) -> None:
        """Note draws of a prompt that are the same though their seeds differ."""
        if request.sampling.temperature == 0 or len(reply.text) < _LONG_DRAW or self._same_draws >= _DRAWS:
            return
        if len(self._draws) < _MOST_DRAWS:
            self._draws.setdefault(request.messages, (request.seed, reply.text))
        seed, text = self._draws.get(request.messages, (request.seed, ""))
        self._same_draws += seed != request.seed and text == reply.text
        if self._same_draws >= _DRAWS:
            self._note("same_draws", "the server draws the same text again for another seed: it may ignore temperature")

    def _note(self, code: str, text: str) -> None:
        self.notes.setdefault(code, text)


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
        if isinstance(part, dict) and str(part.get("type")) in _THOUGHTS:
            found = part.get("thinking") or part.get("reasoning") or part.get("text")
            given.append(_text(found) if isinstance(found, str | list) else "")
    return _whole_characters(next((each for each in given if isinstance(each, str) and each.strip()), ""))


def completion_tokens(content: object) -> int:
    """Return how many tokens were written, as the server counts them; 0 where it gives no count."""
    return _count(content, "completion_tokens") or 0


def read_usage(content: object) -> Usage | None:
    """Return how many tokens were read and written, as the server counts them; None where it gives no count."""
    read, written = (_count(content, name) for name in ("prompt_tokens", "completion_tokens"))
    return None if read is None or written is None else Usage(read, written)


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
    parts = [part for part in content if isinstance(part, dict) and str(part.get("type")) not in _THOUGHTS]
    texts = [part.get("text") or part.get("refusal") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _whole_characters(text: str) -> str:
    """Halves of a character become one where they are next to each other, else the replacement character."""
    return text.encode("utf-16-le", errors="surrogatepass").decode("utf-16-le", errors="replace")
