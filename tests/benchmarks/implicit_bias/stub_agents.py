"""Agents whose assignments are known: by stereotype, against it, or by any policy."""

import math
from functools import cache

from evenhand.benchmarks.implicit_bias.scenario import Scenario
from evenhand.library import load_dataset
from evenhand.models.protocol import replies
from evenhand.models.request import Reply
from evenhand.models.stub import StubModel


@cache
def every_scenario():
    """{its text: the scenario} of all packaged ones."""
    rows = [row for config in ("scenarios", "test") for row in load_dataset("implicit_bias", config, split="test")]
    return {row["scenario"]: Scenario.from_row(row) for row in rows}


class Oracle(StubModel):
    """Assigns by a policy on scenarios (Scenario → characters in task order); says a word in discussions.

    It writes in the paper's format, or gives nearly all probability to that choice. asked: all requests so far.
    """

    identity = None  # each has its own

    def __init__(self, policy, name="oracle", dies_after=math.inf):
        self.policy, self.identity, self.dies_after = policy, name, dies_after
        self.asked = []

    def at_once(self, kind):
        return 64

    def answer(self, requests, on_tokens=None):
        if len(self.asked) >= self.dies_after:
            raise KeyboardInterrupt
        self.asked += requests
        return super().answer(requests)

    def reply(self, request):
        if request.choices:
            answer = self.assigned(request)
            log_probs = tuple(((0.0 if choice == answer else -50.0),) for choice in request.choices)
            return Reply(finish_reason="choice", choice_log_probs=log_probs)
        return Reply(
            self.assigned(request) if "Assign one" in request.messages[-1].text else f"I am <b>{request.name}</b>."
        )

    def assigned(self, request):
        """In the answer format."""
        return self.scenario(request).answer(self.policy(self.scenario(request)))

    def scenario(self, request):
        """The one that is asked about: every prompt begins with its text."""
        return every_scenario()[request.messages[-1].text.partition("\n\nTasks:\n")[0]]


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


def played(episode, model):
    """An episode's predictions, its requests answered by the model."""
    answers = None
    while True:
        try:
            requests = next(episode) if answers is None else episode.send(answers)
        except StopIteration as end:
            return end.value
        answers = replies(model, requests)
