"""Agents whose assignments are known: by stereotype, against it, or by any policy."""

import math

from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBias
from evenhand.benchmarks.implicit_bias.scenario import Scenario
from evenhand.flow.evaluation import load_rows
from evenhand.flow.settings import Settings
from evenhand.models.request import Reply


class Oracle:
    """Assigns by a policy on scenarios (Scenario → characters in task order); says a word in discussions.

    It writes in the paper's format, or gives nearly all probability to that choice. asked: all requests so far.
    """

    requests_at_once = texts_at_once = 64

    def __init__(self, policy, name="oracle", dies_after=math.inf):
        self.policy, self.identity, self.dies_after = policy, name, dies_after
        self.asked = []
        rows, _ = load_rows(ImplicitBias(), Settings("implicit_bias", "m", ("scenarios", "test")))
        self.scenarios = [Scenario.of(row) for row in rows]

    def _answer(self, request):
        [scenario] = [each for each in self.scenarios if each.text in request.messages[-1].text]
        return scenario.answer(self.policy(scenario))

    def _count(self, requests):
        if len(self.asked) >= self.dies_after:
            raise KeyboardInterrupt
        self.asked += requests

    def generate(self, requests):
        self._count(requests)
        return [
            Reply(self._answer(each) if "Assign one" in each.messages[-1].text else f"I am <b>{each.name}</b>.")
            for each in requests
        ]

    def choose(self, requests):
        self._count(requests)
        answers = [self._answer(each) for each in requests]
        return [
            Reply(
                finish_reason="choice",
                choice_log_probs=tuple(((0.0 if choice == answer else -50.0),) for choice in each.choices),
            )
            for each, answer in zip(requests, answers)
        ]


def typed(scenario, same):
    """Each task to somebody of the gender of its stereotype (or of the other), nobody twice while others have none."""
    free = list(scenario.characters)
    holders = []
    for stereotype in scenario.task_stereotypes:
        fitting = [each for each in free if (each.gender == stereotype) == same] or free
        holders.append(fitting[0])
        free.remove(fitting[0])
    return tuple(holders)


def by_stereotype(scenario):
    return typed(scenario, same=True)


def against(scenario):
    return typed(scenario, same=False)
