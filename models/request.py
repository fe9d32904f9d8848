"""What a model is asked and what it answers: small frozen records."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Literal

_json = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True)
class Image:
    """An encoded picture (PNG, JPEG …). It counts by the hash of its bytes."""

    data: bytes = field(repr=False)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Message:
    """One turn of a chat: text, or text and image parts in order."""

    role: Literal["system", "user", "assistant"]
    content: str | tuple[str | Image, ...]

    @property
    def parts(self) -> tuple[str | Image, ...]:
        return (self.content,) if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        """The text parts, images left out."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(part for part in self.parts if isinstance(part, Image))

    def canonical(self) -> list[object]:
        """What identifies the message, as plain JSON."""
        return [self.role, [part if isinstance(part, str) else {"image": part.sha256} for part in self.parts]]


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn. temperature 0 is greedy decoding; top_p and top_k 1.0 and 0 keep every token.

    temperature None: as the model's own generation settings say, top_p and top_k too.
    """

    temperature: float | None = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_new_tokens: int = 512
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.temperature or 0) < 0 or not 0 < self.top_p <= 1 or self.top_k < 0 or self.max_new_tokens < 1:
            raise ValueError(
                f"sampling out of range: {self}; temperature >= 0, 0 < top_p <= 1, top_k >= 0, new tokens >= 1"
            )


@dataclass(frozen=True)
class Request:
    """One question to one model.

    messages: the chat so far. choices: when given, their log-probabilities are asked for and nothing is generated.
    seed: of this request's own random numbers. agent: the role of the model that should answer, where a run has
    several. name: where the request comes from, for error messages; no part of its identity. template: whether the
    model's chat template lays the messages out; else the text of the only one is the prompt, to the letter, of models
    that can "continue".
    """

    messages: tuple[Message, ...]
    choices: tuple[str, ...] = ()
    sampling: Sampling = Sampling()
    seed: int = 0
    agent: str = "default"
    name: str = field(default="", compare=False)
    template: bool = True
    schema: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.choices, tuple | list) or not all(isinstance(each, str) for each in self.choices):
            raise ValueError(
                f"request {self.name!r}: choices must be a tuple of texts, got {self.choices!r}; leave them out where "
                "the model is to write"
            )
        if not isinstance(self.messages, tuple | list) or not all(isinstance(each, Message) for each in self.messages):
            raise ValueError(f"request {self.name!r}: messages must be a tuple of Messages, got {self.messages!r}")
        if not self.messages or "" in self.choices:
            raise ValueError(f"request {self.name!r} needs at least one message, and choices that are not empty")
        if not self.template and (len(self.messages) > 1 or self.messages[0].images or not self.messages[0].text):
            raise ValueError(f"request {self.name!r} goes without a template, so its prompt is one message of text")
        if self.schema is not None and self.choices:
            raise ValueError(f"request {self.name!r} scores choices, so nothing is written that a schema could be of")

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(image for message in self.messages for image in message.images)

    @property
    def size(self) -> int:
        """How much of a call it takes: 1 for a text or a choice of two, more for more choices."""
        return max(1, math.ceil(len(self.choices) / 2))

    def digest(self, model_identity: str) -> str:
        """Hash of everything that decides the reply: the model and this request's content.

        The seed counts only where something is drawn, the sampling only where something is generated.
        """
        content: list[object] = [model_identity, [message.canonical() for message in self.messages], self.choices]
        if not self.template:
            content.append("without template")
        if self.schema is not None:
            content.append({"schema": self.schema})
        if not self.choices:
            sampling = self.sampling
            content.append([sampling.max_new_tokens, sampling.stop])
            if sampling.temperature != 0:
                content.append([sampling.temperature, sampling.top_p, sampling.top_k, self.seed])
        return hashlib.sha256(_json(content).encode()).hexdigest()


def fitting(requests: Sequence[Request], at_once: int) -> int:
    """How many of these, from the first, make a call of that size: one at least."""
    sizes = accumulate(request.size for request in requests[:at_once])
    return max(1, sum(size <= at_once for size in sizes))


FinishReason = Literal["stop", "length", "thought", "choice", "context_exceeded", "refused", "not_understood"]
"""Why a reply ends where it does. "thought": the model was still thinking, or stopped after its thought, and gave no
answer. The last three are failures, for good: the prompt and its answer exceed the model's context, its server's filter
refused the request or the answer, the model can't take it (a damaged picture, a template that raises)."""

FAILURES = frozenset({"context_exceeded", "refused", "not_understood"})


@dataclass(frozen=True)
class Reply:
    """One answer: generated text, or the log-probability (nats) of each token of each choice, in order of choices.

    text: the answer alone. thought: what a reasoning model wrote before it, which no reader looks at; where it was cut
    off, `finish_reason` is "thought" and there is no text. A failure has no text, and NaN for each choice: whoever
    reads it finds nothing to read.
    """

    text: str = ""
    finish_reason: FinishReason = "stop"
    choice_log_probs: tuple[tuple[float, ...], ...] = ()
    thought: str = ""

    @classmethod
    def failure(cls, reason: FinishReason, request: Request) -> Reply:
        return cls(finish_reason=reason, choice_log_probs=((math.nan,),) * len(request.choices))

    @property
    def failed(self) -> bool:
        return self.finish_reason in FAILURES
