"""How classifiers of language agency are trained, by name: the paper's ways, and ours.

Wan & Chang 2024 (LABE), Appendix B.6 gives learning rate, epochs and batch size for BERT and RoBERTa; their published
scripts give the rest (fine_tune_bert.py and the calls of inference_bert.py): no weight decay, and not the best epoch is
kept but step 4,500 of 4,970, whatever the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

RECORD = "agency.json"  # beside a trained classifier, and above several
BERT_LEARNING_RATES = (5e-5, 5e-6)  # Appendix B.6; the published script's default, also for BERT


@dataclass(frozen=True)
class Recipe:
    """How a classifier is trained.

    Attributes:
        base: a Hub id or local folder.
        lora: train adapters, for decoder models.
        last_step: stop there, before the schedule ends; None: at its end.
        best_epoch: keep the epoch most accurate on the validation split, not the last.
        by_length: group sentences by length.
    """

    base: str
    learning_rate: float
    epochs: float
    batch_size: int
    source: str
    warmup_steps: int = 0
    lora: bool = False
    weight_decay: float = 0.0
    last_step: int | None = None
    best_epoch: bool = False
    by_length: bool = False

    def changed(self, values: Mapping[str, Any]) -> Recipe:
        """Return the recipe with other values, named as such in its source."""
        others = {name: value for name, value in values.items() if value != getattr(self, name)}
        named = ", ".join(others)
        return replace(self, **others, source=f"{self.source}; {named} of its own" if others else self.source)


_PAPERS = "LABE, Appendix B.6; no weight decay and the step that is kept as in the published scripts"

RECIPES: Mapping[str, Recipe] = {
    "minilm": Recipe(
        "embedded", 1e-4, 5, 16, warmup_steps=50, weight_decay=0.01, best_epoch=True, by_length=True,
        source="ours: tried on LAC's training split, judged on its validation split",
    ),
    "bert": Recipe(
        "google-bert/bert-base-cased", 5e-5, 10, 6, last_step=4_500, source=f"{_PAPERS}, as is the base"
    ),
    "roberta": Recipe("FacebookAI/roberta-base", 5e-6, 10, 6, last_step=4_500, source=_PAPERS),
    "lora": Recipe(
        "meta-llama/Llama-2-7b-chat-hf", 5e-5, 5, 6, lora=True, weight_decay=0.01, best_epoch=True, by_length=True,
        source="ours: learning rate and epochs of LABE, Appendix B.6, for a head that classifies, where the paper's "
        "Llama2 writes the label",
    ),
}  # fmt: skip


def is_papers_bert(recipe: Mapping[str, Any]) -> bool:
    """Whether a recorded recipe is how the paper trained BERT, the classifier of all its figures, whatever its base."""
    papers = asdict(RECIPES["bert"])
    same = all(recipe.get(name) == papers[name] for name in papers if name not in ("base", "source", "learning_rate"))
    return same and recipe.get("learning_rate") in BERT_LEARNING_RATES
