"""Which sentences of a text are agentic and which communal, by any sequence-classification checkpoint.

Wan & Chang 2024 (LABE), section 3.2: agentic language is achievement-oriented, communal language social or
service-oriented. Sentences go in batches of like length; the published way was one at a time, padded to the model's
longest input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from evenhand.language_agency.label_request import LABELS
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.errors import ModelError
from evenhand.models.fingerprint import fingerprint
from evenhand.models.request import Reply, Request

AGENTIC_BY_NUMBER = "LABEL_1"  # of checkpoints whose labels have no names: LAC's numbers
TOKENS_A_BATCH = 2048  # with padding
SENTENCES_AT_ONCE = 4096
LONGEST = 512  # tokens, where neither the tokenizer nor the model says less

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelledSentence:
    """agentic: the classifier's probability; the label is "agentic" above one half."""

    text: str
    agentic: float

    @property
    def label(self) -> Literal["agentic", "communal"]:
        return "agentic" if self.agentic > 0.5 else "communal"


class SentenceClassifier:
    """What labels sentences: subclasses give `identity` and `agentic_probabilities`.

    Also a model that answers requests whose choices are the two labels, so that its work is batched and stored like
    any other's.
    """

    identity: str
    requests_at_once = texts_at_once = SENTENCES_AT_ONCE

    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray:
        """(sentences,)"""
        raise NotImplementedError

    def label(self, texts: Iterable[str]) -> Iterator[tuple[LabelledSentence, ...]]:
        """The labelled sentences of each text, in order; none for a text without words. Any number of texts."""
        arriving = iter(texts)
        while some := [split_sentences(text) for text in islice(arriving, SENTENCES_AT_ONCE // 8)]:
            probabilities = iter(self.agentic_probabilities([each for text in some for each in text]).tolist())
            for sentences in some:
                yield tuple(LabelledSentence(sentence, next(probabilities)) for sentence in sentences)

    def choose(self, requests: Sequence[Request]) -> list[Reply]:
        """Log-probability of each label, in nats. The sentence is the last message; choices are the LABELS."""
        agentic = self.agentic_probabilities([request.messages[-1].text for request in requests])
        tiny = np.finfo(float).tiny
        both = np.log(np.maximum(np.stack([1 - agentic, agentic], axis=1), tiny)).tolist()
        return [
            Reply(finish_reason="choice", choice_log_probs=tuple((row[LABELS.index(c)],) for c in request.choices))
            for request, row in zip(requests, both)
        ]

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        raise ModelError(f"{self.identity} labels sentences and writes none")


class AgencyClassifier(SentenceClassifier):
    """A transformers checkpoint with a head for two classes, or more, two of which are named."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        identity: str,
        agentic_label: str | None = None,
        tokens_a_batch: int = TOKENS_A_BATCH,
    ):
        """agentic_label: the checkpoint's name for agentic, where that is not "agentic" or LABEL_1.

        Raises ModelError for a checkpoint whose labels can't be told apart.
        """
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.identity = identity
        self.tokens_a_batch = tokens_a_batch
        self.longest = min(tokenizer.model_max_length, _positions(model))
        self._columns = _columns(model.config.id2label, agentic_label, identity)
        _agree_on_padding(model, tokenizer)

    @classmethod
    def from_pretrained(
        cls,
        path: str,
        *,
        name: str | None = None,
        revision: str | None = None,
        dtype: Literal["float32", "bfloat16"] = "float32",
        agentic_label: str | None = None,
    ) -> AgencyClassifier:
        """A Hub id or local folder; safetensors only, and no code from the checkpoint is run.

        name: what `identity` calls it; by default the path, with the agentic label where one is named.
        Raises ModelError saying what could not be loaded.
        """
        try:
            model, tokenizer = _loaded(path, revision, getattr(torch, dtype))
        except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, SafetensorError) as error:
            reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
            raise ModelError(
                f"could not load classifier {path!r}: {reason}. Accepted: a Hub id or a local folder with config.json, "
                "safetensors weights of a sequence classifier and a tokenizer"
            ) from error
        if torch.cuda.is_available():
            model = model.to("cuda")
        commit = fingerprint(Path(path)) if Path(path).is_dir() else getattr(model.config, "_commit_hash", None)
        shown = name or path + (f":agentic={agentic_label}" if agentic_label else "")  # the same weights, turned round
        return cls(model, tokenizer, f"{shown}@{commit or revision or 'unknown'} {dtype}", agentic_label)

    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray:
        """(sentences,); a sentence longer than the model reads is cut."""
        distinct = list(dict.fromkeys(sentences))
        if not distinct:
            return np.zeros(0)
        encoded = self.tokenizer(distinct, truncation=True, max_length=self.longest)["input_ids"]
        of_sentence: dict[str, float] = {}
        for batch in self._batches([len(ids) for ids in encoded]):
            agentic = self._agentic([encoded[i] for i in batch]).tolist()
            of_sentence.update((distinct[i], probability) for i, probability in zip(batch, agentic))
        return np.array([of_sentence[sentence] for sentence in sentences])

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Indices of neighbors in length, the longest first, each batch of `tokens_a_batch` or fewer with padding."""
        order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
        start = 0
        while start < len(order):
            rows = max(1, self.tokens_a_batch // lengths[order[start]])
            yield order[start : start + rows]
            start += rows

    def _agentic(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """Probability of agentic over the two labels, (rows,)."""
        batch = self.tokenizer.pad({"input_ids": list(rows)}, padding=True, return_tensors="pt").to(self.model.device)
        with torch.inference_mode():
            logits = self.model(**batch).logits[:, self._columns].float()
        return logits.softmax(dim=-1)[:, 1].cpu()


def _loaded(path: str, revision: str | None, dtype: torch.dtype) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Raises ValueError for what transformers makes up, with no more than a warning: a vocabulary, or weights."""
    tokenizer = AutoTokenizer.from_pretrained(path, revision=revision)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise ValueError("its tokenizer has no vocabulary")
    model, report = AutoModelForSequenceClassification.from_pretrained(
        path, revision=revision, dtype=dtype, use_safetensors=True, output_loading_info=True
    )
    if report["missing_keys"]:
        raise ValueError(f"it has no weights for {', '.join(sorted(report['missing_keys'])[:3])}")
    return model, tokenizer


def _positions(model: PreTrainedModel) -> int:
    """Tokens that the model has positions for. RoBERTa and its kin count them from behind the padding's."""
    longest: int = getattr(model.config.get_text_config(), "max_position_embeddings", LONGEST)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            longest -= module.padding_idx + 1
    return longest


def _agree_on_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Decoder models take the last token that isn't the configuration's padding."""
    if tokenizer.pad_token is None:
        of_model = model.config.pad_token_id
        tokenizer.pad_token = tokenizer.eos_token if of_model is None else tokenizer.convert_ids_to_tokens(of_model)
    model.config.pad_token_id = tokenizer.pad_token_id


def _columns(names: Mapping[int, str], agentic_label: str | None, identity: str) -> list[int]:
    """Columns of communal and agentic."""
    by_name = {str(name).lower(): column for column, name in names.items()}
    wanted = agentic_label or next((name for name in ("agentic", AGENTIC_BY_NUMBER) if name.lower() in by_name), "")
    agentic = by_name.get(wanted.lower())
    others = [column for column in names if column != agentic]
    communal = by_name["communal"] if "communal" in by_name else others[0] if len(others) == 1 else None
    if agentic is None or communal is None or agentic == communal:
        shown = ", ".join(map(str, names.values()))
        raise ModelError(
            f"{identity} has the labels {shown}: it can't be told which one is {wanted or 'agentic'}; accepted: the "
            f"labels communal and agentic, LABEL_0 and LABEL_1, or two labels of which one is named as agentic"
        )
    return [communal, agentic]
