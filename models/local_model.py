"""What all models on this machine have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from transformers import PreTrainedModel

from evenhand.models.chat_templates import ChatTemplate
from evenhand.models.errors import ModelError
from evenhand.models.failures import Failures
from evenhand.models.protocol import Ability, Kind


class LocalModel:
    """A checkpoint whose weights are loaded when the first question comes.

    identity: what stands for it in stores; what decides its prompts is added to it. name: as reports call it; by
    default its identity. context: tokens of a prompt with its answer; None: any number. notes: as `HasNotes` has them.
    """

    can: frozenset[Ability]
    batches: Mapping[Kind, int]
    """Batches a call. Calls of many prompts share more prefixes; texts take long, and an interrupted call is lost."""
    whole_calls = True  # what is batched together decides the last bits of a reply

    def __init__(
        self,
        load: Callable[[], PreTrainedModel],
        identity: str,
        name: str | None,
        context: int | None,
        batch_size: int,
        chat: ChatTemplate,
    ):
        if batch_size < 1:
            raise ModelError(f"the batch size must be at least 1, got {batch_size}")
        self._load = load
        self.identity = identity + chat.mark
        self.name = name or identity
        self.chat = chat
        self.template_date, self.template_notes = chat.date, chat.notes
        self.context = context
        self.batch_size = batch_size
        self.notes: dict[str, str] = {}
        self._failures = Failures(self.identity)

    @cached_property
    def model(self) -> PreTrainedModel:
        return self._load().eval()

    def at_once(self, kind: Kind) -> int:
        return self.batch_size * self.batches[kind]

    def close(self) -> None:
        def closed() -> PreTrainedModel:
            raise ModelError(f"{self.name} was closed; load it anew")

        self._load = closed
        self.__dict__.pop("model", None)
