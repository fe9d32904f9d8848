"""How fast choices are scored: evenhand beside padded batches, lm-evaluation-harness, vLLM and llama.cpp, in turns.

All score the options of the same contact_hypothesis prompts with the same weights, dtype and cores, in four cells: the
paper's system prompt and a short one, float32 and bfloat16. Each engine runs in the environment that has it
(scripts/scoring_engines.py says what each does), and waits for the others. Those that share nothing between prompts
read one prompt of --every.

At the least, each distinct beginning of all that is read has to be read once. The token bound is the speed of reading
just that, at as many tokens a second as the naive engine reads.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benching import Line, Rounds, here, measured, short, threads

from evenhand.command_line import ScriptHelp, whole
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Cell, Table

ROOT = Path(__file__).parents[1]
MARK = "scripts/bench_choice_scoring.py"
DTYPES, SYSTEMS = ("float32", "bfloat16"), ("paper", "short")
OURS, NAIVE = "evenhand", "naive"


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


class Engines:
    """A process of scripts/scoring_engines.py, in one environment."""

    def __init__(self, python: str, options: Sequence[str]):
        script = Path(__file__).with_name("scoring_engines.py")
        self._process = subprocess.Popen(
            [python, str(script), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, key: str, what: str, system: str, every: int) -> dict[str, Any]:
        """What `done` of that script gives. Raises RuntimeError saying why it can't."""
        try:
            self._pipe("stdin").write(f"{key} {what} {system} {every}\n")
            self._pipe("stdin").flush()
            line = self._pipe("stdout").readline()
        except BrokenPipeError:
            line = ""
        answer = dict(json.loads(line)) if line else {"error": "its process has ended; what it said stands above"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def end(self) -> None:
        with suppress(BrokenPipeError):
            self._pipe("stdin").close()
        self._process.wait()

    def _pipe(self, name: str) -> Any:
        return getattr(self._process, name)


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
        what = f"choices, {self.system} system prompt, {self.dtype}"
        for key, rival in RIVALS.items():
            if key in self.found:
                theirs = self.found[key]
                apart, others, prompts = self.agreement(key)
                remark = f"{apart:.0e} nats apart at most, {others} of {prompts} winners differ"
                yield Line(what, "prompts/s", self.ours.speeds, theirs.name, theirs.speeds, remark)
            else:
                yield Line(what, "prompts/s", self.ours.speeds, rival.name, (), self.missing[key])


def python_with(rival: Rival) -> str | None:
    """An interpreter that has its module: this one, else that of an environment beside scripts/."""
    look = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({rival.module!r}))"
    for python in (sys.executable, *(str(ROOT / each / "bin/python") for each in rival.environments)):
        if not rival.module or (Path(python).exists() and not subprocess.run([python, "-c", look]).returncode):
            return python
    return None


def compared(dtype: str, given: argparse.Namespace) -> Iterator[Compared]:
    """With each system prompt. An environment is one process, and its engines wait for the others'."""
    asked = {key: each for key, each in ENGINES.items() if key in (OURS, NAIVE, *given.rivals)}
    missing = {key: "left out" for key in ENGINES if key not in asked}
    pythons = {key: python_with(each) for key, each in asked.items()}
    for key in [key for key, python in pythons.items() if python is None]:
        missing[key] = f"not installed: make {asked.pop(key).environments[0]}/.installed"
    options = ("--model", given.model, "--dtype", dtype, "--rows", str(given.rows))
    processes = {python: Engines(python, options) for python in {pythons[key] for key in asked} if python}
    try:
        for system in given.systems:
            told: dict[str, list[dict[str, Any]]] = {key: [] for key in asked}
            for step in ("warm", *["round"] * given.rounds, "results"):
                for key, each in list(asked.items()):
                    try:
                        every = 1 if each.shares else given.every
                        told[key].append(processes[pythons[key]].do(key, step, system, every))
                    except RuntimeError as error:
                        if key in (OURS, NAIVE):
                            raise SystemExit(f"{each.name} failed: {error}") from None
                        missing[key] = f"failed: {error}"
                        del asked[key]
            yield Compared(
                system, dtype, {key: found(told[key], given, each) for key, each in asked.items()}, {**missing}
            )
    finally:
        for process in processes.values():
            process.end()


def found(told: Sequence[Mapping[str, Any]], given: argparse.Namespace, of: Rival) -> Found:
    warm, *rounds, results = told
    seconds = tuple(each["seconds"] for each in rounds)
    return Found(warm["name"], seconds, rounds[0]["prompts"], 1 if of.shares else given.every, results)


def measure(given: argparse.Namespace) -> Iterator[Line]:
    os.environ.setdefault("OMP_NUM_THREADS", str(threads()))  # of every engine
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    cells = [cell for dtype in given.dtypes for cell in compared(dtype, given)]
    if given.page:
        write_part(given.page, MARK, page(cells, given))
    for cell in cells:
        yield from cell.lines()


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
    left = "".join(f" {name}: {why}." for name, why in missing.items())
    return "\n\n".join(
        (
            MEANING,
            f"`{command(given)}`: {first.ours.prompts} prompts of `contact_hypothesis`, two options each: {tokens}."
            f"{every} {here()}. Best of {given.rounds} rounds in turns; of no engine did the slowest take more than "
            f"{spread:.1f} times as long as its best.{left}",
            markdown(speeds),
            markdown(agreement),
        )
    )


MEANING = """\
## Choice scoring

How fast answers are scored. To tell which of two options a model finds likelier, it reads the prompt with each of them.
Many prompts begin alike, and evenhand computes each distinct beginning once. Every engine reads the same tokens with
the same weights on the same cores, in one run. *Of the bound*: how much was had of what is possible where each distinct
token is read once, at as many tokens a second as padded batches read."""


def command(given: argparse.Namespace) -> str:
    return f"scripts/bench_choice_scoring.py --rows {given.rows} --every {given.every} --rounds {given.rounds}"


def _tokens(cell: Compared) -> str:
    tokens, distinct = cell.ours.results["tokens"], cell.ours.results["distinct"]
    fewer = f"{tokens / distinct:.1f} times fewer"
    return f"{tokens:,} tokens with the {cell.system} system prompt, {distinct:,} of them distinct ({fewer})"


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES, help="of weights and computing")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="system prompts")
    parser.add_argument("--rows", type=whole(), default=100, help="prompt sets, three prompts each")
    parser.add_argument(
        "--every", type=whole(), default=10, help="one prompt of so many, for engines that share nothing"
    )
    parser.add_argument("--rounds", type=whole(), default=2, help="of timing")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=[*RIVALS], help="besides the padded batches")
    parser.add_argument("--page", type=Path, metavar="FILE", help="whose part on choice scoring is written anew")
    measured(parser, measure)


if __name__ == "__main__":
    main()
