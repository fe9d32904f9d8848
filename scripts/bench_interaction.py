"""Measure how fast conversations are held: all together, and one after another.

Both hold the same implicit_bias conversations with the same model at temperature 0 in float32. Together, the runner
asks whatever all conversations wait for, in batches, and reads what prompts share once; one after another, each request
is a batch, and each prompt is read whole, as the published loop does. The forward passes that read prompts, that write
and that score are also timed apart.

Batches speed up writing, where a single sequence leaves the processor waiting for weights. Reading a prompt that has
grown with its conversation fills a CPU alone, and agents share nothing, for a prompt begins with its agent's name.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from bench import Line, bench_parser, run_bench

from evenhand.benchmark import Row
from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import Asking, run_config
from evenhand.flow.rows import drawn_rows
from evenhand.flow.runner import Runner
from evenhand.flow.store import Store
from evenhand.models.prefix_tree import Continuation
from evenhand.models.protocol import Ability, Kind, OnTokens, kind_of, unheard
from evenhand.models.registry import load_model
from evenhand.models.request import Reply, Request
from evenhand.models.transformers_model import TransformersModel

BENCHMARK = get_benchmark("implicit_bias")
RIVAL = "one at a time, as the published loop"


class TimedModel:
    """A model whose forward passes are timed; at most as many texts a call as the model's batch."""

    can: frozenset[Ability] = frozenset({"generate", "choose"})
    whole_calls = True

    def __init__(self, model: TransformersModel):
        self.model, self.identity, self.name = model, model.identity, model.name
        self.seconds: Counter[str] = Counter()
        self._kind: Kind = "generate"
        self._start = 0.0
        model.model.register_forward_pre_hook(self._begin)
        model.model.register_forward_hook(self._end, with_kwargs=True)

    def at_once(self, kind: Kind) -> int:
        """Of choices as many as fill the model: one request with 24 is larger than a call of few texts."""
        return self.model.batch_size if kind == "generate" else self.model.at_once(kind)

    def answer(self, requests: Sequence[Request], on_tokens: OnTokens = unheard) -> Iterator[tuple[int, Reply]]:
        self._kind = kind_of(requests[0])
        yield from self.model.answer(requests, on_tokens)

    def close(self) -> None:
        """The model is kept."""

    def _begin(self, module: torch.nn.Module, args: object) -> None:
        self._start = time.perf_counter()

    def _end(self, module: torch.nn.Module, args: object, kwargs: dict[str, torch.Tensor], output: object) -> None:
        part = "writing" if kwargs["input_ids"].shape[1] == 1 else "reading"
        self.seconds["scoring" if self._kind == "choose" else part] += time.perf_counter() - self._start


def load(options: argparse.Namespace, batch_size: int, rows: Sequence[Row], how: Asking) -> TransformersModel:
    """A model that is warm: its first pass, and what scoring tries once for prompts of a length, are not timed."""
    model = load_model(options.model, dtype="float32", batch_size=batch_size)
    assert isinstance(model, TransformersModel)
    first = next(BENCHMARK.episode(rows[0], how))[0]
    list(model.answer([replace(first, choices=first.choices[:1])]))
    for length in (512, 2048) if first.choices else ():  # a conversation's first prompts with an answer, and its last
        model.scoring.suited_to([Continuation((0,) * length, (0,))])
    return model


def hold(
    rows: Sequence[Row], how: Asking, model: TransformersModel, together: int
) -> tuple[dict[str, str], dict[str, float]]:
    """Statements by id, and conversations a second: as a whole, and of the time of each kind of forward pass."""
    statements, timed = {}, TimedModel(model)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store", {"m": model.identity}) as store:
        start = time.perf_counter()
        for i in range(0, len(rows), together):
            episodes = [BENCHMARK.episode(row, how) for row in rows[i : i + together]]
            held = Runner({"default": timed}, store).run(episodes)
            statements |= {each["id"]: each["text"] for said in held for each in said}
        timed.seconds["whole"] = time.perf_counter() - start
    return statements, {part: len(rows) / seconds for part, seconds in timed.seconds.items()}


def measure(options: argparse.Namespace) -> Iterator[Line]:
    given = {"protocol": options.protocol, "temperature": 0.0, "max_new_tokens": options.max_new_tokens}
    config = BENCHMARK.filled(run_config("implicit_bias", options.model, limit=options.conversations, **given))
    rows, how = list(drawn_rows(BENCHMARK, config).rows), config.asking()
    together, speeds = hold(rows, how, load(options, options.batch_size, rows, how), len(rows))
    single = load(options, 1, rows, how)
    single.kept_prompts = None
    alone, slow_speeds = hold(rows[: options.others], how, single, 1)
    differing = sum(together[name] != text for name, text in alone.items())
    remark = f"{differing} of {len(alone)} statements differ"
    for part in speeds:
        what = f"conversations, --protocol {options.protocol}: {part}"
        theirs = (slow_speeds[part],) if part in slow_speeds else ()
        yield Line(what, "conversations/s", (speeds[part],), RIVAL, theirs, remark)


def main() -> None:
    parser = bench_parser(
        __doc__,
        conversations=(32, "conversations to hold"),
        others=(2, "of them, to hold one after another, too"),
        batch_size=(32, "prompts in a forward pass"),
        max_new_tokens=(24, "tokens of an utterance"),
    )
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--protocol", choices=("generate", "rank"), default="generate", help="of assignments")
    run_bench(parser, measure)


if __name__ == "__main__":
    main()
