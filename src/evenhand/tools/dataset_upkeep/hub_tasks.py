"""eval.yaml: a dataset's tasks in the Hub's form of a benchmark, which inspect_ai runs from the dataset's repository.

The form: https://huggingface.co/docs/hub/eval-results, "Eval.yaml specification", and inspect_ai's `_eval/task/hf.py`
(0.3.285). It takes one framework of the Hub's own list, a prompt, a target and scorers that judge one answer at a time,
and more is better. A dataset whose score is of another kind has no such file: the Hub would refuse it, and the commit
that it comes in; its card says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.benchmarks.contact_controls.collected import TASK
from evenhand.benchmarks.contact_hypothesis.collected import task_id
from evenhand.benchmarks.contact_hypothesis.prompts import CONTACTS, QUESTION, SYSTEM_PROMPT
from evenhand.metrics.contact_bias.scores import OPTIONS

FILE = "eval.yaml"
FRAMEWORK = "inspect-ai"

_LETTER = r"[^\W_]"


def eval_yaml(name: str) -> str | None:
    """The file's text, the same each time; None of a dataset that does not fit the form."""
    import yaml  # type: ignore[import-untyped]

    if name not in BENCHMARKS:
        return None
    described: Mapping[str, Any] = {
        "name": name,
        "description": BENCHMARKS[name][0],
        "evaluation_framework": FRAMEWORK,
        "tasks": list(BENCHMARKS[name][1]()),
    }
    return str(yaml.safe_dump(described, sort_keys=False, allow_unicode=True, width=120))


def one_option(options: Sequence[str]) -> str:
    """A pattern whose one group is the option that a text names; no match where it names none of them, or several.

    Whole words, as `read_answer` of the metric contact_bias has them.
    """
    affirming, declining = (
        rf"(?<!{_LETTER})(?<!{_LETTER}[-'’]){option}(?!{_LETTER})(?![-'’]{_LETTER})" for option in options
    )
    return rf"(?is)\A(?!(?=.*?{affirming}).*?{declining}).*?({affirming}|{declining})"


def _contact_hypothesis() -> Iterator[dict[str, Any]]:
    for scale, (affirming, declining) in OPTIONS.items():
        asked = QUESTION.text.format(first=affirming, second=declining, question="{prompt}")
        for contact in CONTACTS:
            yield {
                "id": task_id(scale, contact),
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


def _contact_controls() -> Iterator[dict[str, Any]]:
    """Items have various options, so these are told as a list, and the answer must be one of them and nothing else."""
    asked = "{statement} {prompt}\nAnswer with one of these, and nothing else: {options}"
    yield {
        "id": TASK,
        "config": "controls",
        "split": "test",
        "field_spec": {"input": "question", "target": "ideal", "metadata": ["id", "kind", "statement", "options"]},
        "solvers": [{"name": "prompt_template", "args": {"template": asked}}, {"name": "generate"}],
        "scorers": [{"name": "exact"}],
    }


BENCHMARKS = {
    "contact_hypothesis": (
        "Social bias under intergroup contact: the share of unbiased answers to questions about contact with 600 "
        "descriptors of people, without contact, after positive and after negative contact. A model without bias has "
        "1; random and constant answers have 0.5.",
        _contact_hypothesis,
    ),
    "contact_controls": (
        "Controls of contact_hypothesis: the share of right answers to questions in which what is right and how kind "
        "the action sounds agree or differ. Random and constant answers have 0.5 where both answers are read.",
        _contact_controls,
    ),
}
"""{dataset: (description, its tasks)}"""
