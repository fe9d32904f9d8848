"""The fields of a chat completion request: what each means, and what is done where a server refuses it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.models.errors import ModelError
from evenhand.models.openai_http import Answer


@dataclass(frozen=True)
class Field:
    """What is done where a server refuses a field: the first of these that is given, else the run stops with `advice`.

    instead: the field that takes its value. lower: values to try next. note: the field is left out, of any value or of
    `harmless` alone, and the report says this. called: other words for it in errors.
    """

    name: str
    meaning: str
    advice: str = ""
    instead: str = ""
    lower: tuple[int, ...] = ()
    note: str = ""
    harmless: object = None
    called: str = ""


_DEFAULT = "replies were drawn at the server's default, usually 1"
_NO_SCORES = "the server gives no log-probabilities"
FIELDS = (
    Field("model", "the model's name", "does the server serve the model named after #?"),
    Field("max_tokens", "tokens of a reply at most", "try a smaller --max-new-tokens", instead="max_completion_tokens"),
    Field("max_completion_tokens", "the same, for newer models", "try a smaller --max-new-tokens"),
    Field("stop", "texts that end a reply", note="the server takes no stop texts: replies were cut here"),
    Field("temperature", "0: the likeliest token; 1: draws as likely as the model says",
          "try --temperature 1, the default of most models and the only value that some take",
          note=f"the server takes no temperature: {_DEFAULT}", harmless=1.0),
    Field("top_p", "draws from the likeliest tokens with this probability together", "remove --top-p",
          note=f"the server takes no top_p: {_DEFAULT}", harmless=1.0),
    Field("top_k", "draws from so many likeliest tokens", note="the server takes no top_k: any token could be drawn"),
    Field("seed", "makes a draw repeatable", note="the server takes no seed: these draws can't be repeated"),
    Field("response_format", "a JSON schema for the reply",
          "it was asked to keep to a JSON schema, as vLLM, llama.cpp and OpenAI do: remove --constrain",
          called="response.?format|json.?schema|structured.?output|guided|grammar"),
    Field("chat_template_kwargs", "variables of the chat template", "remove --template-option, --chat-template-kwargs"),
    Field("reasoning_effort", "how much the model thinks", "remove --reasoning-effort, or give a value that it takes"),
    Field("logprobs", "asks for log-probabilities", note=_NO_SCORES),
    Field("top_logprobs", "of so many likeliest tokens", lower=(10, 5), note=_NO_SCORES, called="logprobs of"),
)  # fmt: skip
_TOO_LARGE = re.compile(
    r"at most|maximum|less than|exceed|too (?:large|many|long)|must be (?:<|between)", re.IGNORECASE
)
_BY_NAME = {each.name: each for each in FIELDS}
_REFUSES = re.compile(
    r"support|unrecogni[sz]ed|unknown|unexpected|extra|invalid|unavailable|not (?:permitted|allowed|find)|cannot|can't|"
    r"only the default|must|should|greater|less than|too (?:large|many|long)",
    re.IGNORECASE,
)
# How servers name a field in an error: 'seed', `seed`, "argument supplied: seed", "seed: …", "seed is not …".
_NAMES = (
    r"""['"`]{0}['"`]|\b(?:supplied|this model:|names?|(?:argument|parameter|field|propert|input)\w*):?\s+"""
    r"""(?:\w+,\s*)*{0}\b|(?:^|->|\n)(?:\s|the\s)*{0}(?::| is not| is un| must| should)|support (?:the )?{0}\b"""
)
_ECHO = re.compile(r"expected one of|['\"]input['\"]")  # behind these other fields, or what was sent, may be named


class ServerFields:
    """What one server takes, which its refusals tell. Safe in threads."""

    def __init__(self) -> None:
        self._renamed: dict[str, str] = {}
        self._lowered: dict[str, object] = {}
        self._lock = threading.Lock()
        self.notes: dict[str, str] = {}
        """{field: note} of those that are left out."""

    def body(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the fields to send for these values."""
        kept = {name: self._lowered.get(name, value) for name, value in values.items() if name not in self.notes}
        return {self._renamed.get(name, name): value for name, value in kept.items()}

    def adapt(self, answer: Answer, body: Mapping[str, object], refusal: str) -> bool:
        """Whether the server refused fields of this body, so that the request is worth sending without them.

        Args:
            refusal: the server's answer in words, for the error.

        Raises:
            ModelError: a field is refused without which the run would be another. It says what to change.
        """
        refused = [_BY_NAME[name] for name in refused_fields(answer, body)]
        by_value = bool(_TOO_LARGE.search(answer.message))
        with self._lock:
            changed = [
                field for field in refused if not (by_value and field.instead) and self._change(field, body[field.name])
            ]
        if refused and not changed:  # one may be refused only together with another that was left out
            raise ModelError(f"{refusal}; {refused[0].advice}")
        return bool(changed)

    def _change(self, field: Field, value: object) -> bool:
        """Whether the request can do with another field or value, or without it."""
        lower = [each for each in field.lower if isinstance(value, int) and each < value]
        if field.instead:
            self._renamed[field.name] = field.instead
        elif lower:
            self._lowered[field.name] = lower[0]
        elif field.note and field.harmless in (None, value):
            self.notes[field.name] = field.note
        else:
            return False
        return True


def refused_fields(answer: Answer, body: Mapping[str, object]) -> list[str]:
    """Names of the body's fields that an error says the server doesn't take, or not with this value."""
    if answer.status not in (400, 422):
        return []
    locations = {part for each in _details(answer.content) for part in _texts(each.get("loc"))}
    parameter, message = str(answer.error.get("param")), answer.message
    words = _ECHO.split(message)[0] if not locations and _REFUSES.search(message) else ""

    def is_named(name: str) -> bool:
        called = _BY_NAME[name].called
        pattern = f"{_NAMES.format(name)}|{called}" if called else _NAMES.format(name)
        return name in locations or name == parameter or bool(re.search(pattern, words, re.IGNORECASE))

    return [name for name in body if name in _BY_NAME and is_named(name)]


def _details(content: object) -> list[dict[str, object]]:
    """The entries of an error's detail, as pydantic lists them, wherever a server puts the list."""
    if isinstance(content, dict):
        return [found for name in ("detail", "error", "message") for found in _details(content.get(name))]
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _texts(found: object) -> list[str]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
