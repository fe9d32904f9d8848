"""What a recipe has ready before its training begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.trainers.options import TuningOptions

if TYPE_CHECKING:
    from evenhand.models.loading import Checkpoint
    from evenhand.trainers.method import Method
    from evenhand.trainers.over_steps import Stop

WITHOUT_TEMPLATE = (
    "the model has no chat template: in layout chat its prompts are plain paragraphs, here as when it is measured"
)


@dataclass(frozen=True)
class Prepared:
    """What is learned, by what, and how.

    examples: of the method, which is learning answers unless said. how: the options, with all defaults filled in.
    measure: of the model in training, on what is held out from it; stop: whether the training ends by that; judged: of
    the tuned model, what it learned, for training.json and card. data: of training.json, what the examples are; told:
    what else this recipe says there.
    """

    how: TuningOptions
    checkpoint: Checkpoint
    examples: Sequence[Any]
    measure: Callable[..., Mapping[str, float]]
    data: Mapping[str, Any]
    method: Method | None = None
    stop: Stop | None = None
    judged: Callable[..., Mapping[str, Any]] | None = None
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What a person should know before it begins; no full stop."""
        plain = self.checkpoint.tokenizer.chat_template is None and getattr(self.how, "layout", None) == "chat"
        return WITHOUT_TEMPLATE if plain else ""
