"""What is asked about a story, and in which layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.benchmarks.option_order import OptionOrder
from evenhand.errors import UsageError
from evenhand.flow.configuration import RunConfig
from evenhand.options import option


@dataclass(frozen=True)
class UnderstandingOptions(OptionOrder):
    asks: Literal["word", "reason"] = option(
        "word",
        "word: whether bias is present, in one word; reason: the story alone, as models are tuned on it, which write "
        "why bias is present or absent",
    )
    layout: Literal["chat", "published"] = option(
        "chat", "chat: each model's own template; published: the plain one in which mistral was tuned"
    )


def check_asked(config: RunConfig[UnderstandingOptions]) -> None:
    """Raises UsageError where a reason is asked for, and nothing is written."""
    if config.options.asks == "reason" and config.protocol != "generate":
        raise UsageError("--asks reason reads what is written: --protocol generate is accepted with it")
