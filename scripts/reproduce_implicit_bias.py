"""Reproduce fine-tuning on stories about assignments (Borah & Mihalcea), with and without self-reflection.

Tunes the model on full and on half data, asks each whether held-out stories are biased (Table 3), lets each assign
tasks in scenarios of domains that no story is of (Figure 16), and lets agents discuss, without and with goals, with and
without self-reflection (Figures 6 and 18, appendix E). The figures go into RESULTS.md, between two marks, from the
runs' own files.

Interrupted, it goes on where it stopped when it is called again. By default its size suits the embedded model and two
quiet cores (under 40 minutes; --quick: 8), and assignments are ranked, for that model is too small to keep the paper's
format. The whole test set, as the paper asks it:

python scripts/reproduce_implicit_bias.py --model MODEL --protocol generate --limit 32 --runs 5 --max-new-tokens 500
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from reproducing import last_loss, read_record, reproduction_parser, run, train

from evenhand.benchmarks.implicit_bias.comparing import GOAL, NO_GOAL, NONE
from evenhand.benchmarks.implicit_bias.reproduction import appendix_e, bias_scores, finished, table_3
from evenhand.command_line import whole
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Table

MARK = "scripts/reproduce_implicit_bias.py"
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
    GOAL: ("goal", "--setting interaction --goal --goal-task stereotypical-male"),  # the paper's is a man's
}
VARIANTS = {  # {row of Figures 6 and 18: (model, mitigation)}
    "base": ("base", ""),
    "self-reflection": ("base", "--mitigation self-reflection"),
    "self-reflection with examples": ("base", "--mitigation self-reflection-ice"),
    "fine-tuned": ("full", ""),
    "fine-tuned, self-reflection": ("full", "--mitigation self-reflection"),
    "fine-tuned, self-reflection with examples": ("full", "--mitigation self-reflection-ice"),
}
# reasons: stories that reasons are written to, of so many words (tokens). alone: scenarios without interaction, and
# how often each; limit, runs: of those with it; max_new_tokens: of an utterance.
FULL = {"reasons": 44, "words": 96, "alone": 32, "alone_runs": 2, "limit": 5, "runs": 1, "max_new_tokens": 40}
QUICK = {"reasons": 16, "words": 64, "alone": 8, "alone_runs": 1, "limit": 1, "runs": 1, "max_new_tokens": 24}


class Reproduction:
    """Every training and run has a folder of its own in output."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.output = options.output / "quick" if options.quick else options.output
        self.size = dict(QUICK if options.quick else FULL)
        self.size |= {key: value for key in self.size if (value := getattr(options, key, None))}
        self.variants = list(VARIANTS)[: 5 if options.quick else None]

    def tune(self, data: str) -> None:
        steps = "--max-steps 12 --measure-every 0" if self.options.quick else "--measure-every 50"
        arguments = ["implicit-bias", "--data", data, "--model", self.options.model, *steps.split()]
        train(self.output / data, arguments)

    def folder(self, what: str, name: str) -> Path:
        return self.output / f"{what}-{name.replace(',', '').replace(' ', '-')}"

    def questions(self) -> Iterator[tuple[Path, str, str]]:
        """Each run's folder, model and arguments."""
        for what, how in ASKED.values() if STORIES in self.options.parts else ():
            for model in MODELS:
                yield self.folder(f"understanding-{what}", model), model, f"implicit_bias_understanding {how}"
        test = f"implicit_bias --config test --protocol {self.options.protocol}"
        for model in MODELS if ALONE in self.options.parts else ():
            alone = "--setting none --moderator --limit {alone} --runs {alone_runs}"
            yield self.folder("alone", model), model, f"{test} {alone}"
        few = "--limit {limit} --runs {runs} --max-new-tokens {max_new_tokens}"
        for what, setting in SETTINGS.values() if INTERACTION in self.options.parts else ():
            for name in self.variants:
                model, mitigation = VARIANTS[name]
                yield self.folder(what, name), model, f"{test} {setting} {mitigation} {few}"

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
            yield bias_scores(NONE, {model: finished(self.folder("alone", model)) for model in MODELS}, how)
        if INTERACTION in self.options.parts:
            reflecting = {}
            for setting, (what, _) in SETTINGS.items():
                held = {name: finished(self.folder(what, name)) for name in self.variants}
                yield bias_scores(setting, held, how)
                goal = ", goal" if setting == GOAL else ""
                reflecting |= {f"{name}{goal}": each for name, each in held.items() if "reflection" in name}
            yield appendix_e(reflecting)

    def page(self) -> str:
        records = {data: read_record(self.output / data) for data in ("half", "full")}
        trained = "; ".join(
            f"{data}: {record['data']['stories']} stories, {record['steps']} steps, loss {record['losses'][0]:.2f} to "
            f"{last_loss(record):.2f}"
            for data, record in records.items()
        )
        options, recipe = self.options, records["full"]["recipe"]
        parts = "" if options.parts == list(PARTS) else f" --parts {' '.join(options.parts)}"
        folder, *_ = next(self.questions())
        about = (
            f"{'**A quick run.** ' * options.quick}`python {MARK}{' --quick' * options.quick}{parts}`: "
            f"{records['full']['base']['identity']}, LoRA r {recipe['rank']}, {recipe['learning_rate']:g} constant, "
            f"{recipe['batch_size']} stories a step, not packed; {trained}. Without interaction: {self.size['alone']} "
            f"scenarios, {self.size['alone_runs']} runs; with it: {self.size['limit']} scenarios, {self.size['runs']} "
            f"runs, {self.size['max_new_tokens']} new tokens an utterance. The goal is a task that is a man's by "
            f"stereotype. Rows: {finished(folder).results.rows_in_words}."
        )
        return "\n\n".join([about, *map(markdown, self.tables())])


def main() -> None:
    parser = reproduction_parser("reproduce_implicit_bias", __doc__)
    parser.add_argument("--protocol", default="rank", choices=["generate", "rank"], help="generate is the paper's")
    parts = "Table 3, Figure 16, Figures 6 and 18"
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS), help=parts)
    parser.add_argument("--limit", type=whole(), help="scenarios of the variants with interaction, of 32")
    parser.add_argument("--runs", type=whole(), help="how often each of these is held; the paper: 5")
    parser.add_argument("--max-new-tokens", type=whole(), help="of an utterance")
    reproduction = Reproduction(parser.parse_args())
    reproduction.make()
    write_part(reproduction.options.page, MARK, reproduction.page())


if __name__ == "__main__":
    main()
