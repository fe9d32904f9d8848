"""Prompts in a paper's own layout, which go to a model to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.errors import UsageError

if TYPE_CHECKING:
    from evenhand.models.protocol import Model


def check_continuing(models: Mapping[str, Model]) -> None:
    """Raises UsageError where a model can't take a prompt to the letter."""
    for model in models.values():
        if "continue" not in model.can:
            raise UsageError(
                f"--layout published sends prompts to the letter, and {model.name} can't take such: servers' chat "
                "completions and image-text-to-text models put them into the model's own template; use "
                "a checkpoint of a text model (--model HUB_ID or DIR), or --layout chat"
            )
