"""Reproduce Social Contact Debiasing (Raj et al.) on one model: what it changes, and what it leaves as it was.

Tunes the model in a setting whose train and test share neither situations nor groups, and asks base and tuned model:
held-out prompt sets, whose options are scored and whose answers are written, the new half, controls that tell less bias
from a polarity, two other benchmarks, and neutral questions. With --all it tunes again with counter-examples (questions
in half of which what sounds kind is wrong), with these as half of all examples, on one scale (3a) and on half of the
dimensions (6), and asks these models. The tables go into results/scd.json.

Interrupted, it goes on where it stopped when it is called again; --all goes on from what was made without it. Its size
suits the embedded model and two quiet cores: without --all the aim is 40 minutes.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reproducing import (
    difference_cell,
    last_loss,
    read_record,
    read_results,
    read_sample,
    reproduction_parser,
    run,
    train,
)
from write_results import save_tables

from evenhand.answers.refusals import refuses
from evenhand.benchmarks.contact_controls.figures import CELLS
from evenhand.benchmarks.contact_controls.verdict import short_verdict
from evenhand.benchmarks.utility.reading import holds_answer
from evenhand.library import load_dataset
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.report.tables import Cell, Table, cell, count
from evenhand.statistics.estimators import Share
from evenhand.whole_files import write_whole

BASE, TUNED, COUNTERED, BALANCED = "base", "disjoint", "counter-examples", "balanced"
WHOLLY = (TUNED, COUNTERED)  # asked everything
CONTROLLED = (*WHOLLY, BALANCED)  # asked the new half, controls and neutral questions; others only what is held out
ALL = (*CONTROLLED, "3a", "6")
BALANCED_SETS, BALANCED_EPOCHS = 80, 8  # 240 of their examples, and 240 counter-examples, eight times
WRITTEN = 8  # tokens of an answer that is written: it is one word, or what no further words make clear
SCALES = ("certainty", "likelihood", "frequency")
ACTIONS = {"negative": "unkind actions accepted", "positive": "kind actions declined"}


@dataclass(frozen=True)
class Size:
    """sets: for training, epochs of them; held_out: prompt sets of a run; scenarios: of implicit_bias."""

    sets: int
    epochs: int
    held_out: int
    scenarios: int


FULL = Size(480, 2, 180, 24)
QUICK = Size(480, 1, 60, 8)


def setting(tuning: str) -> str:
    return TUNED if tuning in CONTROLLED else tuning


@cache
def neutral_questions() -> dict[str, list[str]]:
    """The dataset utility's 24 probes, each with the answers that count as right."""
    rows = load_dataset("utility", "questions", split="test")
    return {row["question"]: row["answers"] for row in rows if row["probe"]}


@dataclass(frozen=True)
class Reproduction:
    """Every training and run has a folder of its own in output."""

    base: str
    size: Size
    output: Path

    def folder(self, what: str, name: str) -> Path:
        return self.output / f"{what}-{name}"

    def model(self, name: str) -> str:
        return self.base if name == BASE else str(self.folder("tuned", name))

    def make(self, tuning: str) -> None:
        """Train, and ask the base and the tuned model."""
        train(self.folder("tuned", tuning), self.recipe(tuning))
        for name in (BASE, tuning):
            for what, arguments in self.questions(tuning):
                run(self.folder(what, name), [*arguments.split(), "--model", self.model(name)])
            if tuning in CONTROLLED:
                self.ask_neutral(name)

    def recipe(self, tuning: str) -> list[str]:
        sets, epochs = self.size.sets, self.size.epochs if tuning in WHOLLY else 1
        if tuning == BALANCED:
            sets, epochs = BALANCED_SETS, BALANCED_EPOCHS
        recipe = f"--limit {sets} --epochs {epochs} --targets all-linear --batch-size 12 --accumulation 1"
        recipe += " --divergence 1"  # without it perplexity of neutral text grew by 6.5 % in 120 steps
        recipe += " --counter-examples" if tuning in (COUNTERED, BALANCED) else ""
        recipe += " --measure-every 150" if tuning == BALANCED else ""
        return ["social-contact", "--model", self.base, "--setting", setting(tuning), *recipe.split()]

    def questions(self, tuning: str) -> Iterator[tuple[str, str]]:
        """The name of each run's folder, and the run's arguments but for its model."""
        few = f"--limit {self.size.held_out}"
        held_out = f"contact_hypothesis --held-out {setting(tuning)} {few}"
        yield f"held-out-{setting(tuning)}", held_out
        if tuning in CONTROLLED:
            yield "new", f"contact_hypothesis --config new_certainty new_likelihood new_frequency {few}"
            yield "controls", "contact_controls"
        if tuning in WHOLLY:
            yield "written", f"{held_out} --protocol generate --max-new-tokens {WRITTEN}"
            ranked = f"--protocol rank --setting none --runs 1 --limit {self.size.scenarios}"
            yield "implicit-bias", f"implicit_bias --config test {ranked}"
            yield "labe", "labe --config professor_review --sample 16 --max-new-tokens 96"

    def ask_neutral(self, name: str) -> None:
        """Write the answers to neutral questions, greedy, of up to 24 tokens."""
        path = self.output / f"neutral-{name}.json"
        if path.is_file():
            return
        sampling = Sampling(temperature=0.0, max_new_tokens=24)
        requests = [Request((Message("user", question),), sampling=sampling) for question in neutral_questions()]
        answers = [reply.text for reply in replies(load_model(self.model(name)), requests)]
        write_whole(path, json.dumps(dict(zip(neutral_questions(), answers)), indent=1, ensure_ascii=False) + "\n")

    def record(self, tunings: Sequence[str], option: str) -> tuple[str, str, list[Table]]:
        """Return the command, the conditions and the tables.

        option: with which the script was called, "--quick" or "--all".
        """
        record = read_record(self.folder("tuned", TUNED))
        recipe = record["recipe"]
        about = (
            f"{record['base']['identity']}, "
            f"LoRA r {recipe['rank']}, all linear layers, {recipe['learning_rate']:g} constant, clip {recipe['clip']}, "
            f"divergence from the base × {recipe['divergence']:g}, {record['data']['prompt_sets']} prompt sets, "
            f"{recipe['batch_size']} examples a step, batches {record['packing']}. "
            f"Rows: {read_results(self.folder(f'held-out-{TUNED}', BASE)).rows_in_words}."
        )
        if BALANCED in tunings:
            about += (
                f" {BALANCED.capitalize()}: {BALANCED_SETS} prompt sets instead of {self.size.sets}, {BALANCED_EPOCHS} "
                "epochs, so that the 240 counter-examples are half of what is learned from."
            )
        controlled = [BASE, *(name for name in tunings if name in CONTROLLED)]
        tables = [self.biased_table(tunings), self.controls_table(controlled), self.otherwise_table(controlled)]
        return f"python scripts/reproduce_scd.py {option}".strip(), about, tables

    def biased_table(self, tunings: Sequence[str]) -> Table:
        asked: dict[str, dict[str, None]] = {}  # {folder's name: models}, in the order in which they are shown
        for tuning in tunings:
            for what, arguments in self.questions(tuning):
                if arguments.startswith("contact_hypothesis"):
                    asked.setdefault(what, {BASE: None})[tuning] = None
        rows = [
            (Cell(what.replace("-", " ")), Cell(name), *self.biased_cells(what, name))
            for what, names in asked.items()
            for name in names
        ]
        note = (
            "Of the answers that were read; brackets: 95 % interval. Minus base: points, paired by question, of those "
            "that both read; below 0 is less bias. Held out: by the setting named. Written: held out by disjoint, what "
            f"the model writes, greedy, of up to {WRITTEN} tokens; elsewhere the likelier option counts. New: the new "
            "half, of whose situations none was learned from, but many of the groups. Chance: 50."
        )
        columns = ("asked", "model", "all", "minus base", *SCALES, *ACTIONS.values(), "answers", "unread")
        return Table("Biased answers, %", columns, tuple(rows), note)

    def biased_cells(self, what: str, name: str) -> Iterator[Cell]:
        table = read_results(self.folder(what, name)).figures
        whole = table.row("biased")
        samples = [read_sample(self.folder(what, each)) for each in (BASE, name)]
        yield cell(whole)
        yield Cell("") if name == BASE else difference_cell(Share("biased").difference(*samples))
        for scale in SCALES:
            rows = table.rows("biased", "scale")
            yield next((cell(row) for row in rows if row.groups["scale"] == scale), Cell(""))
        for action in ACTIONS:
            yield cell(table.row("biased", action=action))
        yield from (count(whole.n), count(whole.n - whole.n_read))

    def controls_table(self, names: Sequence[str]) -> Table:
        wrong, rows = Share("against_ideal"), []
        samples = {name: read_sample(self.folder("controls", name)) for name in names}
        for name, sample in samples.items():
            whole, *_ = shares = [
                wrong.estimate(sample.where(group)) for group in ({}, *({"cell": each} for each in CELLS.values()))
            ]
            minus_base = Cell("") if name == BASE else difference_cell(wrong.difference(samples[BASE], sample))
            verdict = Cell(short_verdict(read_results(self.folder("controls", name)).figures))
            cells = [Cell(share.value, share.low, share.high) for share in shares]
            counts = (count(whole.n), count(whole.n - whole.n_read))
            rows.append((Cell(name), cells[0], minus_base, *cells[1:], verdict, *counts))
        note = (
            "By sound and by what is right. A polarity (yes to what sounds kind, no to what sounds unkind) has 0, 100, "
            "0 and 100 in the four; always yes 0, 100, 100 and 0; random answers 50. Minus base: points, paired by "
            "question. Brackets: 95 % interval over items."
        )
        columns = ("model", "all", "minus base", *CELLS.values(), "verdict", "answers", "unread")
        return Table("Controls answered wrong, %", columns, tuple(rows), note)

    def otherwise_table(self, names: Sequence[str]) -> Table:
        """What became of the model on what it was not tuned for, and what the training took."""
        rows = []
        for name in names:
            record = read_record(self.folder("tuned", TUNED if name == BASE else name))
            measured = record["measured"][0 if name == BASE else -1]
            answers = json.loads((self.output / f"neutral-{name}.json").read_text("utf-8"))
            right = sum(holds_answer(answer, neutral_questions()[question]) for question, answer in answers.items())
            others = [Cell("not asked")] * 2
            if name != BALANCED:
                ranked, agency = (read_results(self.folder(what, name)).figures for what in ("implicit-bias", "labe"))
                others = [cell(ranked.row("bias_score"), 2), cell(agency.row("gender_difference"))]
            neutral = (count(right), count(sum(map(refuses, answers.values()))))
            perplexity = Cell(measured["perplexity of neutral text"], digits=2)
            took = [Cell(last_loss(record), digits=3), Cell(record["seconds_since_last_start"] / 60)]
            rows.append((Cell(name), perplexity, *neutral, *others, *(took if name != BASE else [Cell("")] * 2)))
        columns = ("model", "perplexity", "questions right", "refused", "implicit_bias", "labe")
        note = (
            f"Perplexity of neutral text; lower is better. Questions: {len(neutral_questions())} neutral ones. "
            "implicit_bias: bias score without interaction; 0 is best. labe: men's agency above women's, in points, of "
            "16 reviews cut off at 96 tokens. Last loss: mean of ten steps. Minutes: since the last start."
        )
        return Table("Otherwise", (*columns, "last loss", "minutes"), tuple(rows), note)


def main() -> None:
    parser = reproduction_parser("reproduce_scd", __doc__)
    parser.add_argument("--all", action="store_true", help="the other tunings, too, which take twice as long again")
    options = parser.parse_args()
    if options.quick and options.all:
        parser.error("--quick and --all exclude each other")
    size, folder = (QUICK, "quick") if options.quick else (FULL, "full")
    reproduction = Reproduction(options.model, size, options.output / folder)
    tunings = ALL if options.all else (TUNED,)
    for n, tuning in enumerate(tunings, 1):
        reproduction.make(tuning)
        option = "--quick" if options.quick else "--all" if options.all else ""
        save_tables(options.record, *reproduction.record(tunings[:n], option))


if __name__ == "__main__":
    main()
