"""Ways to make one model less biased, side by side, each with the same tokens to learn from, on the same questions.

An instruction before the question (Ganguli et al. 2023), Social Contact Debiasing (Raj et al. 2024), the expected
score, DPO and GRPO: the trainings learn from one cut of contact_hypothesis whose test shares neither situations nor
groups, and end once as many tokens were computed to learn from. A seed draws the cut, the order and the adapter's
beginning. Each checkpoint is asked situations held out, the new half, controls that tell less bias from a polarity,
BBQ, utility, and whom it gives which task. The figures go into RESULTS.md, between two marks, out of the runs' own
files, with a drawing of bias against utility.

Interrupted, it goes on where it stopped when it is called again. Of a size for the embedded model and two quiet cores.
BBQ's published files are fetched, or read from the folder that EVENHAND_SOURCES names.
"""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.bbq.files import available_configs
from evenhand.benchmarks.contact_controls.verdict import short_verdict
from evenhand.cli import called
from evenhand.command_line import ScriptHelp, whole
from evenhand.figure import FigureTable, Sample
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.report.comparison import compare
from evenhand.report.markdown import markdown, write_part
from evenhand.report.plots import points
from evenhand.report.tables import Cell, Table, cell, count
from evenhand.statistics.clustered import Difference
from evenhand.statistics.estimators import Share
from evenhand.statistics.families import holm
from evenhand.whole_files import write_whole

MARK = "scripts/reproduce_methods.py"
MEANING = """\
Which way of making a model less biased gives most for the same work, and what does it cost elsewhere? Each training
learns from as many tokens; then all are asked the same questions: situations and groups that none has seen (0 % is
best, chance is 50), controls in which what sounds kind is wrong, other benchmarks, and plain questions and texts, which
show whether the model still works."""
BASE, INSTRUCTION = UNTRAINED = ("base", "instruction")
RATE = 3e-4  # Raj et al.'s, for all: none of the methods' own was looked for
TRAININGS = {
    # Raj et al.'s examples and rate; all linear layers, and near the base, as scripts/reproduce_scd.py tunes.
    "SCD": "social-contact --targets all-linear --batch-size 12 --accumulation 1 --divergence 1",
    "expected score": "expected-score",
    # Padded batches compute a prompt as often as it is read: small ones leave more steps.
    "DPO": f"preference --pairs targets --batch-size 4 --accumulation 1 --learning-rate {RATE}",
    "GRPO": f"reward --algorithm grpo --group-size 8 --batch-size 8 --accumulation 2 --learning-rate {RATE}",
}
HELD_OUT, NEW, CONTROLS, BBQ, UTILITY, TASKS = "held-out", "new", "controls", "bbq", "utility", "tasks"
PREFERRED = ("age", "gender_identity")  # of BBQ's categories, where their files are at hand
STEP = 720  # tokens that a step of SCD computes to learn from, of twelve examples in a tree: evenhand train --plan


@dataclass(frozen=True)
class Size:
    """tokens: computed to learn from, in each training. sets: of prompts, of each run of contact_hypothesis; rows: of
    BBQ; scenarios: of implicit_bias; plain: questions and texts of utility, None: all.
    """

    tokens: int
    seeds: tuple[int, ...]
    sets: int
    rows: int
    scenarios: int
    plain: int | None


FULL = Size(60 * STEP, (0, 1), 120, 240, 24, None)
QUICK = Size(30 * STEP, (0,), 24, 48, 4, 60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand train")
    parser.add_argument("--quick", action="store_true", help="half the tokens, one seed, few prompts, to see it work")
    parser.add_argument("--methods", nargs="+", default=list(TRAININGS), choices=list(TRAININGS), help="of training")
    parser.add_argument("--tokens", type=whole(), help=f"of each training; a step of SCD has some {STEP}")
    parser.add_argument("--bbq", nargs="*", metavar="CATEGORY", help="by default two at hand; without names none")
    parser.add_argument("--output", type=Path, default=Path("runs/reproduce_methods"), help="where all is kept")
    parser.add_argument("--page", type=Path, default=Path("RESULTS.md"), help="the page that has the figures")
    parser.add_argument("--drawing", type=Path, default=Path("docs/methods.svg"), help="bias against utility")
    arguments = parser.parse_args()
    size = QUICK if arguments.quick else FULL
    work = Methods(
        arguments.model,
        size,
        arguments.tokens or size.tokens,
        two_at_hand() if arguments.bbq is None else tuple(arguments.bbq),
        arguments.output / ("quick" if arguments.quick else "full"),
    )
    done: list[Checkpoint] = []
    for each in work.checkpoints(arguments.methods):
        work.make(each)
        done.append(each)
        if not each.untrained:
            arguments.drawing.parent.mkdir(parents=True, exist_ok=True)
            write_whole(arguments.drawing, work.drawn(done))
            drawing = os.path.relpath(arguments.drawing, arguments.page.parent)
            write_part(arguments.page, MARK, work.page(done, drawing, arguments.quick))


def two_at_hand() -> tuple[str, ...]:
    found = available_configs()
    return tuple(sorted(found, key=lambda name: name not in PREFERRED)[:2])


@dataclass(frozen=True)
class Checkpoint:
    method: str
    seed: int

    @property
    def untrained(self) -> bool:
        return self.method in UNTRAINED


@dataclass(frozen=True)
class Methods:
    """Every training and run has a folder of its own in output, and is made at most once."""

    base: str
    size: Size
    tokens: int
    categories: tuple[str, ...]
    output: Path

    def checkpoints(self, trainings: Sequence[str]) -> Iterator[Checkpoint]:
        for seed in self.size.seeds:
            for method in (*UNTRAINED, *trainings):
                yield Checkpoint(method, seed)

    def make(self, of: Checkpoint) -> None:
        if not of.untrained and not (self.trained(of) / "training.json").is_file():
            # Two epochs' worth of prompt sets at least for any method; the tokens end it long before.
            recipe = f"{TRAININGS[of.method]} --setting disjoint --limit 480 --epochs 20 --seed {of.seed}"
            recipe += f" --max-tokens {self.tokens} --measure-every 0"
            called(["train", *recipe.split(), "--model", self.base, "--output", str(self.trained(of))])
        for what, command in self.asked(of.seed).items():
            folder = self.folder(of, what)
            if not (folder / "results.json").is_file():
                mitigation = ["--mitigation", "unbiased-instruction"] if of.method == INSTRUCTION else []
                model = self.base if of.untrained else str(self.trained(of))
                called(["run", *command.split(), *mitigation, "--model", model, "--output", str(folder)])

    def asked(self, seed: int) -> dict[str, str]:
        """The command of each run, but for its model."""
        few = f"--limit {self.size.sets}"
        asked = {
            HELD_OUT: f"contact_hypothesis --held-out disjoint --held-out-seed {seed} {few}",
            NEW: f"contact_hypothesis --config new_certainty new_likelihood new_frequency {few}",
            CONTROLS: "contact_controls",
            BBQ: f"bbq --config {' '.join(self.categories)} --limit {self.size.rows}",
            UTILITY: "utility" + (f" --limit {self.size.plain}" if self.size.plain else ""),
            TASKS: f"implicit_bias --config test --protocol rank --setting none --runs 1 --limit {self.size.scenarios}",
        }
        return {what: command for what, command in asked.items() if what != BBQ or self.categories}

    def trained(self, of: Checkpoint) -> Path:
        return self._place(of, "model")

    def folder(self, of: Checkpoint, what: str) -> Path:
        """What isn't tuned is asked once, but for situations held out, which the seed draws."""
        return self._place(Checkpoint(of.method, 0) if of.untrained and what != HELD_OUT else of, what)

    def _place(self, of: Checkpoint, what: str) -> Path:
        return self.output / f"{of.method.lower().replace(' ', '-')}-{of.seed}" / what

    def results(self, of: Checkpoint, what: str) -> Results:
        return RunFolder.open(self.folder(of, what)).read_results()

    def figures(self, of: Checkpoint, what: str) -> FigureTable:
        return self.results(of, what).figures

    def sample(self, of: Checkpoint, what: str) -> Sample:
        run = RunFolder.open(self.folder(of, what))
        return get_benchmark(run.read_config().benchmark).sample(run.read_predictions())

    def record(self, of: Checkpoint) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.trained(of) / "training.json").read_text("utf-8"))
        return found

    def page(self, done: Sequence[Checkpoint], drawing: str, quick: bool) -> str:
        trained = [of for of in done if not of.untrained]
        records = [self.record(of) for of in trained]
        tokens = "" if self.tokens == self.size.tokens else f" --tokens {self.tokens}"
        said = (
            f"{'**A quick run.** ' if quick else ''}`python {MARK}{' --quick' * quick}{tokens}`: "
            f"{records[0]['base']['identity']}, adapters of rank {records[0]['recipe']['rank']} on all linear layers, "
            f"{RATE:g} constant for all methods. "
            f"Each training ended at the first step after which {self.tokens:,} tokens had been computed to learn from "
            f"(a step of SCD has some {STEP}): what prompts share is computed once where batches are trees (SCD, "
            "expected score), so that the same tokens hold more answers there. A seed draws the cut, the order and the "
            "adapter's beginning. Brackets: 95 % interval; with so few seeds none of it is over seeds. "
            f"Rows: {self.results(done[0], HELD_OUT).rows_in_words}."
        )
        of_bbq = [self.bbq(done)] if self.categories else []
        tables = (self.bias(done), self.axes(done), *of_bbq, self.otherwise(done), self.elsewhere(done), cost(records))
        drawn = f"![biased answers held out, against perplexity of neutral text]({drawing})"
        return "\n\n".join(["## Methods with the same tokens", MEANING, said, *map(markdown, tables), drawn])

    def bias(self, done: Sequence[Checkpoint]) -> Table:
        """Answers on contact_hypothesis, with paired differences from the base, and controls."""
        compared = {  # by folder: what was asked once is one test, whatever the seed
            self.folder(of, what): (of, what) for of in done if of.method != BASE for what in (HELD_OUT, NEW)
        }
        differences = {folder: self.against_base(*which) for folder, which in compared.items()}
        adjusted = dict(zip(differences, holm([each.p_value for each in differences.values()])))
        rows = []
        for of in done:
            asked = {what: self.results(of, what) for what in (HELD_OUT, NEW, CONTROLS)}
            cells: list[Cell] = []
            for what in (HELD_OUT, NEW):
                folder = self.folder(of, what)
                found = differences.get(folder)
                p = Cell("") if found is None else Cell(adjusted[folder], digits=3, style="p")
                cells += [cell(asked[what].figures.row("biased")), _difference(found), p]
            scales = [each.groups["scale"] for each in asked[HELD_OUT].warned("constant_answer") if each.groups]
            controls = asked[CONTROLS].figures
            cells += [Cell(", ".join(scales) or "none"), cell(controls.row("against_ideal"))]
            cells.append(Cell(short_verdict(controls)))
            rows.append((*_named(of), *cells, *(count(each.n - each.n_read) for each in asked.values())))
        note = (
            f"{3 * self.size.sets:,} answers each held out and of the new half, 280 controls. The "
            "new half shares groups with what was trained on, but no situations. What isn't tuned was asked the new "
            "half and the controls once, and stands in both seeds' rows. "
            "Minus base: paired, on the same prompts, of situations and descriptors drawn anew; p adjusted by Holm "
            f"over the {len(differences)} differences. Constant: scales on which nearly all held out get one answer. "
            "Chance: 50. The verdict is of how kind and how unkind actions are answered, where their sound is right "
            "and where it is wrong; what each word claims stands on the card of contact_controls. None of them but "
            "ideal is called debiased."
        )
        columns = (
            *("held out", "minus base", "p", "new half", "minus base", "p", "constant"),
            *("controls wrong", "controls' verdict", "unread held out", "of the new half", "of the controls"),
        )
        return _table("Biased answers, %", columns, rows, note)

    def against_base(self, of: Checkpoint, what: str) -> Difference:
        """Of the percentage of biased answers, over all scales."""
        found = Share("biased").difference(self.sample(Checkpoint(BASE, of.seed), what), self.sample(of, what))
        assert found is not None
        return found

    def axes(self, done: Sequence[Checkpoint]) -> Table:
        """Each dimension by itself: that one gets better may be paid by another."""
        shares = [
            {row.groups["axis"]: row.value for row in self.figures(of, HELD_OUT).rows("biased", "axis")} for of in done
        ]
        names = sorted(set().union(*shares))
        rows = [
            (*_named(of), *(Cell(found.get(name), digits=0, missing="") for name in names))
            for of, found in zip(done, shares)
        ]
        note = (
            "Of few answers each, without intervals: a dimension has from nine to some fifty. One answer to all is "
            "biased where a dimension's questions happen to want the other; an empty cell: none was drawn."
        )
        return _table("Biased answers held out by dimension, %", [name.replace("_", " ") for name in names], rows, note)

    def bbq(self, done: Sequence[Checkpoint]) -> Table:
        shown = [(figure, context) for figure in ("accuracy", "bias_score") for context in ("ambig", "disambig")]
        rows = []
        for of in done:
            table = self.figures(of, BBQ)
            cells = [cell(table.row(figure, context_condition=context)) for figure, context in shown]
            same_person = [Cell(row.value, digits=0) for row in table.rows("same_person", "context_condition")]
            rows.append((*_named(of), *cells, *same_person))
        same = ("same person, %: ambiguous", "disambiguated")
        columns = ("accuracy, ambiguous", "disambiguated", "bias score, ambiguous", "disambiguated", *same)
        note = (
            f"{', '.join(self.categories)}; {self.size.rows} rows. Accuracy of random answers: 33; best bias score: 0. "
            "Same person: named to a question and to its opposite; near 100 the question was not heeded, and a bias "
            "score near 0 then says nothing of bias."
        )
        return _table("BBQ", columns, rows, note)

    def otherwise(self, done: Sequence[Checkpoint]) -> Table:
        """What became of the model on what it was not tuned for."""
        rows = []
        chance = self.figures(done[0], TASKS).row("bias_score").chance  # None where no answer was read
        by_chance = "–" if chance is None else f"{chance:.2f}"
        for of in done:
            utility, tasks = self.figures(of, UTILITY), self.figures(of, TASKS)
            cells = [
                cell(utility.row("perplexity"), 2),
                *(cell(utility.row(key)) for key in ("accuracy", "refusal_rate")),
            ]
            rows.append((*_named(of), *cells, cell(tasks.row("bias_score"), 2)))
        columns = ("perplexity", "questions right, %", "refused, %", "implicit_bias")
        note = (
            "Perplexity of neutral texts; no instruction stands before these. implicit_bias: bias score of tasks given "
            f"to people, without interaction, {self.size.scenarios} scenarios; 0 is best, random answers "
            f"have {by_chance}. Questions right: within 24 tokens, which cut most answers off: who is brief gains."
        )
        return _table("Utility and spillover", columns, rows, note)

    def elsewhere(self, done: Sequence[Checkpoint]) -> Table:
        """Paired differences from the base on what no method was tuned for."""
        asked = [what for what in (BBQ, UTILITY, TASKS) if what != BBQ or self.categories]
        rows: list[dict[str, Cell]] = []
        for of in done:
            if of.method == BASE:
                continue
            row = dict(zip(("method", "seed"), _named(of)))
            for what in asked:
                found = compare(self.folder(Checkpoint(BASE, of.seed), what), self.folder(of, what)).differences
                row |= {name: _difference(each, digits=2) for name, each in found.items()}
            rows.append(row)
        names = list(dict.fromkeys(name for row in rows for name in row if name not in ("method", "seed")))
        note = (
            "Paired, on the same rows; brackets: 95 % interval of each difference alone. From accuracy to refusal "
            "rate: utility; the exponential of log perplexity's difference is the ratio of perplexities. All "
            "responses: implicit_bias."
        )
        cells = [(row["method"], row["seed"], *(row.get(name, Cell("")) for name in names)) for row in rows]
        return _table("Minus the base, elsewhere", names, cells, note)

    def drawn(self, done: Sequence[Checkpoint]) -> str:
        drawn: dict[str, list[tuple[float, float, Sequence[float | None]]]] = {}
        for of in done:
            row, perplexity = self.figures(of, HELD_OUT).row("biased"), self.figures(of, UTILITY).row("perplexity")
            drawn.setdefault(of.method, []).append((perplexity.value, row.value, row.interval or ()))
        return points(drawn, "perplexity of neutral text (lower is better)", "biased answers held out, %")


def cost(records: Sequence[dict[str, Any]]) -> Table:
    names = {command.split()[0]: method for method, command in TRAININGS.items()}
    kept = {"divergence": "divergence from the base ×", "beta": "beta", "clip": "clip", "dropout": "dropout"}
    recipes = {names[each["trainer"]]: each["recipe"] for each in records}
    defaults = [
        f"{name}: {', '.join(f'{told} {recipe[key]:g}' for key, told in kept.items() if recipe.get(key) is not None)}"
        for name, recipe in recipes.items()
    ]
    rows = []
    for each in records:
        recipe, tokens = each["recipe"], each["computed_tokens"]
        rows.append(
            (
                Cell(names[each["trainer"]]),
                Cell(str(recipe["seed"])),
                count(each["steps"]),
                Cell(each["steps"] * questions_a_step(each), style="count"),
                count(tokens["learned"]),
                count(tokens["otherwise"]),
                Cell(each["seconds_since_last_start"] / 60),
                Cell(each["packing"]),
                Cell(", ".join(part for part in (each["note"], _unread_on_the_way(each)) if part)),
            )
        )
    columns = ("steps", "questions", "tokens learned from", "tokens computed otherwise", "minutes", "batches", "")
    note = (
        f"By default {'; '.join(defaults)}. "
        "Otherwise: what the base says of the same prompts (SCD, expected score, DPO), or answers that are written "
        "(GRPO). Minutes: of the training since it was last started."
    )
    return _table("What it took", columns, rows, note)


def _unread_on_the_way(record: dict[str, Any]) -> str:
    """Of answers that were written to learn from."""
    shares = [each for each in (record.get("over_steps") or {}).get("answers unread, %", []) if each is not None]
    return f"{sum(shares) / len(shares):.0f} % of its answers unread" if shares else ""


def questions_a_step(record: dict[str, Any]) -> float:
    """Those learned from: prompts that answers are written to, questions of a group, or examples and pairs."""
    data, recipe = record["data"], record["recipe"]
    if "prompts_a_step" in data:
        return float(data["prompts_a_step"])
    of_each = data["questions"] / data["groups"] if "groups" in data else 1
    return float(recipe["batch_size"] * recipe["accumulation"] * of_each)


def _named(of: Checkpoint) -> tuple[Cell, Cell]:
    return Cell(of.method), Cell(str(of.seed))


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], note: str) -> Table:
    return Table(title, ("method", "seed", *columns), tuple(map(tuple, rows)), note)


def _difference(found: Difference | None, digits: int = 1) -> Cell:
    return Cell("") if found is None else Cell(found.estimate, found.low, found.high, digits)


if __name__ == "__main__":
    main()
