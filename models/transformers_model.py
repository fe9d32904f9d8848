"""Any causal language model that transformers loads: on a CPU, a GPU, or spread over several by device_map."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Literal

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

from evenhand.models.errors import ModelError, PromptTooLong
from evenhand.models.fingerprint import fingerprint
from evenhand.models.layout import Prompt, lay_out
from evenhand.models.request import Reply, Request, Sampling
from evenhand.models.seeded_sampling import SeededSampling

DType = Literal["auto", "float32", "bfloat16", "float16"]

_CALLS_BATCHES = 4  # batches a call: sorting by length pays, and little is lost when a call is interrupted


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
    ):
        if batch_size < 1:
            raise ModelError(f"batch size {batch_size} came; 1 or more is accepted")
        self._load = load
        self.tokenizer = tokenizer
        self.identity = identity
        self.context = context
        self.batch_size = batch_size
        self.requests_at_once = batch_size * _CALLS_BATCHES
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
        with _explained(path):
            config = AutoConfig.from_pretrained(path, revision=revision)
            tokenizer = AutoTokenizer.from_pretrained(path, revision=revision)
        commit = fingerprint(Path(path)) if Path(path).is_dir() else getattr(config, "_commit_hash", None)

        def load() -> PreTrainedModel:
            with _explained(path):
                return AutoModelForCausalLM.from_pretrained(
                    path, revision=revision, dtype=getattr(torch, dtype), device_map=device_map, use_safetensors=True
                )

        return cls(
            load,
            tokenizer,
            identity=f"{name or path}@{commit or revision or 'unknown'} {dtype}",
            context=getattr(config.get_text_config(), "max_position_embeddings", None),
            batch_size=batch_size,
        )

    @cached_property
    def model(self) -> PreTrainedModel:
        return self._load().eval()

    @cached_property
    def _accepts(self) -> frozenset[str]:
        """The arguments of the model's forward pass."""
        return frozenset(inspect.signature(self.model.forward).parameters)

    def choose(self, requests: Sequence[Request]) -> list[Reply]:
        """Padded batches; choices that differ in their last token only are read off one row.

        Returns, per request, the log-probability of each token of each choice, in nats.
        """
        prompts = [lay_out(self.tokenizer, request.messages) for request in requests]
        before = self._tokens(prompts)
        whole = self._tokens(
            [prompt for prompt, request in zip(prompts, requests) for _ in request.choices],
            [prompt.with_choice(choice) for prompt, request in zip(prompts, requests) for choice in request.choices],
        )
        log_probs: list[list[tuple[float, ...]]] = [[] for _ in requests]
        rows: dict[tuple[int, ...], list[tuple[int, int, tuple[int, ...]]]] = {}  # input: [(request, choice, tokens)]
        continued = iter(whole)
        for i, request in enumerate(requests):
            for j, choice in enumerate(request.choices):
                prompt, answer = _split(before[i], next(continued))
                if not answer:
                    raise ModelError(f"request {request.name!r}: choice {choice!r} has no token")
                self._must_fit(request, len(prompt) + len(answer))
                rows.setdefault(prompt + answer[:-1], []).append((i, j, answer))
                log_probs[i].append(())
        for batch in self._batches(list(rows)):
            longest = max(len(answer) for tokens in batch for _, _, answer in rows[tokens])
            scored = self._last_log_probs(batch, longest)
            for row, tokens in enumerate(batch):
                for i, j, answer in rows[tokens]:
                    steps = range(longest - len(answer), longest)
                    log_probs[i][j] = tuple(float(scored[row, step, token]) for step, token in zip(steps, answer))
        return [Reply(finish_reason="choice", choice_log_probs=tuple(each)) for each in log_probs]

    def generate(self, requests: Sequence[Request]) -> list[Reply]:
        """Padded batches of like sampling and length; each request samples from its own seed."""
        prompts = self._tokens([lay_out(self.tokenizer, request.messages) for request in requests])
        replies: dict[int, Reply] = {}
        by_sampling: dict[Sampling, dict[tuple[int, ...], list[int]]] = {}
        for i, request in enumerate(requests):
            self._must_fit(request, len(prompts[i]) + request.sampling.max_new_tokens)
            by_sampling.setdefault(request.sampling, {}).setdefault(prompts[i], []).append(i)
        for sampling, rows in by_sampling.items():
            indices = [i for tokens in sorted(rows, key=len) for i in rows[tokens]]
            for start in range(0, len(indices), self.batch_size):
                batch = indices[start : start + self.batch_size]
                texts = self._generated([prompts[i] for i in batch], sampling, [requests[i].seed for i in batch])
                replies.update(zip(batch, texts))
        return [replies[i] for i in range(len(requests))]

    def _generated(self, prompts: Sequence[tuple[int, ...]], sampling: Sampling, seeds: Sequence[int]) -> list[Reply]:
        input_ids, attention_mask = self._padded(prompts)
        own = self.model.generation_config
        ends = own.eos_token_id if own is not None and own.eos_token_id is not None else self.tokenizer.eos_token_id
        processors = LogitsProcessorList([SeededSampling(sampling, seeds)] if sampling.temperature > 0 else [])
        with torch.inference_mode():
            output = self.model.generate(
                input_ids=input_ids,
                attention_mask=attention_mask,
                logits_processor=processors,
                tokenizer=self.tokenizer,
                generation_config=GenerationConfig(
                    max_new_tokens=sampling.max_new_tokens,
                    do_sample=False,
                    stop_strings=list(sampling.stop) or None,
                    eos_token_id=ends,
                    pad_token_id=self._padding,
                ),
            )
        ends = set(ends if isinstance(ends, list) else [ends])
        return [self._reply(row, ends, sampling) for row in output[:, input_ids.shape[1] :].tolist()]

    def _reply(self, tokens: list[int], ends: set[int | None], sampling: Sampling) -> Reply:
        """The text up to the first end token or stop string."""
        length = next((i for i, token in enumerate(tokens) if token in ends), len(tokens))
        text = self.tokenizer.decode(tokens[:length], skip_special_tokens=True)
        cut = min((found for stop in sampling.stop if (found := text.find(stop)) >= 0), default=len(text))
        stopped = length < len(tokens) or cut < len(text)
        return Reply(text=text[:cut], finish_reason="stop" if stopped else "length")

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

    def _batches(self, rows: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        """Rows of like length together; the same rows always make the same batches."""
        rows = sorted(rows, key=len)
        for start in range(0, len(rows), self.batch_size):
            yield rows[start : start + self.batch_size]

    def _padded(self, rows: Sequence[tuple[int, ...]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and attention mask (rows, longest), padded on the left."""
        longest = max(len(row) for row in rows)
        input_ids = torch.tensor([[self._padding] * (longest - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        device = self.model.get_input_embeddings().weight.device
        return input_ids.to(device), mask.to(device)

    def _last_log_probs(self, rows: Sequence[tuple[int, ...]], steps: int) -> torch.Tensor:
        """Log-probabilities (rows, steps, vocabulary) of what follows each of the last `steps` tokens of each row."""
        input_ids, attention_mask = self._padded(rows)
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if "position_ids" in self._accepts:
            inputs["position_ids"] = (attention_mask.cumsum(dim=-1) - 1).clamp(min=0)
        keep = {"logits_to_keep": steps} if "logits_to_keep" in self._accepts else {}
        with torch.inference_mode():
            logits = self.model(**inputs, **keep, use_cache=False).logits[:, -steps:]
            return torch.log_softmax(logits.float(), dim=-1).cpu()


def _split(prompt: tuple[int, ...], whole: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where the answer begins in the tokens of prompt and answer: after the prompt's own, or where they part."""
    shared = 0
    while shared < len(prompt) and shared < len(whole) and prompt[shared] == whole[shared]:
        shared += 1
    return whole[:shared], whole[shared:]


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """What transformers raises for checkpoints that it can't load, said in a line."""
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise ModelError(
            f"could not load model {path!r}: {reason}. Accepted: embedded, a Hub id, or a local folder with "
            "config.json, safetensors weights and a tokenizer"
        ) from error
