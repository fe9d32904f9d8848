"""How classifiers of language agency are trained: base, learning rate, epochs and batch size, by name.

Wan & Chang 2024 (LABE), Appendix B.6 gives the settings for BERT, RoBERTa and Llama2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """How a classifier is trained. base: a Hub id or local folder; lora: train adapters, for decoder models."""

    base: str
    learning_rate: float
    epochs: float
    batch_size: int
    source: str
    warmup_steps: int = 0
    lora: bool = False


RECIPES: Mapping[str, Recipe] = {
    "minilm": Recipe(
        "embedded", 1e-4, 5, 16, warmup_steps=50, source="tried on LAC's training split, judged on its validation split"
    ),
    "bert": Recipe("google-bert/bert-base-cased", 5e-5, 10, 6, source="LABE, Appendix B.6; base of the published code"),
    "roberta": Recipe("FacebookAI/roberta-base", 5e-6, 10, 6, source="LABE, Appendix B.6"),
    "lora": Recipe(
        "meta-llama/Llama-2-7b-chat-hf", 5e-5, 5, 6, lora=True, source="LABE, Appendix B.6; batch size of the encoders"
    ),
}
