"""What a recipe has ready before its training begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.trainers.options import TuningOptions
from evenhand.trainers.steps import n_steps

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
    what else this recipe says there. datasets: whose rows are learned from.
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
    datasets: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What a person should know before it begins; no full stop."""
        how, steps = self.how, n_steps(self.how, len(self.examples))
        plain = self.checkpoint.tokenizer.chat_template is None and getattr(how, "layout", None) == "chat"
        n, a_step = len(self.examples) * how.answers_each, how.batch_size * how.accumulation
        return ". ".join(
            filter(
                None,
                (
                    WITHOUT_TEMPLATE if plain else "",
                    f"a step has all {n} examples, fewer than --batch-size {how.batch_size} x --accumulation "
                    f"{how.accumulation}"
                    if 0 < n < a_step
                    else "",
                    f"the learning rate is still rising when the training ends: --warmup {how.warmup} of {steps} steps"
                    if how.warmup >= steps
                    else "",
                ),
            )
        )
