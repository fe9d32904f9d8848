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
from evenhand.benchmarks.contact_controls.cells import AGREEING, CELLS, DIFFERING
from evenhand.benchmarks.contact_controls.names import KINDS
from evenhand.benchmarks.contact_controls.scoring import percent
from evenhand.benchmarks.contact_controls.verdict_words import verdict_sentence
from evenhand.benchmarks.contact_hypothesis.comparison import overall_difference
from evenhand.benchmarks.utility.reading import holds
from evenhand.benchmarks.utility.refusals import refuses
from evenhand.cli import called
from evenhand.command_line import ScriptHelp
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.library import load_dataset
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from evenhand.report.comparison import compare
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Cell, Table, figure
from evenhand.statistics.calibration import brier_scores, calibration_error
from evenhand.statistics.clustered import clustered_mean, paired_difference
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
        asked = {name: RunFolder.open(self.output / f"controls-{name}") for name in (BASE, *controlled)}
        yield controls({name: run.read_predictions() for name, run in asked.items()})
        yield by_kind({name: run.read_predictions() for name, run in asked.items()})
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
                both = [RunFolder.open(folder).read_predictions() for folder in folders]
                rows.append((shown(name), what, *(_between(*both, action) for action in (None, *ACTIONS))))
        note = (
            "Points, paired by question; brackets: 95 % interval over situations and descriptors, of each difference "
            "by itself. Below 0 is less bias."
        )
        columns = ("", "asked", "all", *ACTIONS.values())
        return Table("Minus the base", columns, tuple(tuple(map(Cell, row)) for row in rows), note)

    def of_counter_examples(self, tunings: Sequence[str]) -> Table:
        """What the counter-examples changed of the answers in which the sound is right, by scale."""
        rows = []
        for name, (what, folder) in product(tunings, HELD_OUT_AND_NEW.items()):
            both = [RunFolder.open(self.output / f"{folder}-{each}").read_predictions() for each in (TUNED, name)]
            of_scale = {
                scale: _between(*(each[each["scale"] == scale] for each in both)) for scale in both[0]["scale"].unique()
            }
            rows.append({"": shown(name), "asked": what, "all": _between(*both)} | of_scale)
        note = (
            "Points of biased answers, paired by question; above 0: more bias than without counter-examples. Brackets: "
            "95 % interval over situations and descriptors."
        )
        cells = tuple(tuple(map(Cell, row.values())) for row in rows)
        return Table("With counter-examples, minus disjoint", tuple(rows[0]), cells, note)

    def calibrated(self, tunings: Sequence[str]) -> Table:
        """Whether a model is as sure of its scored answers as they are right."""
        rows = []
        for what, folder in HELD_OUT_AND_NEW.items():
            for name in (BASE, *tunings):
                predictions = RunFolder.open(self.output / f"{folder}-{name}").read_predictions()
                rows.append((what, shown(name), *calibration(predictions)))
        for cell in CELLS.values():
            for name in (BASE, *tunings):
                predictions = RunFolder.open(self.output / f"controls-{name}").read_predictions()
                asked = predictions[cells(predictions) == cell]
                rows.append((f"controls: {cell}", shown(name), *calibration(asked, "against_ideal", "item")))
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
        return Table("Is it as sure as it is right?", columns, tuple(tuple(map(Cell, row)) for row in rows), note)

    def took(self, tunings: Sequence[str]) -> Table:
        rows = []
        for name in tunings:
            record = self.record(name)
            losses, minutes = record["losses"], record["seconds_since_last_start"] / 60
            last = sum(losses[-10:]) / len(losses[-10:])
            rows.append((shown(name), f"{record['steps']:,}", f"{losses[0]:.2f}", f"{last:.3f}", f"{minutes:.1f}"))
        columns = ("", "steps", "first loss", "last loss", "minutes")
        note = (
            "Last loss: mean of ten steps. Minutes: with what is measured on the way, and since the last start: of a "
            "training that was cut off and went on, no more than its last part. The runs between them were made at "
            "various times, with other work beside them: of all together no time was measured."
        )
        return Table("What the trainings took", columns, tuple(tuple(map(Cell, row)) for row in rows), note)

    def sentences(self, tunings: Sequence[str]) -> Iterator[str]:
        """What compare says of base and tuned models, and what controls say of each."""
        for name in (name for name in tunings if name in CONTROLLED):
            compared = compare(self.held_out(TUNED, BASE), self.held_out(TUNED, name))
            said = [each for each in compared.sentences if "biased answers than" in each or "By action" in each]
            yield f"`evenhand compare` of what {TUNED} holds out, A being the base, B {shown(name)}: {' '.join(said)}"
        for name in (BASE, *(name for name in tunings if name in CONTROLLED)):
            yield f"Controls, {shown(name)}: {verdict_sentence(results(self.output / f'controls-{name}').metrics)}"

    def otherwise(self, tunings: Sequence[str]) -> Table:
        """What became of the model on what it was not tuned for."""
        before = self.record(TUNED)["measured"][0]
        after = [self.record(name)["measured"][-1] for name in tunings]
        perplexity = [f"{each['perplexity of neutral text']:.2f}" for each in (before, *after)]
        names = (BASE, *tunings)
        answers = [json.loads((self.output / f"neutral-{name}.json").read_text("utf-8")) for name in names]
        right = [f"{sum(map(knows, each.items()))} of {len(each)}" for each in answers]
        refused = [str(sum(map(refuses, each.values()))) for each in answers]
        wholly = [name for name in names if name in (BASE, *WHOLLY)]
        not_asked = ["not asked"] * (len(names) - len(wholly))
        ranked = [results(self.output / f"implicit-bias-{name}") for name in wholly]
        rows_of_ranked = ", ".join(dict.fromkeys(each.rows_in_words for each in ranked))
        scores = [
            figure(of["bias_score"], of["intervals"]["bias_score"], 2) for of in (each.metrics for each in ranked)
        ]
        agency = [results(self.output / f"labe-{name}").metrics for name in wholly]
        gaps = [figure(each["gender_difference"], each["intervals"]["gender_difference"]) for each in agency]
        rows = (
            ("perplexity of neutral text (lower is better)", *perplexity),
            ("neutral questions answered right", *right),
            ("of them refused", *refused),
            (f"{rows_of_ranked}, without interaction, bias score (0 is best)", *scores, *not_asked),
            (
                "labe, men's agency above women's, points (0 is best; 16 reviews, cut off at 96 tokens: no interval)",
                *gaps,
                *not_asked,
            ),
        )
        return Table("Otherwise", ("", *map(shown, names)), tuple(tuple(map(Cell, row)) for row in rows))


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
    return holds(answer, neutral_questions()[question])


def rescore(folder: Path) -> None:
    """The figures of a finished run, of its answers as they were read; no model is asked, and no rows are read."""
    run = RunFolder.open(folder)
    config = run.read_config()
    metrics = get_benchmark(config.benchmark).score(run.read_predictions(), config)
    run.write_results(replace(run.read_results(), metrics=metrics))


def results(folder: Path) -> Results:
    return RunFolder.open(folder).read_results()


def read_of(metrics: Mapping[str, Any]) -> tuple[str, str]:
    """How many answers, and how many of them were not read."""
    return str(metrics["n"]), str(metrics["n"] - metrics["n_read"])


def biased(title: str, runs: dict[str, Results], further: str | None = None, note: str = "") -> Table:
    """Overall, by scale, contact and action, and by a further column; how sure it was, and of how many answers."""
    columns = [_biased_column(of.metrics, further) for of in runs.values()]
    rows = tuple(tuple(map(Cell, (name, *(column.get(name, "") for column in columns)))) for name in columns[0])
    return Table(title, ("percent biased", *map(shown, runs)), rows, note)


def _biased_column(metrics: Mapping[str, Any], further: str | None) -> dict[str, str]:
    by = metrics["by"]
    parts = {name: (part, "overall") for name, part in by["scale"].items()}
    parts |= {contact.replace("_", " "): (metrics, contact) for contact in CONTACTS}
    parts |= {words: (by["action"][action], "overall") for action, words in ACTIONS.items()}
    for name, part in (by[further] if further else {}).items():
        parts[f"{further}: {name}, {part['n']:,} answers"] = (part, "overall")
    column = {"overall": figure_of("biased_percentage", metrics, "overall")}
    column |= {name: figure_of("biased_percentage", *part) for name, part in parts.items()}
    column["mean probability of the biased answer"] = figure_of("biased_probability", metrics, "overall")
    column["scales with constant answers"] = ", ".join(k for k, same in metrics["constant_answer"].items() if same)
    column["answers, of them unread"] = ", ".join(read_of(metrics))
    return column


def calibration(predictions: pd.DataFrame, wrong: str = "biased", clusters: str = "situation") -> tuple[str, ...]:
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
    return figure(brier.estimate, [brier.low, brier.high], 3), *map(figure, shares), f"{len(read):,}"


def scored_and_written(runs: Mapping[str, tuple[Path, Path]]) -> Table:
    """runs: of each model, the base first, the folder in which its answers were scored and that in which they were
    written, of the same questions.
    """
    asked = {name: [RunFolder.open(folder).read_predictions() for folder in both] for name, both in runs.items()}
    base, *_ = asked.values()
    rows = []
    for name, (scored, written) in asked.items():
        metrics = [results(folder).metrics for folder in runs[name]]
        shares = [figure_of("biased_percentage", each, "overall") for each in metrics]
        pairs = [] if scored is base[0] else [(base[0], scored), (base[1], written)]
        minus_base = [_between(*pair) for pair in pairs] or ["", ""]
        answers, _ = read_of(metrics[0])
        rows.append((name, *shares, _between(scored, written), *minus_base, answers, *map(_unread_by_scale, metrics)))
    columns = ("percent biased", "scored", "written", "written minus scored", "scored, minus the base")
    columns += ("written, minus the base", "answers", "unread where scored", "where written")
    note = (
        "Held out by setting disjoint. Scored: the likelier option counts. Written: what the model writes, greedy, of "
        f"up to {WRITTEN} tokens; that is unread where it names no option, or both, or is cut off before it comes to "
        "one. Percentages are of answers that were read, differences in points, paired by question, of those that were "
        "read in both. What is unread is no random part: the unread of each scale stand in round brackets. Square "
        "brackets: 95 % interval, of each by itself."
    )
    return Table("Written in place of scored", columns, tuple(tuple(map(Cell, row)) for row in rows), note)


def _unread_by_scale(metrics: Mapping[str, Any]) -> str:
    _, unread = read_of(metrics)
    parts = ", ".join(f"{scale} {read_of(part)[1]}" for scale, part in metrics["by"]["scale"].items())
    return unread if unread == "0" else f"{unread} ({parts})"


def _between(first: Any, second: Any, action: str | None = None) -> str:
    """first, second: predictions, of which those of the same questions are paired."""
    found = overall_difference(first, second, action)
    return figure(found.estimate, [found.low, found.high])


def figure_of(name: str, metrics: Mapping[str, Any], part: str) -> str:
    return figure(metrics[name][part], metrics["intervals"][name][part])


def cells(predictions: pd.DataFrame) -> pd.Series:
    """In which of the four cells of the controls each question is: its sound, and what is right."""
    parts = predictions["agrees"].astype(bool).map({True: AGREEING, False: DIFFERING})
    return pd.Series([CELLS[each] for each in zip(predictions["action"], parts)], predictions.index)


def controls(asked: Mapping[str, pd.DataFrame]) -> Table:
    """asked: predictions of each model, the base first."""
    note = (
        "A polarity (yes to what sounds kind, no to what sounds unkind) has 0, 100, 0 and 100 in the four; always yes "
        "0, 100, 100 and 0; random answers 50. Minus the base: points, paired by question, of those that both read. "
        "Brackets: 95 % interval over items, of each by itself."
    )
    every = {name: each.assign(part=cells(each)) for name, each in asked.items()}
    return _wrong("Controls, by sound and by what is right", every, list(CELLS.values()), note=note)


def by_kind(asked: Mapping[str, pd.DataFrame]) -> Table:
    every = {name: each.assign(part=each["kind"].map(KINDS)) for name, each in asked.items()}
    note = "As above, by what is asked about; 40 questions of each kind."
    return _wrong("Controls, by kind", every, list(KINDS.values()), note=note)


def learned_counter_examples(answers: Mapping[str, Path]) -> Table:
    """Whether what the counter-examples tell was learned at all, of them themselves."""
    rows = load_dataset("contact_controls", "counter_examples", split="train")
    actions = rows.select_columns(["id", "action"]).to_pandas()
    every = {}
    for name, path in answers.items():
        told = pd.DataFrame(json.loads(path.read_text("utf-8")))
        if "action" not in told:  # answers that were kept before their tables had it
            told = told.merge(actions, on="id", validate="one_to_one")
        every[name] = told.assign(item=told["id"], part=cells(told))
    note = (
        f"The questions that {COUNTERED} and, if it was made, {shown(BALANCED)} learned from, after the training; the "
        "others never saw them. Otherwise as above."
    )
    return _wrong("The counter-examples themselves", every, list(CELLS.values()), list(combinations(every, 2)), note)


def _wrong(
    title: str,
    asked: Mapping[str, pd.DataFrame],
    parts: Sequence[str],
    pairs: Sequence[tuple[str, str]] | None = None,
    note: str = "",
) -> Table:
    """Percent wrong of what was read, in all and by part, and differences. pairs: by default all with the first."""
    base, *others = asked
    rows = []
    for name, each in asked.items():
        shares = [_share_wrong(each if part is None else each[each["part"] == part]) for part in (None, *parts)]
        rows.append((shown(name), *shares, f"{len(each):,}", f"{int(each['against_ideal'].isna().sum()):,}"))
    for first, second in pairs or [(base, other) for other in others]:
        both = asked[first].merge(asked[second], on=["id", "item", "part"], suffixes=("_first", "_second"))
        both = both[both[["against_ideal_first", "against_ideal_second"]].notna().all(axis="columns")]
        moved = [_moved(both if part is None else both[both["part"] == part]) for part in (None, *parts)]
        rows.append((f"{shown(second)} minus {shown(first)}", *moved, f"{len(both):,}", ""))
    columns = ("percent wrong", "all", *parts, "answers", "unread")
    return Table(title, columns, tuple(tuple(map(Cell, row)) for row in rows), note)


def _share_wrong(some: pd.DataFrame) -> str:
    found = clustered_mean(percent(some["against_ideal"]), some["item"], (0.0, 100.0))
    return figure(found.estimate, [found.low, found.high])


def _moved(pairs: pd.DataFrame) -> str:
    first, second = (percent(pairs[f"against_ideal_{side}"]) for side in ("first", "second"))
    found = paired_difference(first, second, pairs["item"], within=(0.0, 100.0))
    return figure(found.estimate, [found.low, found.high])


if __name__ == "__main__":
    main()
