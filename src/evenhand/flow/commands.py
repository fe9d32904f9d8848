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
from evenhand.models.registry import LoadModel, is_server
from evenhand.models.server_options import ServerOptions
from evenhand.options import made, texts_of

if TYPE_CHECKING:
    from rich.console import Console

USAGE = "usage: evenhand run BENCHMARK [options]; evenhand run BENCHMARK --help shows them"


def run(arguments: Sequence[str], console: Console) -> None:
    """Run a benchmark, or plan it, and print what was found."""
    config, parsed = asked(arguments)
    if parsed.plan:
        from evenhand.flow.plan import plan
        from evenhand.progress import AtWork

        if parsed.ray.ray is not None:
            raise UsageError("--plan times the model on this machine, without --ray: remove one of them")
        with AtWork("counting tokens"):
            lines = plan(config, output=parsed.output).lines()
        for line in lines:
            console.print(line, soft_wrap=True)
        return
    if parsed.output is None:
        raise UsageError(
            "--output DIR is needed: the folder where the run is kept (or --plan, to see what it would cost)"
        )

    from evenhand.flow.evaluation import evaluate
    from evenhand.progress import AtWork, ProgressBar
    from evenhand.report.pages import print_found

    with loading(config, parsed.ray) as load, ProgressBar(config.benchmark) as bar:
        folder = evaluate(config, parsed.output, on_progress=bar.update, load=load)
    with AtWork("reading what was found"):
        print_found(folder, console)
    for took in bar.took:
        console.print(f"Asked by this command, of {took}", soft_wrap=True)


@contextmanager
def loading(config: RunConfig[Any], of_ray: RayOptions) -> Iterator[LoadModel | None]:
    """Connect to the Ray cluster that was asked for. Yields its loader of models, or None.

    Raises UsageError where the run has no model to load there.
    """
    if of_ray.ray is None:
        yield None
        return
    benchmark = get_benchmark(config.benchmark)
    measured = benchmark.configuring.measured(benchmark.configuring.filled(config))
    if all(map(is_server, measured.values())):
        what = "a server is asked from here" if measured else "no model is asked"
        raise UsageError(f"--ray has no effect: {what}. Remove it")

    with RayCluster.from_options(of_ray) as cluster:
        yield cluster.load_model


def asked(arguments: Sequence[str]) -> tuple[RunConfig[Any], argparse.Namespace]:
    """Parse a command line: the configuration, and what is not part of it: output, plan, ray (RayOptions).

    Raises UsageError, or exits with 2 and a sentence.
    """
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(f"{USAGE}\n\nBenchmarks: {', '.join(BENCHMARKS.names)} (evenhand list says more).")
        raise SystemExit(0)
    if not name or name.startswith("-"):
        raise UsageError(f"a benchmark is needed first: {', '.join(BENCHMARKS.names)} ({USAGE})")
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS.names, "evenhand list shows all")
    card = get_benchmark(name).card
    defaults = {
        "protocol": card.protocols[0],
        "configs": card.default_configs or card.configs,
        "temperature": "the model's own" if card.sampling.temperature is None else card.sampling.temperature,
        "top_p": card.sampling.top_p,
        "max_new_tokens": card.sampling.max_new_tokens,
        "model": "embedded",
    }
    groups = {
        "every_run": Group("every run", RunConfig, defaults, {"protocol": card.protocols}),
        "server": Group("--model URL, a server; or as --model-option", ServerOptions),
        "ray": Group("--ray ADDRESS, more machines", RayOptions),
        "benchmark": Group(name, get_benchmark(name).Options),
    }
    taken = {
        each.flag: "every run" if of == "every_run" else name for of, group in groups.items() for each in group.shown
    }
    clashing: dict[str, str] = {}
    mitigations = []
    for mitigation in mitigations_of(name):
        group = Group(f"--mitigation {mitigation.name}", mitigation.Options)
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


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=path, metavar="DIR", help="run folder; an interrupted or smaller run goes on there"
    )
    parser.add_argument("--plan", action="store_true", help="say what it would ask, cost and show, and store nothing")
