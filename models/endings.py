"""What stands between a prompt and its answer, found by a question and an answer that are known."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.models.thoughts import is_open

QUESTION, ANSWER = "What is asked", "What is answered"
"""Of the messages by which a template is tried."""


@dataclass(frozen=True)
class Ending:
    """How a prompt goes on to an answer that begins at once.

    Attributes:
        opened: whether the template's prompts end inside a thought.
        text: what stands between the prompt and the answer; None: the thought can't be closed.
        variables: of the template, to render the prompt with, so that no thought is open.
        note: what a report says of it; empty where the answer follows the prompt, or after white space.
        found: whether the template told what stands there.
    """

    opened: bool = False
    text: str | None = ""
    variables: tuple[tuple[str, object], ...] = ()
    note: str = ""
    found: bool = True


def find_ending(asked: str, before: str) -> Ending:
    """The ending of a prompt, by the text that a template writes before an answer to the same messages.

    Args:
        asked: the prompt's text.
        before: of the same messages and an answer, all text before the answer.
    """
    tail = asked.rpartition(QUESTION)[2]  # the question may speak of thoughts itself
    text = before[len(asked) :] if before.startswith(asked) else ""
    if is_open(tail):
        return Ending(True, None if is_open(tail + text) else text, note=name_closing(text))
    note = (
        f"Options are scored after {text!r}, which the chat template writes before an answer." if text.strip() else ""
    )
    return Ending(text=text, note=note, found=before.startswith(asked))


def name_closing(text: str | None) -> str:
    return f"The chat template opens a thought; options are scored after {text!r} closes it." if text else ""
