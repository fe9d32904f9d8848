"""Libraries' own lines that tell a person nothing, kept from among a command's."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_ALIGNED = "transformers.trainer_utils"  # that a tokenizer's special tokens are taken, as they are here in any case


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Errors are told as ever; so is what of peft's warnings matters, by checks of our own before and after."""
    logger = logging.getLogger(_ALIGNED)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module=r"peft\.")
            yield
    finally:
        logger.setLevel(level)
