"""Measure how fast choices are scored: evenhand, padded batches, lm-evaluation-harness and vLLM.

All score the options of the same contact_hypothesis prompts with the same weights, dtype and cores, with the paper's
system prompt and a short one, in float32 and bfloat16. Each engine runs in a process of the environment that has it:

- evenhand: TransformersModel.answer, which shares prefixes, in calls as large as the runner's
- naive: padded batches of 16, sorted by length, each option in a row of its own, nothing shared
- lm_eval: HFLM.loglikelihood, batch size 16; options of a prompt that differ in their last token only share a row
- vllm: evenhand's backend vllm:NAME, which keeps prefixes and asks one request for each beginning of an answer

Engines that share nothing between prompts read one prompt of --every. The bound is the speed of reading each distinct
token once, at as many tokens a second as the naive engine reads.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench import Line, bench_parser, per_second, run_bench, threads
from scoring_engines import add_options

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Engine:
    """What it needs.

    Attributes:
        environments: where its module may be installed besides here.
        shares: whether it reads what prompts share once; it is then asked all prompts.
    """

    module: str
    environments: tuple[str, ...] = ()
    shares: bool = False

    def find_python(self) -> str | None:
        """An interpreter that has its module: this one, else that of an environment beside scripts/."""
        look = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({self.module!r}))"
        for python in (sys.executable, *(str(ROOT / each / "bin/python") for each in self.environments)):
            if Path(python).exists() and not subprocess.run([python, "-c", look]).returncode:
                return python
        return None


ENGINES = {
    "evenhand": Engine("evenhand", shares=True),
    "naive": Engine("transformers"),
    "lm_eval": Engine("lm_eval", (".venv-bench", ".venv-peers")),
    "vllm": Engine("vllm", (".venv-vllm",), shares=True),
}
RIVALS = [name for name in ENGINES if name != "evenhand"]


def run_engine(name: str, options: argparse.Namespace) -> dict[str, Any] | str:
    """What scripts/scoring_engines.py measures in a process of its own; else why there is nothing."""
    engine = ENGINES[name]
    python = engine.find_python()
    if python is None:
        return f"not installed: make {engine.environments[0]}/.installed"
    sizes = {"model": options.model, "rows": options.rows, "rounds": options.rounds, "module": engine.module}
    sizes["every"] = 1 if engine.shares else options.every
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        command = [python, str(Path(__file__).with_name("scoring_engines.py")), f"--output={path}"]
        command += [f"--{key}={value}" for key, value in sizes.items()]
        command += ["--dtypes", *options.dtypes, "--systems", *options.systems]
        environment = {"OMP_NUM_THREADS": str(threads()), "TOKENIZERS_PARALLELISM": "false", **os.environ}
        if subprocess.run(command, env=environment, stdout=sys.stderr).returncode:
            return "failed; its error is above the table"
        return dict(json.loads(path.read_text(encoding="utf-8")))


def describe_agreement(ours: dict[str, Any], theirs: dict[str, Any], every: int) -> str:
    """The winner is the option with the higher mean log-probability a token, as in the paper."""
    log_probs = [np.array(ours["log_probs"])[::every], np.array(theirs["log_probs"])]
    lengths = np.array(theirs["lengths"])
    winners = [(each / lengths).argmax(axis=1) for each in log_probs]
    others = int((winners[0] != winners[1]).sum())
    apart = np.abs(log_probs[0] - log_probs[1]).max()
    return f"{apart:.0e} nats apart at most, {others} of {len(lengths)} winners differ"


def measure(options: argparse.Namespace) -> Iterator[Line]:
    found = {name: run_engine(name, options) for name in dict.fromkeys(("evenhand", "naive", *options.rivals))}
    every_of_ours = found.pop("evenhand")
    if isinstance(every_of_ours, str):
        raise SystemExit(f"evenhand: {every_of_ours}")
    for cell, ours in every_of_ours.items():
        what, speeds = f"choices, {cell} system prompt", per_second(ours["prompts"], tuple(ours["seconds"]))
        for name, engine in found.items():
            if isinstance(engine, str):
                yield Line(what, "prompts/s", speeds, name, (), engine)
                continue
            theirs = engine[cell]
            remark = describe_agreement(ours, theirs, 1 if ENGINES[name].shares else options.every)
            rival = "padded batches" if name == "naive" else theirs["engine"]
            yield Line(
                what, "prompts/s", speeds, rival, per_second(theirs["prompts"], tuple(theirs["seconds"])), remark
            )
            if name == "naive":
                n = theirs["tokens"] * ours["prompts"] / ours["distinct"]
                tokens = f"{ours['tokens']:,} tokens, {ours['distinct']:,} distinct"
                yield Line(what, "prompts/s", speeds, "bound", per_second(n, tuple(theirs["seconds"])), tokens)


def main() -> None:
    parser = bench_parser(__doc__)
    add_options(parser)
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=RIVALS, help="engines to compare with")
    run_bench(parser, measure)


if __name__ == "__main__":
    main()
