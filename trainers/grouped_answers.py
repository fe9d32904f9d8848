"""Learning from rewards of what the model writes: several answers to a prompt, each held against the others.

TRL's GRPO and RLOO, on prompts that are tokens as the backend that writes reads them. A group whose answers all have
one reward pushes nowhere, so such groups are counted.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL tells of each training otherwise

import datasets
import torch
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.trainers.method import Beginning, Made, Method
from evenhand.trainers.rewards import BiasReward

_LOGGER = logging.getLogger(__name__)

GROUPS, EQUAL, UNREAD, REWARD = "groups", "equal_groups", "unread", "reward"  # in the trainer's log, of each step
EARLY = 10  # steps after which it is said that all groups had equal rewards


@dataclass(frozen=True)
class Asked:
    """One prompt. row, place: as `bias_prompts` has them."""

    prompt: Tokens
    row: str
    place: int

    @property
    def continuations(self) -> list[Continuation]:
        """What is read before an answer is written."""
        return [Continuation(self.prompt, self.prompt[-1:])]


@dataclass(frozen=True)
class Grouping:
    """algorithm: grpo or rloo. size: answers to a prompt. beta: of the divergence from the base, None: TRL's own."""

    algorithm: str
    size: int
    temperature: float
    max_new_tokens: int
    beta: float


def grouped_answers(reward: BiasReward, grouping: Grouping) -> Method:
    return partial(_made, reward, grouping)


class _OurPrompts:
    """Of either of TRL's trainers: prompts come as places among ours, and groups of equal rewards are counted.

    unread: the reward of what can't be read, which is counted all the same; None: it has none.
    """

    def __init__(self, asked: Sequence[Asked], unread: float | None, **settings: Any):
        self._asked, self._unread = asked, unread
        columns = {"prompt": [str(place) for place in range(len(asked))]}
        columns |= {name: [getattr(each, name) for each in asked] for name in ("row", "place")}
        super().__init__(train_dataset=datasets.Dataset.from_dict(columns), **settings)  # type: ignore[call-arg]

    def _tokenize_prompts(self, prompts: Sequence[str]) -> tuple[list[list[int]], None, dict[str, Any]]:
        return [list(self._asked[int(each)].prompt) for each in prompts], None, {}

    def _calculate_rewards(self, *inputs: Any) -> torch.Tensor:
        """Those of all processes: (answers, 1)."""
        rewards: torch.Tensor = super()._calculate_rewards(*inputs)  # type: ignore[misc]
        unread = rewards.isnan().float().mean().item()
        if self._unread is not None:
            rewards = rewards.nan_to_num(nan=self._unread)
        grouped = rewards.view(-1, self.num_generations)  # type: ignore[attr-defined]
        told = {GROUPS: len(grouped), EQUAL: equal_groups(grouped), UNREAD: unread}
        for name, figure in told.items():
            self._metrics["train"][name].append(float(figure))  # type: ignore[attr-defined]
        return rewards


class _GRPO(_OurPrompts, GRPOTrainer):  # type: ignore[misc]
    pass


class _RLOO(_OurPrompts, RLOOTrainer):  # type: ignore[misc]
    pass


TRAINERS: Mapping[str, tuple[Any, Any]] = {"grpo": (_GRPO, GRPOConfig), "rloo": (_RLOO, RLOOConfig)}


def equal_groups(rewards: torch.Tensor) -> int:
    """Rows of (groups, answers) in which no two rewards differ; NaN, which was not read, is none."""
    low = rewards.nan_to_num(torch.inf).amin(dim=1)
    high = rewards.nan_to_num(-torch.inf).amax(dim=1)
    return int((high - low <= 1e-6).sum())


def _made(reward: BiasReward, grouping: Grouping, beginning: Beginning, examples: Sequence[Asked]) -> Made:
    """Every step writes answers of its own, so that a checkpoint after any step can be gone on with.

    Prompts are taken in their order in every pass: TRL's own shuffling begins anew where a training goes on.
    """
    kind, config = TRAINERS[grouping.algorithm]
    logging.getLogger(kind.__mro__[2].__module__).addFilter(_said_already)
    trainer = kind(
        examples,
        reward.unread,
        model=beginning.base,
        reward_funcs=replace(reward, unread=None),
        args=config(
            **beginning.arguments,
            beta=grouping.beta,
            num_generations=grouping.size,
            max_completion_length=grouping.max_new_tokens,
            temperature=grouping.temperature,
            shuffle_dataset=False,
            disable_dropout=beginning.options.dropout == 0,
        ),
        processing_class=beginning.checkpoint.tokenizer,
        peft_config=beginning.lora,
        callbacks=[*beginning.callbacks, _TellEarly()],
    )
    return Made(trainer, "padded")


def _said_already(record: logging.LogRecord) -> bool:
    """TRL prints every prompt whose answer was not read; they are counted here."""
    return "All reward functions returned None" not in record.getMessage()


class _TellEarly(TrainerCallback):  # type: ignore[misc]
    """Says while there is time that nothing is learned."""

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        logs = [log for log in state.log_history if GROUPS in log]
        if len(logs) == EARLY and state.is_world_process_zero and all(log[EQUAL] == log[GROUPS] for log in logs):
            unread = sum(log[UNREAD] for log in logs) / len(logs)
            _LOGGER.warning(
                "in the first %d steps all answers to a prompt had equal rewards (%.0f %% could not be read): nothing "
                "is learned so. A higher --temperature or --group-size, or another model, may help",
                EARLY,
                100 * unread,
            )
