"""Measure how fast conversations are held: all together, and one after another.

Both hold the same implicit_bias conversations with the same model at temperature 0 in float32. Together, the runner
asks whatever all conversations wait for, in batches, and reads what prompts share once; one after another, each request
is a batch, and each prompt is read whole, as the published loop does.

Batches speed up writing, where a single sequence leaves the processor waiting for weights. Reading a prompt that has
grown with its conversation fills a CPU alone, and agents share nothing, for a prompt begins with its agent's name.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import Line, bench_parser, run_bench

from evenhand.benchmark import Row
from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import Asking, run_config
from evenhand.flow.rows import drawn_rows
from evenhand.flow.runner import Runner
from evenhand.flow.store import Store
from evenhand.models.prefix_tree import Continuation
from evenhand.models.registry import load_model
from evenhand.models.transformers_model import TransformersModel

BENCHMARK = get_benchmark("implicit_bias")
RIVAL = "one at a time, as the published loop"


def load(options: argparse.Namespace, batch_size: int, rows: Sequence[Row], how: Asking) -> TransformersModel:
    """A model that is warm: its first pass, and what scoring tries once for prompts of a length, are not timed."""
    model = load_model(options.model, dtype="float32", batch_size=batch_size)
    assert isinstance(model, TransformersModel)
    first = next(BENCHMARK.episode(rows[0], how))[0]
    list(model.answer([replace(first, choices=first.choices[:1])]))
    for length in (512, 2048) if first.choices else ():  # a conversation's first prompts with an answer, and its last
        model.scoring.suited_to([Continuation((0,) * length, (0,))])
    return model


def hold(rows: Sequence[Row], how: Asking, model: TransformersModel, together: int) -> tuple[dict[str, str], float]:
    """Statements by id, and conversations a second."""
    statements = {}
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store", {"m": model.identity}) as store:
        start = time.perf_counter()
        for i in range(0, len(rows), together):
            episodes = [BENCHMARK.episode(row, how) for row in rows[i : i + together]]
            held = Runner({"default": model}, store).run(episodes)
            statements |= {each["id"]: each["text"] for said in held for each in said}
        return statements, len(rows) / (time.perf_counter() - start)


def measure(options: argparse.Namespace) -> Iterator[Line]:
    given = {"protocol": options.protocol, "temperature": 0.0, "max_new_tokens": options.max_new_tokens}
    config = BENCHMARK.configuring.filled(
        run_config("implicit_bias", options.model, limit=options.conversations, **given)
    )
    rows, how = list(drawn_rows(BENCHMARK, config).rows), config.asking()
    together, speed = hold(rows, how, load(options, options.batch_size, rows, how), len(rows))
    single = load(options, 1, rows, how)
    single.kept_prompts = None
    alone, slow = hold(rows[: options.others], how, single, 1)
    differing = sum(together[name] != text for name, text in alone.items())
    remark = f"{differing} of {len(alone)} statements differ"
    yield Line(f"conversations, --protocol {options.protocol}", "conversations/s", (speed,), RIVAL, (slow,), remark)


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
