"""What engines did with the same choices: speeds beside the token bound, agreement, and the section of RESULTS.md."""

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from benching import Line, Rounds, here, short

from evenhand.flow.results import versions
from evenhand.report.markdown import markdown
from evenhand.report.tables import Cell, Table

OURS, NAIVE = "evenhand", "naive"
PROMPTS = {"paper": "the paper's system prompt", "short": "a short system prompt"}


@dataclass(frozen=True)
class Rival:
    """name: for a missing one. module, environments: what it needs, and where that may be installed besides here.

    shares: whether it reads what prompts share once, so that it is asked all of them.
    """

    name: str
    module: str = ""
    environments: tuple[str, ...] = ()
    shares: bool = False


RIVALS = {
    NAIVE: Rival("padded batches"),
    "lm_eval": Rival("lm_eval", "lm_eval", (".venv-bench", ".venv-peers")),
    "vllm": Rival("vLLM", "vllm", (".venv-vllm",), shares=True),
    "vllm-prompt": Rival("vLLM, prompt_logprobs", "vllm", (".venv-vllm",)),
    "llama.cpp": Rival("llama.cpp", "llama_cpp", (".venv-bench",)),
    "llama.cpp-q4": Rival("llama.cpp, own Q4_1 weights", "llama_cpp", (".venv-bench",)),
}
ENGINES = {OURS: Rival("evenhand", shares=True), **RIVALS}


@dataclass(frozen=True)
class Found:
    """What one engine did in one cell. seconds: of each round. every: it was asked one prompt of so many.

    results: log-probabilities in nats, summed over tokens, and tokens, each (prompts, options); tokens in all.
    """

    name: str
    seconds: Rounds
    prompts: int
    every: int
    results: Mapping[str, Any]

    @property
    def speeds(self) -> Rounds:
        return tuple(self.prompts / each for each in self.seconds)

    @property
    def speed(self) -> float:
        """Prompts a second in the best round: other work on the machine only ever slows it down."""
        return max(self.speeds)

    @cached_property
    def log_probs(self) -> npt.NDArray[np.float64]:
        return np.array(self.results["log_probs"])

    @cached_property
    def winners(self) -> npt.NDArray[np.int64]:
        """The likelier option of each prompt, by mean log-probability a token as in the paper."""
        means: npt.NDArray[np.float64] = self.log_probs / np.array(self.results["lengths"])
        return means.argmax(axis=1)


@dataclass(frozen=True)
class Compared:
    """One cell: a system prompt and a dtype. missing: rivals by key, and why each has no figures."""

    system: str
    dtype: str
    found: Mapping[str, Found]
    missing: Mapping[str, str]

    @property
    def ours(self) -> Found:
        return self.found[OURS]

    @property
    def bound(self) -> float:
        """Prompts a second, were each distinct token read once at the naive engine's speed."""
        naive = self.found[NAIVE]
        return naive.results["tokens"] / min(naive.seconds) * self.ours.prompts / self.ours.results["distinct"]

    def agreement(self, key: str) -> tuple[float, int, int]:
        """Nats at most between an option's log-probabilities and ours; prompts with another winner; prompts."""
        theirs = self.found[key]
        same = slice(None, None, theirs.every)
        apart = np.abs(theirs.log_probs - self.ours.log_probs[same]).max()
        return float(apart), int((theirs.winners != self.ours.winners[same]).sum()), theirs.prompts

    def lines(self) -> Iterator[Line]:
        what = f"choices, {PROMPTS[self.system]}, {self.dtype}"
        for key, rival in RIVALS.items():
            if key in self.found:
                theirs = self.found[key]
                apart, others, prompts = self.agreement(key)
                remark = f"{apart:.0e} nats apart at most, {others} of {prompts} winners differ"
                yield Line(what, "prompts/s", self.ours.speeds, theirs.name, theirs.speeds, remark)
            else:
                yield Line(what, "prompts/s", self.ours.speeds, rival.name, (), self.missing[key])


def page(cells: Sequence[Compared], given: argparse.Namespace) -> str:
    """The section of RESULTS.md."""
    first = cells[0]
    names = {key: next((cell.found[key].name for cell in cells if key in cell.found), "") for key in RIVALS}
    keys = [key for key in RIVALS if names[key]]
    columns = ("system prompt", "dtype", "evenhand", "of the bound", *(f"beside {_headed(names[key])}" for key in keys))
    speeds = Table("Prompts a second, and how many times as many evenhand scores", columns, tuple(
        (
            Cell(cell.system),
            Cell(cell.dtype),
            Cell(short(cell.ours.speed)),
            Cell(f"{cell.ours.speed / cell.bound:.0%}"),
            *(Cell(_beside(cell, key)) for key in keys),
        )
        for cell in cells
    ))  # fmt: skip
    agreement = Table(
        "Nats at most between an engine's log-probability of an option and evenhand's; prompts with another winner",
        ("system prompt", "dtype", *(_headed(names[key]) for key in keys)),
        tuple((Cell(cell.system), Cell(cell.dtype), *(Cell(_agrees(cell, key)) for key in keys)) for cell in cells),
    )
    tokens = "; ".join(_tokens(cell) for cell in cells if cell.dtype == first.dtype)
    spread = max(max(found.seconds) / min(found.seconds) for cell in cells for found in cell.found.values())
    every = "" if given.every == 1 else f" Engines that share nothing between prompts read one of {given.every}."
    missing = {RIVALS[key].name: why for cell in cells for key, why in cell.missing.items()}
    left = "".join(f" {name}: {why.removesuffix('.')}." for name, why in missing.items())
    version = next(each for name, each in versions("contact_hypothesis").items() if "contact_hypothesis" in name)
    about = (
        f"`{command(given)}`: {first.ours.prompts} prompts of `contact_hypothesis` {version}, two options each; "
        f"{tokens}.{every} {here()}. Best of {given.rounds} rounds in turns; of no engine did the slowest take more "
        f"than {spread:.1f} times as long as its best.{left}"
    )
    return "\n\n".join(
        (
            MEANING,
            textwrap.fill(about, 120, break_long_words=False, break_on_hyphens=False),
            markdown(speeds),
            markdown(agreement),
            textwrap.fill(rough(cells), 120),
        )
    )


MEANING = """\
## Choice scoring

How fast answers are scored. To tell which of two options a model finds likelier, it reads the prompt with each of them.
Many prompts begin alike, and evenhand computes each distinct beginning once. Every engine reads the same tokens with
the same weights on the same cores, in one run. *Of the bound*: how much was had of what is possible where each distinct
token is read once, at as many tokens a second as padded batches read."""


def rough(cells: Sequence[Compared]) -> str:
    """bfloat16 beside float32, of evenhand's own answers."""
    told = []
    for cell in cells:
        exact = next((each for each in cells if (each.system, each.dtype) == (cell.system, "float32")), None)
        if cell.dtype == "bfloat16" and exact:
            lengths = np.array(cell.ours.results["lengths"])
            apart = np.abs(cell.ours.log_probs - exact.ours.log_probs) / lengths
            others = int((cell.ours.winners != exact.ours.winners).sum())
            told.append(
                f"{apart.mean():.3f} nats a token on average and {apart.max():.3f} at most with "
                f"{PROMPTS[cell.system]}, where {others} of {cell.ours.prompts} winners differ"
            )
    return f"evenhand in bfloat16 is apart from itself in float32 by {'; '.join(told)}." if told else ""


def command(given: argparse.Namespace) -> str:
    return f"scripts/bench_choice_scoring.py --rows {given.rows} --every {given.every} --rounds {given.rounds}"


def _tokens(cell: Compared) -> str:
    tokens, distinct = cell.ours.results["tokens"], cell.ours.results["distinct"]
    fewer = f"{tokens / distinct:.1f} times fewer"
    return f"{tokens:,} tokens with {PROMPTS[cell.system]}, {distinct:,} of them distinct ({fewer})"


def _headed(name: str) -> str:
    return name.replace(", transformers", " (transformers") + ")" * (", transformers" in name)


def _beside(cell: Compared, key: str) -> str:
    """'2.7: 7.1 times'."""
    if key not in cell.found:
        return "none"
    theirs = cell.found[key].speed
    return f"{short(theirs)}: {cell.ours.speed / theirs:.1f} times"


def _agrees(cell: Compared, key: str) -> str:
    if key not in cell.found:
        return "none"
    apart, others, prompts = cell.agreement(key)
    return f"{apart:.0e}; {others} of {prompts}"
