"""A model that vLLM's engine computes, in a thread of its own: what prompts share is read once."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from evenhand.models.adapters import Adapter
from evenhand.models.choices_by_prefix import ChoicesByPrefix, Seen
from evenhand.models.errors import ModelError, Unanswerable, first_line
from evenhand.models.failures import Failures
from evenhand.models.generation import choose_penalty, end_tokens, own_sampling, reply_of
from evenhand.models.loading import Checkpoint, check_attention, explained
from evenhand.models.picture_reader import PictureReader
from evenhand.models.prefix_tree import Continuation, Tokens
from evenhand.models.protocol import Ability, Answers, Kind, OnTokens, TokenCount, unheard
from evenhand.models.request import FinishReason, Reply, Request, Sampling
from evenhand.models.text_reader import TextReader
from evenhand.models.tied_processes import tie_children

if TYPE_CHECKING:
    from vllm import AsyncEngineArgs, CompletionOutput, RequestOutput, SamplingParams
    from vllm.lora.request import LoRARequest

    from evenhand.models.vllm_backend import VllmOptions

Asked = tuple[int, Mapping[str, Any], "SamplingParams"]
"""A number of the caller's, the prompt as vLLM takes it (tokens with or without pictures), and its sampling."""

MOST_IDS = 128  # tokens whose log-probabilities vLLM gives after one prompt
_AT_ONCE = {"choose": 2048, "generate": 512}  # the engine chooses what it computes together
_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # of adapters, as vLLM makes room for them
_CPU_BLOCK = 32  # tokens of a prefix that are kept as one; 128 by vLLM's default, longer than many a question
_QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
for _name, _value in _QUIET.items():  # before vLLM is imported, unless something else is set
    os.environ.setdefault(_name, _value)


class VllmEngine:
    """Starts when it is made. Raises whatever vLLM raises where it can't."""

    def __init__(self, arguments: AsyncEngineArgs, adapter: LoRARequest | None):
        from vllm.v1.engine.async_llm import AsyncLLM

        self._adapter = adapter
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="vllm", daemon=True).start()

        async def started() -> AsyncLLM:  # in the loop, whose task reads what the engine's process sends
            with tie_children():  # it would wait for ever to be asked
                return AsyncLLM.from_engine_args(arguments)

        try:
            self._engine = asyncio.run_coroutine_threadsafe(started(), self._loop).result()
        except BaseException:
            self._loop.call_soon_threadsafe(self._loop.stop)
            raise

    def outputs(self, asked: Sequence[Asked]) -> Generator[tuple[int, RequestOutput | Unanswerable], None, None]:
        """Each finished output as it comes, or why vLLM refuses its prompt. Closing it early ends what is under way.

        Raises ModelError where the engine itself has ended.
        """
        found: SimpleQueue[tuple[int, RequestOutput | Exception]] = SimpleQueue()

        async def ask(key: int, prompt: Mapping[str, Any], sampling: SamplingParams) -> None:
            last: RequestOutput | Exception = RuntimeError("vLLM ended without an answer")
            try:
                answer = self._engine.generate(dict(prompt), sampling, str(uuid.uuid4()), lora_request=self._adapter)
                async for output in answer:
                    last = output
            except Exception as error:
                last = error
            found.put((key, last))

        async def ask_all() -> None:
            await asyncio.gather(*(ask(*each) for each in asked))

        under_way = asyncio.run_coroutine_threadsafe(ask_all(), self._loop)
        try:
            for _ in asked:
                key, output = found.get()
                yield key, _refused(output) if isinstance(output, Exception) else output
        finally:
            under_way.cancel()

    def close(self) -> None:
        async def shut() -> None:
            self._engine.shutdown()

        asyncio.run_coroutine_threadsafe(shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)


def _refused(error: Exception) -> Unanswerable:
    from vllm.exceptions import VLLMClientError

    if isinstance(error, (ValueError, TypeError, VLLMClientError)):  # of a schema, a picture, a prompt
        return Unanswerable("not_understood", f"vLLM refuses it: {first_line(error)}")
    raise ModelError(
        f"vLLM's engine has ended: {first_line(error)}. What was answered is kept: give the command again; "
        "VLLM_LOGGING_LEVEL=INFO shows what happened"
    ) from error


class VllmModel:
    """Greedy texts and choices are those of the checkpoint, up to the last bits: vLLM batches as requests come."""

    can: frozenset[Ability] = frozenset({"generate", "choose", "count_tokens", "continue", "constrain"})
    whole_calls = False

    def __init__(self, checkpoint: Checkpoint, options: VllmOptions, sees: bool = False):
        """sees: whether it is an image-text-to-text model.

        Raises ModelError saying what could not be loaded; of the weights, when the first question comes.
        """
        with checkpoint.explained():
            check_attention(checkpoint.config)
        context = options.max_model_len or checkpoint.context
        if context and checkpoint.context and context > checkpoint.context:
            raise ModelError(
                f"max_model_len must be at most {checkpoint.context}, the positions of {checkpoint.path}; got {context}"
            )
        if checkpoint.adapter is not None:
            _check_lora(checkpoint.adapter)
        self.name = checkpoint.name or checkpoint.path
        self.tokenizer = checkpoint.tokenizer
        self.reader = PictureReader.of(checkpoint) if sees else TextReader(self.tokenizer, context, checkpoint.template)
        if sees:
            self.can = frozenset({"generate", "choose", "see", "constrain"})
        self.chat = self.reader.layout.chat
        self.template_date, self.template_notes = self.chat.date, self.chat.notes
        quantized = f"{options.quantization} " if options.quantization else ""
        self.identity = f"{checkpoint.identity} {quantized}by vLLM{self.chat.mark}"
        self.notes = checkpoint.notes
        self._checkpoint, self._options, self._context = checkpoint, options, context
        self._own = checkpoint.own_settings.used
        self._ends = end_tokens(self._own, self.tokenizer, self.chat.end_of_turn)
        self._failures = Failures(self.identity)
        self._closed = False

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
        with explained(f"start vLLM's engine with {self.name!r}", "VLLM_LOGGING_LEVEL=INFO says more"):
            from vllm import AsyncEngineArgs
            from vllm.lora.request import LoRARequest
            from vllm.platforms import current_platform

            checkpoint, options, adapter = self._checkpoint, self._options, self._checkpoint.adapter
            chosen: dict[str, Any] = {"block_size": _CPU_BLOCK} if current_platform.is_cpu() else {}
            if adapter is not None:
                chosen |= {"enable_lora": True, "max_lora_rank": _lora_room(adapter)}
            arguments = AsyncEngineArgs(
                model=checkpoint.path,
                revision=checkpoint.pinned,
                tokenizer=checkpoint.source_of("tokenizer_config.json")[0],
                dtype=checkpoint.precision,
                max_model_len=self._context,
                quantization=options.quantization,
                tensor_parallel_size=options.tensor_parallel_size,
                data_parallel_size=options.data_parallel_size,
                gpu_memory_utilization=options.gpu_memory_utilization,
                enforce_eager=options.enforce_eager,
                load_format="safetensors",
                trust_remote_code=False,
                enable_prefix_caching=True,
                disable_log_stats=True,
                generation_config="vllm",  # what it says of sampling is read here
                seed=0,
                **chosen,
            )
            lora = None if adapter is None else LoRARequest(adapter.name, 1, str(adapter.folder))
            return VllmEngine(arguments, lora)

    def _choices(self, asked: Sequence[tuple[int, Request]]) -> Answers:
        """Each distinct prefix is asked once, whichever requests it stands in."""
        requests = dict(asked)
        read: dict[int, tuple[Seen, list[Continuation]]] = {}
        for (place, request), continuations in zip(asked, self.reader.continuations([*requests.values()])):
            if isinstance(continuations, Unanswerable):
                yield place, self._failures.reply(request, continuations)
            else:
                read[place] = tuple(image.sha256 for image in request.images), continuations
        choices = ChoicesByPrefix(read, MOST_IDS)
        sent = [
            (i, self._prompt(requests[each.place], each.prefix), _naming(each.tokens))
            for i, each in enumerate(choices.questions)
        ]
        for i, output in self._outputs(sent):
            found: dict[int, float] | Unanswerable
            if isinstance(output, Unanswerable):
                found = output
            else:  # of the tokens that were named, and of the one that was written
                found = {token: each.logprob for token, each in output.outputs[0].logprobs[0].items()}
            for place, log_probs in choices.answered(choices.questions[i], found):
                if isinstance(log_probs, Unanswerable):
                    yield place, self._failures.reply(requests[place], log_probs)
                else:
                    yield place, Reply(finish_reason="choice", choice_log_probs=log_probs)

    def _texts(self, asked: Sequence[tuple[int, Request]], on_tokens: OnTokens) -> Answers:
        requests = dict(asked)
        sent: list[Asked] = []
        for (place, request), tokens in zip(asked, self.reader.prompts([*requests.values()])):
            if isinstance(tokens, Unanswerable):
                yield place, self._failures.reply(request, tokens)
            else:
                sent.append((place, self._prompt(request, tokens), self._sampling(request)))
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
        reply = reply_of(self.tokenizer, list(written.token_ids), self._ends, self._asked(request), opened)
        return replace(reply, finish_reason=reason) if reply.finish_reason != "thought" else reply

    def _outputs(self, sent: Sequence[Asked]) -> Generator[tuple[int, RequestOutput | Unanswerable], None, None]:
        if sent:
            with closing(self.engine.outputs(sent)) as outputs:
                yield from outputs

    def _asked(self, request: Request) -> Sampling:
        return own_sampling(self._own, request.sampling, self.chat.stop if request.template else "")

    def _prompt(self, request: Request, tokens: Tokens) -> dict[str, Any]:
        pictures = self.reader.pictures(request) if isinstance(self.reader, PictureReader) else []
        return {"prompt_token_ids": list(tokens)} | ({"multi_modal_data": {"image": pictures}} if pictures else {})

    def _sampling(self, request: Request) -> SamplingParams:
        """Each request draws from random numbers of its own."""
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        sampling = self._asked(request)
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


def _naming(tokens: Sequence[int]) -> SamplingParams:
    from vllm import SamplingParams

    return SamplingParams(max_tokens=1, temperature=0.0, logprob_token_ids=list(tokens), detokenize=False)


def _check_lora(adapter: Adapter) -> None:
    """Raises ModelError for a kind that vLLM doesn't compute."""
    config = _read_config(adapter)
    if config.get("peft_type") != "LORA" or config.get("use_dora") or config.get("modules_to_save"):
        raise ModelError(
            f"adapter {adapter.name!r} is not plain LoRA, which alone vLLM computes; merge it into its base "
            "(peft's merge_and_unload), or leave out vllm:"
        )


def _lora_room(adapter: Adapter) -> int:
    config = _read_config(adapter)
    rank = max([int(config.get("r", 8)), *map(int, (config.get("rank_pattern") or {}).values())])
    room = next((each for each in _RANKS if each >= rank), None)
    if room is None:
        raise ModelError(f"adapter {adapter.name!r} has rank {rank}; vLLM computes up to {_RANKS[-1]}: merge it")
    return room


def _read_config(adapter: Adapter) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((adapter.folder / "adapter_config.json").read_text(encoding="utf-8"))
    return config
