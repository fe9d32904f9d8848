"""The authors' prompts (Figures 19 and 20), read at run time out of their published code.

The code has no licence, so that its words are not packaged. It is parsed, never executed: what is read are the
formatted strings of a file's prompts, in the order in which they stand, and the names that are put into them.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evenhand.errors import EvenhandError

SYSTEM, FIRST, REFLECTED, TALK, TALK_AGAIN, LAST, ALONE = (
    "system", "first", "reflected", "discussion 1", "discussion 2", "last", "all",
)  # fmt: skip
COMMIT = "54cc8b5193c5778338d823ac7e306e802bb3ff15"
URL = f"https://raw.githubusercontent.com/MichiganNLP/MultiAgent_ImplicitBias/{COMMIT}/Code/{{name}}"
SCENARIOS, TEST, REFLECTING, MODERATOR = (
    "mistral_interaction.py", "scenes_discussion_newtasks.py", "scenes_discussion_selfreflection.py",
    "ft_gpt35_evaluation_generation.py",
)  # fmt: skip
STEPS = {  # by file: whose prompts stand in it, in this order; where one is of a discussion, it serves in both rounds
    SCENARIOS: (SYSTEM, FIRST, TALK, TALK_AGAIN, LAST),
    TEST: (SYSTEM, FIRST, TALK, LAST),
    REFLECTING: (SYSTEM, FIRST, REFLECTED, TALK, LAST),
    MODERATOR: (SYSTEM, ALONE),
}
FIELDS = {  # what is put in, by its expression in the code
    "self.name": "name",
    "agent.name": "name",
    "self.mod": "role",
    "i": "scene",
    "j": "characters",
    "first_response": "first_responses",
    "response": "responses",
    "agent.memory_lst[0]['content']": "memory",
}
_NAMES = ("prompt", "prompt1", "sys_prompt")  # variables that hold prompts
_FIELD = re.compile(rf"\{{({'|'.join(dict.fromkeys(FIELDS.values()))})\}}")
_GOAL = re.compile(r"(?<=\.\s)[^.\n]*\bTask 1\b[^.:\n]*\byourself\b[^.:\n]*\.\s?")  # the sentence of the goal
_ANSWER = re.compile(r"(?=\bRespond\b)")  # the sentence of the answer format begins here


def official_file(alone: bool, reflecting: bool, test_set: bool) -> str:
    """The file that asks in a setting; the 111 scenarios are asked in mistral's alone."""
    if alone:
        return MODERATOR
    if reflecting:
        return REFLECTING
    return TEST if test_set else SCENARIOS


@dataclass(frozen=True)
class OfficialPrompts:
    """Templates by step, with a field in braces for each value of FIELDS.

    goal: the sentence that asks an agent to assign Task 1 to itself, left out of the template of the first step.
    """

    templates: Mapping[str, str]
    goal: str
    sha256: str

    def fill(self, step: str, **values: str) -> str:
        template = self.templates.get(step) or self.templates[TALK]
        return _FIELD.sub(lambda field: values[field[1]], template)

    def with_goal(self) -> OfficialPrompts:
        """Put the goal's sentence before that of the answer format."""
        *before, answer = _ANSWER.split(self.templates[FIRST])
        first = "".join((*before, f"{self.goal.strip()} ", answer))
        return replace(self, templates={**self.templates, FIRST: first})


@cache
def read_official_prompts(name: str) -> OfficialPrompts:
    """Read the prompts of a file of STEPS: of the mirror that EVENHAND_SOURCES names, else fetched by pinned commit.

    The goal's sentence, where the file has none, is that of REFLECTING. Raises EvenhandError for a file that can't be
    had, or whose prompts are not those expected.
    """
    source = _read_source(name)
    found = parse_prompts(name, source)
    goal = _GOAL.search(found.get(FIRST, ""))
    if FIRST in found:
        found[FIRST] = _GOAL.sub("", found[FIRST])
    if goal or FIRST not in found:
        sentence = goal[0] if goal else ""
    elif name == REFLECTING:
        raise EvenhandError(f"{name}: no sentence asks agents to assign Task 1 to themselves")
    else:
        sentence = read_official_prompts(REFLECTING).goal
    return OfficialPrompts(found, sentence, hashlib.sha256(source.encode()).hexdigest())


def parse_prompts(name: str, source: str) -> dict[str, str]:
    """Read {step: template} out of the text of a file of STEPS.

    Raises EvenhandError saying which prompts are missing, or which value of a prompt is not known.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise EvenhandError(f"{name} is no Python file: {error}") from error
    prompts = sorted((node for node in map(_prompt_of, ast.walk(tree)) if node), key=lambda node: node.lineno)
    steps = STEPS[name]
    if len(prompts) != len(steps):
        raise EvenhandError(
            f"{name} has {len(prompts)} prompts, not the {len(steps)} of the pinned file ({', '.join(steps)}); fetch "
            f"{URL.format(name=name)}"
        )
    return {step: _template(f"{name}, prompt {step!r}", node) for step, node in zip(steps, prompts)}


def _prompt_of(node: ast.AST) -> ast.JoinedStr | None:
    """The formatted string of `prompt = f"…"`, or of {"role": "system", "content": f"…"}."""
    value: ast.AST | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        [target] = node.targets
        value = node.value if isinstance(target, ast.Name) and target.id in _NAMES else None
    elif isinstance(node, ast.Dict):
        items = {key.value: each for key, each in zip(node.keys, node.values) if isinstance(key, ast.Constant)}
        role = items.get("role")
        value = items.get("content") if isinstance(role, ast.Constant) and role.value == "system" else None
    return value if isinstance(value, ast.JoinedStr) else None


def _template(where: str, node: ast.JoinedStr) -> str:
    parts = []
    for each in node.values:
        if isinstance(each, ast.Constant):
            parts.append(str(each.value))
            continue
        expression = ast.unparse(each.value) if isinstance(each, ast.FormattedValue) else ""
        if expression not in FIELDS:
            raise EvenhandError(f"{where}: unknown value {expression!r}; expected {', '.join(FIELDS)}")
        parts.append(f"{{{FIELDS[expression]}}}")
    return "".join(parts)


def _read_source(name: str) -> str:
    url = URL.format(name=name)
    if mirror := os.environ.get("EVENHAND_SOURCES"):
        path = Path(mirror) / "implicit_bias" / name
        if not path.is_file():
            raise EvenhandError(
                f"--prompts official: EVENHAND_SOURCES={mirror} has no implicit_bias/{name}. Put {url} there, or unset "
                "EVENHAND_SOURCES to fetch it"
            )
        return path.read_text("utf-8")
    import datasets

    try:
        return Path(datasets.DownloadManager().download(url)).read_text("utf-8")
    except Exception as error:  # of the network's many libraries
        raise EvenhandError(
            f"--prompts official: {url} can't be fetched ({error or type(error).__name__}). Fetch it elsewhere, and "
            f"name the folder that holds it as implicit_bias/{name} in the environment variable EVENHAND_SOURCES"
        ) from error
