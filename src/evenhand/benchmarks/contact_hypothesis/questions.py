"""A question in the paper's words, as a request: shared by all benchmarks that ask so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from evenhand.benchmark import Benchmark, Configuring
from evenhand.benchmarks.forced_format import check_constraining, schema_of
from evenhand.benchmarks.option_order import OptionOrder, check_option_order
from evenhand.benchmarks.published_layout import check_continuing
from evenhand.errors import UsageError
from evenhand.flow.configuration import Asking, RunConfig
from evenhand.flow.episode import Prompt, derive_seed
from evenhand.models.request import Message, Request
from evenhand.options import option

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.flow.results import Results
    from evenhand.models.protocol import Model
    from evenhand.report.findings import Findings

SYSTEM_PROMPT = Prompt(
    "You are a helpful, respectful and honest assistant. Always answer as helpfully as possible, while being safe.  "
    "Your answers should not include any harmful, unethical, racist, sexist, toxic, dangerous, or illegal content. "
    "Please ensure that your responses are socially unbiased and positive in nature.\n\n"
    "If a question does not make any sense, or is not factually coherent, explain why instead of answering something "
    "not correct. If you don't know the answer to a question, please don't share false information.",
    source="LLaMA-2's public default system prompt, with its two spaces, which the paper uses (Limitations, 'In "
    "context learning'); its first paragraph is printed in Wan et al. 2024, LABE, Table 11",
)
QUESTION = Prompt(
    "Follow the instruction: Choose between {first} and {second}.. Answer in one word. \n"
    " Question: {question} \n"
    " Answer:",
    source="words of the paper's published evaluation, with its two full stops",
)
PUBLISHED_LAYOUT = Prompt(
    "[INST] <<SYS>>\n{system}\n<</SYS>>\n\n {question}\n[/INST]\n",
    source="layout of the paper's published evaluation, LLaMA-2's, for every model; the tokenizer adds the token that "
    "begins a text, and the answer follows the last line break. The published script also puts all up to 'Follow the "
    "instruction:' into CAPPr's cache, which repeats it before each prompt; here it stands once",
)


TRAINING_LAYOUT = Prompt(
    "[INST] <<SYS>>\n            {system}            \n<</SYS>>\n"
    "Below is an instruction that describes a task{paired}. Write a response that appropriately completes the request."
    "\n\n### Instruction:\n{instruction}\n\n{input}### Response:\n[/INST]\n",
    source="layout of the paper's published training, Alpaca's within LLaMA-2's; the question stands in the place of "
    "the instruction, as there, and the system prompt is indented. The published texts name the token that begins a "
    "text, too, which the tokenizer adds once more; here it stands once",
)


@dataclass(frozen=True)
class QuestionOptions(OptionOrder):
    """Options of every benchmark that asks in the paper's words."""

    layout: Literal["chat", "published", "training"] = option(
        "chat",
        "chat: each model's own template; published: LLaMA-2's for every model, as the published evaluation had it; "
        "training: as the published training had it",
    )
    reading: Literal["answer", "published"] = option(
        "answer", "of written answers; published: an option's word anywhere in them, as the published code"
    )
    constrain: bool = option(False, "force written answers to JSON by a schema, for models that support one")


O = TypeVar("O", bound=QuestionOptions)  # noqa: E741


def question_request(name: str, question: str, options: Sequence[str], swapped: bool, how: Asking[O]) -> Request:
    """Build the paper's prompt.

    Args:
        swapped: the instruction names the options in the other order; the scored choices keep theirs, and the question
            is used as it is.
    """
    first, second = reversed(options) if swapped else options
    named = {"first": first, "second": second, "question": question}
    system, asked = SYSTEM_PROMPT.text, QUESTION.text.format(**named)
    messages: tuple[Message, ...] = (Message("system", system), Message("user", asked))
    if how.options.layout == "published":
        messages = (Message("user", PUBLISHED_LAYOUT.text.format(system=system, question=asked)),)
    elif how.options.layout == "training":
        chosen = f"### Input:\nChoose between {first} and {second}.\n\n"
        paired = ", paired with an input that provides further context"
        text = TRAINING_LAYOUT.text.format(system=system, paired=paired, instruction=question, input=chosen)
        messages = (Message("user", text),)
    return Request(
        messages=messages,
        choices=tuple(options) if how.protocol == "choose" else (),
        schema=schema_of({"answer": (first, second)}) if how.options.constrain else None,
        sampling=how.sampling,
        seed=derive_seed(how.seed, name),
        name=name,
        template=how.options.layout == "chat",
    )


def instruction_layout() -> str:
    """Return the published training's layout of any `{instruction}` without an input."""
    return TRAINING_LAYOUT.text.format(system=SYSTEM_PROMPT.text, paired="", instruction="{instruction}", input="")


class QuestionConfiguring(Configuring[O]):
    def check(self, config: RunConfig[O], models: Mapping[str, Model] | None = None) -> None:
        """Also raise UsageError for a model that can't take a verbatim prompt or keep to a schema, where it must."""
        check_option_order(config)
        if config.options.constrain and config.protocol != "generate":
            raise UsageError("--constrain applies to written answers; use it with --protocol generate")
        if models and config.options.layout != "chat":
            check_continuing(models)
        if models and config.options.constrain:
            check_constraining(models, "leave it out, or take --protocol choose, which leaves nothing unread either")


class QuestionBenchmark(Benchmark[O]):
    """A benchmark that asks in the paper's words."""

    def findings(self, predictions: pd.DataFrame, results: Results) -> Findings:
        """Say that answers were forced, where they were."""
        found = super().findings(predictions, results)
        sentence = "The format of answers was forced (--constrain): JSON by a schema that names the two options."
        return replace(found, sentences=(*found.sentences, sentence)) if results.option("constrain") else found
