"""What the scripts that generate with a model share: progress, and errors as one line."""

import sys
from collections.abc import Callable
from typing import TypeVar

import transformers

from evenhand.errors import EvenhandError
from evenhand.models.errors import ModelError
from evenhand.progress import ProgressBar

Made = TypeVar("Made")


def generate(script: str, make: Callable[[ProgressBar], Made]) -> Made:
    """What `make` returns. Exits with a sentence where it fails or is interrupted."""
    transformers.utils.logging.disable_progress_bar()
    try:
        with ProgressBar(script) as bar:
            return make(bar)
    except (EvenhandError, ModelError) as error:
        sys.exit(f"{script}: {error}")
    except KeyboardInterrupt:
        sys.exit(f"{script}: interrupted; finished work is stored. Run the same command again to resume.")
