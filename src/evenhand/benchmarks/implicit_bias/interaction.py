"""Agents assign tasks, discuss in two rounds, and assign them again (Borah & Mihalcea, section 5)."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from evenhand.benchmarks.implicit_bias.prompts import (
    ASSIGN,
    CONSENSUS,
    CONVINCE,
    GOAL,
    LAST,
    MODERATOR,
    PERSONA,
    RESPONSES,
)
from evenhand.benchmarks.implicit_bias.reflection import (
    ANSWER_ALL,
    ANSWER_CRITIQUE,
    AVOID,
    CRITIQUE,
    REASSIGN,
    Claim,
    Reflection,
    read_claim,
)
from evenhand.benchmarks.implicit_bias.scenario import (
    SCORES,
    Character,
    GoalTask,
    Scenario,
    TaskHolders,
    even_assignments,
)
from evenhand.flow.episode import derive_seed
from evenhand.models.request import Message, Reply, Request, Sampling

FIRST, REFLECTED, LAST_STAGE, ALONE = "first", "reflected", "last", "all"
ASSIGNMENTS = (FIRST, REFLECTED, LAST_STAGE, ALONE)  # the stages in which tasks are assigned
RECENT = 256  # scenarios whose assignments are kept: all agents of one rank the same ones, at first and at last
DISCUSSION = {"discussion 1": CONVINCE, "discussion 2": CONSENSUS}


@dataclass(frozen=True)
class Agent:
    """A character, played by one of the run's models. Without a character: a model that is just asked.

    seat: its place in the order of speaking, from 1; 0 without a character.
    """

    character: Character | None
    model: str
    seat: int = 0

    @property
    def name(self) -> str:
        return self.character.name if self.character else ""


@dataclass(frozen=True)
class Statement:
    """What an agent said, in which stage. people: the character of each task, None where it says none.

    expected: the score in expectation over the model's distribution of assignments; probability: of the one it gave.
    claim: what it says of its own assignment before, where it was asked to reflect.
    """

    agent: Agent
    stage: str
    text: str
    finish_reason: str
    people: tuple[str | None, ...] | None = None
    expected: float | None = None
    probability: float | None = None
    claim: Claim | None = None


Talk = Generator[Sequence[Request], Sequence[Reply], list[Statement]]
"""Yields requests, receives their replies, and returns what was said."""


class Answering(Protocol):
    """How an assignment is got from a model."""

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        """What is scored; empty where the model writes."""
        ...

    def schema(self, scenario: Scenario) -> str | None:
        """The JSON schema that what is written is forced to; None where it is free, or where nothing is written."""
        return None

    def answer_format(self, scenario: Scenario) -> str:
        """As agents are told to answer."""
        return scenario.answer_format

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement: ...


class Generated(Answering):
    """The paper's protocol: the model writes, and the assignment is read out of its text."""

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        return ()

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment

        people = read_assignment(reply.text, scenario.tasks, scenario.names, speaker=agent.name or None)
        return Statement(agent, stage, reply.text, reply.finish_reason, people)


class Ranked(Answering):
    """Every assignment in the answer format is scored; the likeliest counts.

    Nothing is unread but ties, and what has no probabilities (NaN, or -inf throughout).
    """

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        return tuple(scenario.answer(holders) for holders in _assignments(scenario))

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        assignments = _assignments(scenario)
        probabilities = choice_probabilities(reply)
        unread: tuple[None, ...] = (None,) * len(scenario.tasks)
        if probabilities is None:
            return Statement(agent, stage, "", reply.finish_reason, unread)
        expected = None
        if scenario.scored:
            expected = math.fsum(probability * score for probability, score in zip(probabilities, _scores(scenario)))
        likeliest = likeliest_choice(probabilities)
        if likeliest is None:
            return Statement(agent, stage, "", reply.finish_reason, unread, expected, None)
        holders, probability = assignments[likeliest], probabilities[likeliest]
        people = tuple(holder.name for holder in holders)
        return Statement(agent, stage, scenario.answer(holders), reply.finish_reason, people, expected, probability)


@dataclass(frozen=True)
class Meeting:
    """Of a scenario's characters: what is asked of them, and how. goal: each is told in private to want a task.

    goal_task: which. moderator: whether who plays nobody is told to be one.
    """

    scenario: Scenario
    answering: Answering
    sampling: Sampling
    seed: int
    name: str
    goal: bool = False
    reflection: Reflection | None = None
    goal_task: GoalTask = "first"
    moderator: bool = False

    def ask(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement] = ()) -> list[Request]:
        """For each agent's assignment; none sees another's of this stage."""
        prompt = (LAST if heard else ASSIGN).text.format(answer_format=self.answering.answer_format(self.scenario))
        if self.goal and stage == FIRST:
            prompt += f" {GOAL.text.format(number=self.scenario.wanted(self.goal_task))}"
        if self.reflection and stage == ALONE:
            prompt = f"{self.reflection.instruction}\n\n{AVOID.text}\n\n{prompt}"
        return [self._assigning(agent, stage, prompt, heard) for agent in agents]

    def read(self, agents: Sequence[Agent], stage: str, replies: Sequence[Reply]) -> list[Statement]:
        """Of what `ask` asked."""
        return [self.answering.read(self.scenario, agent, stage, reply) for agent, reply in zip(agents, replies)]

    def assign(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement] = ()) -> Talk:
        replies = yield self.ask(agents, stage, heard)
        return self.read(agents, stage, replies)

    def reflect(self, firsts: Sequence[Statement], reflection: Reflection) -> Talk:
        """Each agent's critique of its own first assignment, and its new one; none sees another's.

        A new assignment that is ranked, or forced to a schema, is asked for by itself, after the critique.
        """
        agents = [first.agent for first in firsts]
        own = [f"{reflection.instruction}\n\n{CRITIQUE.text.format(previous=first.text)}" for first in firsts]
        apart = bool(self.answering.choices(self.scenario) or self.answering.schema(self.scenario))
        format_ = self.answering.answer_format(self.scenario)
        answer = ANSWER_CRITIQUE.text if apart else ANSWER_ALL.text.format(answer_format=format_)
        prompts = [before + answer for before in own]
        critiques = yield [self._request(agent, REFLECTED, prompt) for agent, prompt in zip(agents, prompts)]
        claims = [read_claim(critique.text) for critique in critiques]
        if not apart:
            read = self.read(agents, REFLECTED, critiques)
            return [replace(each, claim=claim) for each, claim in zip(read, claims)]
        again = [
            before + REASSIGN.text.format(critique=critique.text.strip(), answer_format=format_)
            for before, critique in zip(own, critiques)
        ]
        replies = yield [self._assigning(agent, REFLECTED, prompt) for agent, prompt in zip(agents, again)]
        return [
            replace(
                each,
                claim=claim,
                text=f"{critique.text.strip()}\nNew assignment: {each.text}",
                finish_reason=critique.finish_reason if critique.failed else each.finish_reason,
            )
            for each, claim, critique in zip(self.read(agents, REFLECTED, replies), claims, critiques)
        ]

    def discuss(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement]) -> Talk:
        """Each agent speaks in turn, and hears those before it."""
        said: list[Statement] = []
        for agent in agents:
            [reply] = yield [self._request(agent, stage, DISCUSSION[stage].text, [*heard, *said])]
            said.append(Statement(agent, stage, reply.text, reply.finish_reason))
        return said

    def _assigning(self, agent: Agent, stage: str, prompt: str, heard: Sequence[Statement] = ()) -> Request:
        """By which an assignment is given: ranked, forced to a schema, or free."""
        choices, schema = self.answering.choices(self.scenario), self.answering.schema(self.scenario)
        return replace(self._request(agent, stage, prompt, heard), choices=choices, schema=schema)

    def _request(
        self,
        agent: Agent,
        stage: str,
        prompt: str,
        heard: Sequence[Statement] = (),
    ) -> Request:
        parts = [self.scenario.prompt]
        if heard:
            memory = "\n\n".join(f"{statement.agent.name}: {statement.text.strip()}" for statement in heard)
            parts.append(RESPONSES.text.format(memory=memory))
        question = Message("user", "\n\n".join([*parts, prompt]))
        if agent.character:
            persona = PERSONA.text.format(name=agent.name, gender=agent.character.gender)
        else:
            persona = MODERATOR.text if self.moderator else ""
        return Request(
            messages=(Message("system", persona), question) if persona else (question,),
            sampling=self.sampling,
            seed=derive_seed(self.seed, self.name, agent=f"{stage}/{agent.name}"),
            agent=agent.model,
            name=f"{self.name}/{stage}/{agent.name}".rstrip("/"),
        )


def interact(meeting: Meeting, agents: Sequence[Agent]) -> Talk:
    """The whole conversation, in the order in which it was held."""
    said = yield from meeting.assign(agents, FIRST)  # nobody sees another's first assignment before making its own
    if meeting.reflection:
        said += yield from meeting.reflect(said, meeting.reflection)
    for stage in DISCUSSION:
        said += yield from meeting.discuss(agents, stage, said)
    last = yield from meeting.assign(agents, LAST_STAGE, said)
    return [*said, *last]


def _assignments(scenario: Scenario) -> tuple[TaskHolders, ...]:
    return _even(len(scenario.tasks), scenario.characters)


@lru_cache(maxsize=RECENT)
def _even(n_tasks: int, characters: tuple[Character, ...]) -> tuple[TaskHolders, ...]:
    return tuple(even_assignments(n_tasks, characters))


@lru_cache(maxsize=RECENT)
def _scores(scenario: Scenario) -> tuple[float, ...]:
    """Of each of its assignments, in their order."""
    return tuple(
        SCORES[str(scenario.outcome([holder.name for holder in holders]))] for holders in _assignments(scenario)
    )


def choice_probabilities(reply: Reply) -> list[float] | None:
    """Of each choice, that it is the one of them that is written: its tokens' log-probabilities are summed.

    What all choices begin with cancels, and a name of several tokens is as likely as all of them together are: a mean a
    token would level the choices, the more the longer they are. None where one is not known, or none is possible.
    """
    log_probs = [sum(tokens) for tokens in reply.choice_log_probs]
    if any(map(math.isnan, log_probs)) or (highest := max(log_probs)) == -math.inf:
        return None
    weights = [math.exp(each - highest) for each in log_probs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def likeliest_choice(probabilities: Sequence[float]) -> int | None:
    """Its place; None where several are."""
    highest = max(probabilities)
    return probabilities.index(highest) if probabilities.count(highest) == 1 else None
