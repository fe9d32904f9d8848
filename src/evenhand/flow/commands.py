"""evenhand run: options of every run, of the benchmark, and of the mitigations that fit it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks import BENCHMARKS, get_benchmark
from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError, unknown_name
from evenhand.flow.configuration import RunConfig, run_config
from evenhand.mitigations import mitigations_of
from evenhand.models.ray_cluster import RayCluster, RayOptions
from evenhand.models.registry import EMBEDDED, LoadModel, is_server
from evenhand.models.server_options import ServerOptions
from evenhand.options import made, texts_of

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.benchmark import Card

USAGE = "usage: evenhand run BENCHMARK [options]; evenhand run BENCHMARK --help shows them"
EXAMPLES = f"""examples:
  evenhand run {BENCHMARKS.names[0]} --model embedded --limit 600
  evenhand run {BENCHMARKS.names[0]} --model http://localhost:8000/v1#qwen3-8b --output runs/qwen"""
ASKING_GROUPS = {
    "server": Group("options of a server (--model URL)", ServerOptions),
    "ray": Group("more machines (--ray ADDRESS)", RayOptions),
}


def run(arguments: Sequence[str], console: Console) -> None:
    """Run a benchmark, or plan it, and print what was found."""
    config, parsed = asked(arguments)
    from evenhand.progress import AtWork, ProgressBar

    if parsed.plan:
        from evenhand.flow.plan import plan

        if parsed.ray.ray is not None:
            raise UsageError("--plan times the model on this machine, without --ray: remove one of them")
        with AtWork("counting tokens"):
            lines = plan(config, output=parsed.output).lines()
        for line in lines:
            console.print(line, soft_wrap=True)
        return
    if parsed.new and parsed.output is not None:
        raise UsageError("--new makes a folder in runs, and --output names one: remove one of them")

    from evenhand.flow.evaluation import evaluate
    from evenhand.report.pages import print_found

    with loading(config, parsed.ray) as load, ProgressBar(config.benchmark) as bar:
        folder = evaluate(config, parsed.output, on_progress=bar.update, load=load, new=parsed.new)
    with AtWork("reading the results"):
        print_found(folder, console)
    for took in bar.took:
        console.print(f"Asked by this command, of {took}", soft_wrap=True)


@contextmanager
def loading(config: RunConfig[Any], options: RayOptions) -> Iterator[LoadModel | None]:
    """Connect to the Ray cluster that was asked for. Yields its loader of models, or None.

    Raises UsageError where the run has no model to load there.
    """
    if options.ray is None:
        yield None
        return
    configuring = get_benchmark(config.benchmark).configuring
    measured = configuring.measured(configuring.filled(config))
    if all(map(is_server, measured.values())):
        what = "a server is asked from here" if measured else "no model is asked"
        raise UsageError(f"--ray has no effect: {what}. Remove it")
    with RayCluster.from_options(options) as cluster:
        yield cluster.load_model


def asked(arguments: Sequence[str]) -> tuple[RunConfig[Any], argparse.Namespace]:
    """Parse a command line: the configuration, and what is not part of it: output, new, plan, ray (RayOptions).

    Raises UsageError, or exits with 2 and a sentence.
    """
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        about = f"Run a benchmark on a model. BENCHMARK is one of {', '.join(BENCHMARKS.names)} (see evenhand list)."
        every = {"every_run": Group("options of every run", RunConfig, {"model": EMBEDDED}), **ASKING_GROUPS}
        parse("evenhand run BENCHMARK", f"{about} Some have options of their own.", [name], every, _add_output,
              EXAMPLES)  # fmt: skip
    if not name or name.startswith("-"):
        raise UsageError(f"a benchmark is needed first: {', '.join(BENCHMARKS.names)} ({USAGE})")
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS.names, "evenhand list shows all")
    benchmark = get_benchmark(name)
    card = benchmark.card
    groups = {
        "every_run": Group("options of every run", RunConfig, _defaults(card), {"protocol": card.protocols}),
        **ASKING_GROUPS,
        "benchmark": Group(f"options of {name}", benchmark.Options),
    }
    taken = {
        each.flag: "every run" if key == "every_run" else name for key, group in groups.items() for each in group.shown
    }
    clashing: dict[str, str] = {}
    mitigations = []
    for mitigation in mitigations_of(name):
        group = Group(f"options of --mitigation {mitigation.name}", mitigation.Options)
        clash = next((each.flag for each in group.shown if each.flag in taken), None)
        if clash is None:
            mitigations.append(mitigation.name)
            groups[mitigation.name] = group
            taken |= {each.flag: f"--mitigation {mitigation.name}" for each in group.shown}
        else:
            clashing[mitigation.name] = f"its option --{clash} belongs to {taken[clash]}; its package must rename it"
    parsed, values = parse(f"evenhand run {name}", f"{card.title} ({card.paper}).", rest, groups, _add_output)
    given = {**values["every_run"], **values["benchmark"]}
    chosen = given.get("mitigation")
    if chosen in clashing:
        raise UsageError(f"--mitigation {chosen} can't be used: {clashing[chosen]}")
    for each in mitigations:
        if values[each] and each != chosen:
            flags = ", ".join(f"--{option.replace('_', '-')}" for option in values[each])
            raise UsageError(f"{flags} needs --mitigation {each}")
    given["model_options"] = (*given.get("model_options", ()), *texts_of(ServerOptions, values["server"]))
    parsed.ray = made(RayOptions, values["ray"])
    return run_config(name, **given, **values.get(str(chosen), {})), parsed


def _defaults(card: Card) -> dict[str, object]:
    sampling = card.sampling
    return {
        "model": EMBEDDED,
        "protocol": card.protocols[0],
        "configs": card.default_configs or card.configs,
        "temperature": "the model's own" if sampling.temperature is None else sampling.temperature,
        "top_p": sampling.top_p,
        "max_new_tokens": sampling.max_new_tokens,
    }


def _add_output(parser: argparse.ArgumentParser) -> None:
    output = "run folder, where the same command resumes (default: runs/BENCHMARK-MODEL-NUMBER)"
    parser.add_argument("--output", type=path, metavar="DIR", help=output)
    parser.add_argument("--new", action="store_true", help="begin another run folder instead of resuming one in runs")
    parser.add_argument("--plan", action="store_true", help="print what the run would ask and cost, and store nothing")
