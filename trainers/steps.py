"""How many steps a training has; light to import."""

from __future__ import annotations

import math

from evenhand.trainers.options import TuningOptions


def n_steps(options: TuningOptions, examples: int) -> int:
    """Of the whole training: of its epochs, or fewer as --max-steps says."""
    steps = max(1, math.ceil(options.epochs * _steps_an_epoch(options, examples)))
    return steps if options.max_steps is None else min(steps, options.max_steps)


def examples_a_step(options: TuningOptions, examples: int) -> float:
    """On average: the last pass of an epoch may have fewer, and its last step fewer passes."""
    return examples * options.answers_each / _steps_an_epoch(options, examples)


def _steps_an_epoch(options: TuningOptions, examples: int) -> int:
    return math.ceil(math.ceil(examples * options.answers_each / options.batch_size) / options.accumulation)
