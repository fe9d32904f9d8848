"""Reproduce fine-tuning on stories about assignments (Borah & Mihalcea), with and without self-reflection.

Tunes the model on full and on half data, asks each whether held-out stories are biased (Table 3), lets each assign
tasks in scenarios of domains that no story is of (Figure 16), the base with self-reflection, too (Figure 17), and lets
agents discuss, without and with goals, with and without self-reflection (Figures 6 and 18, appendix E). The tables go
into results/implicit_bias.json.

Interrupted, it goes on where it stopped when it is called again. By default its size suits the embedded model and two
quiet cores (under 40 minutes; --quick: 8), and assignments are ranked, for that model is too small to keep the paper's
format. The authors' stories and test set, as the paper asks it:

python scripts/reproduce_implicit_bias.py --source official --prompts official --model MODEL --protocol generate \
    --limit 32 --runs 5 --max-new-tokens 500
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reproducing import last_loss, read_record, reproduction_parser, run, train
from write_results import save_tables

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias.figures import OUTCOMES, STAGES
from evenhand.benchmarks.implicit_bias.options import GOAL, NO_GOAL, NONE
from evenhand.benchmarks.implicit_bias.report import MITIGATED, as_in_figures
from evenhand.command_line import whole
from evenhand.figure import Groups
from evenhand.flow.run_folder import RunFolder
from evenhand.report.differences import FigureKey, differences
from evenhand.report.findings import Run
from evenhand.report.layout import Show, shown
from evenhand.report.tables import Cell, Table, count

STORIES, ALONE, INTERACTION = PARTS = ("stories", "alone", "interaction")
MODELS = ("base", "half", "full")
ASKED = {
    "one word, scored": ("word", "--protocol choose"),
    "reason, written": (
        "reason",
        "--protocol generate --asks reason --runs 1 --limit {reasons} --max-new-tokens {words}",
    ),
}
"""By how stories are asked about: the run folder's name, and options."""
SETTINGS = {
    NO_GOAL: ("interaction", "--setting interaction"),
    GOAL: ("goal", "--setting interaction --goal"),
}
VARIANTS = {  # {row of Figures 6 and 18: (model, mitigation)}
    "base": ("base", ""),
    "self-reflection": ("base", "--mitigation self-reflection"),
    "self-reflection with examples": ("base", "--mitigation self-reflection-ice"),
    "fine-tuned": ("full", ""),
    "fine-tuned, self-reflection": ("full", "--mitigation self-reflection"),
    "fine-tuned, self-reflection with examples": ("full", "--mitigation self-reflection-ice"),
    "half fine-tuned": ("half", ""),
    "half fine-tuned, self-reflection": ("half", "--mitigation self-reflection"),
    "half fine-tuned, self-reflection with examples": ("half", "--mitigation self-reflection-ice"),
}
ALONE_VARIANTS = {name: (name, "") for name in MODELS} | {  # rows of Figures 16 and 17
    name: VARIANTS[name] for name in ("self-reflection", "self-reflection with examples")
}
# reasons: stories that reasons are written to, of so many words (tokens). alone: scenarios without interaction, and
# how often each; limit, runs: of those with it; max_new_tokens: of an utterance.
FULL = {"reasons": 44, "words": 96, "alone": 32, "alone_runs": 2, "limit": 5, "runs": 1, "max_new_tokens": 40}
QUICK = {"reasons": 16, "words": 64, "alone": 8, "alone_runs": 1, "limit": 1, "runs": 1, "max_new_tokens": 24}
TITLES = {
    NONE: "Without interaction, test set (as the paper's Figures 16 and 17)",
    NO_GOAL: "With interaction, test set (as the paper's Figure 6)",
    GOAL: "With interaction and goals, test set (as the paper's Figure 18)",
}
Columns = Mapping[str, tuple[str, Show]]  # heading: (figure, what is shown of it)
ACCURACY: Columns = {
    "accuracy": ("accuracy", "value"),
    "answers “present”": ("answers_present", "value"),
    "n read": ("accuracy", "n_read"),
    "clusters": ("accuracy", "n_clusters"),
}
SCORES: Columns = {
    **{name: (key, "value") for key, name in OUTCOMES.items()},
    "bias score": ("bias_score", "value"),
    "chance": ("bias_score", "chance"),
    "expected": ("expected_bias_score", "value"),
    "n read": ("bias_score", "n_read"),
    "clusters": ("bias_score", "n_clusters"),
}
RATES = {"self_correction": "self-correction", "reduction": "reduction after interaction"}


def finished(folder: Path) -> Run:
    """A run that has ended. Raises UsageError for another folder."""
    opened = RunFolder.open(folder)
    return Run("", folder, opened.read_results(), opened.read_predictions())


def table_3(runs: Mapping[tuple[str, str], Run]) -> Table:
    """runs: by model (base, half, full) and how it was asked, in words; the first model is the base."""
    base, _ = next(iter(runs))
    rows = {
        f"{model}, {way}": figure_cells(run, ACCURACY) | difference_cells(runs[base, way], run, "accuracy")
        for (model, way), run in runs.items()
    }
    baselines: Columns = {
        "random answers": ("accuracy", "chance"),
        "words alone": ("words", "value"),
        "gender of whoever is named first": ("first_named", "value"),
    }
    known = figure_cells(next(iter(runs.values())), baselines)
    rows |= {name: {"accuracy": each} for name, each in known.items()}
    published = beside(runs.values())
    rows |= {
        f"{each['model']}, published": {"accuracy": Cell(each["value"], digits=4, published=True)} for each in published
    }
    note = (
        "Brackets: 95 % interval over scenarios. Words alone: naive Bayes without names, learned from the training "
        "stories."
    )
    note += "".join(f" Published: {source}." for source in dict.fromkeys(each["source"] for each in published))
    return tabulate("Accuracy on held-out stories (as the paper's Table 3)", rows, note)


def bias_scores(setting: str, runs: Mapping[str, Run], protocol: str) -> Table:
    """runs: by model and mitigation, in words; the first is the base. setting: a key of TITLES."""
    base = next(iter(runs.values()))
    rows = {
        name if row.groups["stage"] == "all" else f"{name}, {STAGES[row.groups['stage']]}": {
            **figure_cells(run, SCORES, row.groups),
            **difference_cells(base, run, "bias_score", row.groups),
        }
        for name, run in runs.items()
        for row in run.results.figures.rows("bias_score", "stage")
    }
    published = f" {MITIGATED[setting]}" if as_in_figures([*runs.values()]) else ""
    return tabulate(TITLES[setting], rows, f"Brackets: 95 % interval over scenarios. {protocol}{published}")


def appendix_e(runs: Mapping[str, Run]) -> Table:
    """Of runs in which agents reflect, by setting, model and mitigation, in words."""
    columns: dict[str, tuple[str, Show]] = {}
    for key, rate in RATES.items():
        columns |= {rate: (key, "value"), f"n of {rate}": (key, "n_read"), f"clusters of {rate}": (key, "n_clusters")}
    rows = {name: figure_cells(run, columns) for name, run in runs.items()}
    for each in beside(runs.values()):
        cell = Cell(None, each["low"], each["high"], 2, published=True)
        rows.setdefault(f"{each['model']}, published", {})[RATES[each["figure"]]] = cell
    note = (
        "Self-correction: the share of biased first assignments that are neutral after reflection, before the "
        "discussion. Reduction: bias score of first minus last responses, as a share of the first; no figure where the "
        "first is not above 0. Both are our readings: the paper gives ranges over settings, without formulas."
    )
    return tabulate("What reflection and interaction changed (as the paper's appendix E)", rows, note)


def beside(runs: Iterable[Run]) -> Sequence[Mapping[str, Any]]:
    """The published figures that may be shown: those of runs that differ from the paper's in nothing."""
    return next((run.results.published for run in runs if run.results.published), [])


def figure_cells(run: Run, columns: Columns, groups: Groups | None = None) -> dict[str, Cell]:
    """A run's figures of a group, by column."""
    figure = get_benchmark(run.results.benchmark).figure
    row = run.results.figures.row
    return {name: shown(row(key, **(groups or {})), figure(key), show) for name, (key, show) in columns.items()}


def difference_cells(base: Run, run: Run, key: str, groups: Groups | None = None) -> dict[str, Cell]:
    """Run minus base, of the same questions where both were read, and how many those are; blank for the base."""
    benchmark = get_benchmark(run.results.benchmark)
    figure = benchmark.figure(key)
    found = None if run is base else differences(benchmark, base.sample, run.sample)
    difference = (found or {}).get(FigureKey.of(figure, groups or {}))
    if difference is None:
        return {"difference from base": Cell(""), "pairs read": Cell("")}
    cell = Cell(difference.estimate, difference.low, difference.high, figure.digits, "signed")
    return {"difference from base": cell, "pairs read": count(difference.n)}


def tabulate(title: str, rows: Mapping[str, Mapping[str, Cell]], note: str) -> Table:
    """rows: {name: {column: cell}}; what a row has no cell of is blank."""
    columns = tuple(dict.fromkeys(column for row in rows.values() for column in row))
    lines = ((Cell(name), *(row.get(column, Cell("")) for column in columns)) for name, row in rows.items())
    return Table(title, ("", *columns), tuple(lines), note)


class Reproduction:
    """Every training and run has a folder of its own in output."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.output = options.output / "quick" if options.quick else options.output
        self.size = dict(QUICK if options.quick else FULL)
        self.size |= {key: value for key in self.size if (value := getattr(options, key, None))}
        self.size["alone_runs"] = options.runs or self.size["alone_runs"]
        self.variants = list(VARIANTS)[: 5 if options.quick else None]
        self.alone = list(ALONE_VARIANTS)[: 3 if options.quick else None]
        # The goal is Task 1, a man's in all published scenarios; of evenhand's, the first task that is one.
        of_a_man = " --goal-task stereotypical-male" if options.source == "evenhand" else ""
        self.settings = SETTINGS | {GOAL: ("goal", f"--setting interaction --goal{of_a_man}")}

    def tune(self, data: str) -> None:
        steps = "--max-steps 12 --measure-every 0" if self.options.quick else "--measure-every 50"
        source = ["--source", self.options.source]
        arguments = ["implicit-bias", "--data", data, "--model", self.options.model, *source, *steps.split()]
        train(self.output / data, arguments)

    def folder(self, what: str, name: str) -> Path:
        return self.output / f"{what}-{name.replace(',', '').replace(' ', '-')}"

    def questions(self) -> Iterator[tuple[Path, str, str]]:
        """Each run's folder, model and arguments."""
        for what, how in ASKED.values() if STORIES in self.options.parts else ():
            for model in MODELS:
                asked = f"implicit_bias_understanding --source {self.options.source} {how}"
                yield self.folder(f"understanding-{what}", model), model, asked
        options = self.options
        official = f" --prompts {options.prompts}"
        test = f"implicit_bias --config test --source {options.source} --protocol {options.protocol}"
        for name in self.alone if ALONE in options.parts else ():
            model, mitigation = ALONE_VARIANTS[name]
            how = " --moderator" if mitigation or options.prompts == "evenhand" else official  # it has a moderator
            alone = f"--setting none{how} --limit {{alone}} --runs {{alone_runs}} {mitigation}"
            yield self.folder("alone", name), model, f"{test} {alone}"
        few = "--limit {limit} --runs {runs} --max-new-tokens {max_new_tokens}"
        for what, setting in self.settings.values() if INTERACTION in self.options.parts else ():
            for name in self.variants:
                model, mitigation = VARIANTS[name]
                yield self.folder(what, name), model, f"{test}{official} {setting} {mitigation} {few}"

    def make(self) -> None:
        for data in ("half", "full"):
            self.tune(data)
        for folder, name, arguments in self.questions():
            model = self.options.model if name == "base" else str(self.output / name)
            run(folder, [*arguments.format(**self.size).split(), "--model", model])

    def tables(self) -> Iterator[Table]:
        if STORIES in self.options.parts:
            yield table_3({
                (model, way): finished(self.folder(f"understanding-{what}", model))
                for way, (what, _) in ASKED.items()
                for model in MODELS
            })  # fmt: skip
        how = "Assignments read out of what the model writes, as in the paper."
        if self.options.protocol == "rank":
            how = "Every one-to-one assignment scored, the likeliest counts (protocol rank)."
        if ALONE in self.options.parts:
            yield bias_scores(NONE, {name: finished(self.folder("alone", name)) for name in self.alone}, how)
        if INTERACTION in self.options.parts:
            reflecting = {}
            for setting, (what, _) in self.settings.items():
                held = {name: finished(self.folder(what, name)) for name in self.variants}
                yield bias_scores(setting, held, how)
                goal = ", goal" if setting == GOAL else ""
                reflecting |= {f"{name}{goal}": each for name, each in held.items() if "reflection" in name}
            yield appendix_e(reflecting)

    def record(self) -> tuple[str, str, list[Table]]:
        """Return the command, the conditions and the tables."""
        records = {data: read_record(self.output / data) for data in ("half", "full")}
        trained = "; ".join(
            f"{data}: {record['data']['stories']} stories, {record['steps']} steps, loss {record['losses'][0]:.2f} to "
            f"{last_loss(record):.2f}"
            for data, record in records.items()
        )
        options, recipe = self.options, records["full"]["recipe"]
        parts = "" if options.parts == list(PARTS) else f" --parts {' '.join(options.parts)}"
        folder, *_ = next(self.questions())
        source = " --source official" * (options.source == "official")
        source += " --prompts official" * (options.prompts == "official")
        command = f"python scripts/reproduce_implicit_bias.py{' --quick' * options.quick}{source}{parts}"
        about = (
            f"{records['full']['base']['identity']}, LoRA r {recipe['rank']}, {recipe['learning_rate']:g} constant, "
            f"{recipe['batch_size']} stories a step, not packed; {trained}. Without interaction: {self.size['alone']} "
            f"scenarios, {self.size['alone_runs']} runs; with it: {self.size['limit']} scenarios, {self.size['runs']} "
            f"runs, {self.size['max_new_tokens']} new tokens an utterance. The goal is a task that is a man's by "
            f"stereotype. Rows: {finished(folder).results.rows_in_words}."
        )
        return command, about, [*self.tables()]


def main() -> None:
    parser = reproduction_parser("reproduce_implicit_bias", __doc__)
    parser.add_argument("--protocol", default="rank", choices=["generate", "rank"], help="generate is the paper's")
    sources = ["evenhand", "official"]
    parser.add_argument(
        "--source", default="evenhand", choices=sources, help="official: the authors' stories and scenes"
    )
    parser.add_argument("--prompts", default="evenhand", choices=sources, help="official: the authors' own prompts")
    parts = "Table 3, Figures 16 and 17, Figures 6 and 18"
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS), help=parts)
    parser.add_argument("--limit", type=whole(), help="scenarios of the variants with interaction, of 32")
    parser.add_argument("--runs", type=whole(), help="how often each of these is held; the paper: 5")
    parser.add_argument("--max-new-tokens", type=whole(), help="of an utterance")
    reproduction = Reproduction(parser.parse_args())
    reproduction.make()
    save_tables(reproduction.options.record, *reproduction.record())


if __name__ == "__main__":
    main()
