"""vLLM's engine in a thread of its own: many prompts at once, each answer as it comes."""

from __future__ import annotations

import asyncio
import os
import threading
import uuid
from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evenhand.models.errors import ModelError, Unanswerable, first_line
from evenhand.models.tied_processes import tie_children
from evenhand.options import option

if TYPE_CHECKING:
    from vllm import AsyncEngineArgs, RequestOutput, SamplingParams
    from vllm.lora.request import LoRARequest

INSTALL = "pip install 'evenhand[vllm]'"
QUIET = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
"""Environment of the engine, where nothing else is set: it reports to nobody and says what went wrong alone."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class VllmOptions:
    base: str | None = option(None, "of an adapter, in place of the base that it names itself", metavar="MODEL")
    tensor_parallel_size: int = option(1, "GPUs that share each layer's weights", least=1, metavar="N", incidental=True)
    data_parallel_size: int = option(
        1, "copies of the model, each on its own GPUs", least=1, metavar="N", incidental=True
    )
    quantization: str | None = option(
        None,
        "of the weights, as vLLM names it (fp8, bitsandbytes); a checkpoint's own is known",
        metavar="NAME",
    )
    max_model_len: int | None = option(
        None,
        "tokens of a prompt with its answer, where the model's own are too many to keep",
        least=2,
        metavar="N",
    )
    gpu_memory_utilization: float = option(
        0.9,
        "share of each GPU that weights, keys, values may fill",
        above=0,
        most=1,
        metavar="SHARE",
        incidental=True,
    )
    enforce_eager: bool = option(False, "starts sooner, answers slower: nothing is compiled", incidental=True)


@dataclass(frozen=True)
class Asked(Generic[K]):
    """key: whose it is. prompt: as vLLM takes it, tokens with or without pictures."""

    key: K
    prompt: Mapping[str, Any]
    sampling: SamplingParams


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

    def outputs(self, asked: Sequence[Asked[K]]) -> Generator[tuple[K, RequestOutput | Unanswerable], None, None]:
        """Each finished output as it comes, or why vLLM refuses its prompt. Closing it early ends what is under way.

        Raises ModelError where the engine itself has ended.
        """
        found: SimpleQueue[tuple[K, RequestOutput | Exception]] = SimpleQueue()
        under_way = asyncio.run_coroutine_threadsafe(self._all(asked, found), self._loop)
        try:
            for _ in asked:
                key, output = found.get()
                yield key, self._refused(output) if isinstance(output, Exception) else output
        finally:
            under_way.cancel()

    def close(self) -> None:
        async def shut() -> None:
            self._engine.shutdown()

        asyncio.run_coroutine_threadsafe(shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _all(self, asked: Sequence[Asked[K]], found: SimpleQueue[Any]) -> None:
        await asyncio.gather(*(self._one(each, found) for each in asked))

    async def _one(self, asked: Asked[K], found: SimpleQueue[Any]) -> None:
        last: RequestOutput | Exception = RuntimeError("vLLM ended without an answer")
        try:
            answer = self._engine.generate(
                dict(asked.prompt), asked.sampling, str(uuid.uuid4()), lora_request=self._adapter
            )
            async for output in answer:
                last = output
        except Exception as error:
            last = error
        found.put((asked.key, last))

    def _refused(self, error: Exception) -> Unanswerable:
        from vllm.exceptions import VLLMClientError

        if isinstance(error, (ValueError, TypeError, VLLMClientError)):  # of a schema, a picture, a prompt
            return Unanswerable("not_understood", f"vLLM refuses it: {first_line(error)}")
        raise ModelError(
            f"vLLM's engine has ended: {first_line(error)}. What was answered is kept: give the command again; "
            "VLLM_LOGGING_LEVEL=INFO shows what happened"
        ) from error


def quietly() -> None:
    """Before vLLM is imported."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
