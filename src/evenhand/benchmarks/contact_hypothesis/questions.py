"""A question in the paper's words, as a request: what every benchmark that asks so shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from evenhand.benchmarks.contact_hypothesis.options import QuestionOptions
from evenhand.benchmarks.contact_hypothesis.prompts import PUBLISHED_LAYOUT, QUESTION, SYSTEM_PROMPT
from evenhand.benchmarks.published_layout import check_continuing
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import derive_seed
from evenhand.models.request import Message, Request

if TYPE_CHECKING:
    from evenhand.models.protocol import Model

O = TypeVar("O", bound=QuestionOptions)  # noqa: E741


def question_request(name: str, question: str, options: Sequence[str], swapped: bool, how: Asking[O]) -> Request:
    """The paper's prompt. swapped: both options in the other order in the instruction; those that are scored keep
    theirs, and the question is taken as it is.
    """
    first, second = reversed(options) if swapped else options
    asked = QUESTION.text.format(first=first, second=second, question=question)
    published = how.options.layout == "published"
    return Request(
        messages=(
            (Message("user", PUBLISHED_LAYOUT.text.format(system=SYSTEM_PROMPT.text, question=asked)),)
            if published
            else (Message("system", SYSTEM_PROMPT.text), Message("user", asked))
        ),
        choices=tuple(options) if how.protocol == "choose" else (),
        sampling=how.sampling,
        seed=derive_seed(how.seed, name),
        name=name,
        template=not published,
    )


def check_layout(options: QuestionOptions, models: Mapping[str, Model]) -> None:
    """Raises UsageError where a prompt is to be sent to the letter, and a model can't take one."""
    if options.layout == "published":
        check_continuing(models)
