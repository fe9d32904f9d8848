"""Compare ways to make one model less biased, each with the same tokens to learn from, on the same questions.

An instruction before the question (Ganguli et al. 2023), Social Contact Debiasing (Raj et al. 2024), the expected
score, DPO and GRPO: the trainings learn from one cut of contact_hypothesis whose test shares neither situations nor
groups, and end once as many tokens were computed to learn from. A seed draws the cut, the order and the adapter's
initial weights. Each checkpoint is asked situations held out, the new half, controls that tell less bias from a
polarity, BBQ, utility, and implicit_bias. The tables go into results/methods.json, and a plot of
bias against utility into docs/methods.svg.

Interrupted, it goes on where it stopped when it is called again. Its size suits the embedded model and two quiet cores.
BBQ's published files are fetched, or read from the folder that EVENHAND_SOURCES names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reproducing import (
    difference_cell,
    read_record,
    read_results,
    read_sample,
    reproduction_parser,
    run,
    train,
)
from write_results import save_tables

from evenhand.benchmarks.bbq.files import available_configs
from evenhand.benchmarks.contact_controls.verdict import short_verdict
from evenhand.command_line import whole
from evenhand.flow.results import Results
from evenhand.report.comparison import compare
from evenhand.report.plots import points
from evenhand.report.tables import Cell, Table, cell, count
from evenhand.statistics.estimators import Share
from evenhand.statistics.families import holm
from evenhand.whole_files import write_whole

BASE, INSTRUCTION = UNTRAINED = ("base", "instruction")
RATE = 3e-4  # Raj et al.'s, for all methods: no method's own was searched for
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
    """How much is learned and asked.

    Attributes:
        tokens: computed to learn from, in each training.
        sets: prompt sets of each run of contact_hypothesis. rows: of BBQ. scenarios: of implicit_bias.
        plain: questions and texts of utility; None: all.
    """

    tokens: int
    seeds: tuple[int, ...]
    sets: int
    rows: int
    scenarios: int
    plain: int | None


FULL = Size(60 * STEP, (0, 1), 120, 240, 24, None)
QUICK = Size(30 * STEP, (0,), 24, 48, 4, 60)


@dataclass(frozen=True)
class Checkpoint:
    """Every training and run has a folder of its own in output."""

    method: str
    seed: int
    output: Path

    @property
    def is_trained(self) -> bool:
        return self.method not in UNTRAINED

    @property
    def model(self) -> Path:
        return self.output / f"{self.method.lower().replace(' ', '-')}-{self.seed}" / "model"

    def folder(self, what: str) -> Path:
        """What isn't tuned is asked once, but for situations held out, which the seed draws."""
        seed = self.seed if self.is_trained or what == HELD_OUT else 0
        return self.output / f"{self.method.lower().replace(' ', '-')}-{seed}" / what

    def results(self, what: str) -> Results:
        return read_results(self.folder(what))

    @property
    def base(self) -> "Checkpoint":
        return Checkpoint(BASE, self.seed, self.output)

    @property
    def cells(self) -> tuple[Cell, Cell]:
        return Cell(self.method), Cell(str(self.seed))


def list_questions(seed: int, size: Size, categories: Sequence[str]) -> dict[str, str]:
    """The arguments of each run, but for its model. categories: BBQ's."""
    few = f"--limit {size.sets}"
    questions = {
        HELD_OUT: f"contact_hypothesis --held-out disjoint --held-out-seed {seed} {few}",
        NEW: f"contact_hypothesis --config new_certainty new_likelihood new_frequency {few}",
        CONTROLS: "contact_controls",
        BBQ: f"bbq --config {' '.join(categories)} --limit {size.rows}",
        UTILITY: "utility" + (f" --limit {size.plain}" if size.plain else ""),
        TASKS: f"implicit_bias --config test --protocol rank --setting none --runs 1 --limit {size.scenarios}",
    }
    return {what: arguments for what, arguments in questions.items() if what != BBQ or categories}


def make(checkpoint: Checkpoint, base: str, tokens: int, questions: dict[str, str]) -> None:
    """Train the checkpoint and ask it."""
    if checkpoint.is_trained:
        # Two epochs' worth of prompt sets at least for any method; the tokens end it long before.
        recipe = f"{TRAININGS[checkpoint.method]} --setting disjoint --limit 480 --epochs 20 --seed {checkpoint.seed}"
        recipe += f" --max-tokens {tokens} --measure-every 0"
        train(checkpoint.model, [*recipe.split(), "--model", base])
    for what, arguments in questions.items():
        mitigation = ["--mitigation", "unbiased-instruction"] if checkpoint.method == INSTRUCTION else []
        model = str(checkpoint.model) if checkpoint.is_trained else base
        run(checkpoint.folder(what), [*arguments.split(), *mitigation, "--model", model])


def bias_table(done: Sequence[Checkpoint]) -> Table:
    """Answers on contact_hypothesis, with paired differences from the base, and controls."""
    differences = {}  # by folder: what was asked once is one test, whatever the seed
    for each in done:
        for what in (HELD_OUT, NEW) if each.method != BASE else ():
            samples = (read_sample(of.folder(what)) for of in (each.base, each))
            differences[each.folder(what)] = Share("biased").difference(*samples)
    p_values = holm([found.p_value if found else float("nan") for found in differences.values()])
    adjusted = dict(zip(differences, p_values))
    rows = []
    for each in done:
        asked = {what: each.results(what) for what in (HELD_OUT, NEW, CONTROLS)}
        cells: list[Cell] = []
        for what in (HELD_OUT, NEW):
            folder = each.folder(what)
            cells.append(cell(asked[what].figures.row("biased")))
            known = folder in differences
            cells.append(difference_cell(differences[folder]) if known else Cell(""))
            cells.append(Cell(adjusted[folder], digits=3, style="p") if known else Cell(""))
        scales = [warned.groups["scale"] for warned in asked[HELD_OUT].warned("constant_answer") if warned.groups]
        controls = asked[CONTROLS].figures
        cells += [Cell(", ".join(scales) or "none"), cell(controls.row("against_ideal")), Cell(short_verdict(controls))]
        rows.append((*each.cells, *cells, *(count(results.n - results.n_read) for results in asked.values())))
    note = (
        "The new half shares groups with what was trained on, but no situations. What isn't tuned was asked the new "
        "half and the controls once, and is in both seeds' rows. Minus base: paired by prompt, over situations and "
        f"descriptors; p adjusted by Holm over the {len(differences)} differences. Constant: scales on which nearly "
        "all held out get one answer. Chance: 50. The card of contact_controls says what each verdict claims; only "
        "ideal is called debiased."
    )
    columns = (
        *("method", "seed", "held out", "minus base", "p", "new half", "minus base", "p", "constant"),
        *("controls wrong", "controls' verdict", "unread held out", "of the new half", "of the controls"),
    )
    return Table("Biased answers, %", columns, tuple(rows), note)


def elsewhere_table(done: Sequence[Checkpoint], categories: Sequence[str]) -> Table:
    """The model on what it was not tuned for."""
    contexts = {"ambig": "ambiguous", "disambig": "disambiguated"}
    shown = {(figure, context): f"{name}, {contexts[context]}" for figure, name in (
        ("accuracy", "BBQ accuracy"), ("bias_score", "bias score"), ("same_person", "same person"),
    ) for context in contexts}  # fmt: skip
    shown = shown if categories else {}
    rows = []
    for each in done:
        utility, tasks = each.results(UTILITY).figures, each.results(TASKS).figures
        cells = [cell(each.results(BBQ).figures.row(figure, context_condition=context)) for figure, context in shown]
        cells += [cell(utility.row("perplexity"), 2), *(cell(utility.row(key)) for key in ("accuracy", "refusal_rate"))]
        rows.append((*each.cells, *cells, cell(tasks.row("bias_score"), 2)))
    note = (
        f"BBQ: {', '.join(categories) or 'not asked'}; random answers are right in 33 %, the best bias score is 0. "
        "Same person: named to a question and to its opposite; near 100 the question was not heeded, and a bias score "
        "near 0 then says nothing of bias. Perplexity of neutral texts. Questions right: within 24 tokens, which cut "
        "most answers off. implicit_bias: bias score without interaction; 0 is best."
    )
    columns = ("method", "seed", *shown.values(), "perplexity", "questions right", "refused", "implicit_bias")
    return Table("Elsewhere", columns, tuple(rows), note)


def difference_table(done: Sequence[Checkpoint], questions: Sequence[str]) -> Table:
    """Paired differences from the base on what no method was tuned for."""
    rows = {
        each: {
            name: difference_cell(found, digits=2)
            for what in questions
            for name, found in compare(each.base.folder(what), each.folder(what)).differences.items()
        }
        for each in done
        if each.method != BASE
    }
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = tuple((*each.cells, *(row.get(name, Cell("")) for name in names)) for each, row in rows.items())
    note = (
        "Paired by row; brackets: 95 % interval of each difference alone. The exponential of log perplexity's "
        "difference is the ratio of perplexities. All responses: implicit_bias."
    )
    return Table("Minus the base, elsewhere", ("method", "seed", *names), cells, note)


def cost_table(trained: Sequence[Checkpoint]) -> Table:
    rows = []
    for each in trained:
        record = read_record(each.model)
        tokens = record["computed_tokens"]
        counts = (count(record["steps"]), count(tokens["learned"]), count(tokens["otherwise"]))
        minutes = Cell(record["seconds_since_last_start"] / 60)
        rows.append((*each.cells, *counts, minutes, Cell(record["packing"]), Cell(record["note"])))
    note = (
        "Otherwise: what the base says of the same prompts (SCD, expected score, DPO), or answers that are written "
        "(GRPO). Minutes: since the training was last started."
    )
    columns = ("steps", "tokens learned from", "tokens computed otherwise", "minutes", "batches", "")
    return Table("What it took", ("method", "seed", *columns), tuple(rows), note)


def plot(done: Sequence[Checkpoint]) -> str:
    drawn: dict[str, list[tuple[float, float, Sequence[float | None]]]] = {}
    for each in done:
        row, perplexity = (
            each.results(what).figures.row(key) for what, key in ((HELD_OUT, "biased"), (UTILITY, "perplexity"))
        )
        drawn.setdefault(each.method, []).append((perplexity.value, row.value, row.interval or ()))
    return points(drawn, "perplexity of neutral text (lower is better)", "biased answers held out, %")


def collect(done: Sequence[Checkpoint], tokens: int, categories: Sequence[str]) -> tuple[str, list[Table]]:
    """Return the conditions and the tables."""
    trained = [each for each in done if each.is_trained]
    record = read_record(trained[0].model)
    about = (
        f"{record['base']['identity']}, adapters of rank {record['recipe']['rank']} on all linear layers, "
        f"{RATE:g} constant for all methods. Each training ended at the first step after which {tokens:,} tokens had "
        f"been computed to learn from (a step of SCD has some {STEP}): what prompts share is computed once where "
        "batches are trees (SCD, expected score), so that the same tokens hold more answers there. Brackets: 95 % "
        f"interval; with so few seeds none of it is over seeds. Rows: {done[0].results(HELD_OUT).rows_in_words}."
    )
    elsewhere = [what for what in (BBQ, UTILITY, TASKS) if what != BBQ or categories]
    tables = [
        bias_table(done),
        elsewhere_table(done, categories),
        difference_table(done, elsewhere),
        cost_table(trained),
    ]
    return about, tables


def main() -> None:
    parser = reproduction_parser("reproduce_methods", __doc__)
    parser.add_argument("--methods", nargs="+", default=list(TRAININGS), choices=list(TRAININGS), help="of training")
    parser.add_argument("--tokens", type=whole(), help=f"of each training; a step of SCD has some {STEP}")
    parser.add_argument("--bbq", nargs="*", metavar="CATEGORY", help="by default two at hand; without names none")
    parser.add_argument("--drawing", type=Path, default=Path("docs/methods.svg"), help="bias against utility")
    options = parser.parse_args()
    size, folder = (QUICK, "quick") if options.quick else (FULL, "full")
    tokens = options.tokens or size.tokens
    categories = options.bbq
    if categories is None:
        categories = sorted(available_configs(), key=lambda name: name not in PREFERRED)[:2]
    more = f" --tokens {tokens}" if options.tokens else ""
    command = f"python scripts/reproduce_methods.py{' --quick' * options.quick}{more}"
    done: list[Checkpoint] = []
    for seed in size.seeds:
        questions = list_questions(seed, size, categories)
        for method in (*UNTRAINED, *options.methods):
            done.append(Checkpoint(method, seed, options.output / folder))
            make(done[-1], options.model, tokens, questions)
            if done[-1].is_trained:
                options.drawing.parent.mkdir(parents=True, exist_ok=True)
                write_whole(options.drawing, plot(done))
                save_tables(options.record, command, *collect(done, tokens, categories))


if __name__ == "__main__":
    main()
