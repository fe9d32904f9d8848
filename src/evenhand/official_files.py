"""Rows of published files, fetched or of a local mirror, and what is said where such a file can't be had."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.caches import cache_written
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    import datasets

MIRROR = "EVENHAND_SOURCES"
_LEFT_OUT = "(?s).*its split is left out"  # how loading scripts warn of a mirror's absent file
_NETWORK = ("aiohttp", "httpx", "requests", "urllib3", "fsspec", "huggingface_hub")


def build(builder: datasets.DatasetBuilder, name: str, split: str | None) -> None:
    """Fetch, check and build. split: which is wanted; other ones' absent files are nobody's business then.

    Raises EvenhandError where a file can't be fetched, or the wanted split's is absent from the mirror.
    """
    import datasets

    what = f"{name} ({builder.config.name}, source official)"
    try:
        with warnings.catch_warnings(), cache_written(Path(datasets.config.HF_DATASETS_CACHE), "HF_DATASETS_CACHE"):
            if split is not None:
                warnings.filterwarnings("ignore", _LEFT_OUT)
            builder.download_and_prepare()
    except Exception as error:
        if isinstance(error, FileNotFoundError) and os.environ.get(MIRROR):
            raise EvenhandError(str(error)) from error
        if os.environ.get(MIRROR) or not _of_the_network(error):
            raise
        raise EvenhandError(
            f"{what}: a published file can't be fetched ({error or type(error).__name__}). Where there is no network, "
            f"fetch it elsewhere, and name the folder that holds such files in the environment variable {MIRROR} (an "
            "empty one is told which belong into it)"
        ) from error
    splits = [*(builder.info.splits or {})]
    if split is not None and split.isidentifier() and split not in splits:
        told = _told(builder) or f"Its splits: {', '.join(splits)}."
        raise EvenhandError(f"{what} has no split {split!r}. {told}")


def _of_the_network(error: Exception) -> bool:
    """Libraries raise the address alone as a file that isn't there, or errors of their own."""
    return isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _NETWORK


def _told(builder: datasets.DatasetBuilder) -> str:
    """What the loading script says of files that are absent, though rows were built before."""
    import datasets

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        builder._split_generators(datasets.DownloadManager(base_path=builder.base_path))
    return " ".join(str(each.message) for each in told if issubclass(each.category, UserWarning))
