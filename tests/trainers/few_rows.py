"""Prompt sets of contact_hypothesis for trainings that shall not take long."""

from collections.abc import Callable
from functools import cache

import datasets

from evenhand.trainers.benchmark_rows import contact_rows

ROWS = 34_000  # of a configuration, about


def take_few(step: int = 900) -> Callable[..., Callable[[str], datasets.Dataset]]:
    """In place of `contact_rows`: every `step`-th row of a configuration, loaded once for all trainings."""

    @cache
    def load(config: str, *which: object) -> datasets.Dataset:
        return contact_rows(*which)(config).select(range(0, ROWS, step))

    return lambda *which: lambda config: load(config, *which)


FEW = take_few()
