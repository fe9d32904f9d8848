"""Its tasks in the Hub's form of a benchmark (eval.yaml): one for each scale and contact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.benchmark import HubTasks
from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS, QUESTION, SYSTEM_PROMPT
from evenhand.metrics.contact_bias.scores import OPTIONS

DESCRIPTION = (
    "Social bias under intergroup contact: the share of unbiased answers to questions about contact with 600 "
    "descriptors of people, without contact, after positive and after negative contact. A model without bias has "
    "1; random and constant answers have 0.5."
)
_LETTER = r"[^\W_]"


def hub_tasks() -> HubTasks:
    return HubTasks(DESCRIPTION, tuple(_tasks()))


def one_option(options: Sequence[str]) -> str:
    """A pattern whose one group is the option that a text names; no match where it names none of them, or several.

    Whole words, as `read_answer` of the metric contact_bias has them.
    """
    affirming, declining = (
        rf"(?<!{_LETTER})(?<!{_LETTER}[-'’]){option}(?!{_LETTER})(?![-'’]{_LETTER})" for option in options
    )
    return rf"(?is)\A(?!(?=.*?{affirming}).*?{declining}).*?({affirming}|{declining})"


def _tasks() -> Iterator[dict[str, Any]]:
    for scale, (affirming, declining) in OPTIONS.items():
        asked = QUESTION.text.format(first=affirming, second=declining, question="{prompt}")
        for contact in CONTACTS:
            yield {
                "id": f"{scale}-{contact}",
                "config": scale,
                "split": "test",
                "field_spec": {"input": contact, "target": "unbiased", "metadata": ["id", "action", "situation"]},
                "solvers": [
                    {"name": "system_message", "args": {"template": SYSTEM_PROMPT.text}},
                    {"name": "prompt_template", "args": {"template": asked}},
                    {"name": "generate"},
                ],
                "scorers": [{"name": "pattern", "args": {"pattern": one_option((affirming, declining))}}],
            }
