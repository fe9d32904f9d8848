"""A model that vLLM's engine computes: prompts that begin alike are read once."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from transformers import GenerationConfig, PreTrainedTokenizerBase

from evenhand.models.adapters import Adapter
from evenhand.models.choices_by_prefix import ChoicesByPrefix, Seen
from evenhand.models.errors import ModelError, Unanswerable
from evenhand.models.failures import Failures
from evenhand.models.generation import choose_penalty
from evenhand.models.loading import Checkpoint, check_attention, explained
from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, TokenCount, unheard
from evenhand.models.replies import end_tokens, own_sampling, reply_of
from evenhand.models.request import FinishReason, Image, Reply, Request
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.text_reader import TextReader
from evenhand.models.vllm_engine import INSTALL, Asked, VllmEngine, VllmOptions, quietly
from evenhand.models.vllm_pictures import PictureReader

if TYPE_CHECKING:
    from vllm import CompletionOutput, RequestOutput, SamplingParams

MOST_IDS = 128  # tokens whose log-probabilities vLLM gives after one prompt
_AT_ONCE = {"choose": 2048, "generate": 512}  # the engine chooses what it computes together
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # of adapters, as vLLM makes room for them
_CPU_BLOCK = 32  # tokens of a prefix that are kept as one; 128 by vLLM's default, longer than many a question


class VllmModel:
    """Greedy texts and choices are those of the checkpoint, up to the last bits: vLLM batches as requests come."""

    can: frozenset[Ability] = frozenset({"generate", "choose", "count_tokens", "continue", "constrain"})
    whole_calls = False

    def __init__(
        self,
        arguments: dict[str, Any],
        tokenizer: PreTrainedTokenizerBase,
        identity: str,
        name: str,
        context: int | None,
        own: GenerationConfig | None = None,
        adapter: Adapter | None = None,
        pictures: PictureReader | None = None,
        settings: TemplateSettings = NO_SETTINGS,
    ):
        """arguments: of vLLM's engine. own: what the checkpoint says of sampling. pictures: reads requests of a model
        that sees. settings: of the chat template of one that doesn't."""
        self._arguments = arguments
        self.tokenizer = tokenizer
        self.reader = pictures or TextReader(tokenizer, context, settings)
        self.chat = self.reader.layout.chat
        self.identity = identity + self.chat.mark
        self.template_date, self.template_notes = self.chat.date, self.chat.notes
        self.name = name
        self._sees = pictures is not None
        if self._sees:
            self.can = frozenset({"generate", "choose", "see", "constrain"})
        self._own = own
        self._adapter = adapter
        self._failures = Failures(identity)
        self._closed = False
        self.notes: dict[str, str] = {}

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, options: VllmOptions, pictures: bool = False) -> VllmModel:
        """pictures: whether it is an image-text-to-text model.

        Raises ModelError saying what could not be loaded; of the weights, when the first question comes.
        """
        with checkpoint.explained():
            check_attention(checkpoint.config)
        own_context, asked = checkpoint.context, options.max_model_len
        if asked and own_context and asked > own_context:
            raise ModelError(f"max_model_len={asked} came; {checkpoint.path} has {own_context:,} positions")
        context = asked or own_context
        arguments = {
            "model": checkpoint.path,
            "revision": checkpoint.pinned,
            "tokenizer": checkpoint.source_of("tokenizer_config.json")[0],
            "dtype": checkpoint.precision,
            "max_model_len": context,
            "quantization": options.quantization,
            "tensor_parallel_size": options.tensor_parallel_size,
            "data_parallel_size": options.data_parallel_size,
            "gpu_memory_utilization": options.gpu_memory_utilization,
            "enforce_eager": options.enforce_eager,
        }
        quantized = f"{options.quantization} " if options.quantization else ""
        model = cls(
            arguments,
            checkpoint.tokenizer,
            f"{checkpoint.identity} {quantized}by vLLM",
            checkpoint.name or checkpoint.path,
            context,
            checkpoint.own_settings.used,
            _of_lora(checkpoint.adapter),
            PictureReader.of(checkpoint) if pictures else None,
            checkpoint.template,
        )
        model.notes = checkpoint.notes
        return model

    def at_once(self, kind: Kind) -> int:
        return _AT_ONCE[kind]

    @property
    def scoring_way(self) -> str:
        return "vLLM's log-probabilities of named tokens, one request a distinct prefix"

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Answers:
        """Choices first, then texts, each as it is computed."""
        asked = list(enumerate(requests))
        yield from self._choices([(place, request) for place, request in asked if request.choices])
        yield from self._texts([(place, request) for place, request in asked if not request.choices], on_tokens)

    def close(self) -> None:
        self._closed = True
        engine = self.__dict__.pop("engine", None)
        if engine is not None:
            engine.close()

    def count_tokens(self, requests: Sequence[Request]) -> TokenCount:
        if not isinstance(self.reader, TextReader):
            raise ModelError(f"how many tokens a picture becomes is not known here, so {self.name} counts none")
        return self.reader.count(requests)

    @cached_property
    def engine(self) -> VllmEngine:
        if self._closed:
            raise ModelError(f"{self.name} was closed; load it anew")
        quietly()
        with explained(f"start vLLM's engine with {self.name!r}", f"VLLM_LOGGING_LEVEL=INFO says more. {INSTALL}"):
            from vllm import AsyncEngineArgs
            from vllm.lora.request import LoRARequest
            from vllm.platforms import current_platform

            arguments = self._arguments | {
                "load_format": "safetensors",
                "trust_remote_code": False,
                "enable_prefix_caching": True,
                "disable_log_stats": True,
                "generation_config": "vllm",  # what it says of sampling is read here
                "seed": 0,
            }
            if current_platform.is_cpu():
                arguments["block_size"] = _CPU_BLOCK
            adapter = self._adapter
            if adapter is None:
                return VllmEngine(AsyncEngineArgs(**arguments), None)
            room = {"enable_lora": True, "max_lora_rank": _room_of(adapter)}
            return VllmEngine(AsyncEngineArgs(**arguments, **room), LoRARequest(adapter.name, 1, str(adapter.folder)))

    def _choices(self, asked: Sequence[tuple[int, Request]]) -> Answers:
        """Each distinct prefix is asked once, whichever requests it stands in."""
        requests = dict(asked)
        read: dict[int, tuple[Seen, list[Continuation]]] = {}
        for (place, request), continuations in zip(asked, self.reader.continuations([*requests.values()])):
            if isinstance(continuations, Unanswerable):
                yield place, self._failures.reply(request, continuations)
            else:
                read[place] = tuple(image.sha256 for image in _images(request)), continuations
        choices = ChoicesByPrefix(read, MOST_IDS)
        sent = [
            Asked(i, self._prompt(requests[each.place], each.prefix), _naming(each.tokens))
            for i, each in enumerate(choices.questions)
        ]
        for i, output in self._outputs(sent):
            found = output if isinstance(output, Unanswerable) else _named(output)
            for place, log_probs in choices.answered(choices.questions[i], found):
                if isinstance(log_probs, Unanswerable):
                    yield place, self._failures.reply(requests[place], log_probs)
                else:
                    yield place, Reply(finish_reason="choice", choice_log_probs=log_probs)

    def _texts(self, asked: Sequence[tuple[int, Request]], on_tokens: OnTokens) -> Answers:
        requests = dict(asked)
        sent: list[Asked[int]] = []
        for (place, request), tokens in zip(asked, self.reader.prompts([*requests.values()])):
            if isinstance(tokens, Unanswerable):
                yield place, self._failures.reply(request, tokens)
            else:
                sent.append(Asked(place, self._prompt(request, tokens), self._sampling(request)))
        for place, output in self._outputs(sent):
            if isinstance(output, Unanswerable):
                yield place, self._failures.reply(requests[place], output)
                continue
            written = output.outputs[0]
            on_tokens(len(written.token_ids))
            yield place, self._reply(requests[place], written)

    def _reply(self, request: Request, written: CompletionOutput) -> Reply:
        """Of its tokens: vLLM's text lacks special tokens, among them those that mark thoughts."""
        reason: FinishReason = "stop" if written.finish_reason == "stop" else "length"
        opened = self.reader.opens_thought(request)
        sampling = own_sampling(self._own, request.sampling, self.chat.stop if request.template else "")
        reply = reply_of(self.tokenizer, list(written.token_ids), self._ends, sampling, opened)
        return replace(reply, finish_reason=reason) if reply.finish_reason != "thought" else reply

    def _outputs(self, sent: Sequence[Asked[int]]) -> Generator[tuple[int, RequestOutput | Unanswerable], None, None]:
        if sent:
            with closing(self.engine.outputs(sent)) as outputs:
                yield from outputs

    def _prompt(self, request: Request, tokens: Tokens) -> dict[str, Any]:
        pictures = self.reader.pictures(request) if isinstance(self.reader, PictureReader) else []
        return {"prompt_token_ids": list(tokens)} | ({"multi_modal_data": {"image": pictures}} if pictures else {})

    def _sampling(self, request: Request) -> SamplingParams:
        """Each request draws from random numbers of its own."""
        quietly()
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        sampling = own_sampling(self._own, request.sampling, self.chat.stop if request.template else "")
        return SamplingParams(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            repetition_penalty=choose_penalty(self._own, request.sampling),
            max_tokens=sampling.max_new_tokens,
            stop=list(sampling.stop) or None,
            stop_token_ids=self._ends or None,
            seed=request.seed % 2**63 if sampling.temperature else None,
            structured_outputs=StructuredOutputsParams(json=request.schema) if request.schema else None,
        )

    @cached_property
    def _ends(self) -> list[int]:
        return end_tokens(self._own, self.tokenizer, self.chat.end_of_turn)


def _images(request: Request) -> list[Image]:
    return [image for message in request.messages for image in message.images]


def _naming(tokens: Sequence[int]) -> SamplingParams:
    quietly()
    from vllm import SamplingParams

    return SamplingParams(max_tokens=1, temperature=0.0, logprob_token_ids=list(tokens), detokenize=False)


def _named(output: RequestOutput) -> dict[int, float]:
    """Log-probabilities of the tokens that were named, and of the one that was written."""
    return {token: each.logprob for token, each in output.outputs[0].logprobs[0].items()}


def _of_lora(adapter: Adapter | None) -> Adapter | None:
    """The same. Raises ModelError for a kind that vLLM doesn't compute."""
    if adapter is not None:
        config = _config_of(adapter)
        if config.get("peft_type") != "LORA" or config.get("use_dora") or config.get("modules_to_save"):
            raise ModelError(
                f"adapter {adapter.name!r} is not plain LoRA, which alone vLLM computes; merge it into its base "
                "(peft's merge_and_unload), or leave out vllm:"
            )
    return adapter


def _room_of(adapter: Adapter) -> int:
    config = _config_of(adapter)
    rank = max([int(config.get("r", 8)), *map(int, (config.get("rank_pattern") or {}).values())])
    room = next((each for each in _RANKS if each >= rank), None)
    if room is None:
        raise ModelError(f"adapter {adapter.name!r} has rank {rank}; vLLM computes up to {_RANKS[-1]}: merge it")
    return room


def _config_of(adapter: Adapter) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((adapter.folder / "adapter_config.json").read_text(encoding="utf-8"))
    return config
