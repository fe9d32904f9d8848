"""What stands between a prompt and its answer, found by a question and an answer that are known."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.models.thoughts import has_thought, is_open

QUESTION, ANSWER = "What is asked", "What is answered"
"""Of the messages by which a template is tried."""


@dataclass(frozen=True)
class Ending:
    """How a prompt goes on to an answer without a thought.

    Attributes:
        opened: whether the template's prompts end inside a thought.
        text: what stands between the prompt and the answer; None: the thought can't be closed.
        tail: what the prompt has behind the question.
        variables: of the template, to render the prompt with, so that no thought is open.
        header: what begins an answer, where the template's prompts lack it; texts are written after it, too.
        note: what a report says of it; empty where the answer follows the prompt, or after white space.
        found: whether rendering a known answer showed what stands there.
    """

    opened: bool = False
    text: str | None = ""
    tail: str = ""
    variables: tuple[tuple[str, object], ...] = ()
    header: str = ""
    note: str = ""
    found: bool = True

    @property
    def closes_thought(self) -> bool:
        """Whether a thought stands before the answer, and has an end."""
        return self.text is not None and has_thought(self.tail + self.text)


def find_ending(asked: str, before: str, question: str = QUESTION) -> Ending:
    """The ending of a prompt, by the text that a template writes before an answer to the same messages.

    What stands before the question is not compared: some templates write it only before the last message.

    Args:
        asked: the prompt's text.
        before: of the same messages and an answer, all text before the answer.
        question: the text of the last message, which may speak of thoughts itself.
    """
    tail, begun = (text.rpartition(question)[2] if question else text for text in (asked, before))
    found = begun.startswith(tail)
    text = begun[len(tail) :] if found else ""
    if is_open(tail):
        return Ending(True, None if is_open(tail + text) else text, tail, note=name_closing(text))
    note = (
        f"Options are scored after {text!r}, which the chat template writes before an answer." if text.strip() else ""
    )
    return Ending(text=text, tail=tail, note=note, found=found)


def name_closing(text: str | None) -> str:
    return f"The chat template opens a thought; options are scored after {text!r} closes it." if text else ""


def name_switch(ending: Ending, name: str) -> str:
    """Say that options are scored with thoughts turned off by a variable."""
    does = "opens a thought" if ending.opened else "asks for a thought"
    return f"The chat template {does}; options are scored after its prompts with {name}=false."
