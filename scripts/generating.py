"""Shared by the scripts that generate data with a model: progress, and errors as one line."""

import sys
from collections.abc import Callable
from typing import TypeVar

import transformers

from evenhand.errors import EvenhandError
from evenhand.models.errors import ModelError
from evenhand.progress import ProgressBar

Made = TypeVar("Made")


def generate(script: str, make: Callable[[ProgressBar], Made]) -> Made:
    """Return what `make` returns. Exits with a sentence on failure or interruption."""
    transformers.utils.logging.disable_progress_bar()
    try:
        with ProgressBar(script) as bar:
            return make(bar)
    except (EvenhandError, ModelError) as error:
        sys.exit(f"{script}: {error}")
    except KeyboardInterrupt:
        sys.exit(f"{script}: interrupted. Run the same command again to resume.")
