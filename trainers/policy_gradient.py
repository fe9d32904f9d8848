"""Learning from rewards by TRL's GRPO and RLOO, on prompts that are tokens as the backend that writes reads them.

A group whose answers all have one reward has no gradient, so such groups are counted.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL reports each training otherwise

import datasets
import torch
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.trainers.rewards import BiasReward

if TYPE_CHECKING:
    from evenhand.trainers.reward import RewardOptions
    from evenhand.trainers.run import Setup

GROUPS, EQUAL, UNREAD, REWARD = "groups", "equal_groups", "unread", "reward"  # in the trainer's log, of each step


@dataclass(frozen=True)
class PromptTokens:
    """One prompt; row, place: as `bias_prompts` has them."""

    prompt: Tokens
    row: str
    place: int

    @property
    def continuations(self) -> list[Continuation]:
        """What is read before an answer is written."""
        return [Continuation(self.prompt, self.prompt[-1:])]


class _TokenPrompts:
    """Mixed into TRL's trainers: prompts are places among the examples, and groups of equal rewards are counted.

    unread: the reward of what can't be read; None: it has none.
    """

    packing, note = "padded", ""

    def __init__(self, examples: Sequence[PromptTokens], unread: float | None, **settings: Any):
        self._examples, self._unread = examples, unread
        columns = {"prompt": [str(place) for place in range(len(examples))]}
        columns |= {name: [getattr(each, name) for each in examples] for name in ("row", "place")}
        super().__init__(train_dataset=datasets.Dataset.from_dict(columns), **settings)  # type: ignore[call-arg]

    def _tokenize_prompts(self, prompts: Sequence[str]) -> tuple[list[list[int]], None, dict[str, Any]]:
        return [list(self._examples[int(each)].prompt) for each in prompts], None, {}

    def _calculate_rewards(self, *inputs: Any) -> torch.Tensor:
        """Return the rewards of all processes: (answers, 1)."""
        rewards: torch.Tensor = super()._calculate_rewards(*inputs)  # type: ignore[misc]
        unread = rewards.isnan().float().mean().item()
        if self._unread is not None:
            rewards = rewards.nan_to_num(nan=self._unread)
        grouped = rewards.view(-1, self.num_generations)  # type: ignore[attr-defined]
        for name, figure in {GROUPS: len(grouped), EQUAL: count_equal(grouped), UNREAD: unread}.items():
            self._metrics["train"][name].append(float(figure))  # type: ignore[attr-defined]
        return rewards


class _GRPO(_TokenPrompts, GRPOTrainer):  # type: ignore[misc]
    pass


class _RLOO(_TokenPrompts, RLOOTrainer):  # type: ignore[misc]
    pass


TRAINERS: dict[str, tuple[Any, Any]] = {"grpo": (_GRPO, GRPOConfig), "rloo": (_RLOO, RLOOConfig)}


def count_equal(rewards: torch.Tensor) -> int:
    """Count the rows of (groups, answers) in which no two rewards differ; NaN, which was not read, is none."""
    low = rewards.nan_to_num(torch.inf).amin(dim=1)
    high = rewards.nan_to_num(-torch.inf).amax(dim=1)
    return int((high - low <= 1e-6).sum())


def make_policy_gradient(
    setup: Setup, examples: Sequence[PromptTokens], reward: BiasReward, options: RewardOptions
) -> Any:
    """Make the trainer.

    Every step writes its own answers, so that a checkpoint after any step can be resumed. Prompts keep their order in
    every pass: TRL's shuffling would begin again in a resumed training.
    """
    kind, config = TRAINERS[options.algorithm]
    # TRL logs every prompt whose answer was not read; they are counted here.
    logging.getLogger(kind.__mro__[2].__module__).addFilter(
        lambda record: "All reward functions returned None" not in record.getMessage()
    )
    return kind(
        examples,
        reward.unread,
        model=setup.base,
        reward_funcs=replace(reward, unread=None),
        args=config(
            **setup.arguments,
            beta=options.beta,
            num_generations=options.group_size,
            max_completion_length=options.max_new_tokens,
            temperature=options.temperature,
            shuffle_dataset=False,
            disable_dropout=options.dropout == 0,
        ),
        processing_class=setup.checkpoint.tokenizer,
        peft_config=setup.lora,
        callbacks=list(setup.callbacks),
    )
