"""A question in the paper's words, as a request: what every benchmark that asks so shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from evenhand.benchmarks.contact_hypothesis.options import QuestionOptions
from evenhand.benchmarks.contact_hypothesis.prompts import PUBLISHED_LAYOUT, QUESTION, SYSTEM_PROMPT
from evenhand.benchmarks.forced_format import check_constraining, schema_of
from evenhand.benchmarks.option_order import check_option_order
from evenhand.benchmarks.published_layout import check_continuing
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import derive_seed
from evenhand.models.request import Message, Request

if TYPE_CHECKING:
    from evenhand.flow.results import Results
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
        schema=schema_of({"answer": (first, second)}) if how.options.constrain else None,
        sampling=how.sampling,
        seed=derive_seed(how.seed, name),
        name=name,
        template=not published,
    )


def check_asking(config: RunConfig[O]) -> None:
    """Raises UsageError for a filled configuration whose protocol does not fit its options."""
    check_option_order(config)
    if config.options.constrain and config.protocol != "generate":
        raise UsageError(
            "--constrain forces what models write, and choose scores options: --protocol generate is accepted"
        )


def check_models(options: QuestionOptions, models: Mapping[str, Model]) -> None:
    """Raises UsageError where a prompt is to be sent to the letter, or an answer forced, and a model can't."""
    if options.layout == "published":
        check_continuing(models)
    if options.constrain:
        check_constraining(models, "leave it out, or take --protocol choose, which leaves nothing unread either")


def forced(results: Results) -> tuple[str, ...]:
    """What a report says where answers were forced."""
    said = "The format of answers was forced (--constrain): JSON by a schema that names the two options."
    return (said,) if results.option("constrain") else ()
