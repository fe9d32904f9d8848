"""How fast conversations are held: all together beside one at a time, in one run.

Both hold the same implicit_bias conversations (--protocol generate) with the same model at temperature 0 in float32:

- together: the runner asks whatever all conversations wait for, in batches; what prompts share is read once
- alone: one conversation after another, one request at a time, each prompt read whole, as the published loop does

Prints new tokens a second, the ratio, and how many statements differ; and the same for the forward passes that read
prompts and those that write, apart. Batches speed up writing, where a single sequence leaves the processor waiting for
weights. Reading a prompt that has grown with its conversation fills a CPU by itself, and bounds the whole: an agent's
prompt is its former one and what was said since, and agents of a conversation share nothing, for a prompt begins with
its agent's name.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers

from evenhand.benchmark import Row
from evenhand.benchmarks import get_benchmark
from evenhand.command_line import ScriptHelp, whole
from evenhand.flow.configuration import Asking, run_config
from evenhand.flow.episode import Prediction
from evenhand.flow.rows import drawn_rows
from evenhand.flow.runner import Runner
from evenhand.flow.store import Store
from evenhand.models.protocol import Ability, Kind, OnTokens, unheard
from evenhand.models.registry import load_model
from evenhand.models.request import Reply, Request
from evenhand.models.transformers_model import TransformersModel


@dataclass
class Held:
    """Conversations that were held: their statements, and what they took, in seconds."""

    name: str
    conversations: int
    statements: list[Prediction]
    tokens: int
    whole: float
    reading: float
    writing: float

    def line(self, beside: "Held") -> str:
        return (
            f"  {self.name:9} {self.conversations:4} conversations in {self.whole:6.1f} s"
            f" (reading {self.reading:6.1f}, writing {self.writing:6.1f})"
            f"  {self.tokens:6,} new tokens  {self.tokens / self.whole:6.1f} tokens/s"
            f"  {self.speed(beside, 'whole'):5.2f} x alone"
            f" (reading {self.speed(beside, 'reading'):5.2f}, writing {self.speed(beside, 'writing'):5.2f})"
        )

    def speed(self, beside: "Held", part: str) -> float:
        """How many times as many new tokens come out of a second as beside."""
        return (self.tokens / getattr(self, part)) / (beside.tokens / getattr(beside, part))


class Timed:
    """A model whose new tokens are counted and whose forward passes are timed; at most `at_once` requests a call."""

    can: frozenset[Ability] = frozenset({"generate"})
    whole_calls = True

    def __init__(self, model: TransformersModel, at_once: int):
        self.model, self.identity, self.name = model, model.identity, model.name
        self._at_once, self.tokens = at_once, 0
        self.reading = self.writing = 0.0
        self._start = 0.0
        self._hooks = [
            model.model.register_forward_pre_hook(self._begin),
            model.model.register_forward_hook(self._end, with_kwargs=True),
        ]

    def at_once(self, kind: Kind) -> int:
        return self._at_once

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Iterator[tuple[int, Reply]]:
        for place, reply in self.model.answer(requests, on_tokens):
            self.tokens += len(self.model.tokenizer(reply.text).input_ids)
            yield place, reply

    def close(self) -> None:
        """The model itself stays."""
        for hook in self._hooks:
            hook.remove()

    def _begin(self, module: torch.nn.Module, args: object) -> None:
        self._start = time.perf_counter()

    def _end(self, module: torch.nn.Module, args: object, kwargs: dict[str, torch.Tensor], output: object) -> None:
        seconds = time.perf_counter() - self._start
        if kwargs["input_ids"].shape[1] > 1:
            self.reading += seconds
        else:
            self.writing += seconds


def hold(name: str, rows: Sequence[Row], how: Asking, model: Timed, at_a_time: int) -> Held:
    """`at_a_time` conversations are in flight together."""
    benchmark = get_benchmark("implicit_bias")
    statements = []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store", {"m": model.identity}) as store:
        start = time.perf_counter()
        for i in range(0, len(rows), at_a_time):
            episodes = [benchmark.episode(row, how) for row in rows[i : i + at_a_time]]
            statements += [each for said in Runner({"default": model}, store).run(episodes) for each in said]
        seconds = time.perf_counter() - start
    model.close()
    return Held(name, len(rows), statements, model.tokens, seconds, model.reading, model.writing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--conversations", type=whole(), default=32, help="to hold")
    parser.add_argument("--alone", type=whole(), default=2, help="of them, how many are held alone, too")
    parser.add_argument("--batch-size", type=whole(), default=32, help="prompts in a forward pass")
    parser.add_argument("--max-new-tokens", type=whole(), default=24, help="of an utterance")
    arguments = parser.parse_args()
    benchmark = get_benchmark("implicit_bias")
    config = benchmark.filled(
        run_config(
            "implicit_bias",
            arguments.model,
            limit=arguments.conversations,
            protocol="generate",
            temperature=0.0,
            max_new_tokens=arguments.max_new_tokens,
        )
    )
    rows, how = list(drawn_rows(benchmark, config).rows), config.asking()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.get_num_threads()} threads")

    def loaded(batch_size: int) -> TransformersModel:
        model = load_model(arguments.model, dtype="float32", batch_size=batch_size)
        assert isinstance(model, TransformersModel)
        return model

    batched, single = loaded(arguments.batch_size), loaded(1)
    single.kept_prompts = None
    hold("warm-up", rows[:1], how, Timed(batched, arguments.batch_size), 1)
    together = hold("together", rows, how, Timed(batched, arguments.batch_size), len(rows))
    alone = hold("alone", rows[: arguments.alone], how, Timed(single, 1), 1)
    print(f"{batched.identity}, {arguments.max_new_tokens} new tokens at most, batches of {arguments.batch_size}:")
    for held in (together, alone):
        print(held.line(alone))
    said = {each["id"]: each["text"] for each in together.statements}
    differing = [each["id"] for each in alone.statements if said[each["id"]] != each["text"]]
    print(f"statements that differ: {len(differing)} of {len(alone.statements)}", *differing[:5])


if __name__ == "__main__":
    main()
