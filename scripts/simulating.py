"""What the scripts simulate_*.py share: their command line, coverage of intervals, and rows of Markdown."""

import argparse
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from evenhand.command_line import ScriptHelp, whole
from evenhand.statistics.resampling import FloatArray

LEVEL = 0.05


@dataclass
class Intervals:
    """Intervals and p-values of one figure over simulated data sets; NaN ones are left out."""

    truth: float
    ends: list[tuple[float, float]] = field(default_factory=list)
    p_values: list[float] = field(default_factory=list)

    def add(self, low: float = math.nan, high: float = math.nan, p_value: float = math.nan) -> None:
        if not math.isnan(low):
            self.ends.append((low, high))
        if not math.isnan(p_value):
            self.p_values.append(p_value)

    @property
    def coverage(self) -> float:
        """Percentage of intervals that hold the truth."""
        return 100 * float(np.mean([low - 1e-9 <= self.truth <= high + 1e-9 for low, high in self.ends]))

    @property
    def widths(self) -> FloatArray:
        return np.array([high - low for low, high in self.ends])

    @property
    def significant(self) -> float:
        """Percentage of p-values below LEVEL."""
        return 100 * float(np.mean(np.array(self.p_values) < LEVEL))


def simulation_parser(description: str | None, data_sets: int, parts: Iterable[str] = ()) -> argparse.ArgumentParser:
    """A parser with --data-sets and, where there are parts, --only."""
    parser = argparse.ArgumentParser(description=description, formatter_class=ScriptHelp)
    parser.add_argument("--data-sets", type=whole(), default=data_sets, metavar="N", help="simulated for each row")
    if names := list(dict.fromkeys(parts)):
        parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="PART", help="parts to simulate")
    return parser


def print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def print_header(*columns: str) -> None:
    print_row(*columns)
    print_row(*["---"] * len(columns))
