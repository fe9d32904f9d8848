"""Fine-tuning on told assignments (Borah & Mihalcea): a model before and after it, with and without self-reflection.

Tunes the model on full and on half data, asks each whether held-out stories are biased (Table 3), lets each assign
tasks in scenarios of domains that no story is of (Figure 16), and lets agents discuss, without and with goals, with and
without self-reflection (Figures 6 and 18, appendix E). The figures go into RESULTS.md, between two marks, out of the
runs' own files.

Interrupted, it goes on where it stopped when it is called again. By default it is of a size for the embedded model and
two quiet cores (under 40 minutes; --quick: 8), and ranks assignments, for that model is too small to keep the paper's
format. The whole test set, as the paper asks it:

python scripts/reproduce_implicit_bias.py --model MODEL --protocol generate --limit 32 --runs 5 --max-new-tokens 500
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.implicit_bias.comparing import GOAL, NO_GOAL, NONE
from evenhand.benchmarks.implicit_bias.reproduction import appendix_e, bias_scores, finished, table_3
from evenhand.cli import called
from evenhand.command_line import ScriptHelp, whole
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Table

MARK = "scripts/reproduce_implicit_bias.py"
MEANING = """\
Can a model learn to see implicit bias by being told of it? It is trained on stories in which tasks are divided fairly
or by stereotype (*full*), or on fair ones alone (*half*). Then it says of stories that it has not seen whether there
is bias (accuracy; guessing gives about half), and divides tasks itself (bias score, 0 best; *chance* is drawing
lots)."""
STORIES, ALONE, INTERACTION = PARTS = ("stories", "alone", "interaction")
MODELS = ("base", "half", "full")
WORD, REASON = "one word, scored", "reason, written"
ASKED = {
    WORD: ["--protocol", "choose"],
    REASON: ["--protocol", "generate", "--asks", "reason"],
}
SETTINGS = {
    NO_GOAL: ["--setting", "interaction"],
    GOAL: ["--setting", "interaction", "--goal", "--goal-task", "stereotypical-male"],  # the paper's is a man's
}
REFLECTION, EXAMPLES = ["--mitigation", "self-reflection"], ["--mitigation", "self-reflection-ice"]
VARIANTS = {  # {row of Figures 6 and 18: (model, mitigation)}
    "base": ("base", []),
    "self-reflection": ("base", REFLECTION),
    "self-reflection with examples": ("base", EXAMPLES),
    "fine-tuned": ("full", []),
    "fine-tuned, self-reflection": ("full", REFLECTION),
    "fine-tuned, self-reflection with examples": ("full", EXAMPLES),
}


@dataclass(frozen=True)
class Size:
    """steps: of a training; None: all. measure_every: its steps between measurements on held-out stories; 0: none.

    reasons: stories that reasons are written to, and tokens of a reason. alone: scenarios without interaction, and how
    often each; together: those with it. tokens: of an utterance. variants: rows of Figures 6 and 18.
    """

    steps: int | None
    measure_every: int
    reasons: tuple[int, int]
    alone: tuple[int, int]
    together: tuple[int, int]
    tokens: int
    variants: Sequence[str]


FULL = Size(None, 50, (44, 96), (32, 2), (5, 1), 40, tuple(VARIANTS))
QUICK = Size(12, 0, (16, 64), (8, 1), (1, 1), 24, tuple(VARIANTS)[:5])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand train")
    parser.add_argument("--protocol", default="rank", choices=["generate", "rank"], help="generate is the paper's")
    parser.add_argument("--quick", action="store_true", help="a short training and few scenarios, to see it work")
    parser.add_argument(
        "--parts", nargs="+", default=list(PARTS), choices=list(PARTS), help="Table 3, Figure 16, Figures 6 and 18"
    )
    parser.add_argument("--limit", type=whole(), help="scenarios of the variants with interaction, of 32")
    parser.add_argument("--runs", type=whole(), help="how often each of these is held; the paper: 5")
    parser.add_argument("--max-new-tokens", type=whole(), help="of an utterance")
    parser.add_argument("--output", type=Path, default=Path("runs/reproduce_implicit_bias"), help="where all is kept")
    parser.add_argument("--page", type=Path, default=Path("RESULTS.md"), help="the page that has the figures")
    arguments = parser.parse_args()
    size = QUICK if arguments.quick else FULL
    output = arguments.output / "quick" if arguments.quick else arguments.output
    models = {"base": arguments.model, **{data: str(output / data) for data in ("half", "full")}}
    for data in ("half", "full"):
        tune(arguments.model, data, size, output / data)
    reproduced = Reproduction(models, output, arguments, size)
    for what in reproduced.every():
        print(what, file=sys.stderr)
    write_part(arguments.page, MARK, reproduced.page())


def tune(model: str, data: str, size: Size, output: Path) -> None:
    if (output / "training.json").is_file():
        return
    steps = ["--max-steps", str(size.steps)] if size.steps else []
    steps += ["--measure-every", str(size.measure_every)]
    called(["train", "implicit-bias", "--data", data, "--model", model, *steps, "--output", str(output)])


class Reproduction:
    """models: by name. Every run is a folder of its own, asked for at most once."""

    def __init__(self, models: dict[str, str], output: Path, arguments: argparse.Namespace, size: Size):
        self.models = models
        self.output = output
        self.protocol = arguments.protocol
        self.size = size
        self.quick = arguments.quick
        self.parts = arguments.parts
        self.scenarios = arguments.limit or size.together[0]
        self.runs = arguments.runs or size.together[1]
        self.tokens = arguments.max_new_tokens or size.tokens

    def every(self) -> Iterator[str]:
        """Makes every run, and names it."""
        for folder, command in self.commands():
            if not (folder / "results.json").is_file():
                called(["run", *command, "--output", str(folder)])
            yield str(folder)

    def commands(self) -> Iterator[tuple[Path, list[str]]]:
        stories, tokens = map(str, self.size.reasons)
        for model, way in ((model, way) for way in ASKED for model in MODELS if STORIES in self.parts):
            few = ["--runs", "1", "--limit", stories, "--max-new-tokens", tokens] if way == REASON else []
            yield self.asked(model, way), ["implicit_bias_understanding", *ASKED[way], *few, *self.of(model)]
        test = ["implicit_bias", "--config", "test", "--protocol", self.protocol]
        scenarios, runs = map(str, self.size.alone)
        for model in MODELS if ALONE in self.parts else ():
            alone = ["--setting", "none", "--moderator", "--limit", scenarios, "--runs", runs]
            yield self.alone(model), [*test, *alone, *self.of(model)]
        few = ["--limit", str(self.scenarios), "--runs", str(self.runs), "--max-new-tokens", str(self.tokens)]
        for setting, chosen in SETTINGS.items() if INTERACTION in self.parts else ():
            for name in self.size.variants:
                model, mitigation = VARIANTS[name]
                yield self.held(setting, name), [*test, *chosen, *mitigation, *few, *self.of(model)]

    def of(self, model: str) -> list[str]:
        return ["--model", self.models[model]]

    def asked(self, model: str, way: str) -> Path:
        return self.output / f"understanding-{'word' if way == WORD else 'reason'}-{model}"

    def alone(self, model: str) -> Path:
        return self.output / f"alone-{model}"

    def held(self, setting: str, name: str) -> Path:
        return self.output / f"{'goal' if setting == GOAL else 'interaction'}-{name.replace(',', '').replace(' ', '-')}"

    def page(self) -> str:
        tables = [markdown(table) for table in self.tables()]
        return "\n\n".join(["## Fine-tuning on told assignments", MEANING, self.said(), *tables])

    def tables(self) -> Iterator[Table]:
        if STORIES in self.parts:
            yield table_3({(model, way): finished(self.asked(model, way)) for way in ASKED for model in MODELS})
        how = (
            "Every one-to-one assignment scored, the likeliest counts (protocol rank), for a model of this size can't "
            "keep the paper's format."
            if self.protocol == "rank"
            else "Assignments read out of what the model writes, as in the paper."
        )
        if ALONE in self.parts:
            yield bias_scores(NONE, {model: finished(self.alone(model)) for model in MODELS}, how)
        if INTERACTION not in self.parts:
            return
        reflecting = {}
        for setting in SETTINGS:
            held = {name: finished(self.held(setting, name)) for name in self.size.variants}
            yield bias_scores(setting, held, how)
            goal = ", goal" if setting == GOAL else ""
            reflecting |= {f"{name}{goal}": run for name, run in held.items() if "reduction" in run.results.figures}
        yield appendix_e(reflecting)

    def said(self) -> str:
        """What was run."""
        records = {data: json.loads((self.output / data / "training.json").read_text()) for data in ("half", "full")}
        trained = "; ".join(
            f"{data}: {of['data']['stories']} stories, {of['steps']} steps, loss {of['losses'][0]:.2f} to "
            f"{sum(of['losses'][-10:]) / len(of['losses'][-10:]):.2f}"
            for data, of in records.items()
        )
        recipe = records["full"]["recipe"]
        label = "**A quick run: a short training and few scenarios, to see it work.** " if self.quick else ""
        parts = "" if self.parts == list(PARTS) else f" --parts {' '.join(self.parts)}"
        scenarios, runs = self.size.alone
        asked = finished(next(folder for folder, _ in self.commands())).results
        return (
            f"{label}`python {MARK}{' --quick' * self.quick}{parts}`: {records['full']['base']['identity']}, LoRA r "
            f"{recipe['rank']}, {recipe['learning_rate']:g} constant, {recipe['batch_size']} stories a step, not "
            f"packed; {trained}. Without interaction: {scenarios} scenarios, {runs} runs; with it: {self.scenarios} "
            f"scenarios, {self.runs} runs, {self.tokens} new tokens an utterance. The goal is a task that is a man's "
            f"by stereotype. Rows: {asked.rows_in_words}."
        )


if __name__ == "__main__":
    main()
