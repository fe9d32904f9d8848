"""eval.yaml: a dataset's tasks in the Hub's form of a benchmark, which inspect_ai runs from the dataset's repository.

The form: https://huggingface.co/docs/hub/eval-results, "Eval.yaml specification", and inspect_ai's `_eval/task/hf.py`
(0.3.285). It takes one framework of the Hub's own list, a prompt, a target and scorers that judge one answer at a time,
and more is better. The tasks are declared by the benchmark that asks the dataset's rows (`Publishing.hub_tasks`). A
dataset whose score is of another kind has no such file: the Hub would refuse it, and the commit that it comes in; its
card says why.
"""

from __future__ import annotations

from evenhand.benchmarks import BENCHMARKS, get_benchmark

FILE = "eval.yaml"
FRAMEWORK = "inspect-ai"


def eval_yaml(name: str) -> str | None:
    """The file's text, the same each time; None of a dataset that does not fit the form."""
    import yaml  # type: ignore[import-untyped]

    for benchmark in map(get_benchmark, BENCHMARKS.own):  # packaged data is no other package's
        if benchmark.card.dataset == name and (found := benchmark.publishing.hub_tasks()):
            described = {"name": name, "description": found.description, "evaluation_framework": FRAMEWORK}
            record = {**described, "tasks": list(found.tasks)}
            return str(yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=120))
    return None
