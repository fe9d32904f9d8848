"""A copy of a model in a process of its own, on whichever machine: it loads as it would here, and answers calls."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from evenhand.models.errors import ModelError
from evenhand.models.protocol import Ability, HasChatTemplate, HasNotes, Kind, Model, SaysHowItScores
from evenhand.models.registry import Loading, load_model
from evenhand.models.request import Reply, Request

SECONDS = 1.0  # between two parts of a call whose replies come one by one


@dataclass(frozen=True)
class ModelSpec:
    """What `load_model` takes, so that every replica loads the same."""

    name: str
    loading: Loading = field(default_factory=Loading)
    options: tuple[tuple[str, str], ...] = ()

    def load(self) -> Model:
        return load_model(self.name, options=dict(self.options), **vars(self.loading))


@dataclass(frozen=True)
class Description:
    """A loaded model's properties, as in the protocol. evenhand: the version that loaded it. machine: its name."""

    spec: ModelSpec
    identity: str
    name: str
    can: frozenset[Ability]
    whole_calls: bool
    at_once: Mapping[Kind, int]
    scoring_way: str | None
    notes: dict[str, str]
    template_date: str | None
    template_notes: tuple[str, ...]
    evenhand: str
    machine: str


@dataclass
class Part:
    """Replies of a call, by their places in it, that are stored together. tokens: written since the last part, counted
    by any thread. warnings: logged since then, to be repeated where people read them.
    """

    replies: dict[int, Reply] = field(default_factory=dict)
    tokens: int = 0
    warnings: tuple[str, ...] = ()

    def count(self, tokens: int) -> None:
        self.tokens += tokens


class Replica:
    """Loads models on one machine, each once, and answers calls to them."""

    def __init__(self, folder: str):
        """folder: in which the command was given, for models that are folders; where it is on this machine, too."""
        with contextlib.suppress(OSError):
            os.chdir(folder)
        self._models: dict[ModelSpec, Model] = {}
        self._warnings: list[str] = []
        logging.getLogger("evenhand").addHandler(_WarningList(self._warnings))

    def describe(self, spec: ModelSpec) -> Iterator[Description]:
        """Yield one description. Raises what `load_model` raises."""
        model = self._loaded(spec)
        yield Description(
            spec,
            model.identity,
            model.name,
            model.can,
            model.whole_calls,
            {"choose": model.at_once("choose"), "generate": model.at_once("generate")},
            model.scoring_way if isinstance(model, SaysHowItScores) else None,
            model.notes if isinstance(model, HasNotes) else {},
            model.template_date if isinstance(model, HasChatTemplate) else None,
            model.template_notes if isinstance(model, HasChatTemplate) else (),
            version("evenhand"),
            os.uname().nodename,
        )

    def answer(self, spec: ModelSpec, identity: str, requests: Sequence[Request]) -> Iterator[Part]:
        """A whole call in one part, or what arrived within a second, as the model has it.

        Raises ModelError where this machine's model is not the one of that identity.
        """
        model = self._loaded(spec)
        if model.identity != identity:
            raise other_model(identity, model.identity, os.uname().nodename)
        part, began = Part(), time.monotonic()
        for place, reply in model.answer(requests, part.count):
            part.replies[place] = reply
            if not model.whole_calls and time.monotonic() - began > SECONDS:
                yield self._take(part)
                began = time.monotonic()
        yield self._take(part)

    def close(self) -> Iterator[None]:
        """Close the models, and so what they have started."""
        for model in self._models.values():
            model.close()
        self._models.clear()
        yield None

    def _take(self, part: Part) -> Part:
        """Return what was gathered so far, and empty the part."""
        taken = replace(part, warnings=tuple(self._warnings))
        self._warnings.clear()
        part.replies, part.tokens = {}, 0
        return taken

    def _loaded(self, spec: ModelSpec) -> Model:
        if spec not in self._models:
            self._models[spec] = spec.load()
        return self._models[spec]


def other_model(expected: str, found: str, machine: str) -> ModelError:
    return ModelError(
        f"replicas differ: {found} was loaded on {machine}, and {expected} before. Give every machine the same files "
        "and versions, and a --dtype where their hardware differs"
    )


class _WarningList(logging.Handler):
    """Keeps warnings, to be logged where the command runs."""

    def __init__(self, warnings: list[str]):
        super().__init__(logging.WARNING)
        self._warnings = warnings

    def emit(self, record: logging.LogRecord) -> None:
        self._warnings.append(record.getMessage())
