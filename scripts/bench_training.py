"""Measure how fast Social Contact Debiasing trains: batches packed as prefix trees, and padded batches, in turns.

Both tune the same adapter on the same examples in the same order, through TRL's trainer as `evenhand train
social-contact` does: forward pass, backward pass and step of the optimizer. Each packing's peak memory is measured in a
process of its own.
"""

import argparse
import logging
import multiprocessing
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import torch
from bench import Line, bench_parser, run_bench

from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.models.registry import DType
from evenhand.trainers.benchmark_rows import cut_contact
from evenhand.trainers.examples import load_base
from evenhand.trainers.recipe import Prepared
from evenhand.trainers.run import make_trainer, peak_memory
from evenhand.trainers.social_contact import SocialContactOptions, contact_examples
from evenhand.trainers.supervised import Supervised

Batches = list[list[Continuation]]

PACKINGS = ("tree", "padded")
WARMING = 2  # steps that are not timed


def load_trainer(options: SocialContactOptions, batches: Batches, packing: str, folder: str) -> Supervised:
    packed = replace(options, packing=packing, measure_every=0)
    examples = [example for batch in batches for example in batch]
    prepared = Prepared(packed, load_base(packed), examples, measure=lambda model, heard: {}, data={})
    trainer = make_trainer(prepared, Path(folder))
    trainer.create_optimizer()
    trainer.model.train()
    return trainer


def make_step(trainer: Supervised, batch: list[Continuation]) -> float:
    """Its seconds."""
    start = time.perf_counter()
    trainer.compute_loss(trainer.model, trainer.batch(batch)).backward()
    torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), trainer.args.max_grad_norm)
    trainer.optimizer.step()
    trainer.optimizer.zero_grad()
    return time.perf_counter() - start


def measure_memory(options: SocialContactOptions, batches: Batches, packing: str) -> float:
    """MiB of this process after these steps."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = load_trainer(options, batches, packing, folder)
        for batch in batches:
            make_step(trainer, batch)
    return peak_memory() / 2**20


def measure(given: argparse.Namespace) -> Iterator[Line]:
    logging.getLogger("transformers").setLevel(logging.ERROR)
    n_steps = given.steps + WARMING
    options = SocialContactOptions(
        model=given.model,
        dtype=given.dtype,
        setting="disjoint",
        targets="all-linear",
        limit=given.examples * n_steps,
        batch_size=given.examples,
        accumulation=1,
    )
    rows = cut_contact(options.setting, options.source, options.all_rows, options.limit, options.seed).train
    examples = contact_examples(rows, options, load_base(options))
    random.Random(0).shuffle(examples)  # as the trainer takes them
    batches = [examples[i : i + given.examples] for i in range(0, given.examples * n_steps, given.examples)]
    seconds: dict[str, list[float]] = {name: [] for name in PACKINGS}
    with tempfile.TemporaryDirectory() as folder:
        trainers = {name: load_trainer(options, batches, name, folder) for name in PACKINGS}
        for batch in batches:
            for name, trainer in trainers.items():
                seconds[name].append(make_step(trainer, batch))
    padded = sum(len(batch) * max(len(each.read) for each in batch) for batch in batches) / n_steps
    distinct = sum(map(distinct_tokens, batches)) / n_steps
    rival = f"padded batches, TRL {metadata.version('trl')}"
    tokens = f"{padded:,.0f} padded tokens a step, {distinct:,.0f} distinct"
    steps = (tuple(seconds[name][WARMING:]) for name in PACKINGS)
    yield Line("a step of Social Contact Debiasing", "s", next(steps), rival, next(steps), tokens)
    peaks = []
    for name in PACKINGS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            peaks.append((pool.apply(measure_memory, (options, batches[:2], name)),))
    yield Line("memory of these steps", "MiB", peaks[0], rival, peaks[1])


def main() -> None:
    parser = bench_parser(__doc__, examples=(12, "examples a step"), steps=(8, "steps timed, of each packing"))
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtype", default="auto", choices=DType.__args__)
    run_bench(parser, measure)


if __name__ == "__main__":
    main()
