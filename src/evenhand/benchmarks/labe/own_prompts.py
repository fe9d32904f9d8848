"""Texts that begin with their own prompt, as the published ones of Mistral and Llama-3 do: the prompt is taken off.

They were sent as plain text, without a chat template, and the whole output was kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stripped:
    """texts: in order, without their prompts. n_stripped: that began with theirs; n_others: that begin otherwise."""

    texts: list[str]
    n_stripped: int
    n_others: int


def strip_prompts(texts: Sequence[str], prompts: Sequence[str]) -> Stripped:
    """A prompt is found with any white space between its words; blank texts and prompts are passed over."""
    rests = [_rest(text, prompt) if text.strip() and prompt.strip() else text for text, prompt in zip(texts, prompts)]
    n_both = sum(bool(text.strip() and prompt.strip()) for text, prompt in zip(texts, prompts))
    n_others = rests.count(None)
    kept = [text if rest is None else rest for text, rest in zip(texts, rests)]
    return Stripped(kept, n_both - n_others, n_others)


def _rest(text: str, prompt: str) -> str | None:
    """What stands behind the prompt; None where the text begins otherwise, or a word only begins as the prompt ends."""
    begins = r"\s*" + r"\s+".join(map(re.escape, prompt.split())) + (r"(?!\w)" if prompt.rstrip()[-1].isalnum() else "")
    match = re.match(begins, text)
    return text[match.end() :].lstrip() if match else None
