"""Notes for the report on what is odd about a server's answers: what may make figures wrong, and can be seen."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping

from evenhand.models.request import Message, Reply, Request

EXCERPT = 100  # characters
_UNKNOWN_MARK = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|</?[\w:-]{0,20}(?:think|thought|reason|scratch|reflect|monologue)[\w:-]{0,20}>",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"\n\W*(?:sources?|references|citations)\W*\n(?:.*https?://.*(?:\n|\Z))+\s*\Z"
    r"|\n-{3,}\n[^\n]*\d[\d,]* tokens\b[^\n]*\Z",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:(?:rate|request|token|usage|daily) limit|quota|too many requests|service unavailable|internal server error|"
    r"bad gateway|gateway time-?out|temporarily unavailable|overloaded)\b",
    re.IGNORECASE,
)
_LONGEST_ERROR = 200  # characters
_ENCODED = re.compile(
    r"&(?:#x?[0-9a-f]{2,4}|amp|lt|gt|quot|apos);|â€|Ã[©¨¤¶¼±]|\A\s*(?:\[\s*\{|\"[^\"]*\\)", re.IGNORECASE
)
_LONG = 20  # characters of a question that no answer repeats by chance
_FIRST = 5  # replies, all of which were cut off
_DRAWS, _LONG_DRAW = 3, 80  # prompts whose draws are the same; characters of a text that isn't drawn twice
_MOST_DRAWS = 1_000  # prompts that are remembered
_SAME_COUNT, _MOST_GROWTH, _SMALLEST_CONTEXT = 4, 1.15, 256  # prompts of one count, their lengths, tokens
_TEMPLATE = 200  # tokens that a chat template may add to a prompt
_CAPPED, _SMALLEST_CAP = 5, 16  # different replies of the same greatest length, tokens
_SHORTEST_CUT = 80  # characters
_SAME_ENDING = 40  # characters with which no ten different replies end by chance


class Oddities:
    """What is odd about the answers of one model's server. Safe in threads.

    Args:
        model: its name as the server was asked for it.
        no_thoughts: whether thinking was turned off.

    Attributes:
        notes: {code: sentence} for the report.
    """

    def __init__(self, model: str, no_thoughts: bool = False):
        self._model, self._no_thoughts = model, no_thoughts
        self._lock = threading.Lock()
        self.notes: dict[str, str] = {}
        self._requests: dict[str, str] = {}  # {a reply's id: its request's name}
        self._sources: dict[str, str] = {}  # {field: its first value}
        self._most_read, self._lengths = 0, set[int]()  # tokens of the longest prompts, and their characters
        self._most_written, self._longest = 0, set[str]()  # tokens of the longest replies, and these
        self._most_characters, self._cut = 0, set[str]()  # characters of the longest replies, and these
        self._draws: dict[tuple[Message, ...], tuple[int, str]] = {}  # {prompt: seed and text of its first draw}
        self._same_draws = 0
        self._ends: list[str] = []  # of the first replies
        self._texts: set[str] = set()  # of the first long replies

    def note(self, code: str, text: str) -> None:
        self.notes.setdefault(code, text)

    def look_at_answer(self, content: object, request: Request) -> None:
        """Look at who answered, and at how much of the prompt was read."""
        if isinstance(content, dict):
            with self._lock:
                self._look_at_envelope(content, request)

    def _look_at_envelope(self, content: Mapping[str, object], request: Request) -> None:
        name, named = content.get("model"), content.get("id")
        if isinstance(name, str) and name.lower().rpartition("/")[2] != self._model.lower().rpartition("/")[2]:
            self.note("other_model", f"the server says that another model answered: {name[:EXCERPT]!r}")
        if isinstance(named, str) and named and self._requests.setdefault(named, request.name) != request.name:
            self.note("repeated_reply", "the server gave the same reply (by its id) to several requests: from a cache?")
        for field in ("provider", "system_fingerprint"):
            value = content.get(field)
            if isinstance(value, str) and self._sources.setdefault(field, value) != value:
                self.note("several_servers", f"replies came from several servers or versions of one ({field})")
        usage = content.get("usage")
        read = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
        if type(read) is int and read > 0:
            self._look_at_prompt(request, read)

    def _look_at_prompt(self, request: Request, read: int) -> None:
        texts = [each.text for each in request.messages]
        characters = sum(map(len, texts))
        if read >= max(self._most_read, _SMALLEST_CONTEXT) and not request.images:
            self._lengths = {*(self._lengths if read == self._most_read else ()), characters}
            self._most_read = read
        same_count = len(self._lengths) >= _SAME_COUNT and max(self._lengths) > _MOST_GROWTH * min(self._lengths)
        if same_count or read < sum(len(each.split()) for each in texts):
            self.note(
                "prompt_cut",
                "the server counts fewer tokens in a prompt than it has words, or as many in prompts of different "
                "lengths: it may have cut them. Let it serve the model with a longer context",
            )
        if read > characters + _TEMPLATE and not request.images:
            self.note(
                "prompt_added", "the server counts more tokens in a prompt than it has characters: it may add its own"
            )

    def look_at_reply(self, request: Request, reply: Reply, written: int, stopped_by: object) -> None:
        """Look at a text. written: tokens; stopped_by: what the server says that ended it."""
        with self._lock:
            self._look_at_text(request, reply, written, stopped_by)

    def _look_at_text(self, request: Request, reply: Reply, written: int, stopped_by: object) -> None:
        text, limit = reply.text, request.sampling.max_new_tokens
        asked = request.messages[-1].text.strip()
        if len(asked) >= _LONG and text.lstrip().startswith(asked):
            self.note("echoed_prompt", "replies begin with the question itself")
        if self._no_thoughts and reply.thought:
            self.note(
                "thinks_all_the_same", "thinking was turned off, and replies hold thoughts: the server ignores it"
            )
        if request.schema is not None and reply.finish_reason == "stop" and not _is_json(text):
            self.note("schema_ignored", "replies aren't in the JSON that was asked for: answers were not forced")
        if isinstance(stopped_by, str) and stopped_by not in request.sampling.stop:
            self.note("other_stop", f"the server ends replies at a text of its own: {stopped_by[:EXCERPT]!r}")
        if written > limit and not reply.thought:
            self.note("longer_than_asked", "the server writes more tokens than --max-new-tokens allows")
        if not text.strip() and reply.finish_reason in ("stop", "length"):
            self.note("empty_replies", "the server gave empty replies without a reason")
        if len(text) <= _LONGEST_ERROR and _ERROR.search(text):
            self.note("error_texts", f"replies hold what may be an error's text: {text.strip()[:EXCERPT]!r}")
        if request.schema is None and _ENCODED.search(text):
            self.note("encoded_texts", f"replies are encoded as HTML, JSON or bytes: {text.strip()[:EXCERPT]!r}")
        if mark := _UNKNOWN_MARK.search(text):
            self.note(
                "unknown_mark",
                f"replies hold the mark {mark[0]!r}, which evenhand doesn't know: they may hold thoughts, too",
            )
        if not reply.thought and len(text.split()) > written:
            self.note("more_words", "the server counts fewer tokens in a reply than it has words: it may repeat parts")
        self._look_at_lengths(text, written, limit, reply.finish_reason)
        self._look_at_endings(text)
        self._look_at_draws(request, text)

    def _look_at_lengths(self, text: str, written: int, limit: int, end: str) -> None:
        self._ends += [end] if len(self._ends) < _FIRST else []
        if self._ends == ["length"] * _FIRST:
            self.note(
                "all_cut_off",
                f"each of the first {_FIRST} replies was cut off at --max-new-tokens: increase it, or, if the model "
                "thinks without a mark that evenhand knows, turn thinking off",
            )
        if max(self._most_written, _SMALLEST_CAP) <= written < limit and len(self._longest) < _CAPPED:
            self._longest = {*(self._longest if written == self._most_written else ()), text}
            self._most_written = written
        elif written > self._most_written:
            self._longest, self._most_written = {text}, written
        if len(text) >= max(self._most_characters, _SHORTEST_CUT) and len(self._cut) < _CAPPED:
            self._cut = {*(self._cut if len(text) == self._most_characters else ()), text}
            self._most_characters = len(text)
        if len(self._cut) >= _CAPPED:
            self.note(
                "own_limit", f"the longest replies all have {self._most_characters} characters: the server may cut them"
            )
        if len(self._longest) >= _CAPPED:
            self.note(
                "own_limit",
                f"the longest replies all have {self._most_written} tokens: the server may cut replies there, whatever "
                "--max-new-tokens says",
            )

    def _look_at_endings(self, text: str) -> None:
        if _ADDED.search(text):
            self.note("added_links", "replies end with links or counts: the server may add what the model didn't write")
        if len(self._texts) < 2 * _FIRST and len(text) > 2 * _SAME_ENDING:
            self._texts.add(text)
            beginning, ending = (
                os.path.commonprefix([each[::step] for each in self._texts])[::step]  # noqa: RUF071
                for step in (1, -1)
            )
            for code, common in (("same_beginning", beginning), ("same_ending", ending)):
                if len(self._texts) == 2 * _FIRST and len(common) >= _SAME_ENDING:
                    self.note(code, f"all replies hold a text that the server may add: {common[:EXCERPT]!r}")

    def _look_at_draws(self, request: Request, text: str) -> None:
        if request.sampling.temperature == 0 or len(text) < _LONG_DRAW or self._same_draws >= _DRAWS:
            return
        if len(self._draws) < _MOST_DRAWS:
            self._draws.setdefault(request.messages, (request.seed, text))
        seed, first = self._draws.get(request.messages, (request.seed, ""))
        self._same_draws += seed != request.seed and first == text
        if self._same_draws >= _DRAWS:
            self.note("same_draws", "the server draws the same text again for another seed: it may ignore temperature")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
