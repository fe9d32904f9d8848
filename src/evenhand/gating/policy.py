"""What a gate allows: one record for the command line, Python and CI, written as gate.yaml."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.options import made, option
from evenhand.plain_yaml import plain_yaml
from evenhand.words import in_words


def parse_margin(text: str) -> tuple[str, float]:
    """Read a value of --figure. Raises ValueError."""
    name, _, number = text.rpartition("=")
    with suppress(ValueError):
        if name.strip() and 0 <= (margin := float(number)) < math.inf:
            return name.strip(), margin
    expected = "NAME=MARGIN, a margin of 0 or more, in quotes where the name has spaces, as"
    raise ValueError(f"expected {expected} 'biased answers: certainty=8'; got {text!r}")


@dataclass(frozen=True)
class Policy:
    """Margins in points are hundredths of a figure's scale, from its best value to the worst that there can be:
    percentage points of a percentage, 0.01 of a bias score between 0 and 1. Of a log perplexity they are percent.
    """

    max_increase: float = option(5.0, "points by which bias may rise", least=0, most=100, metavar="POINTS")
    max_utility_loss: float = option(
        5.0, "points by which a figure of use may fall, percent by which perplexity may grow", least=0, most=100,
        metavar="POINTS",
    )  # fmt: skip
    figures: tuple[tuple[str, float], ...] = option(
        (), "a headline figure's own margin, in its own unit; a figure named here is judged in any case",
        metavar="NAME=MARGIN", parse=parse_margin, flag="figure", repeated=True,
    )  # fmt: skip
    max_unread: float = option(
        0.05, "share of prompts that one of both runs may leave unread", least=0, most=1, metavar="SHARE"
    )
    require_utility: bool = option(False, "no pass where no figure of use was compared")

    def own_margin(self, figure: str) -> float | None:
        """Return the last margin of this figure, whose name may be written as `evenhand compare` shows it."""
        return {in_words(name): margin for name, margin in self.figures}.get(in_words(figure))


def read_policy(path: Path) -> Policy:
    """Read gate.yaml. Raises UsageError for a file that is no policy, and for unknown names and values."""
    try:
        values = plain_yaml(path.read_text(encoding="utf-8")) or {}
        figures = values.get("figures") or {} if isinstance(values, Mapping) else {}
        if not isinstance(values, Mapping) or not isinstance(figures, Mapping):
            raise ValueError("expected lines of NAME: VALUE, under figures lines of NAME: MARGIN")
        named = tuple(parse_margin(f"{name}={margin}") for name, margin in figures.items())
        return made(Policy, {**values, "figures": named})
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} is no policy: {error}") from error
