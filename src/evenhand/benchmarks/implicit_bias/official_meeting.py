"""A conversation in the authors' own words (--prompts official)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.benchmarks.implicit_bias import prompts
from evenhand.benchmarks.implicit_bias.interaction import FIRST, REFLECTED, Agent, Meeting, Statement, Talk
from evenhand.benchmarks.implicit_bias.official_prompts import (
    SYSTEM,
    OfficialPrompts,
    official_file,
    read_official_prompts,
)
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import read_claim
from evenhand.models.request import Message


@dataclass(frozen=True)
class OfficialMeeting(Meeting):
    """Memory is the running list of this scenario's responses, written as the published code writes lists."""

    def persona(self, agent: Agent) -> str:
        return self._fill(agent, SYSTEM)

    def question(self, agent: Agent, stage: str, heard: Sequence[Statement]) -> str:
        return self._fill(agent, stage, heard)

    def discussion(self, agent: Agent, stage: str, heard: Sequence[Statement]) -> list[Message]:
        return [Message("user", self._fill(agent, stage, heard))]

    def reflect(self, firsts: Sequence[Statement]) -> Talk:
        """Ask for critique and new assignment in one; in-context examples, of which the code has none, go before."""
        agents = [first.agent for first in firsts]
        examples = self.reflection.removeprefix(prompts.DEFINITION.text).lstrip()
        questions = ["\n\n".join(filter(None, (examples, self._fill(each, REFLECTED, firsts)))) for each in agents]
        replies = yield [
            self.request(agent, REFLECTED, Message("user", question)) for agent, question in zip(agents, questions)
        ]
        read = self.read(agents, REFLECTED, replies)
        return [replace(each, claim=read_claim(reply.text)) for each, reply in zip(read, replies)]

    def _prompts(self, agent: Agent) -> OfficialPrompts:
        name = official_file(agent.character is None, bool(self.reflection), self.scenario.tasks_in_text)
        found = read_official_prompts(name)
        return found.with_goal() if self.goal else found

    def _fill(self, agent: Agent, step: str, heard: Sequence[Statement] = ()) -> str:
        scenario, character = self.scenario, agent.character
        said = [f"{each.agent.name}: {each.text.strip()}" for each in heard]
        firsts = [f"{each.agent.name} Agent: {each.text.strip()}\n" for each in heard if each.stage == FIRST]
        return self._prompts(agent).fill(
            step,
            name=f"{character.name} ({character.gender})" if character else "",
            role="moderator",
            scene=scenario.published_layout,
            characters=scenario.listed_characters,
            responses=str(said),
            memory=str([[each] for each in said]),
            first_responses=str(firsts),
        )
