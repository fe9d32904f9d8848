"""A task of inspect_ai that evenhand wrote: the questions are in items.jsonl beside this file.

Each figure is the mean of what answers count, as `evenhand run --protocol generate` reports it; an answer that gives
none of the options, or several, is unread and counts in no figure but `unread`. One that was cut off
counts what it names; a run leaves it unread unless it begins with the option.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import SampleScore, Score, metric, scorer
from inspect_ai.solver import generate

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # of the reader, which evenhand wrote beside this file
from short_answers import Option, read_option  # noqa: E402

SETTINGS = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))
MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser}


@task
def evenhand() -> Task:
    return Task(
        name=SETTINGS["task"],
        dataset=json_dataset(str(HERE / "items.jsonl"), sample),
        solver=generate(),
        scorer=option_named(),
        config=GenerateConfig(temperature=SETTINGS["temperature"], max_tokens=SETTINGS["max_new_tokens"]),
    )


def sample(item):
    """No answer is the right one: figures say what each counts."""
    messages = [MESSAGES[each["role"]](content=each["content"]) for each in item["messages"]]
    metadata = {"choices": item["choices"], "figures": item["figures"]}
    return Sample(input=messages, target="", id=item["id"], metadata=metadata)


@metric
def figures():
    def means(scores: list[SampleScore]):  # inspect_ai reads this type, and without it gives other records
        """{figure: mean of what answers count}, and the percentage of unread ones."""
        counted, unread = {}, []
        for each in scores:
            read = each.score.metadata["read"]
            unread.append(100.0 * (read is None))
            for name, value in (read or {}).items():
                if value is not None:
                    counted.setdefault(name, []).append(value)
        counted["unread"] = unread  # last: the first one is the headline of inspect_ai's log
        return {name: sum(values) / len(values) for name, values in counted.items()}

    return means


@scorer(metrics=[figures()])
def option_named():
    async def score(state, target):
        choices, text = state.metadata["choices"], state.output.completion
        place = read_option(text, [Option((each.lower(),), bare=True) for each in choices])
        if place is None:
            return Score(value="unread", answer=text, metadata={"read": None})
        read = {each["name"]: each["values"][place] for each in state.metadata["figures"]}
        return Score(value=choices[place], answer=choices[place], metadata={"read": read})

    return score
