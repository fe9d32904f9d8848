"""In what a training is not as its paper's, by what both say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Otherwise = dict[str, dict[str, Any]]


def otherwise_than(published: Mapping[str, Any], here: Mapping[str, Any]) -> Otherwise:
    """Of each thing that the publication tells and this training has otherwise: {name: {"here": …, "published": …}}."""
    return {
        name: {"here": here.get(name), "published": value}
        for name, value in published.items()
        if here.get(name) != value
    }


def told(otherwise: Otherwise) -> str:
    """In words: "dropout 0.0 (published: 0.1), mix none (published: …)"."""
    return ", ".join(
        f"{name.replace('_', ' ')} {_said(each['here'])} (published: {_said(each['published'])})"
        for name, each in otherwise.items()
    )


def _said(value: Any) -> str:
    return "none" if value is None else str(value)
