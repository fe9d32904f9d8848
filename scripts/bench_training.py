"""How fast Social Contact Debiasing is learned: batches packed as prefix trees beside padded ones, in turns.

Both tune the same adapter on the same examples with the same order, through TRL's trainer as `evenhand train
social-contact` has it: forward pass, backward pass and step of the optimizer. Peak memory is of processes of their own.
"""

import argparse
import logging
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import torch
from benching import Line, measured

from evenhand.command_line import ScriptHelp, whole
from evenhand.models.prefix_tree import Continuation, distinct_tokens
from evenhand.models.registry import DType
from evenhand.trainers.fine_tuning import trainer_of
from evenhand.trainers.memory import peak_memory
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.reading import base_of
from evenhand.trainers.social_contact import SocialContactOptions, examples_of
from evenhand.trainers.supervised import Tuning

PACKINGS = ("padded", "tree")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--dtype", default="auto", choices=DType.__args__)
    parser.add_argument("--examples", type=whole(), default=12, help="a step")
    parser.add_argument("--steps", type=whole(), default=8, help="timed, of each; two more warm up")
    measured(parser, measure)


def measure(arguments: argparse.Namespace) -> Iterator[Line]:
    logging.getLogger("transformers").setLevel(logging.ERROR)
    options = SocialContactOptions(
        model=arguments.model,
        dtype=arguments.dtype,
        setting="disjoint",
        targets="all-linear",
        limit=arguments.examples * (arguments.steps + 2),
        batch_size=arguments.examples,
        accumulation=1,
    )
    examples = examples_of(options)
    random.Random(0).shuffle(examples)  # as the trainer takes them
    passes = [examples[i : i + arguments.examples] for i in range(0, len(examples), arguments.examples)]
    passes = passes[: arguments.steps + 2]
    padded = sum(len(some) * max(len(each.read) for each in some) for some in passes) / len(passes)
    distinct = sum(distinct_tokens(some) for some in passes) / len(passes)
    print(f"{arguments.model}, {arguments.examples} examples a step, {torch.get_num_threads()} threads")
    print(f"tokens a step: {padded:,.0f} padded, {distinct:,.0f} distinct ({padded / distinct:.1f} x)")
    seconds = timed(options, passes)
    for name in PACKINGS:
        middle, most = statistics.median(seconds[name]), max(seconds[name])
        print(f"{name}: {middle:.2f} s a step (median of {len(seconds[name])}; {min(seconds[name]):.2f} to {most:.2f})")
    ratio = statistics.median(seconds["padded"]) / statistics.median(seconds["tree"])
    print(f"tree-packed batches are {ratio:.2f} times as fast")
    memory = {name: peak(options, passes[:2], name) for name in PACKINGS}
    for name, used in memory.items():
        print(f"{name}: {used / 2**30:.2f} GiB at most")
    print(f"tree-packed batches need {memory['tree'] / memory['padded']:.2f} of the memory")
    rival, fewer = f"padded batches, TRL {metadata.version('trl')}", f"{padded / distinct:.1f} times fewer tokens"
    step = [tuple(seconds[name]) for name in ("tree", "padded")]
    yield Line("a step of Social Contact Debiasing", "s", step[0], rival, step[1], fewer)
    mib = [(memory[name] / 2**20,) for name in ("tree", "padded")]
    yield Line("memory of these steps", "MiB", mib[0], rival, mib[1])


def timed(options: SocialContactOptions, passes: list[list[Continuation]]) -> dict[str, list[float]]:
    """Seconds of each step, by packing; the two take turns at every step."""
    with tempfile.TemporaryDirectory() as folder:
        trainers = {name: tuning_of(options, passes, name, folder) for name in PACKINGS}
        seconds: dict[str, list[float]] = {name: [] for name in PACKINGS}
        for place, some in enumerate(passes):
            for name, trainer in trainers.items():
                begun = time.perf_counter()
                step(trainer, some)
                if place >= 2:
                    seconds[name].append(time.perf_counter() - begun)
    return seconds


def tuning_of(options: SocialContactOptions, passes: list[list[Continuation]], packing: str, folder: str) -> Tuning:
    some = replace(options, packing=packing, measure_every=0)
    examples = [each for one in passes for each in one]
    prepared = Prepared(some, base_of(some), examples, measure=lambda model: {}, data={})
    trainer = trainer_of(prepared, Path(folder)).trainer
    trainer.create_optimizer()
    trainer.model.train()
    return trainer


def step(trainer: Tuning, examples: list[Continuation]) -> None:
    trainer.compute_loss(trainer.model, trainer.batch(examples)).backward()
    torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), trainer.args.max_grad_norm)
    trainer.optimizer.step()
    trainer.optimizer.zero_grad()


def peak(options: SocialContactOptions, passes: list[list[Continuation]], packing: str) -> int:
    """Bytes, of a process that makes these steps."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak, (options, passes, packing))


def _peak(options: SocialContactOptions, passes: list[list[Continuation]], packing: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        trainer = tuning_of(options, passes, packing, folder)
        for some in passes:
            step(trainer, some)
    return peak_memory()


if __name__ == "__main__":
    main()
