"""Direct preference optimization by TRL's DPOTrainer, on tokens that are read as scoring reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL reports each training otherwise

import datasets
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.text_reader import TextReader
from evenhand.trainers.examples import require_tokens
from evenhand.trainers.pairs import Pair

if TYPE_CHECKING:
    from evenhand.trainers.run import Setup


@dataclass(frozen=True)
class Preference:
    """A pair as tokens: both answers after the tokens that they share with their prompt."""

    prompt: Tokens
    chosen: Tokens
    rejected: Tokens

    @property
    def continuations(self) -> list[Continuation]:
        return [Continuation(self.prompt, self.chosen), Continuation(self.prompt, self.rejected)]


def read_pairs(pairs: Sequence[Pair], reader: TextReader, model: str, end: int | None) -> list[Preference]:
    """Read pairs; end: the token behind written answers, not behind options."""
    requests = [replace(pair.request, choices=(pair.chosen, pair.rejected)) for pair in pairs]
    read = []
    for pair, found in zip(pairs, require_tokens(requests, reader.continuations(requests), model)):
        shared = min(len(each.prompt) for each in found)
        behind = () if end is None or pair.request.choices else (end,)
        chosen, rejected = (each.prompt + each.answer + behind for each in found)
        read.append(Preference(chosen[:shared], chosen[shared:], rejected[shared:]))
    return read


class TokenDPO(DPOTrainer):  # type: ignore[misc]
    """DPOTrainer on examples that are tokens already."""

    packing, note = "padded", ""

    def _prepare_dataset(self, dataset: datasets.Dataset, *_: Any) -> datasets.Dataset:
        return dataset


def make_dpo(setup: Setup, examples: Sequence[Preference], beta: float) -> TokenDPO:
    """Make the trainer; its reference is the base: the adapter off, or, with full weights, the base loaded again."""
    columns = ("prompt", "chosen", "rejected")
    return TokenDPO(
        model=setup.base,
        ref_model=None if setup.lora else setup.checkpoint.weights(AutoModelForCausalLM),
        args=DPOConfig(
            **setup.arguments,
            beta=beta,
            max_length=None,  # what is too long is refused, and nothing is truncated
            disable_dropout=setup.options.dropout == 0,
        ),
        train_dataset=datasets.Dataset.from_dict(
            {f"{name}_ids": [list(getattr(each, name)) for each in examples] for name in columns}
        ),
        processing_class=setup.checkpoint.tokenizer,
        peft_config=setup.lora,
        callbacks=list(setup.callbacks),
    )
