"""Any causal language model that transformers loads: on a CPU, a GPU, or spread over several by device_map."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from evenhand.models.decoding import decoding
from evenhand.models.errors import ModelError, PromptTooLong
from evenhand.models.layout import Prompt, lay_out
from evenhand.models.loading import explained, identity
from evenhand.models.padded_scoring import PaddedScoring, left_padded
from evenhand.models.prefix_tree import Continuation, distinct_tokens, shared_length
from evenhand.models.protocol import TokenCount
from evenhand.models.replies import end_tokens, own_sampling, reply_of
from evenhand.models.request import Reply, Request, Sampling
from evenhand.models.seeded_sampling import SeededSampling
from evenhand.models.shared_prefix_scoring import SharedPrefixScoring, Unsupported

DType = Literal["auto", "float32", "bfloat16", "float16"]

logger = logging.getLogger(__name__)

AGREEMENT = {torch.float32: 1e-3, torch.float64: 1e-3, torch.bfloat16: 0.5, torch.float16: 0.1}
"""Nats by which two ways of scoring may differ on a sample, by dtype; a wrong mask differs by far more."""

ACCEPTED = "embedded, a Hub id, or a local folder with config.json, safetensors weights and a tokenizer"

# Batches a call. Calls of many prompts share more prefixes; texts take long, and an interrupted call is lost.
_BATCHES_OF_CHOICES, _BATCHES_OF_TEXTS = 16, 2


def fastest_dtype() -> Literal["float32", "bfloat16"]:
    """bfloat16 where the GPU or CPU computes in it natively, float32 elsewhere."""
    if torch.cuda.is_available():
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    if torch.backends.mps.is_available():
        return "bfloat16"
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return "bfloat16" if capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") else "float32"


class TransformersModel:
    """A checkpoint with its tokenizer; the weights are loaded when the first question comes.

    identity: what stands for it in stores and reports.
    """

    def __init__(
        self,
        load: Callable[[], PreTrainedModel],
        tokenizer: PreTrainedTokenizerBase,
        identity: str,
        context: int | None,
        batch_size: int = 16,
        scoring: Literal["auto", "padded"] = "auto",
    ):
        if batch_size < 1:
            raise ModelError(f"batch size {batch_size} came; 1 or more is accepted")
        self._load = load
        self.tokenizer = tokenizer
        self.identity = identity
        self.context = context
        self.batch_size = batch_size
        self.scoring = scoring
        self.requests_at_once = batch_size * _BATCHES_OF_CHOICES
        self.texts_at_once = batch_size * _BATCHES_OF_TEXTS
        self._agrees: dict[int, bool] = {}
        self._padding = next(
            token for token in (tokenizer.pad_token_id, tokenizer.eos_token_id, 0) if token is not None
        )

    @classmethod
    def from_pretrained(
        cls,
        path: str,
        *,
        name: str | None = None,
        revision: str | None = None,
        dtype: DType = "auto",
        batch_size: int = 16,
        device_map: str | None = None,
    ) -> TransformersModel:
        """Load a Hub id or local folder; safetensors only, and no code from the checkpoint is run.

        Raises ModelError saying what could not be loaded.
        """
        dtype = fastest_dtype() if dtype == "auto" else dtype
        if device_map is None and torch.cuda.is_available():
            device_map = "auto"
        with explained(f"load model {path!r}", f"Accepted: {ACCEPTED}"):
            config = AutoConfig.from_pretrained(path, revision=revision)
            tokenizer = AutoTokenizer.from_pretrained(path, revision=revision)

        def load() -> PreTrainedModel:
            with explained(f"load model {path!r}", f"Accepted: {ACCEPTED}"):
                return AutoModelForCausalLM.from_pretrained(
                    path, revision=revision, dtype=getattr(torch, dtype), device_map=device_map, use_safetensors=True
                )

        return cls(
            load,
            tokenizer,
            identity=identity(path, name, revision, config, dtype),
            context=getattr(config.get_text_config(), "max_position_embeddings", None),
            batch_size=batch_size,
        )

    @cached_property
    def model(self) -> PreTrainedModel:
        return self._load().eval()

    def choose(self, requests: Sequence[Request]) -> list[Reply]:
        """Each distinct token prefix is computed once where the model allows it, else in padded batches.

        Returns, per request, the log-probability of each token of each choice, in nats.
        """
        continuations = self._continuations(requests)
        scored = iter(self._scoring(continuations).log_probs(continuations))
        return [
            Reply(finish_reason="choice", choice_log_probs=tuple(next(scored) for _ in request.choices))
            for request in requests
        ]

    def count_tokens(self, requests: Sequence[Request]) -> TokenCount:
        """Of a call with these requests; what is generated is not read, and generation shares no prefixes."""
        scored = self._continuations([request for request in requests if request.choices])
        generated = [lay_out(self.tokenizer, request.messages) for request in requests if not request.choices]
        prompts = sum(len(tokens) for tokens in self._tokens(generated))
        read = sum(len(continuation.read) for continuation in scored)
        return TokenCount(read=prompts + read, distinct=prompts + distinct_tokens(scored))

    def _continuations(self, requests: Sequence[Request]) -> list[Continuation]:
        """Prompt and choice as tokens, for every choice of every request."""
        prompts = [lay_out(self.tokenizer, request.messages) for request in requests]
        before = self._tokens(prompts)
        asked = [(request, i, choice) for i, request in enumerate(requests) for choice in request.choices]
        whole = self._tokens(
            [prompts[i] for _, i, _ in asked], [prompts[i].with_choice(choice) for _, i, choice in asked]
        )
        continuations = []
        for (request, i, choice), tokens in zip(asked, whole):
            self._must_fit(request, len(tokens))
            shared = shared_length(before[i], tokens)  # the answer begins after the prompt's tokens, or where they part
            if not 0 < shared < len(tokens):
                raise ModelError(
                    f"request {request.name!r}: the tokens of choice {choice!r} can't be told from its prompt's"
                )
            continuations.append(Continuation(tokens[:shared], tokens[shared:]))
        return continuations

    def _scoring(self, continuations: Sequence[Continuation]) -> SharedPrefixScoring | PaddedScoring:
        """Shared prefixes where they agree with padded batches on a sample as long as these continuations.

        Lengths are rounded up to a power of two, and each is tried once: what is chosen is a function of the call's
        own prompts, whatever was scored before.
        """
        if self._shared is None:
            return self._padded
        longest = max((len(continuation.read) for continuation in continuations), default=0)
        length = 1 << max(5, (longest - 1).bit_length())
        if length not in self._agrees:
            self._agrees[length] = self._try(self._shared, min(length, self.context or length))
        return self._shared if self._agrees[length] else self._padded

    @cached_property
    def _padded(self) -> PaddedScoring:
        return PaddedScoring(self.model, self._padding, self.batch_size)

    @cached_property
    def _shared(self) -> SharedPrefixScoring | None:
        if self.scoring == "padded":
            return None
        try:
            return SharedPrefixScoring(self.model)
        except Unsupported as error:
            self._explain_padding(str(error))
            return None

    def _try(self, shared: SharedPrefixScoring, length: int) -> bool:
        """Whether shared prefixes give what padded batches give, on a sample of this many tokens; a word in the log."""
        sample = self._sample(length)
        try:
            padded = self._padded.log_probs(sample)
            several_trees = SharedPrefixScoring(self.model, nodes_a_tree=1, paths_a_tree=0)
            apart = max(disagreement(each.log_probs(sample), padded) for each in (shared, several_trees))
        except (TypeError, ValueError, RuntimeError, LookupError, AttributeError) as error:
            # What a model's own code raises when its masks or caches are of another kind.
            self._explain_padding(f"{type(error).__name__}: {error}")
            return False
        if apart > AGREEMENT[self.model.dtype]:
            self._explain_padding(f"log-probabilities of {length} tokens differ by {apart:.2g} nats")
            return False
        logger.info("%s: choices of up to %d tokens are scored with %s", self.identity, length, shared.name)
        return True

    def _explain_padding(self, reason: str) -> None:
        name = PaddedScoring.name
        logger.warning("%s: choices are scored in %s, not with shared prefixes (%s)", self.identity, name, reason)

    def _sample(self, length: int) -> list[Continuation]:
        """Three continuations, the longest of `length` tokens, that share prefixes at two depths."""
        tokens = np.random.default_rng(0).integers(0, len(self.tokenizer), (3, length + 1)).tolist()
        base, *tails = (tuple(each) for each in tokens)
        whole = base[: length // 2] + tails[0]
        prompts = (whole[: length - 2], whole[: length * 3 // 4] + tails[1][: length // 8], base[: length // 2])
        return [Continuation(prompt, tails[1][-3:]) for prompt in prompts]

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Padded batches of like sampling and length; each request samples from its own seed."""
        prompts = self._tokens([lay_out(self.tokenizer, request.messages) for request in requests])
        replies: dict[int, Reply] = {}
        by_sampling: dict[Sampling, dict[tuple[int, ...], list[int]]] = {}
        for i, request in enumerate(requests):
            self._must_fit(request, len(prompts[i]) + request.sampling.max_new_tokens)
            by_sampling.setdefault(request.sampling, {}).setdefault(prompts[i], []).append(i)
        for asked, rows in by_sampling.items():
            sampling = own_sampling(self.model, asked)
            indices = [i for tokens in sorted(rows, key=len) for i in rows[tokens]]
            for start in range(0, len(indices), self.batch_size):
                batch = indices[start : start + self.batch_size]
                texts = self._generated([prompts[i] for i in batch], sampling, [requests[i].seed for i in batch])
                replies.update(zip(batch, texts))
        return [replies[i] for i in range(len(requests))]

    def _generated(self, prompts: Sequence[tuple[int, ...]], sampling: Sampling, seeds: Sequence[int]) -> list[Reply]:
        device = self.model.get_input_embeddings().weight.device
        input_ids, attention_mask = (each.to(device) for each in left_padded(prompts, self._padding))
        ends = end_tokens(self.model, self.tokenizer)
        processors = LogitsProcessorList([SeededSampling(sampling, seeds)] if sampling.temperature else [])
        with torch.inference_mode(), decoding(self.model) as kept:
            output = self.model.generate(
                **kept,
                input_ids=input_ids,
                attention_mask=attention_mask,
                logits_processor=processors,
                tokenizer=self.tokenizer,
                generation_config=GenerationConfig(
                    max_new_tokens=sampling.max_new_tokens,
                    do_sample=False,
                    stop_strings=list(sampling.stop) or None,
                    eos_token_id=ends or None,
                    pad_token_id=self._padding,
                ),
            )
        written = output[:, input_ids.shape[1] :].tolist()
        return [reply_of(self.tokenizer, row, ends, sampling) for row in written]

    def _tokens(self, prompts: Sequence[Prompt], texts: Sequence[str] | None = None) -> list[tuple[int, ...]]:
        """Token ids of each text (by default the prompt's), with the special tokens that its prompt calls for."""
        texts = [prompt.text for prompt in prompts] if texts is None else texts
        if not texts:
            return []
        special = prompts[0].special_tokens
        encoded = self.tokenizer(list(texts), add_special_tokens=special, padding=False, truncation=False)["input_ids"]
        return [tuple(ids) for ids in encoded]

    def _must_fit(self, request: Request, tokens: int) -> None:
        if self.context is not None and tokens > self.context:
            raise PromptTooLong(request.name, tokens, self.context)


def disagreement(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    """The largest difference of any token's log-probability, in nats; NaN counts as infinite."""
    differences = [abs(a - b) for first, second in zip(one, other) for a, b in zip(first, second)]
    return math.inf if any(math.isnan(each) for each in differences) else max(differences)
