"""Fine-tuning on told assignments (Borah & Mihalcea): a model before and after it, with and without self-reflection.

Tunes the model on full and on half data, asks each whether held-out stories are biased (Table 3), lets each assign
tasks in scenarios of domains that no story is of (Figure 16), and lets agents discuss, without and with goals, with and
without self-reflection (Figures 6 and 18, appendix E). The figures go into RESULTS.md, between two marks, out of the
runs' own files.

Interrupted, it goes on where it stopped when it is called again. By default it is of a size for the embedded model and
two cores (40 minutes; --quick: 8), and ranks assignments, for that model is too small to keep the paper's format. The
whole test set, as the paper asks it:

python scripts/reproduce_implicit_bias.py --model MODEL --protocol generate --limit 32 --runs 5 --max-new-tokens 500
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.implicit_bias.published import GOAL, NO_GOAL, NONE
from evenhand.benchmarks.implicit_bias.reproduction import Finished, appendix_e, bias_scores, table_3
from evenhand.cli import main as evenhand
from evenhand.command_line import ScriptHelp, whole
from evenhand.report.markdown import markdown, write_part

PART = "scripts/reproduce_implicit_bias.py"
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
    """steps: of a training; None: all. reasons: runs of written reasons. alone, runs_alone: scenarios, and how often
    each; scenarios, runs: of those with interaction. variants: rows of Figures 6 and 18.
    """

    steps: int | None
    reasons: int
    alone: int
    runs_alone: int
    scenarios: int
    runs: int
    tokens: int
    variants: Sequence[str]


FULL = Size(None, 1, 32, 5, 6, 1, 40, tuple(VARIANTS))
QUICK = Size(30, 1, 16, 1, 2, 1, 24, tuple(VARIANTS)[:5])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand train")
    parser.add_argument("--protocol", default="rank", choices=["generate", "rank"], help="generate is the paper's")
    parser.add_argument("--quick", action="store_true", help="a short training and few scenarios, to see it work")
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
    write_part(arguments.page, PART, reproduced.page())


def called(arguments: Sequence[str]) -> None:
    """The command line's command, whose failure ends this."""
    if code := evenhand(list(arguments)):
        sys.exit(code)


def tune(model: str, data: str, size: Size, output: Path) -> None:
    if (output / "training.json").is_file():
        return
    steps = ["--max-steps", str(size.steps)] if size.steps else []
    called(["train", "implicit-bias", "--data", data, "--model", model, *steps, "--output", str(output)])


class Reproduction:
    """models: by name. Every run is a folder of its own, asked for at most once."""

    def __init__(self, models: dict[str, str], output: Path, arguments: argparse.Namespace, size: Size):
        self.models = models
        self.output = output
        self.protocol = arguments.protocol
        self.size = size
        self.quick = arguments.quick
        self.scenarios = arguments.limit or size.scenarios
        self.runs = arguments.runs or size.runs
        self.tokens = arguments.max_new_tokens or size.tokens

    def every(self) -> Iterator[str]:
        """Makes every run, and names it."""
        for folder, command in self.commands():
            if not (folder / "results.json").is_file():
                called(["run", *command, "--output", str(folder)])
            yield str(folder)

    def commands(self) -> Iterator[tuple[Path, list[str]]]:
        for model, way in ((model, way) for way in ASKED for model in MODELS):
            runs = ["--runs", str(self.size.reasons)] if way == REASON else []
            yield self.asked(model, way), ["implicit_bias_understanding", *ASKED[way], *runs, *self.of(model)]
        test = ["implicit_bias", "--config", "test", "--protocol", self.protocol]
        for model in MODELS:
            alone = ["--setting", "none", "--limit", str(self.size.alone), "--runs", str(self.size.runs_alone)]
            yield self.alone(model), [*test, *alone, *self.of(model)]
        written = ["--limit", str(self.scenarios), "--runs", str(self.runs), "--max-new-tokens", str(self.tokens)]
        for setting, chosen in SETTINGS.items():
            for name in self.size.variants:
                model, mitigation = VARIANTS[name]
                yield self.held(setting, name), [*test, *chosen, *mitigation, *written, *self.of(model)]

    def of(self, model: str) -> list[str]:
        return ["--model", self.models[model]]

    def asked(self, model: str, way: str) -> Path:
        return self.output / f"understanding-{'word' if way == WORD else 'reason'}-{model}"

    def alone(self, model: str) -> Path:
        return self.output / f"alone-{model}"

    def held(self, setting: str, name: str) -> Path:
        return self.output / f"{'goal' if setting == GOAL else 'interaction'}-{name.replace(',', '').replace(' ', '-')}"

    def page(self) -> str:
        asked = {(model, way): Finished.of(self.asked(model, way)) for way in ASKED for model in MODELS}
        alone = {model: Finished.of(self.alone(model)) for model in MODELS}
        held = {
            setting: {name: Finished.of(self.held(setting, name)) for name in self.size.variants}
            for setting in SETTINGS
        }
        how = (
            "Every one-to-one assignment scored, the likeliest counts (protocol rank), for a model of this size can't "
            "keep the paper's format."
            if self.protocol == "rank"
            else "Assignments read out of what the model writes, as in the paper."
        )
        reflecting = {
            f"{name}{', goal' if setting == GOAL else ''}": run
            for setting, runs in held.items()
            for name, run in runs.items()
            if "self_correction" in run.results.metrics
        }
        tables = [
            table_3(asked),
            bias_scores(NONE, alone, how),
            *(bias_scores(setting, runs, how) for setting, runs in held.items()),
            appendix_e(reflecting),
        ]
        return "\n\n".join(["## Fine-tuning on told assignments", self.said(asked), *map(markdown, tables)])

    def said(self, asked: dict[tuple[str, str], Finished]) -> str:
        """What was run."""
        records = {data: json.loads((self.output / data / "training.json").read_text()) for data in ("half", "full")}
        trained = "; ".join(
            f"{data}: {of['data']['stories']} stories, {of['steps']} steps, loss {of['losses'][0]:.2f} to "
            f"{sum(of['losses'][-10:]) / len(of['losses'][-10:]):.2f}"
            for data, of in records.items()
        )
        name = asked["base", WORD].results.model_name
        recipe = records["full"]["recipe"]
        label = "**A quick run: a short training and few scenarios, to see it work.** " if self.quick else ""
        command = f"`python {PART}{' --quick' if self.quick else ''}`"
        return (
            f"{label}{command}: {name}, LoRA r {recipe['rank']}, {recipe['learning_rate']:g} constant, "
            f"{recipe['batch_size']} stories a step, not packed, {trained}. No interaction: {self.size.alone} "
            f"scenarios, {self.size.runs_alone} runs; with it: {self.scenarios} scenarios, {self.runs} runs, "
            f"{self.tokens} new tokens an utterance. The goal is a task that is a man's by stereotype."
        )


if __name__ == "__main__":
    main()
