"""Assignments whose format is forced: a JSON object by a schema, one of the characters' names for each task."""

from __future__ import annotations

import json
from collections.abc import Sequence

from evenhand.benchmarks.forced_format import schema_of
from evenhand.benchmarks.implicit_bias.interaction import Agent, Generated, Statement
from evenhand.benchmarks.implicit_bias.prompts import JSON_ANSWER
from evenhand.benchmarks.implicit_bias.scenario import Scenario
from evenhand.models.request import Reply


class Constrained(Generated):
    """The model writes by the scenario's schema; what keeps to it is read, and nothing else is."""

    def schema(self, scenario: Scenario) -> str:
        return schema_of(dict.fromkeys(_tasks(scenario), scenario.names))

    def answer_format(self, scenario: Scenario) -> str:
        shown = json.dumps(dict.fromkeys(_tasks(scenario), "<person>"))
        return JSON_ANSWER.text.format(shown=shown)

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        people = read_json_assignment(reply.text, _tasks(scenario), scenario.names)
        return Statement(agent, stage, reply.text, reply.finish_reason, people)


def read_json_assignment(text: str, tasks: Sequence[str], people: Sequence[str]) -> tuple[str | None, ...]:
    """Of an object that names one of `people`, spelled as there, for each of `tasks` and for nothing else.

    None for all tasks where the text is anything else; any text is accepted.
    """
    unread = (None,) * len(tasks)
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return unread
    if not isinstance(pairs, _Pairs) or sorted(name for name, _ in pairs) != sorted(tasks):  # each once
        return unread
    named = dict(pairs)
    if not all(isinstance(who, str) and who in people for who in named.values()):
        return unread
    return tuple(str(named[task]) for task in tasks)


class _Pairs(list[tuple[str, object]]):
    """An object's names and values; a list is no object, and a name that came twice is seen."""


def _tasks(scenario: Scenario) -> list[str]:
    return [f"Task {number}" for number in range(1, len(scenario.tasks) + 1)]
