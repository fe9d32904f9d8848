"""A copy of a model in a process of its own, on whichever machine: it loads as it would here, and answers calls."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from evenhand.models.errors import ModelError
from evenhand.models.protocol import Ability, HasChatTemplate, Kind, Model, SaysHowItScores
from evenhand.models.registry import DType, load_model
from evenhand.models.request import Reply, Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings

SECONDS = 1.0  # between two parts of a call whose replies come one by one


@dataclass(frozen=True)
class ModelSpec:
    """What `load_model` takes, so that every replica loads the same."""

    name: str
    dtype: DType = "auto"
    batch_size: int = 16
    revision: str | None = None
    pictures: bool = False
    options: tuple[tuple[str, str], ...] = ()
    alone: bool = True
    template: TemplateSettings = NO_SETTINGS

    def load(self) -> Model:
        return load_model(
            self.name,
            dtype=self.dtype,
            batch_size=self.batch_size,
            revision=self.revision,
            pictures=self.pictures,
            options=dict(self.options),
            alone=self.alone,
            template=self.template,
        )


@dataclass(frozen=True)
class Description:
    """What a model says of itself, as the protocol has it; evenhand: the version that loaded it. machine: its name."""

    spec: ModelSpec
    identity: str
    name: str
    can: frozenset[Ability]
    whole_calls: bool
    at_once: Mapping[Kind, int]
    scoring_way: str | None
    template_date: str | None
    template_notes: tuple[str, ...]
    evenhand: str
    machine: str


@dataclass(frozen=True)
class Part:
    """Replies of a call, by their places in it, that are stored together. tokens: written since the last part.

    said: to the log, to be repeated where people read it.
    """

    replies: Mapping[int, Reply]
    tokens: int = 0
    said: tuple[str, ...] = ()


class Replica:
    """Holds the models that it was asked for, each loaded once."""

    def __init__(self, folder: str):
        """folder: in which the command was given, for models that are folders; where it is on this machine, too."""
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._models: dict[ModelSpec, Model] = {}
        self._said: list[str] = []
        logging.getLogger("evenhand").addHandler(_Kept(self._said))

    def describe(self, spec: ModelSpec) -> Iterator[Description]:
        """One description. Raises what `load_model` raises."""
        model = self._loaded(spec)
        yield Description(
            spec,
            model.identity,
            model.name,
            model.can,
            model.whole_calls,
            {"choose": model.at_once("choose"), "generate": model.at_once("generate")},
            model.scoring_way if isinstance(model, SaysHowItScores) else None,
            model.template_date if isinstance(model, HasChatTemplate) else None,
            model.template_notes if isinstance(model, HasChatTemplate) else (),
            version("evenhand"),
            os.uname().nodename,
        )

    def answer(self, spec: ModelSpec, identity: str, requests: Sequence[Request]) -> Iterator[Part]:
        """A whole call in one part, or what came within a second, as the model has it.

        Raises ModelError where this machine's model is not the one of that identity.
        """
        model = self._loaded(spec)
        if model.identity != identity:
            raise other_model(identity, model.identity, os.uname().nodename)
        part = _Gathered()
        for place, reply in model.answer(requests, part.count):
            part.replies[place] = reply
            if not model.whole_calls and time.monotonic() - part.began > SECONDS:
                yield part.taken(self._said)
        yield part.taken(self._said)

    def close(self) -> Iterator[None]:
        """Ends what the models have started, too."""
        for model in self._models.values():
            model.close()
        self._models.clear()
        yield None

    def _loaded(self, spec: ModelSpec) -> Model:
        if spec not in self._models:
            self._models[spec] = spec.load()
        return self._models[spec]


def other_model(expected: str, came: str, machine: str) -> ModelError:
    return ModelError(
        f"replicas differ: {came} was loaded on {machine}, and {expected} before. Give every machine the same files "
        "and versions, and a --dtype where their hardware differs"
    )


@dataclass
class _Gathered:
    """What the next part will hold. Tokens are counted by any thread."""

    replies: dict[int, Reply] = field(default_factory=dict)
    tokens: int = 0
    began: float = field(default_factory=time.monotonic)

    def count(self, tokens: int) -> None:
        self.tokens += tokens

    def taken(self, said: list[str]) -> Part:
        part = Part(self.replies, self.tokens, tuple(said))
        said.clear()
        self.replies, self.tokens, self.began = {}, 0, time.monotonic()
        return part


class _Kept(logging.Handler):
    """Warnings, which nobody would read on a machine far away."""

    def __init__(self, said: list[str]):
        super().__init__(logging.WARNING)
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())
