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
from pathlib import Path
from typing import Any

from benching import Line, measured, threads
from scoring_compared import ENGINES, NAIVE, OURS, RIVALS, Compared, Found, Rival, page

from evenhand.command_line import ScriptHelp, whole
from evenhand.report.markdown import write_part

ROOT = Path(__file__).parents[1]
MARK = "scripts/bench_choice_scoring.py"
DTYPES, SYSTEMS = ("float32", "bfloat16"), ("paper", "short")


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="embedded, a Hub id, or a local folder")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES, help="of weights and computing")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS, help="system prompts")
    parser.add_argument("--rows", type=whole(), default=60, help="prompt sets, three prompts each")
    parser.add_argument(
        "--every", type=whole(), default=9, help="one prompt of so many, for engines that share nothing"
    )
    parser.add_argument("--rounds", type=whole(), default=2, help="of timing")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=[*RIVALS], help="besides the padded batches")
    parser.add_argument("--page", type=Path, metavar="FILE", help="whose part on choice scoring is written anew")
    measured(parser, measure)


if __name__ == "__main__":
    main()
