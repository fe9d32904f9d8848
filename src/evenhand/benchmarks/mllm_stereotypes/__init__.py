"""Stereotypes in multimodal models: association of social groups with occupations, descriptors and persona traits."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.benchmarks.mllm_stereotypes.visual_answers import read_side, read_social_term

__all__ = ["read_side", "read_social_term"]


def __getattr__(name: str) -> object:
    """Readers are imported when asked for: who lists benchmarks needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.visual_answers"), name)
