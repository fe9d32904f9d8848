"""Models whose answers are known beforehand: for rehearsals, and for tests of everything behind a model."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.registry import Loading
from evenhand.models.request import Reply, Request
from evenhand.options import NoOptions

POLICIES = ("first", "last", "random", "silent", "say:TEXT", "random:TEXT|TEXT|…")

_SURE = 0.99


class StubModel:
    """Picks by policy: the first or last option, a seeded random one, none ("silent"), or a text of those given.

    Where it is asked for text, it picks among the words of the last message; by a schema, among what each of an
    object's properties may be. Texts that it is given are said as they are.
    """

    can: frozenset[Ability] = frozenset({"generate", "choose", "see", "continue", "constrain"})
    whole_calls = True

    def __init__(self, policy: str):
        drawn_from = policy.removeprefix("random:").split("|") if policy.startswith("random:") else []
        known = policy in POLICIES[:-2] or policy.startswith("say:") or drawn_from
        if not known or "" in drawn_from:
            raise ModelError(f"unknown stub {policy!r}; accepted: {', '.join(f'stub:{name}' for name in POLICIES)}")
        self.policy = policy
        self._drawn_from = drawn_from

    @property
    def identity(self) -> str:
        return f"stub:{self.policy}"

    @property
    def name(self) -> str:
        return self.identity

    def at_once(self, kind: Kind) -> int:
        return 1024

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        for place, request in enumerate(requests):
            yield place, self.reply(request)

    def reply(self, request: Request) -> Reply:
        if request.choices:
            return self._choice(request)
        if request.schema is not None and self.policy in ("first", "last", "random"):
            return Reply(text=json.dumps(self._kept(json.loads(request.schema), request), ensure_ascii=False))
        return Reply(text=self._pick(request.messages[-1].text.split(), request) or "")

    def close(self) -> None:
        """There is nothing to let go of."""

    def _choice(self, request: Request) -> Reply:
        picked = self._pick(request.choices, request)
        k = len(request.choices)
        if picked not in request.choices:  # equally likely: an answer that can't be read
            probabilities = [1 / k] * k
        else:
            others = (1 - _SURE) / max(1, k - 1)
            probabilities = [_SURE if choice == picked else others for choice in request.choices]
        log_probs = tuple((math.log(probability),) for probability in probabilities)
        return Reply(finish_reason="choice", choice_log_probs=log_probs)

    def _kept(self, schema: Mapping[str, Any], request: Request, place: str = "") -> object:
        """place: of the schema in the whole one, so that each is drawn separately."""
        if "properties" in schema:
            return {name: self._kept(of, request, f"{place}/{name}") for name, of in schema["properties"].items()}
        return self._pick(schema.get("enum") or request.messages[-1].text.split(), request, place) or ""

    def _pick(self, options: Sequence[str], request: Request, place: str = "") -> str | None:
        if self.policy.startswith("say:"):
            return self.policy.removeprefix("say:")
        options = self._drawn_from or options
        if self.policy == "silent" or not options:
            return None
        if self.policy.startswith("random"):
            return random.Random(f"{request.seed} {request.messages[-1].text}{place}").choice(options)
        return options[0] if self.policy == "first" else options[-1]


class StubBackend:
    """Takes no options, and has no weights that a dtype or revision could be of."""

    Options = NoOptions
    ACCEPTED = ", ".join(f"stub:{name}" for name in POLICIES)

    def load(self, name: str, loading: Loading, options: NoOptions) -> StubModel:
        if loading.template.options and loading.alone:
            raise UsageError("--template-option has no effect: a stub has no chat template; remove it")
        return StubModel(name)

    def without_effect(self, name: str) -> Mapping[str, str]:
        return dict.fromkeys(("revision", "dtype", "batch_size"), "a stub has no weights, and computes nothing")
