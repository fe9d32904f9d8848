"""Which sentences of a text are agentic and which communal, by any sequence-classification checkpoint.

Wan & Chang 2024 (LABE), section 3.2: agentic language is achievement-oriented, communal language social or
service-oriented. Sentences go in batches of like length; the published way was one at a time, padded to the model's
longest input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerBase

from evenhand.language_agency.label_request import LABELS
from evenhand.language_agency.sentences import split_sentences
from evenhand.models.errors import ModelError
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, unheard
from evenhand.models.request import Reply, Request

AGENTIC_BY_NUMBER = "LABEL_1"  # of checkpoints whose labels have no names: LAC's numbers
TOKENS_A_BATCH = 2048  # with padding
SENTENCES_AT_ONCE = 4096
LONGEST = 512  # tokens, where neither the tokenizer nor the model says less

ACCEPTED = "a Hub id or a local folder with config.json, safetensors weights of a sequence classifier and a tokenizer"

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
    """A classifier of sentences. Subclasses define `identity` and `agentic_probabilities`, perhaps a `name`.

    It is also a model that answers requests whose choices are the two labels, so that its work is batched and stored
    like any other's. The sentence is the last message.
    """

    identity: str
    can: frozenset[Ability] = frozenset({"choose"})
    whole_calls = True

    @property
    def name(self) -> str:
        return self.identity

    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray:
        """Return the probabilities that sentences are agentic: (sentences,)."""
        raise NotImplementedError

    def batches(self, sentences: Sequence[str]) -> Iterator[tuple[Sequence[int], FloatArray]]:
        """Yield (places of some sentences, their probabilities) as they are computed; here in one batch."""
        yield range(len(sentences)), self.agentic_probabilities(sentences)

    def label(self, texts: Iterable[str]) -> Iterator[tuple[LabelledSentence, ...]]:
        """Yield the labelled sentences of each text, in order; none for a text without words. Any number of texts."""
        arriving = iter(texts)
        while some := [split_sentences(text) for text in islice(arriving, SENTENCES_AT_ONCE // 8)]:
            probabilities = iter(self.agentic_probabilities([each for text in some for each in text]).tolist())
            for sentences in some:
                yield tuple(LabelledSentence(sentence, next(probabilities)) for sentence in sentences)

    def at_once(self, kind: Kind) -> int:
        return SENTENCES_AT_ONCE

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """Yield the log-probability of each label, in nats."""
        if any(not request.choices for request in requests):
            raise ModelError(f"{self.identity} labels sentences and writes none")
        tiny = np.finfo(float).tiny
        for places, agentic in self.batches([request.messages[-1].text for request in requests]):
            both = np.log(np.maximum(np.stack([1 - agentic, agentic], axis=1), tiny)).tolist()
            for place, row in zip(places, both):
                of_choices = tuple((row[LABELS.index(choice)],) for choice in requests[place].choices)
                yield place, Reply(finish_reason="choice", choice_log_probs=of_choices)

    def close(self) -> None:
        """Release the model."""


class AgencyClassifier(SentenceClassifier):
    """A transformers checkpoint with a head for two classes, or more, two of which are named."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        identity: str,
        agentic_label: str | None = None,
        tokens_a_batch: int = TOKENS_A_BATCH,
        name: str | None = None,
    ):
        """Wrap a loaded model. Raises ModelError where it is unclear which label is which.

        Args:
            agentic_label: the checkpoint's name for agentic, where that is not "agentic" or LABEL_1.
            name: in reports; by default its identity.
        """
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.identity = identity
        self._name = name or identity
        self.tokens_a_batch = tokens_a_batch
        self.longest = min(tokenizer.model_max_length, _positions(model))
        self._columns = _columns(model.config.id2label, agentic_label, identity)
        if tokenizer.pad_token is None:
            pad = model.config.pad_token_id
            tokenizer.pad_token = tokenizer.eos_token if pad is None else tokenizer.convert_ids_to_tokens(pad)
        model.config.pad_token_id = tokenizer.pad_token_id  # decoder models take the last token that isn't padding

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
        shown = name or path + (f":agentic={agentic_label}" if agentic_label else "")  # the same weights, turned round
        checkpoint = Checkpoint(path, shown, revision, dtype, what="classifier", accepted=ACCEPTED)
        tokenizer = checkpoint.tokenizer
        model = checkpoint.weights(AutoModelForSequenceClassification)
        if torch.cuda.is_available():
            model = model.to("cuda")
        return cls(model, tokenizer, checkpoint.identity, agentic_label, name=shown)

    @property
    def name(self) -> str:
        return self._name

    def agentic_probabilities(self, sentences: Sequence[str]) -> FloatArray:
        """Return probabilities (sentences,); a sentence longer than the model reads is cut."""
        probabilities = np.zeros(len(sentences))
        for places, agentic in self.batches(sentences):
            probabilities[list(places)] = agentic
        return probabilities

    def batches(self, sentences: Sequence[str]) -> Iterator[tuple[Sequence[int], FloatArray]]:
        """Compute each distinct sentence once, in batches of similar length, the longest first."""
        places: dict[str, list[int]] = {}
        for place, sentence in enumerate(sentences):
            places.setdefault(sentence, []).append(place)
        if not places:
            return
        distinct = list(places)
        encoded = self.tokenizer(distinct, truncation=True, max_length=self.longest)["input_ids"]
        order = sorted(range(len(distinct)), key=lambda i: (-len(encoded[i]), i))
        while order:
            n = max(1, self.tokens_a_batch // len(encoded[order[0]]))  # with padding
            batch, order = order[:n], order[n:]
            tokens = {"input_ids": [encoded[i] for i in batch]}
            padded = self.tokenizer.pad(tokens, padding=True, return_tensors="pt").to(self.model.device)
            with torch.inference_mode():
                logits = self.model(**padded).logits[:, self._columns].float()
            agentic = logits.softmax(dim=-1)[:, 1].tolist()
            found = [(place, p) for i, p in zip(batch, agentic) for place in places[distinct[i]]]
            yield [place for place, _ in found], np.array([p for _, p in found])

    def close(self) -> None:
        del self.model


def _positions(model: PreTrainedModel) -> int:
    """Return tokens that the model has positions for. RoBERTa and its kin count them from behind the padding's."""
    longest: int = getattr(model.config.get_text_config(), "max_position_embeddings", LONGEST)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            longest -= module.padding_idx + 1
    return longest


def _columns(names: Mapping[int, str], agentic_label: str | None, identity: str) -> list[int]:
    """Return columns of communal and agentic."""
    by_name = {str(name).lower(): column for column, name in names.items()}
    wanted = agentic_label or next((name for name in ("agentic", AGENTIC_BY_NUMBER) if name.lower() in by_name), "")
    agentic = by_name.get(wanted.lower())
    others = [column for column in names if column != agentic]
    communal = by_name["communal"] if "communal" in by_name else others[0] if len(others) == 1 else None
    if agentic is None or communal is None or agentic == communal:
        shown = ", ".join(map(str, names.values()))
        raise ModelError(
            f"{identity} has the labels {shown}: it is unclear which one is {wanted or 'agentic'}; expected the labels "
            "communal and agentic, LABEL_0 and LABEL_1, or two labels of which one is named as agentic"
        )
    return [communal, agentic]
