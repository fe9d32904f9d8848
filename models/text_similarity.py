"""How alike two texts are in meaning: cosine of mean sentence embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from evenhand.models.embedded import embedded_encoder
from evenhand.models.loading import Checkpoint

LONGEST = 256  # word pieces of a sentence, as all-MiniLM-L6-v2 was trained
BATCH = 64
SILENT_FOR = 5  # seconds, before a bar appears

FloatArray = npt.NDArray[np.float64]


class TextEncoder:
    """An encoder whose sentence embedding is the mean of its last hidden states, as sentence-transformers has it."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase):
        self.model = model.eval()
        self.tokenizer = tokenizer

    @classmethod
    def embedded(cls) -> TextEncoder:
        """all-MiniLM-L6-v2. Raises ModelError where its package is not installed."""
        return cls.from_folder(embedded_encoder())

    @classmethod
    def from_folder(cls, folder: Path) -> TextEncoder:
        checkpoint = Checkpoint(str(folder), dtype="float32", what="encoder")
        return cls(checkpoint.weights(AutoModel), checkpoint.tokenizer)

    def embed(self, texts: Sequence[Sequence[str]]) -> FloatArray:
        """(texts, hidden size), of length 1; NaN for a text without sentences. texts: the sentences of each."""
        distinct = sorted({sentence for text in texts for sentence in text}, key=len)
        place = {sentence: i for i, sentence in enumerate(distinct)}
        starts = tqdm(range(0, len(distinct), BATCH), desc="sentence embeddings", unit="batch", delay=SILENT_FOR)
        batches = [self._sentences(distinct[start : start + BATCH]) for start in starts]
        if not batches:
            return np.full((len(texts), 1), np.nan)
        vectors = np.concatenate(batches)
        means = [vectors[[place[s] for s in text]].mean(axis=0) if text else vectors[0] * np.nan for text in texts]
        stacked = np.stack(means)
        return np.asarray(stacked / np.linalg.norm(stacked, axis=1, keepdims=True))

    def similarity(self, first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> float:
        """Mean cosine of paired texts; NaN where no pair has sentences on both sides."""
        cosines = (self.embed(first) * self.embed(second)).sum(axis=1)
        return float(np.nanmean(cosines)) if not np.isnan(cosines).all() else float("nan")

    def _sentences(self, sentences: Sequence[str]) -> FloatArray:
        batch = self.tokenizer(list(sentences), padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        with torch.inference_mode():
            hidden = self.model(**batch).last_hidden_state.double()
        mask = batch["attention_mask"][..., None]
        means = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        return np.asarray(torch.nn.functional.normalize(means, dim=-1).numpy())
