"""Four students assign tasks, find who is responsible for a missed deadline, or choose a team leader (Borah & Mihalcea,
appendix C): each answers, all discuss in two rounds, each answers again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.benchmark import Row
from evenhand.benchmarks.implicit_bias.case_study.prompts import (
    DISCUSS,
    GOAL,
    LABELS,
    MISSED_DEADLINE,
    PERSONA,
    REASON,
    TASK_ASSIGNMENT,
    TEAM_LEAD,
)
from evenhand.benchmarks.implicit_bias.case_study.reader import read_named, read_reason, read_reasons
from evenhand.benchmarks.implicit_bias.interaction import (
    FIRST,
    Agent,
    Answering,
    Generated,
    Meeting,
    Ranked,
    Statement,
    Talk,
    choice_probabilities,
    likeliest_choice,
)
from evenhand.benchmarks.implicit_bias.prompts import RESPONSES
from evenhand.benchmarks.implicit_bias.scenario import Character, Scenario, TaskHolders
from evenhand.flow.episode import derive_seed
from evenhand.models.request import Message, Reply, Request


@dataclass(frozen=True)
class Case(Scenario):
    """A row of `case_study`. text: its question, in the paper's words, which names characters and tasks itself."""

    kind: str = TASK_ASSIGNMENT

    @classmethod
    def of(cls, row: Row) -> Case:
        characters = tuple(Character(*each) for each in zip(row["characters"], row["genders"]))
        return cls(
            row["id"], row["prompt"], tuple(row["tasks"]), tuple(row["task_stereotypes"]), characters, row["case"]
        )

    @property
    def prompt(self) -> str:
        return self.text

    def answer(self, holders: TaskHolders) -> str:
        """An assignment in the question's format, without its reasons."""
        return "\n".join(f"{task}: {holder.name}" for task, holder in zip(self.tasks, holders))


@dataclass(frozen=True)
class Answer(Statement):
    """people: of each task, or the one person who is named. reasons: why, parallel to them; None where none was read.

    expected: with one person, the probability that it is a man.
    """

    reasons: tuple[str | None, ...] = ()


class AssignedInText(Generated):
    """The model writes who gets which task, and why."""

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        said = super().read(scenario, agent, stage, reply)
        reasons = read_reasons(reply.text, scenario.tasks, said.people or ())
        return Answer(agent, stage, said.text, said.finish_reason, said.people, reasons=reasons)


@dataclass(frozen=True)
class NamedInText(Answering):
    """The model writes a name behind the label, and the reason."""

    label: str

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        return ()

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        named = read_named(reply.text, self.label, scenario.names)
        return Answer(agent, stage, reply.text, reply.finish_reason, (named.person,), reasons=(named.reason,))


@dataclass(frozen=True)
class NamedByRank(Answering):
    """Each character's name behind the label is scored; the likeliest counts. No name of a set begins another."""

    label: str

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        return tuple(f"{self.label}: {name}" for name in scenario.names)

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        probabilities = choice_probabilities(reply)
        if probabilities is None:
            return Answer(agent, stage, "", reply.finish_reason, (None,), reasons=(None,))
        of_men = [each for each, character in zip(probabilities, scenario.characters) if character.gender == "male"]
        expected = math.fsum(of_men)
        likeliest = likeliest_choice(probabilities)
        if likeliest is None:
            return Answer(agent, stage, "", reply.finish_reason, (None,), expected, reasons=(None,))
        text, people = self.choices(scenario)[likeliest], (scenario.names[likeliest],)
        probability = probabilities[likeliest]
        return Answer(agent, stage, text, reply.finish_reason, people, expected, probability, reasons=(None,))


ANSWERING: dict[str, dict[str, Answering]] = {
    "generate": {
        TASK_ASSIGNMENT: AssignedInText(),
        MISSED_DEADLINE: NamedInText(LABELS[MISSED_DEADLINE]),
        TEAM_LEAD: NamedInText(LABELS[TEAM_LEAD]),
    },
    "rank": {
        TASK_ASSIGNMENT: Ranked(),  # without reasons
        MISSED_DEADLINE: NamedByRank(LABELS[MISSED_DEADLINE]),
        TEAM_LEAD: NamedByRank(LABELS[TEAM_LEAD]),
    },
}
"""{protocol: {case: how its answer is got}}."""


@dataclass(frozen=True)
class CaseMeeting(Meeting):
    """A meeting that goes by appendix C's prompts. goal: told in the task assignment alone."""

    scenario: Case

    def ask(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement] = ()) -> list[Request]:
        """The question to each agent, at first and at last; none sees another's answer of this stage."""
        question, choices = self._question(stage, heard), self.answering.choices(self.scenario)
        return [self._asked(agent, stage, question, choices=choices) for agent in agents]

    def assign(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement] = ()) -> Talk:
        """Each agent's answer, with its reason where the name was ranked."""
        said = yield from super().assign(agents, stage, heard)
        if isinstance(self.answering, NamedByRank):
            return (yield from self._with_reasons(said, self._question(stage, heard)))
        return said

    def _question(self, stage: str, heard: Sequence[Statement]) -> Message:
        parts = [_memory(heard)] if heard else []
        parts.append(self.scenario.prompt)
        if self.goal and stage == FIRST and self.scenario.tasks:
            parts.append(GOAL.text.format(task=self.scenario.tasks[self.scenario.wanted(self.goal_task) - 1]))
        return Message("user", "\n\n".join(parts))

    def discuss(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement]) -> Talk:
        """Each agent speaks in turn and hears those before it; its chat begins with the question and its own answer."""
        said: list[Statement] = []
        own = {each.agent: each.text.strip() for each in heard if each.stage == FIRST}
        for agent in agents:
            words = f"{_memory([*heard, *said])}\n\n{DISCUSS[self.scenario.kind].text}"
            chat = Message("user", self.scenario.prompt), Message("assistant", own[agent]), Message("user", words)
            [reply] = yield [self._asked(agent, stage, *chat)]
            said.append(Answer(agent, stage, reply.text, reply.finish_reason))
        return said

    def _with_reasons(self, named: Sequence[Statement], question: Message) -> Talk:
        """Ranked names, and the reasons that agents then write; where nobody was named there is none to ask for."""
        known = [each for each in named if each.people != (None,)]
        if not known:
            return list(named)
        why = Message("user", REASON.text)
        replies = yield [
            self._asked(each.agent, f"{each.stage}, reason", question, Message("assistant", each.text), why)
            for each in known
        ]
        reply_of = {each.agent: reply for each, reply in zip(known, replies)}
        return [_reasoned(each, reply_of[each.agent]) if each.agent in reply_of else each for each in named]

    def _asked(self, agent: Agent, step: str, *chat: Message, choices: tuple[str, ...] = ()) -> Request:
        gender = agent.character.gender if agent.character else ""
        return Request(
            messages=(Message("system", PERSONA.text.format(name=agent.name, gender=gender)), *chat),
            choices=choices,
            sampling=self.sampling,
            seed=derive_seed(self.seed, self.name, agent=f"{step}/{agent.name}"),
            agent=agent.model,
            name=f"{self.name}/{step}/{agent.name}",
        )


def _memory(heard: Sequence[Statement]) -> str:
    return RESPONSES.text.format(memory="\n\n".join(f"{each.agent.name}: {each.text.strip()}" for each in heard))


def _reasoned(named: Statement, reply: Reply) -> Statement:
    reason = read_reason(reply.text)
    text = f"{named.text}, Reason: {reason}" if reason else named.text
    return replace(named, text=text, finish_reason=reply.finish_reason, reasons=(reason,))  # type: ignore[call-arg]
