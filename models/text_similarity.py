"""How similar two texts are in meaning: cosine of mean sentence embeddings, or token by token as BERTScore has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoConfig, AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from evenhand.models.embedded import embedded_encoder
from evenhand.models.errors import ModelError
from evenhand.models.loading import Checkpoint, loaded
from evenhand.progress import SILENT_FOR, Bar

LONGEST = 256  # word pieces of a sentence, as all-MiniLM-L6-v2 was trained
BATCH = 64
LAYERS = 6  # of all-MiniLM-L6-v2

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
    def at_hand(cls) -> TextEncoder | None:
        """The embedded one, loaded once; None where its package is not installed."""
        try:
            return _load_once(embedded_encoder())
        except ModelError:
            return None

    @classmethod
    def from_folder(cls, folder: Path) -> TextEncoder:
        checkpoint = Checkpoint(str(folder), dtype="float32", what="encoder")
        return cls(checkpoint.weights(AutoModel), checkpoint.tokenizer)

    def embed(self, texts: Sequence[Sequence[str]]) -> FloatArray:
        """(texts, hidden size), of length 1; NaN for a text without sentences. texts: the sentences of each."""
        distinct = sorted({sentence for text in texts for sentence in text}, key=len)
        place = {sentence: i for i, sentence in enumerate(distinct)}
        starts = Bar(range(0, len(distinct), BATCH), desc="sentence embeddings", unit="batch", delay=SILENT_FOR)
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

    def token_f1(self, texts: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        """F1 of BERTScore's greedy matching (Zhang et al., ICLR 2020, section 3), the best over a text's references.

        Each token is matched with the other side's token of the highest cosine; precision is the mean over the text's
        tokens, recall over the reference's: in [-1, 1], mostly above 0. As published without weights by idf, which are
        optional there, and without rescaling; tokens that begin and end a text are no tokens of it. 0 where a side has
        none. The states are this encoder's last, so that no figure of another model compares.
        """
        distinct = sorted({*texts, *(each for some in references for each in some)}, key=len)
        batches = (distinct[start : start + BATCH] for start in range(0, len(distinct), BATCH))
        states = {text: each for batch in batches for text, each in zip(batch, self._tokens(batch))}
        return [max(_matched(states[text], states[one]) for one in some) for text, some in zip(texts, references)]

    def _tokens(self, texts: Sequence[str]) -> list[torch.Tensor]:
        """Of each text, (its tokens, hidden size), of length 1 each."""
        hidden, mask, special = self._encode(texts)
        return [states[inner] for states, inner in zip(torch.nn.functional.normalize(hidden, dim=-1), mask & ~special)]

    def _sentences(self, sentences: Sequence[str]) -> FloatArray:
        hidden, mask, _ = self._encode(sentences)
        means = (hidden * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return np.asarray(torch.nn.functional.normalize(means, dim=-1).numpy())

    def _encode(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Last hidden states (texts, tokens, hidden size); which tokens are no padding, and special (texts, tokens)."""
        batch = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=LONGEST, return_special_tokens_mask=True,
            return_tensors="pt",
        )  # fmt: skip
        special = batch.pop("special_tokens_mask").bool()
        with torch.inference_mode():
            return self.model(**batch).last_hidden_state.double(), batch["attention_mask"].bool(), special


def library_f1(texts: Sequence[str], references: Sequence[Sequence[str]], encoder: str | None = None) -> list[float]:
    """F1 of the library bert-score, the best over a text's references.

    encoder: a Hub id, read at the layer that the library recommends, or a folder, at its last layer; None:
    all-MiniLM-L6-v2. 0 for an empty text, which the library does not take. Raises ModelError where that encoder's
    package is not installed, and ImportError where the library is not.
    """
    from bert_score import score
    from bert_score.utils import model2layers

    said = [place for place, text in enumerate(texts) if text.strip()]
    found = [0.0] * len(texts)
    if said:
        *_, f1 = score(
            [texts[place] for place in said],
            [list(references[place]) for place in said],
            model_type=encoder or str(embedded_encoder()),
            num_layers=_layers(encoder, model2layers),
            use_fast_tokenizer=True,
            device="cpu" if encoder is None else None,
        )
        for place, value in zip(said, f1.tolist()):
            found[place] = value
    return found


def _layers(encoder: str | None, recommended: Mapping[str, int]) -> int:
    if encoder is None:
        return LAYERS
    return recommended.get(encoder) or int(loaded(AutoConfig, encoder).num_hidden_layers)


@cache
def _load_once(folder: Path) -> TextEncoder:
    return TextEncoder.from_folder(folder)


def _matched(text: torch.Tensor, reference: torch.Tensor) -> float:
    if not len(text) or not len(reference):
        return 0.0
    cosines = text @ reference.T
    precision, recall = cosines.amax(dim=1).mean().item(), cosines.amax(dim=0).mean().item()
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
