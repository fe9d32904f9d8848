"""What a training would read, take and need, before it begins."""

from __future__ import annotations

import math
import random
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import TrainerCallback
from transformers.trainer_utils import SaveStrategy

from evenhand.models.prefix_tree import distinct_tokens
from evenhand.report.tables import n_of
from evenhand.trainers.batches import read_of
from evenhand.trainers.computed_tokens import ComputedTokens, computed
from evenhand.trainers.fine_tuning import trainer_of
from evenhand.trainers.memory import peak_memory
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.steps import examples_a_step, n_steps

TIMED_STEPS = 3  # the first, which warms up, is not counted
SAMPLED_PASSES = 32


@dataclass(frozen=True)
class TrainingPlan:
    """tokens: of all steps, padding aside; distinct_tokens: where no prefix stands twice in a pass. computed: tokens
    of a step that are learned from, on average.

    seconds: of the steps alone, without what is measured between. memory: bytes at most, of the GPU where there is one.
    """

    examples: int
    steps: int
    tokens: int
    distinct_tokens: int
    computed: float
    seconds: float
    memory: int
    packing: str
    note: str

    def lines(self) -> list[str]:
        ratio = self.tokens / self.distinct_tokens
        of = "GPU memory" if torch.cuda.is_available() else "memory"
        return [
            f"{n_of(self.examples, 'example')}, {n_of(self.steps, 'step')}, batches {self.packing}",
            f"about {self.tokens:,} tokens to read, about {self.distinct_tokens:,} distinct a pass ({ratio:.1f} x)",
            f"about {self.computed:,.0f} tokens computed a step to learn from (what --max-tokens counts)",
            f"about {self.seconds / 60:.1f} minutes and {self.memory / 2**30:.1f} GiB of {of}, from steps timed here; "
            "what is measured on the way is not counted",
            *([self.note] if self.note else []),
            "Nothing was stored.",
        ]


def plan(prepared: Prepared, on_progress: OnProgress) -> TrainingPlan:
    """Trains some steps of the real batches in memory, and forgets them."""
    examples, options = prepared.examples, prepared.how
    steps = n_steps(options, len(examples))
    some = replace(options, max_steps=min(TIMED_STEPS, steps), save_every=TIMED_STEPS + 1, measure_every=0)
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        made = trainer_of(replace(prepared, how=some), Path(folder), on_progress, [ComputedTokens(), clock])
        made.trainer.args.save_strategy = SaveStrategy.NO
        made.trainer.train()
    counted = clock.seconds[1:] or clock.seconds
    a_step = computed(made.trainer.state.log_history).learned / len(clock.seconds)
    steps = steps if options.max_tokens is None else min(steps, math.ceil(options.max_tokens / a_step))
    order = random.Random(options.seed)
    passes = [order.sample(examples, min(options.batch_size, len(examples))) for _ in range(SAMPLED_PASSES)]
    read = steps * examples_a_step(options, len(examples)) / sum(map(len, passes))  # to one example of these passes
    return TrainingPlan(
        examples=len(examples),
        steps=steps,
        tokens=round(read * sum(len(each.read) for one in passes for each in read_of(one))),
        distinct_tokens=round(read * sum(distinct_tokens(read_of(one)) for one in passes)),
        computed=a_step,
        seconds=steps * sum(counted) / len(counted),
        memory=peak_memory(),
        packing=made.packing,
        note=made.note,
    )


class _Clock(TrainerCallback):  # type: ignore[misc]
    """seconds: of each step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._begun = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.seconds.append(time.perf_counter() - self._begun)
