"""A Python function from prompts to texts as a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from evenhand.models.errors import ModelError
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Request
from evenhand.models.thoughts import make_reply

Generate = Callable[[list[str]], Sequence[str]]


class FunctionModel:
    """Generates with a function. It scores no options: benchmarks fall back to their protocol `generate`.

    A conversation is one prompt, "user: … assistant: …". The function decides about sampling, and its code is part of
    the model's identity; what it calls is not.
    """

    can: frozenset[Ability] = frozenset({"generate"})
    whole_calls = False

    def __init__(self, generate: Generate, batch_size: int = 16):
        self._generate = generate
        self._batch_size = batch_size
        self.name = getattr(generate, "__name__", type(generate).__name__).strip("<>")
        code = getattr(generate, "__code__", None)
        content = (
            repr((code.co_code, code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")]))
            if code
            else ""
        )
        self.identity = f"function {self.name}@{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    def at_once(self, kind: Kind) -> int:
        return self._batch_size

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        texts = list(self._generate([_prompt(request) for request in requests]))
        if len(texts) != len(requests) or not all(isinstance(text, str) for text in texts):
            raise ModelError(
                f"{self.name} must return one text per prompt: {len(requests)} prompts, got {texts!r:.200}"
            )
        for place, text in enumerate(texts):
            yield place, make_reply(text, "stop")

    def close(self) -> None:
        """Nothing to release."""


def _prompt(request: Request) -> str:
    if len(request.messages) == 1:
        return request.messages[0].text
    return "\n\n".join(f"{message.role}: {message.text}" for message in request.messages)
