"""Social Contact Debiasing (Raj et al.) on one model: what it changes, what it was taught, and what it learned.

Tunes the model in a setting whose train and test share neither situations nor groups, and asks base and tuned model:
held-out prompt sets, whose options are scored and whose answers are written, the new half, controls that tell less bias
from a polarity, two other benchmarks, and neutral questions. With --all it tunes again with counter-examples (questions
in half of which what sounds kind is wrong), with these as half of all examples, on one scale (3a) and on half of the
dimensions (6), and asks the others. The figures go into RESULTS.md, between two marks, out of the runs' own files.

Interrupted, it goes on where it stopped when it is called again, and --all goes on from what was made without it. Of a
size for the embedded model and two quiet cores; without --all the aim is 40 minutes.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_controls.figures import CELLS, KINDS
from evenhand.benchmarks.contact_controls.reading import add_cells
from evenhand.benchmarks.contact_controls.verdict import verdict_sentence
from evenhand.benchmarks.utility.reading import holds_answer
from evenhand.benchmarks.utility.refusals import refuses
from evenhand.cli import called
from evenhand.command_line import ScriptHelp
from evenhand.figure import Design, FigureTable, Sample, figure_rows
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.library import load_dataset
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.report.comparison import compare
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Cell, Table, cell, count
from evenhand.statistics.calibration import brier_scores, calibration_error
from evenhand.statistics.clustered import Difference, clustered_mean
from evenhand.statistics.estimators import Share
from evenhand.whole_files import write_whole

MARK = "scripts/reproduce_scd.py"
MEANING = """\
Can less bias be taught, and is it more than a habit of saying what sounds kind? A model is trained on questions of
`contact_hypothesis`, and asked others, which it had not seen: the percentage of biased answers should fall (0 is best,
chance is 50). Controls then ask questions in which the kind-sounding answer is wrong, and other text shows whether the
model still writes."""
BASE, TUNED, COUNTERED, BALANCED, ONE_SCALE, HALF_OF_AXES = (
    "base",
    "disjoint",
    "counter-examples",
    "balanced",
    "3a",
    "6",
)
WHOLLY = (TUNED, COUNTERED)  # asked everything
CONTROLLED = (
    *WHOLLY,
    BALANCED,
)  # asked the new half, controls and neutral questions; the others what is held out alone
ALL = (*CONTROLLED, ONE_SCALE, HALF_OF_AXES)
SHOWN = {BALANCED: "half counter-examples"}
BALANCED_SETS, BALANCED_EPOCHS = 80, 8  # 240 of their examples, and 240 counter-examples, eight times
HELD_OUT_AND_NEW = {"held out by disjoint": f"held-out-{TUNED}", "new half": "new"}
NEW_HALF = "Situations of which none was learned from; many of the groups were."
WRITTEN = 8  # tokens of an answer that is written: they are one word, or what no further words make clear
BIASED, WRONG = Share("biased"), Share("against_ideal")
CONTACTS = ("no_contact", "positive_contact", "negative_contact")
ACTIONS = {"negative": "unkind actions, accepted", "positive": "kind actions, declined"}


@dataclass(frozen=True)
class Size:
    """sets: for training, epochs of them; held_out: prompt sets of a run; scenarios: of implicit_bias."""

    sets: int
    epochs: int
    held_out: int
    scenarios: int


FULL = Size(480, 2, 180, 24)
QUICK = Size(480, 1, 60, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--model", default="embedded", help="as of evenhand train")
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--quick", action="store_true", help="half the steps and fewer prompts: to see it run")
    much.add_argument("--all", action="store_true", help="the other tunings, too, which take twice as long again")
    parser.add_argument(
        "--rescore", action="store_true", help="score what was answered anew: the statistics may have changed since"
    )
    parser.add_argument("--output", type=Path, default=Path("runs/reproduce_scd"), help="where all is kept")
    parser.add_argument("--page", type=Path, default=Path("RESULTS.md"), help="the page that has the figures")
    arguments = parser.parse_args()
    option, size, folder = ("--quick", QUICK, "quick") if arguments.quick else ("", FULL, "full")
    option = "--all" if arguments.all else option
    tunings = ALL if arguments.all else (TUNED,)
    work = Reproduction(arguments.model, size, arguments.output / folder)
    for place, name in enumerate(tunings, 1):
        work.tune(name)
        for folder, command in work.runs(name):
            if not (folder / "results.json").is_file():
                called(["run", *command, "--output", str(folder)])
            elif arguments.rescore:
                rescore(folder)
        for asked in (BASE, name) if name in CONTROLLED else ():
            work.ask_neutral(asked)
        for asked in {COUNTERED: (BASE, *WHOLLY), BALANCED: (BALANCED,)}.get(name, ()):
            work.ask_counter_examples(asked)
        write_part(arguments.page, MARK, work.page(tunings[:place], option))


@dataclass(frozen=True)
class Reproduction:
    """Every training and run has a folder of its own in output, and is made at most once."""

    base: str
    size: Size
    output: Path

    def model(self, name: str) -> str:
        return self.base if name == BASE else str(self.output / f"tuned-{name}")

    def tune(self, name: str) -> None:
        folder = self.output / f"tuned-{name}"
        if (folder / "training.json").is_file():
            return
        sets, epochs = self.size.sets, self.size.epochs if name in WHOLLY else 1
        if name == BALANCED:
            sets, epochs = BALANCED_SETS, BALANCED_EPOCHS
        recipe = f"--limit {sets} --epochs {epochs} --targets all-linear --batch-size 12 --accumulation 1"
        recipe += " --divergence 1"  # without it perplexity of neutral text grew by 6.5 % in 120 steps
        recipe += " --counter-examples" if name in (COUNTERED, BALANCED) else ""
        recipe += " --measure-every 150" if name == BALANCED else ""
        command = ["train", "social-contact", "--model", self.base, "--setting", setting(name), *recipe.split()]
        called([*command, "--output", str(folder)])

    def runs(self, tuning: str) -> Iterator[tuple[Path, list[str]]]:
        few = ["--limit", str(self.size.held_out)]
        for name in (BASE, tuning):
            held_out = ["contact_hypothesis", "--held-out", setting(tuning), *few]
            yield self.held_out(setting(tuning), name), [*held_out, "--model", self.model(name)]
            if tuning in WHOLLY:
                written = ["--protocol", "generate", "--max-new-tokens", str(WRITTEN)]
                yield self.written(name), [*held_out, *written, "--model", self.model(name)]
        new = ["--config", "new_certainty", "new_likelihood", "new_frequency"]
        for name in (BASE, tuning) if tuning in CONTROLLED else ():
            of = ["--model", self.model(name)]
            yield self.output / f"new-{name}", ["contact_hypothesis", *new, *few, *of]
            yield self.output / f"controls-{name}", ["contact_controls", *of]
        for name in (BASE, tuning) if tuning in WHOLLY else ():
            of = ["--model", self.model(name)]
            ranked = ["--protocol", "rank", "--setting", "none", "--runs", "1", "--limit", str(self.size.scenarios)]
            yield self.output / f"implicit-bias-{name}", ["implicit_bias", "--config", "test", *ranked, *of]
            reviews = ["--config", "professor_review", "--sample", "16", "--max-new-tokens", "96"]
            yield self.output / f"labe-{name}", ["labe", *reviews, *of]

    def held_out(self, of: str, name: str) -> Path:
        return self.output / f"held-out-{of}-{name}"

    def written(self, name: str) -> Path:
        return self.output / f"written-{name}"

    def ask_neutral(self, name: str) -> None:
        """The answers to neutral questions, greedy, of up to 24 tokens."""
        path = self.output / f"neutral-{name}.json"
        if path.is_file():
            return
        sampling = Sampling(temperature=0.0, max_new_tokens=24)
        asked = [Request((Message("user", question),), sampling=sampling) for question in neutral_questions()]
        model = load_model(self.model(name))
        answers = [reply.text for reply in replies(model, asked)]
        write_whole(path, json.dumps(dict(zip(neutral_questions(), answers)), indent=1, ensure_ascii=False) + "\n")

    def ask_counter_examples(self, name: str) -> None:
        """Whether each counter-example, which one of the models learned from, is answered against what is right."""
        path = self.counter_examples(name)
        if path.is_file():
            return
        benchmark = get_benchmark("contact_controls")
        how = benchmark.asking()
        rows = list(load_dataset("contact_controls", "counter_examples", split="train"))
        asked = [request for row in rows for request in benchmark.ask(row, how)]
        answers = replies(load_model(self.model(name)), asked)
        read = [each for row, reply in zip(rows, answers) for each in benchmark.read(row, [reply], how)]
        told = [{key: each[key] for key in ("id", "action", "agrees", "against_ideal")} for each in read]
        write_whole(path, json.dumps(told, indent=1) + "\n")

    def counter_examples(self, name: str) -> Path:
        return self.output / f"counter-examples-{name}.json"

    def page(self, tunings: Sequence[str], option: str = "") -> str:
        """option: with which the script was called, "--quick" or "--all"."""
        record = self.record(TUNED)
        recipe = record["recipe"]
        said = (
            f"{'**A quick run.** ' * (option == '--quick')}`{f'python {MARK} {option}'.strip()}`: "
            f"{record['base']['identity']}, "
            f"LoRA r {recipe['rank']}, all linear layers, {recipe['learning_rate']:g} constant, clip {recipe['clip']}, "
            f"divergence from the base × {recipe['divergence']:g}, {record['data']['prompt_sets']} prompt sets, "
            f"{recipe['batch_size']} examples a step, batches {record['packing']}. Percentages of biased answers of "
            "those read, brackets: 95 % interval. Chance: 50, but for single axes, which have not as many kind actions "
            f"as unkind ones. Rows: {results(self.held_out(TUNED, BASE)).rows_in_words}."
        )
        if BALANCED in tunings:
            said += (
                f" {shown(BALANCED).capitalize()}: {BALANCED_SETS} prompt sets in place of {self.size.sets}, "
                f"{BALANCED_EPOCHS} times, so that the 240 counter-examples are half of what is learned from."
            )
        parts = [said, *map(markdown, self.tables(tunings)), *self.sentences(tunings)]
        return "\n\n".join(["## Social Contact Debiasing", MEANING, *parts])

    def record(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.output / f"tuned-{name}" / "training.json").read_text("utf-8"))
        return found

    def tables(self, tunings: Sequence[str]) -> Iterator[Table]:
        wholly = [name for name in tunings if name in WHOLLY]
        controlled = [name for name in tunings if name in CONTROLLED]
        for of in dict.fromkeys(map(setting, tunings)):
            names = [BASE, *(name for name in tunings if setting(name) == of)]
            further = "axis" if of == HALF_OF_AXES else None  # none of these was trained on
            runs = {name: results(self.held_out(of, name)) for name in names}
            yield biased(f"Held out by setting {of}", runs, further)
        yield self.against_base(tunings)
        if COUNTERED in tunings:
            yield self.of_counter_examples([name for name in controlled if name != TUNED])
        yield self.calibrated(controlled)
        yield scored_and_written({name: (self.held_out(TUNED, name), self.written(name)) for name in (BASE, *wholly)})
        new = {name: results(self.output / f"new-{name}") for name in (BASE, *controlled)}
        yield biased("The new half", new, note=NEW_HALF)
        asked = {name: sample(self.output / f"controls-{name}") for name in (BASE, *controlled)}
        yield controls(asked)
        yield by_kind(asked)
        if COUNTERED in tunings:
            yield learned_counter_examples({name: self.counter_examples(name) for name in (BASE, *controlled)})
        yield self.otherwise(controlled)
        yield self.took(tunings)

    def against_base(self, tunings: Sequence[str]) -> Table:
        """Tuned minus base, paired by question."""
        rows = []
        for name in tunings:
            asked = {f"held out by {setting(name)}": [self.held_out(setting(name), each) for each in (BASE, name)]}
            if name in CONTROLLED:
                asked["new half"] = [self.output / f"new-{each}" for each in (BASE, name)]
            for what, folders in asked.items():
                both = [sample(folder) for folder in folders]
                of_actions = [between(*(each.where({"action": action}) for each in both)) for action in ACTIONS]
                rows.append((Cell(shown(name)), Cell(what), between(*both), *of_actions))
        note = (
            "Points, paired by question; brackets: 95 % interval over situations and descriptors, of each difference "
            "alone. Below 0 is less bias."
        )
        return Table("Minus the base", ("", "asked", "all", *ACTIONS.values()), tuple(rows), note)

    def of_counter_examples(self, tunings: Sequence[str]) -> Table:
        """What the counter-examples changed of the answers in which the sound is right, by scale."""
        rows: list[dict[str, Cell]] = []
        for name, (what, folder) in product(tunings, HELD_OUT_AND_NEW.items()):
            both = [sample(self.output / f"{folder}-{each}") for each in (TUNED, name)]
            of_scale = {
                scale: between(*(each.where({"scale": scale}) for each in both))
                for scale in both[0].rows["scale"].unique()
            }
            rows.append({"": Cell(shown(name)), "asked": Cell(what), "all": between(*both)} | of_scale)
        note = (
            "Points of biased answers, paired by question; above 0: more bias than without counter-examples. Brackets: "
            "95 % interval over situations and descriptors."
        )
        cells = tuple(tuple(row.values()) for row in rows)
        return Table("With counter-examples, minus disjoint", tuple(rows[0]), cells, note)

    def calibrated(self, tunings: Sequence[str]) -> Table:
        """Whether a model is as sure of its scored answers as they are right."""
        rows = []
        for what, folder in HELD_OUT_AND_NEW.items():
            for name in (BASE, *tunings):
                found = calibration(sample(self.output / f"{folder}-{name}").rows)
                rows.append((Cell(what), Cell(shown(name)), *found))
        for part in CELLS.values():
            for name in (BASE, *tunings):
                asked = sample(self.output / f"controls-{name}").where({"cell": part}).rows
                rows.append(
                    (Cell(f"controls: {part}"), Cell(shown(name)), *calibration(asked, "against_ideal", "item"))
                )
        columns = (
            "asked",
            "",
            "Brier score",
            "mean confidence, %",
            "right, %",
            "calibration error, points",
            "answers",
        )
        note = (
            "Of the probability put on the right answer (the unbiased one), of both options. Brier score: its mean "
            "squared distance from 1; 0 is best, and who puts a half on everything has 0.250. Confidence: the "
            "probability of the answer given. Calibration error: how far confidence is from the share of right "
            "answers, over ten bins of it (Guo et al., ICML 2017); 0 is best, and of so few answers some points come "
            "by chance. Brackets: 95 % interval over situations, and over items of the controls."
        )
        return Table("Is it as sure as it is right?", columns, tuple(rows), note)

    def took(self, tunings: Sequence[str]) -> Table:
        rows = []
        for name in tunings:
            record = self.record(name)
            losses, minutes = record["losses"], record["seconds_since_last_start"] / 60
            last = sum(losses[-10:]) / len(losses[-10:])
            numbers = Cell(losses[0], digits=2), Cell(last, digits=3), Cell(minutes)
            rows.append((Cell(shown(name)), count(record["steps"]), *numbers))
        columns = ("", "steps", "first loss", "last loss", "minutes")
        note = (
            "Last loss: mean of ten steps. Minutes: with what is measured on the way, and since the last start: of a "
            "training that was cut off and went on, no more than its last part. The runs between them were made at "
            "various times, with other work beside them: of all together no time was measured."
        )
        return Table("What the trainings took", columns, tuple(rows), note)

    def sentences(self, tunings: Sequence[str]) -> Iterator[str]:
        """What compare says of base and tuned models, and what controls say of each."""
        for name in (name for name in tunings if name in CONTROLLED):
            compared = compare(self.held_out(TUNED, BASE), self.held_out(TUNED, name))
            said = [each for each in compared.sentences if "biased answers than" in each or "By action" in each]
            yield f"`evenhand compare` of what {TUNED} holds out, A being the base, B {shown(name)}: {' '.join(said)}"
        for name in (BASE, *(name for name in tunings if name in CONTROLLED)):
            yield f"Controls, {shown(name)}: {verdict_sentence(results(self.output / f'controls-{name}').figures)}"

    def otherwise(self, tunings: Sequence[str]) -> Table:
        """What became of the model on what it was not tuned for."""
        before = self.record(TUNED)["measured"][0]
        after = [self.record(name)["measured"][-1] for name in tunings]
        names = (BASE, *tunings)
        answers = [json.loads((self.output / f"neutral-{name}.json").read_text("utf-8")) for name in names]
        wholly = [name for name in names if name in (BASE, *WHOLLY)]
        not_asked = [Cell("not asked")] * (len(names) - len(wholly))
        ranked = [results(self.output / f"implicit-bias-{name}") for name in wholly]
        rows_of_ranked = ", ".join(dict.fromkeys(each.rows_in_words for each in ranked))
        agency = [results(self.output / f"labe-{name}").figures for name in wholly]
        rows = {
            "perplexity of neutral text (lower is better)": [
                Cell(each["perplexity of neutral text"], digits=2) for each in (before, *after)
            ],
            f"neutral questions answered right, of {len(answers[0])}": [
                count(sum(map(knows, each.items()))) for each in answers
            ],
            "of them refused": [count(sum(map(refuses, each.values()))) for each in answers],
            f"{rows_of_ranked}, without interaction, bias score (0 is best)": [
                *(cell(each.figures.row("bias_score"), 2) for each in ranked), *not_asked,
            ],
            "labe, men's agency above women's, points (0 is best; 16 reviews, cut off at 96 tokens: no interval)": [
                *(cell(each.row("gender_difference")) for each in agency), *not_asked,
            ],
        }  # fmt: skip
        cells = tuple((Cell(name), *numbers) for name, numbers in rows.items())
        return Table("Otherwise", ("", *map(shown, names)), cells)


def setting(tuning: str) -> str:
    return TUNED if tuning in CONTROLLED else tuning


def shown(name: str) -> str:
    return SHOWN.get(name, name)


@cache
def neutral_questions() -> dict[str, list[str]]:
    """The dataset utility's 24 probes, each with the answers that are accepted."""
    rows = load_dataset("utility", "questions", split="test")
    return {row["question"]: row["answers"] for row in rows if row["probe"]}


def knows(asked: tuple[str, str]) -> bool:
    question, answer = asked
    return holds_answer(answer, neutral_questions()[question])


def rescore(folder: Path) -> None:
    """The figures of a finished run, of its answers as they were read; no model is asked, and no rows are read."""
    run = RunFolder.open(folder)
    figures = FigureTable(figure_rows(get_benchmark(run.read_config().benchmark).figures, sample(folder)))
    run.write_results(replace(run.read_results(), figures=figures))


def results(folder: Path) -> Results:
    return RunFolder.open(folder).read_results()


def sample(folder: Path) -> Sample:
    run = RunFolder.open(folder)
    return get_benchmark(run.read_config().benchmark).sample(run.read_predictions())


def biased(title: str, runs: dict[str, Results], further: str | None = None, note: str = "") -> Table:
    """Overall, by scale, contact and action, and by a further column; how sure it was, and of how many answers."""
    columns = [_biased_column(of, further) for of in runs.values()]
    rows = tuple((Cell(name), *(column.get(name, Cell("")) for column in columns)) for name in columns[0])
    return Table(title, ("percent biased", *map(shown, runs)), rows, note)


def _biased_column(of: Results, further: str | None) -> dict[str, Cell]:
    table = of.figures
    whole = table.row("biased")
    rows = {"overall": whole}
    rows |= {row.groups["scale"]: row for row in table.rows("biased", "scale")}
    rows |= {contact.replace("_", " "): table.row("biased", contact=contact) for contact in CONTACTS}
    rows |= {words: table.row("biased", action=action) for action, words in ACTIONS.items()}
    if further:
        rows |= {f"{further}: {row.groups[further]}, {row.n:,} answers": row for row in table.rows("biased", further)}
    rows["mean probability of the biased answer"] = table.row("biased_probability")
    constant = ", ".join(each.groups["scale"] for each in of.warned("constant_answer") if each.groups)
    counts = {"answers": count(whole.n), "of them unread": count(whole.n - whole.n_read)}
    return {name: cell(row) for name, row in rows.items()} | {"scales with constant answers": Cell(constant)} | counts


def calibration(predictions: pd.DataFrame, wrong: str = "biased", clusters: str = "situation") -> tuple[Cell, ...]:
    """Of scored answers that were read: Brier score with its interval, mean confidence, share of right ones,
    calibration error, and how many they are.

    wrong, clusters: columns; whether an answer is wrong, and what the interval draws anew.
    """
    read = predictions[predictions[wrong].notna()]
    right, confidence = ~read[wrong].astype(bool), read["probability"].astype(float)
    on_right = confidence.where(right, 1 - confidence)
    brier = clustered_mean(pd.Series(brier_scores(on_right.to_numpy()), read.index), read[clusters], (0.0, 1.0))
    error = calibration_error(on_right.to_numpy(), np.ones(len(read), dtype=bool))
    shares = (100 * confidence.mean(), 100 * right.mean(), 100 * error)
    return Cell(brier.estimate, brier.low, brier.high, digits=3), *map(Cell, shares), count(len(read))


def scored_and_written(runs: Mapping[str, tuple[Path, Path]]) -> Table:
    """runs: of each model, the base first, the folder in which its answers were scored and that in which they were
    written, of the same questions.
    """
    asked = {name: [sample(folder) for folder in both] for name, both in runs.items()}
    base, *_ = asked.values()
    scales = base[0].rows["scale"].unique()
    rows = []
    for name, (scored, written) in asked.items():
        tables = [results(folder).figures for folder in runs[name]]
        whole = [each.row("biased") for each in tables]
        pairs = [] if scored is base[0] else [(base[0], scored), (base[1], written)]
        minus_base = [between(*pair) for pair in pairs] or [Cell("")] * 2
        unread = [*whole, *(tables[1].row("biased", scale=scale) for scale in scales)]
        counts = (count(whole[0].n), *(count(row.n - row.n_read) for row in unread))
        rows.append((Cell(name), *map(cell, whole), between(scored, written), *minus_base, *counts))
    columns = (
        *("percent biased", "scored", "written", "written minus scored", "scored, minus the base"),
        *("written, minus the base", "answers", "unread where scored", "where written"),
        *(f"{scale}, where written" for scale in scales),
    )
    note = (
        "Held out by setting disjoint. Scored: the likelier option counts. Written: what the model writes, greedy, of "
        f"up to {WRITTEN} tokens; that is unread where it names no option, or both, or is cut off before it comes to "
        "one. Percentages are of answers that were read, differences in points, paired by question, of those that were "
        "read in both. What is unread is no random part: of what was written it is counted by scale, too. Brackets: "
        "95 % interval, of each alone."
    )
    return Table("Written in place of scored", columns, tuple(rows), note)


def between(first: Sample, second: Sample) -> Cell:
    """Points of biased answers, second minus first, of the same questions."""
    return difference_cell(BIASED.difference(first, second))


def difference_cell(found: Difference | None) -> Cell:
    return Cell(None) if found is None else Cell(found.estimate, found.low, found.high)


def controls(asked: Mapping[str, Sample]) -> Table:
    """asked: answers of each model, the base first."""
    note = (
        "A polarity (yes to what sounds kind, no to what sounds unkind) has 0, 100, 0 and 100 in the four; always yes "
        "0, 100, 100 and 0; random answers 50. Minus the base: points, paired by question, of those that both read. "
        "Brackets: 95 % interval over items, of each alone."
    )
    return _wrong("Controls, by sound and by what is right", asked, "cell", _CELLS, note=note)


def by_kind(asked: Mapping[str, Sample]) -> Table:
    note = "As above, by what is asked about; 40 questions of each kind."
    return _wrong("Controls, by kind", asked, "kind", KINDS, note=note)


def learned_counter_examples(answers: Mapping[str, Path]) -> Table:
    """Whether what the counter-examples tell was learned at all, of them themselves."""
    rows = load_dataset("contact_controls", "counter_examples", split="train")
    actions = rows.select_columns(["id", "action"]).to_pandas()
    every = {}
    for name, path in answers.items():
        told = pd.DataFrame(json.loads(path.read_text("utf-8")))
        if "action" not in told:  # answers that were kept before their tables had it
            told = told.merge(actions, on="id", validate="one_to_one")
        every[name] = Sample(add_cells(told), Design(("id",)))
    note = (
        f"The questions that {COUNTERED} and, if it was made, {shown(BALANCED)} learned from, after the training; the "
        "others never saw them. Otherwise as above."
    )
    pairs = list(combinations(every, 2))
    return _wrong("The counter-examples themselves", every, "cell", _CELLS, pairs, note)


_CELLS = {name: name for name in CELLS.values()}


def _wrong(
    title: str,
    asked: Mapping[str, Sample],
    column: str,
    parts: Mapping[str, str],
    pairs: Sequence[tuple[str, str]] | None = None,
    note: str = "",
) -> Table:
    """Percent wrong of what was read, in all and by a column's parts, and differences.

    parts: {value: as it is shown}. pairs: by default all with the first.
    """
    base, *others = asked
    groups: list[dict[str, str]] = [{}, *({column: part} for part in parts)]
    rows = []
    for name, each in asked.items():
        whole, *_ = shares = [WRONG.estimate(each.where(group)) for group in groups]
        cells = (Cell(share.value, share.low, share.high) for share in shares)
        rows.append((Cell(shown(name)), *cells, count(whole.n), count(whole.n - whole.n_read)))
    for first, second in pairs or [(base, other) for other in others]:
        found = [WRONG.difference(*(asked[name].where(group) for name in (first, second))) for group in groups]
        n = count(found[0].n if found[0] else 0)
        name = f"{shown(second)} minus {shown(first)}"
        rows.append((Cell(name), *map(difference_cell, found), n, count(None)))
    columns = ("percent wrong", "all", *parts.values(), "answers", "unread")
    return Table(title, columns, tuple(rows), note)


if __name__ == "__main__":
    main()
