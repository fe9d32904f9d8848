"""Agents assign tasks, discuss in two rounds, and assign them again (Borah & Mihalcea, section 5)."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from evenhand.benchmarks.forced_format import schema_of
from evenhand.benchmarks.implicit_bias import prompts
from evenhand.benchmarks.implicit_bias.scenario import Character, GoalTask, Scenario, wanted_task
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import Claim, read_claim
from evenhand.flow.episode import derive_seed
from evenhand.models.request import Message, Reply, Request, Sampling

FIRST, REFLECTED, LAST_STAGE, ALONE = "first", "reflected", "last", "all"
ASSIGNMENTS = (FIRST, REFLECTED, LAST_STAGE, ALONE)  # the stages in which tasks are assigned
DISCUSSION = {"discussion 1": prompts.CONVINCE, "discussion 2": prompts.CONSENSUS}


@dataclass(frozen=True)
class Agent:
    """A character, played by one of the run's models. Without a character: a model that plays no role.

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
    """What an agent said in a stage.

    Attributes:
        people: the character of each task, or the one who is named ("" or None: unread); None in discussions.
        expected: the score in expectation over the model's distribution of answers; probability: of the one it gave.
        claim: what it says of its own previous assignment, if it was asked to reflect.
        reasons: parallel to people, in the case study.
    """

    agent: Agent
    stage: str
    text: str
    finish_reason: str
    people: tuple[str | None, ...] | None = None
    expected: float | None = None
    probability: float | None = None
    claim: Claim | None = None
    reasons: tuple[str | None, ...] = ()

    @property
    def names(self) -> list[str] | None:
        """The names in an answer, "" if unread; None in discussions."""
        return None if self.people is None else [name or "" for name in self.people]


Talk = Generator[Sequence[Request], Sequence[Reply], list[Statement]]
"""Yields requests, receives their replies, and returns what was said."""


class Written:
    """The paper's protocol: the model writes, and its answer is read from the text."""

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        """The answers that are scored; none if the model writes."""
        return ()

    def schema(self, scenario: Scenario) -> str | None:
        """The JSON schema that constrains what is written, if any."""
        return None

    def answer_format(self, scenario: Scenario) -> str:
        return scenario.answer_format

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        people, reasons = scenario.read(reply.text, agent.name)
        return Statement(agent, stage, reply.text, reply.finish_reason, people, reasons=reasons)


class Ranked(Written):
    """Every possible answer is scored; the likeliest counts.

    Unread are only ties, and answers without probabilities (NaN, or -inf throughout).
    """

    def choices(self, scenario: Scenario) -> tuple[str, ...]:
        return tuple(map(scenario.answer, scenario.possible_answers()))

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        answers = [tuple(holder.name for holder in holders) for holders in scenario.possible_answers()]
        unread = Statement(agent, stage, "", reply.finish_reason, (None,) * len(answers[0]))
        if (probabilities := choice_probabilities(reply)) is None:
            return unread
        scores = [scenario.score(str(scenario.outcome(people))) for people in answers]
        unread = replace(unread, expected=math.fsum(p * score for p, score in zip(probabilities, scores)))
        highest = max(probabilities)
        if probabilities.count(highest) > 1:
            return unread
        likeliest = probabilities.index(highest)
        text = scenario.answer(scenario.possible_answers()[likeliest])
        return replace(unread, text=text, people=answers[likeliest], probability=highest)


class Constrained(Written):
    """The model writes JSON by the scenario's schema; only what keeps to it is read."""

    def schema(self, scenario: Scenario) -> str:
        return schema_of(dict.fromkeys(_numbered(scenario), scenario.names))

    def answer_format(self, scenario: Scenario) -> str:
        return prompts.JSON_ANSWER.text.format(shown=json.dumps(dict.fromkeys(_numbered(scenario), "<person>")))

    def read(self, scenario: Scenario, agent: Agent, stage: str, reply: Reply) -> Statement:
        people = read_json_assignment(reply.text, _numbered(scenario), scenario.names)
        return Statement(agent, stage, reply.text, reply.finish_reason, people)


def _numbered(scenario: Scenario) -> list[str]:
    return [f"Task {number}" for number in range(1, len(scenario.tasks) + 1)]


def read_json_assignment(text: str, tasks: Sequence[str], people: Sequence[str]) -> tuple[str | None, ...]:
    """Read a JSON object that names one of `people` for each of `tasks` exactly once, and nothing else.

    None for all tasks if the text is anything else; takes any text.
    """
    try:
        pairs = json.loads(text, object_pairs_hook=tuple)  # pairs, so that a name given twice is seen; lists stay lists
    except (ValueError, RecursionError):
        pairs = ()
    if not isinstance(pairs, tuple) or sorted(name for name, _ in pairs) != sorted(tasks):
        return (None,) * len(tasks)
    named = dict(pairs)
    given = tuple(named[task] for task in tasks)
    return given if all(isinstance(who, str) and who in people for who in given) else (None,) * len(tasks)


ANSWERING = {"generate": Written(), "rank": Ranked()}


@dataclass(frozen=True)
class Meeting:
    """The conversation about one scenario: what agents are asked, and how.

    Attributes:
        goal: each agent is asked in private to want a task; goal_task: which.
        reflection: the instruction by which agents reflect on their first assignments, if they do.
        moderator: whether an agent without a character gets the message that it is a moderator.
    """

    scenario: Scenario
    answering: Written
    sampling: Sampling
    seed: int
    name: str
    goal: bool = False
    reflection: str = ""
    goal_task: GoalTask = "first"
    moderator: bool = False

    def ask(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement] = ()) -> list[Request]:
        """Ask each agent for its answer; no agent sees another's of this stage."""
        return [self._ask_to_assign(agent, stage, self.question(agent, stage, heard)) for agent in agents]

    def read(self, agents: Sequence[Agent], stage: str, replies: Sequence[Reply]) -> list[Statement]:
        """Read the replies to what `ask` asked."""
        return [self.answering.read(self.scenario, agent, stage, reply) for agent, reply in zip(agents, replies)]

    def assign(self, agents: Sequence[Agent], stage: str, heard: Sequence[Statement] = ()) -> Talk:
        replies = yield self.ask(agents, stage, heard)
        return self.read(agents, stage, replies)

    def question(self, agent: Agent, stage: str, heard: Sequence[Statement]) -> str:
        format_ = self.answering.answer_format(self.scenario)
        prompt = (prompts.LAST if heard else prompts.ASSIGN).text.format(answer_format=format_)
        if self.goal and stage == FIRST:
            number = wanted_task(self.scenario.task_stereotypes, self.goal_task)
            prompt = f"{prompts.GOAL.text.format(number=number)} {prompt}"
        if self.reflection and stage == ALONE:
            prompt = f"{self.reflection}\n\n{prompts.AVOID.text}\n\n{prompt}"
        return self._matter(prompt, heard)

    def reflect(self, firsts: Sequence[Statement]) -> Talk:
        """Ask each agent for a critique of its own first assignment, and for a new one; no agent sees another's.

        Everyone's first responses are before them, as in the published code. A new assignment that is ranked, or
        constrained by a schema, is asked for separately, after the critique.
        """
        agents = [first.agent for first in firsts]
        own = [f"{self.reflection}\n\n{prompts.CRITIQUE.text.format(previous=first.text)}" for first in firsts]
        separately = bool(self.answering.choices(self.scenario) or self.answering.schema(self.scenario))
        format_ = self.answering.answer_format(self.scenario)
        answer = prompts.ANSWER_CRITIQUE.text if separately else prompts.ANSWER_ALL.text.format(answer_format=format_)
        critiques = yield [
            self.request(agent, REFLECTED, Message("user", self._matter(before + answer, firsts)))
            for agent, before in zip(agents, own)
        ]
        claims = [read_claim(critique.text) for critique in critiques]
        if not separately:
            read = self.read(agents, REFLECTED, critiques)
            return [replace(each, claim=claim) for each, claim in zip(read, claims)]
        again = [
            before + prompts.REASSIGN.text.format(critique=critique.text.strip(), answer_format=format_)
            for before, critique in zip(own, critiques)
        ]
        replies = yield [
            self._ask_to_assign(agent, REFLECTED, self._matter(prompt, firsts)) for agent, prompt in zip(agents, again)
        ]
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
        """Let each agent speak in turn, having heard those before it."""
        said: list[Statement] = []
        for agent in agents:
            [reply] = yield [self.request(agent, stage, *self.discussion(agent, stage, [*heard, *said]))]
            said.append(Statement(agent, stage, reply.text, reply.finish_reason))
        return said

    def discussion(self, agent: Agent, stage: str, heard: Sequence[Statement]) -> list[Message]:
        return [Message("user", self._matter(DISCUSSION[stage].text, heard))]

    def persona(self, agent: Agent) -> str:
        if agent.character:
            return prompts.PERSONA.text.format(name=agent.name, gender=agent.character.gender)
        return prompts.MODERATOR.text if self.moderator else ""

    def request(self, agent: Agent, step: str, *chat: Message) -> Request:
        persona = self.persona(agent)
        return Request(
            messages=(Message("system", persona), *chat) if persona else chat,
            sampling=self.sampling,
            seed=derive_seed(self.seed, self.name, agent=f"{step}/{agent.name}"),
            agent=agent.model,
            name=f"{self.name}/{step}/{agent.name}".rstrip("/"),
        )

    def _ask_to_assign(self, agent: Agent, stage: str, question: str) -> Request:
        choices, schema = self.answering.choices(self.scenario), self.answering.schema(self.scenario)
        return replace(self.request(agent, stage, Message("user", question)), choices=choices, schema=schema)

    def _matter(self, prompt: str, heard: Sequence[Statement] = ()) -> str:
        return "\n\n".join([self.scenario.prompt, *([memory(heard)] if heard else []), prompt])


def memory(heard: Sequence[Statement]) -> str:
    said = "\n\n".join(f"{each.agent.name}: {each.text.strip()}" for each in heard)
    return prompts.RESPONSES.text.format(memory=said)


def interact(meeting: Meeting, agents: Sequence[Agent]) -> Talk:
    """Hold the whole conversation; return all statements in order."""
    said = yield from meeting.assign(agents, FIRST)
    if meeting.reflection:
        said += yield from meeting.reflect(said)
    for stage in DISCUSSION:
        said += yield from meeting.discuss(agents, stage, said)
    last = yield from meeting.assign(agents, LAST_STAGE, said)
    return [*said, *last]


def choice_probabilities(reply: Reply) -> list[float] | None:
    """The probability of each choice over all choices, from the sums of its tokens' log-probabilities.

    What all choices begin with cancels, and a name of several tokens is as likely as all of them together; a mean per
    token would level the choices, the more the longer they are. None if one is unknown, or all are impossible.
    """
    log_probs = [sum(tokens) for tokens in reply.choice_log_probs]
    if any(map(math.isnan, log_probs)) or (highest := max(log_probs)) == -math.inf:
        return None
    weights = [math.exp(each - highest) for each in log_probs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
