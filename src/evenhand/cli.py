"""The command line: parses, calls, prints. Exit codes: 0 done, 1 failed, 2 wrong usage."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from rich.console import Console

from evenhand import __version__
from evenhand.benchmarks.labe.texts import Preprocess, TextColumns
from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.progress import ProgressBar
from evenhand.flow.settings import Pictures, Settings, TextSource
from evenhand.models.errors import ModelError
from evenhand.models.registry import ACCEPTED
from evenhand.tools.annotation import commands as annotation
from evenhand.tools.caption_audit import commands as caption_audit

if TYPE_CHECKING:
    from evenhand.flow.run_folder import RunFolder

DONE, FAILED, WRONG_USAGE = 0, 1, 2
WIDTH_ELSEWHERE = 128
CLASSIFIERS_ACCEPTED = (
    "default (trained here once), lexicon, a folder of evenhand train agency, or a Hub id (default: default)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parsed = _parser().parse_args(arguments)
    errors = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    _quiet_libraries()
    try:
        parsed.command(parsed, _console())
    except UsageError as error:
        errors.print(f"evenhand: {error}")
        return WRONG_USAGE
    except (EvenhandError, ModelError) as error:
        errors.print(f"evenhand: {error}")
        return FAILED
    except KeyboardInterrupt:
        errors.print("evenhand: stopped; every reply so far is stored. Run the same command again to go on.")
        return FAILED
    return DONE


def _console() -> Console:
    """The terminal's own width; tables in a pipe or a log are not folded to 80 columns."""
    console = Console(highlight=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, markup=False, width=WIDTH_ELSEWHERE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evenhand", description="Measure social bias in language models.")
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="benchmarks, their configurations and metrics")
    listing.set_defaults(command=_list)

    run = commands.add_parser("run", help="run a benchmark on a model", description="Run a benchmark on a model.")
    run.set_defaults(command=_run)
    _add_run_options(run)

    train = commands.add_parser("train", help="train a classifier or a debiased model")
    trained = train.add_subparsers(required=True, metavar="WHAT")
    agency = trained.add_parser("agency", help="a classifier of language agency")
    agency.set_defaults(command=_train_agency)
    _add_agency_options(agency)

    compare = commands.add_parser("compare", help="runs of one benchmark side by side, and their differences")
    compare.set_defaults(command=_compare)
    compare.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="the first is the base")
    compare.add_argument("--output", type=Path, metavar="FILE", help="write it as an HTML page, too")

    ensemble = commands.add_parser("ensemble", help="what several runs of mllm_stereotypes agree on, and its score")
    ensemble.set_defaults(command=_ensemble)
    ensemble.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    ensemble.add_argument("--output", type=Path, required=True, metavar="DIR", help="the run folder of the consensus")

    annotate = commands.add_parser("annotate", help="texts to people who label them, their labels and agreement")
    annotation.add_steps(annotate, _positive)

    audit = commands.add_parser("audit-captions", help="gender terms beside occupations and descriptors in captions")
    caption_audit.add_arguments(audit)

    report = commands.add_parser("report", help="write a run's report.html again")
    report.set_defaults(command=_report)
    report.add_argument("run", type=Path, metavar="RUN")
    return parser


def _add_run_options(run: argparse.ArgumentParser) -> None:
    default = Settings(benchmark="", model="")
    run.add_argument("benchmark", metavar="BENCHMARK", help="a name that evenhand list shows")
    run.add_argument("--model", metavar="MODEL", help=f"{ACCEPTED} (default: embedded)")
    run.add_argument("--revision", metavar="REV", help="branch, tag or commit of a Hub model")
    run.add_argument("--config", dest="configs", nargs="+", default=(), metavar="NAME", help="dataset configurations")
    run.add_argument("--source", default=default.source, choices=("evenhand", "official"), help="whose data")
    run.add_argument(
        "--limit", type=_positive, metavar="N", help="rows, after a stratified, seeded draw (default: all)"
    )
    run.add_argument(
        "--sample",
        type=_positive,
        metavar="N",
        help="rows of each configuration, every group with the same descriptors",
    )
    run.add_argument("--runs", type=_positive, default=default.runs, metavar="N", help="how often every row is asked")
    run.add_argument("--seed", type=int, default=default.seed, metavar="S", help="of the draw and of sampling")
    run.add_argument(
        "--protocol",
        choices=("choose", "generate", "rank"),
        help="score options, generate, or score every assignment (default: the paper's; embedded: what it can do)",
    )
    run.add_argument("--order", default=default.order, choices=("paper", "balanced"), help="of the options")
    run.add_argument("--aggregate", default=default.aggregate, choices=("mean", "sum"), help="token log-probabilities")
    run.add_argument(
        "--temperature", type=float, help="of --protocol generate (0: greedy; default: the benchmark's, or the model's)"
    )
    run.add_argument("--top-p", type=float, help="likewise (default: the benchmark's)")
    run.add_argument(
        "--max-new-tokens", type=_positive, metavar="N", help="of --protocol generate (default: the benchmark's)"
    )
    run.add_argument(
        "--classifiers", nargs="+", default=(), metavar="NAME", help=f"of language agency: {CLASSIFIERS_ACCEPTED}"
    )
    run.add_argument("--setting", choices=("none", "interaction"), help="whether agents discuss (default: interaction)")
    run.add_argument("--goal", action="store_true", help="each agent is told in private to want the first task")
    run.add_argument(
        "--agents",
        type=_agents,
        default=(),
        metavar="NAME=MODEL,NAME=MODEL",
        help="several models that play characters by turns, in place of --model",
    )
    _add_picture_options(run.add_argument_group("pictures, for vision-language models"), default.pictures)
    _add_mitigation_options(run.add_argument_group("mitigation"), default)
    _add_text_options(run.add_argument_group("texts that exist, scored in place of a model's"))
    run.add_argument(
        "--dtype",
        default=default.dtype,
        choices=("auto", "float32", "bfloat16", "float16"),
        help="auto: bfloat16 where the hardware has it",
    )
    run.add_argument(
        "--batch-size", type=_positive, default=default.batch_size, metavar="N", help="prompts in a forward pass"
    )
    run.add_argument("--output", type=Path, metavar="DIR", help="the run folder; an interrupted run goes on there")
    run.add_argument("--plan", action="store_true", help="say what the run would ask, cost and show, and store nothing")


def _add_mitigation_options(mitigations: argparse._ArgumentGroup, default: Settings) -> None:
    mitigations.add_argument("--mitigation", metavar="NAME", help="of the benchmark (evenhand list shows them)")
    mitigations.add_argument(
        "--rewriter", metavar="MODEL", help="writes the edits of selective-rewrite (default: --model)"
    )
    mitigations.add_argument(
        "--rewrite-mode",
        default=default.rewrite_mode,
        choices=("edits", "sentence"),
        help="edits as JSON, or by sentence",
    )


def _add_picture_options(pictures: argparse._ArgumentGroup, default: Pictures) -> None:
    pictures.add_argument(
        "--faces", metavar="DIR", help="faces named as UTKFace's, or listed in --faces-table; rehearsal: placeholders"
    )
    pictures.add_argument("--faces-table", metavar="FILE", help="CSV, JSONL or parquet: file, age, gender, race")
    pictures.add_argument(
        "--pairs",
        type=_positive,
        default=default.pairs,
        metavar="N",
        help="of each age and group (default: %(default)s)",
    )
    pictures.add_argument("--images", metavar="DIR", help="a folder of pictures for each persona trait")
    pictures.add_argument("--role", metavar="NAME", help="whom the model is told to act as")
    pictures.add_argument(
        "--box-scale",
        type=_box_scale,
        metavar="N",
        help="greatest coordinate of bounding boxes (100, 1000, 1), or pixels (default: the model's, if known)",
    )
    pictures.add_argument("--real-shares", metavar="FILE", help="shares in the world: instance, group, percent")


def _add_text_options(texts: argparse._ArgumentGroup) -> None:
    texts.add_argument("--texts", metavar="FILE", help="CSV, JSONL or parquet, one text a row")
    for field in fields(TextColumns):
        texts.add_argument(
            f"--{field.name}-column", default=field.default, metavar="NAME", help=f"(default: {field.default})"
        )
    texts.add_argument("--preprocess", default="none", choices=get_args(Preprocess), help="as the paper did its own")


def _add_agency_options(agency: argparse.ArgumentParser) -> None:
    agency.add_argument(
        "--recipe", metavar="NAME", help="minilm, bert, roberta or lora (default: the base's, or minilm)"
    )
    agency.add_argument("--base", metavar="MODEL", help="embedded, a Hub id or a folder (default: the recipe's)")
    agency.add_argument("--data", default="evenhand", choices=("evenhand", "official"), help="whose sentences")
    agency.add_argument("--seeds", nargs="+", type=int, default=[0], metavar="S", help="one classifier a seed")
    agency.add_argument("--learning-rate", type=float, help="in place of the recipe's")
    agency.add_argument("--epochs", type=float, help="in place of the recipe's")
    agency.add_argument("--batch-size", type=_positive, help="in place of the recipe's")
    agency.add_argument("--output", type=Path, required=True, metavar="DIR", help="gets a folder for each seed")


def _positive(text: str) -> int:
    value = int(text) if text.lstrip("+-").isdigit() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} came; a whole number of 1 or more is accepted")
    return value


def _box_scale(text: str) -> float | str:
    try:
        scale = text if text == "pixels" else float(text)
    except ValueError:
        scale = 0.0
    if scale != "pixels" and not 0 < float(scale) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} came; a number above 0 is accepted, or pixels")
    return scale


def _agents(text: str) -> tuple[tuple[str, str], ...]:
    pairs = tuple((name.strip(), model.strip()) for name, _, model in (each.partition("=") for each in text.split(",")))
    names = [name for name, _ in pairs]
    if not all(name and model for name, model in pairs) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(
            f"{text!r} came; NAME=MODEL,NAME=MODEL is accepted, each name once (base=embedded,other=my/model)"
        )
    return pairs


def _list(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.benchmarks import BENCHMARKS, get_benchmark
    from evenhand.mitigations import MITIGATIONS, get_mitigation
    from evenhand.report.tables import Cell, Table, print_table

    rows = tuple(
        (Cell(name), Cell(", ".join(benchmark.configs)), Cell(benchmark.metric), Cell(benchmark.paper))
        for name in BENCHMARKS.names
        for benchmark in [get_benchmark(name)]
    )
    print_table(Table("Benchmarks", ("benchmark", "configurations", "metric", "paper"), rows), console)
    mitigations = tuple(
        (Cell(name), Cell(", ".join(each.benchmarks)), Cell(each.source))
        for name in MITIGATIONS.names
        for each in [get_mitigation(name)]
    )
    print_table(Table("Mitigations", ("mitigation", "benchmarks", "source"), mitigations), console)


def _run(parsed: argparse.Namespace, console: Console) -> None:
    settings = _settings(parsed)
    if parsed.plan:
        from evenhand.flow.plan import plan

        for line in plan(settings).lines():
            console.print(line, soft_wrap=True)
        return
    if parsed.output is None:
        raise UsageError(
            "--output DIR is needed: the folder where the run is kept (or --plan, to see what it would cost)"
        )

    from evenhand.flow.evaluation import evaluate

    with ProgressBar(settings.benchmark) as bar:
        folder = evaluate(settings, parsed.output, on_progress=bar.update)
    _print_found(folder, console)


def _print_found(folder: RunFolder, console: Console) -> None:
    from evenhand.benchmarks import get_benchmark
    from evenhand.report.tables import print_table

    results = folder.read_results()
    findings = get_benchmark(str(results["benchmark"])).findings(folder.read_predictions(), results)
    for table in findings.tables:
        print_table(table, console)
    for warning in findings.warnings:
        console.print(f"Warning: {warning}", soft_wrap=True)
    for sentence in findings.sentences:
        console.print(sentence, soft_wrap=True)
    console.print(f"Report: {folder.report}", soft_wrap=True)


def _settings(parsed: argparse.Namespace) -> Settings:
    """Raises UsageError for options that don't go together."""
    chosen = {field.name: getattr(parsed, field.name) for field in fields(Settings) if field.name != "pictures"}
    chosen["pictures"] = Pictures(**{field.name: getattr(parsed, field.name) for field in fields(Pictures)})
    chosen |= {"configs": tuple(parsed.configs), "classifiers": tuple(parsed.classifiers)}
    if parsed.agents:
        if parsed.model:
            raise UsageError("--agents names the models: give it, or --model, not both")
        chosen["model"] = ",".join(f"{name}={model}" for name, model in parsed.agents)
        return Settings(**chosen)
    columns = TextColumns(**{field.name: getattr(parsed, f"{field.name}_column") for field in fields(TextColumns)})
    if parsed.texts is None:
        if columns != TextColumns() or parsed.preprocess != "none":
            raise UsageError("--preprocess and the names of columns are of a file of texts: they need --texts FILE")
        return Settings(**chosen | {"model": parsed.model or "embedded"})
    if parsed.model:
        raise UsageError("--texts scores texts that exist: no --model is asked")
    return Settings(**chosen | {"model": "", "texts": TextSource(parsed.texts, columns, parsed.preprocess)})


def _compare(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.report.comparison import compare
    from evenhand.report.pages import write_comparison
    from evenhand.report.tables import print_table

    comparison = compare(*parsed.runs)
    side_by_side = [table for panel in comparison.panels for table in panel.tables]
    for table in (*side_by_side, comparison.headline, *comparison.more):
        print_table(table, console)
    for warning in comparison.warnings:
        console.print(f"Warning: {warning}", soft_wrap=True)
    for sentence in comparison.sentences:
        console.print(sentence, soft_wrap=True)
    if parsed.output:
        write_comparison(comparison, parsed.output)
        console.print(f"Page: {parsed.output}", soft_wrap=True)


def _train_agency(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.language_agency.training_by_name import table, train
    from evenhand.report.tables import print_table

    given = {name: getattr(parsed, name) for name in ("learning_rate", "epochs", "batch_size")}
    summary = train(
        parsed.output,
        recipe=parsed.recipe,
        base=parsed.base,
        data=parsed.data,
        seeds=parsed.seeds,
        changes={name: value for name, value in given.items() if value is not None},
    )
    print_table(table(summary), console)
    console.print(f"Classifiers: {parsed.output} (evenhand run labe --classifiers {parsed.output})", soft_wrap=True)


def _ensemble(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.benchmarks.mllm_stereotypes.ensemble import ensemble

    _print_found(ensemble(parsed.runs, parsed.output), console)


def _report(parsed: argparse.Namespace, console: Console) -> None:
    from evenhand.flow.run_folder import RunFolder
    from evenhand.report.pages import write_report

    folder = RunFolder.open(parsed.run)
    write_report(folder)
    console.print(f"Report: {folder.report}", soft_wrap=True)


def _quiet_libraries() -> None:
    """Their progress bars and notices would stand between ours; warnings and errors stay."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import datasets
    import transformers.utils.logging as transformers_logging

    datasets.disable_progress_bars()
    transformers_logging.disable_progress_bar()


if __name__ == "__main__":
    sys.exit(main())
