"""What reports and comparisons show besides the figures: conversations, reasons, and runs side by side by setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.benchmark import Card, Comparing, Publishing
from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.implicit_bias.figures import DIGITS, OUTCOMES, SCORES, STAGES
from evenhand.benchmarks.implicit_bias.interaction import ALONE, LAST_STAGE, REFLECTED
from evenhand.benchmarks.implicit_bias.options import GOAL, NO_GOAL, NONE, TEST_SET
from evenhand.benchmarks.implicit_bias.scenario import GoalTask, wanted_task
from evenhand.figure import NOTHING, FigureRow, FigureTable
from evenhand.report.findings import Conversation, Example, Findings, Panel, Plot, Run, Turn, not_beside_them, whiskers
from evenhand.report.layout import Grid, counts, figure_sentence
from evenhand.report.tables import Cell, Table, signed

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.benchmark import Benchmark
    from evenhand.flow.results import Results

# Conversations

CONVERSATIONS, REASONS = 6, 24
FORCED = (
    "The format of assignments was forced (--constrain): they were asked for as JSON by a schema that names the "
    "characters for each task, and only what keeps to it is read."
)
GOALS = {
    "first": "first task",
    "stereotypical-male": "first task that is stereotypically male",
    "stereotypical-female": "first task that is stereotypically female",
}


def show_conversations(
    predictions: pd.DataFrame,
    n: int,
    caption: Callable[[Any], str],
    matter: Callable[[Any], str],
    reading: Callable[[Any], str],
) -> Iterator[Conversation]:
    """Lay out n whole conversations, spread over the rows; caption, matter and reading: of a prediction."""
    for first in spread_rows(predictions.drop_duplicates("row"), n).itertuples():
        turns = predictions[predictions["row"] == first.row].sort_values("turn")
        rounds = tuple(
            (str(stage), tuple(Turn(_speaker(turn), turn.text, reading(turn)) for turn in said.itertuples()))
            for stage, said in turns.groupby("stage", sort=False)
        )
        yield Conversation(caption(first), matter(first), rounds)


def spread_rows(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    n = min(most, len(rows))
    return rows.iloc[[i * len(rows) // n for i in range(n)]]


def _speaker(turn: Any) -> str:
    model = "" if turn.agent_model == "default" else f", {turn.agent_model}"
    return f"{turn.agent} ({turn.agent_gender}{model})"


def number_tasks(people: Any) -> str:
    return ", ".join(f"{number}: {name}" for number, name in enumerate(people, start=1))


def with_conversations(
    benchmark: Benchmark[Any], found: Findings, predictions: pd.DataFrame, results: Results
) -> Findings:
    """Add conversations and reasons to what the layout shows, or answers if there was no interaction."""
    last, alone = last_score(results.figures), (predictions["stage"] == ALONE).any()
    sentences = [figure_sentence(benchmark, results, last)] if last.n_read else list(found.sentences)
    if results.option("goal"):
        sentences.append(_describe_goal(predictions, results))
    if results.option("constrain"):
        sentences.append(FORCED)
    if last.figure and not alone:
        sentences.append(_describe_change(results.figures))
    reasons = _list_reasons(predictions)
    found = replace(found, sentences=tuple(sentences), examples=())
    if reasons.rows:
        found = replace(found, exploratory=(*found.exploratory, reasons))
    if alone:
        shown = spread_rows(predictions, CONVERSATIONS).itertuples()
        answers = (Example(_caption(row), _matter(row), row.text, _reading(row)) for row in shown)
        return replace(found, examples=tuple(answers))
    conversations = show_conversations(predictions, CONVERSATIONS, _caption, _matter, _reading)
    return replace(found, conversations=tuple(conversations))


def _describe_goal(predictions: pd.DataFrame, results: Results) -> str:
    """Say which task is the goal, and how often it is stereotypically male; in the paper it always is."""
    kind: GoalTask = results.option("goal_task") or "first"  # type: ignore[assignment]
    stereotypes = predictions.drop_duplicates("scenario_id")["task_stereotypes"]
    wanted = [each[wanted_task(each, kind) - 1] for each in stereotypes]
    return (
        f"Each agent was asked in private to want the {GOALS[kind]}: a man's by stereotype in "
        f"{wanted.count('male'):,} of {len(wanted):,} scenarios, in the paper in all."
    )


def _describe_change(table: FigureTable) -> str:
    """Significant if both the interval and the test say so."""
    from evenhand.statistics.resampling import LEVEL

    change, p = table.row("change"), table.row("change_p_value").value
    if not change.n_read:
        return "No agent's first and last assignments were both read: there is no change between them to report."
    significant = change.interval is not None and not change.low <= 0 <= change.high and p < LEVEL
    value = signed(change.value, [change.low, change.high], DIGITS)
    doubt = "" if significant else "; not significant"
    return f"The score changed by {value} between first and last assignments ({change.n_read:,} pairs{doubt})."


def _list_reasons(predictions: pd.DataFrame) -> Table:
    """Why agents say that bias is present or absent, spread over the rows."""
    given = predictions[(predictions["stage"] == REFLECTED) & predictions["claim"].notna()]
    given = given[given["reason"].fillna("").str.strip() != ""]
    rows = tuple(
        tuple(map(Cell, (str(row.id), _outcome(row.first_outcome), "present" if row.claim else "absent", row.reason)))
        for row in spread_rows(given, REASONS).itertuples()
    )
    note = f"{len(rows):,} of {len(given):,} reasons; all are in predictions.parquet, column reason."
    return Table("Reasons that agents give", ("agent", "first assignment", "says that bias is", "reason"), rows, note)


def _caption(row: Any) -> str:
    return f"{row.domain} · {row.shape} · run {row.run}"


def _matter(row: Any) -> str:
    """The scenario in one paragraph, each task with its stereotype."""
    tasks = " ".join(
        f"{number}. {task.removesuffix('.')} [{stereotype}]"
        for number, (task, stereotype) in enumerate(zip(row.tasks, row.task_stereotypes), start=1)
    )
    people = ", ".join(f"{name} ({gender})" for name, gender in zip(row.characters, row.genders))
    return f"{row.scenario} — {tasks} — {people}"


def _reading(row: Any) -> str:
    """An assignment as it was read, with its outcome; nothing for a discussion."""
    if row.assignment is None:
        return ""
    if not all(row.assignment):
        return "unread"
    return f"{_outcome(row.outcome)} ({number_tasks(row.assignment)})"


def _outcome(outcome: object) -> str:
    return OUTCOMES.get(outcome, outcome) if isinstance(outcome, str) else "unread"


# Runs side by side (Figures 6, 16, 17 and 18)

TITLES = {
    NONE: "Bias scores without interaction (as the paper's Figures 16 and 17)",
    NO_GOAL: "Bias scores before and after interaction (as the paper's Figure 6)",
    GOAL: "Bias scores before and after interaction with goals (as the paper's Figure 18)",
}
MITIGATED = {
    NONE: "Published (D.2; the plots print no figures): fine-tuning on the full data gives the lowest scores; "
    "self-reflection lowers them for all models, and turns gpt-4's negative.",
    NO_GOAL: "Published (6.3, D.3; the plot prints no figures): lowest 0.01 (fine-tuned gpt-35-turbo, reflection with "
    "examples) and 0.16 (mistral-7b-instruct); gpt-4 with reflection is below 0.",
    GOAL: "Published (D.3; the plot prints no figures): lowest 0.06 for mistral-7b-instruct; gpt-4 with reflection is "
    "below 0.",
}
"""What the text says of Figures 16 and 17, 6, and 18."""


def as_in_figures(runs: Sequence[Run]) -> bool:
    """Whether what the paper says of Figures 6 and 16 to 18 may be shown next to runs of its test set."""
    of_test = all(list(run.results.option("configs")) == ["test"] for run in runs)
    return of_test and not any({*run.results.differs} - {TEST_SET} for run in runs)


def last_score(table: FigureTable) -> FigureRow:
    """The bias score of the last assignments, or the only ones."""
    rows = table.rows("bias_score", "stage")
    return next((row for row in rows if row.groups["stage"] in (LAST_STAGE, ALONE)), NOTHING)


class ImplicitBiasPublishing(Publishing):
    def task(self, groups: Mapping[str, str], configs: Sequence[str], card: Card) -> str:
        """ "scenarios-none", "scenarios-interaction"; "" of other assignments than the last."""
        setting = {ALONE: NONE, LAST_STAGE: NO_GOAL}.get(groups.get("stage", ""))
        return "-".join((*configs, setting)) if setting else ""


class ImplicitBiasComparing(Comparing):
    def panels(self, runs: Sequence[Run]) -> tuple[Panel, ...]:
        """One for each setting, in which models and mitigations differ."""
        by_setting: dict[tuple[str, str], list[Run]] = {}
        for run in runs:
            by_setting.setdefault(_describe_setting(run.results), []).append(run)
        return tuple(
            Panel(tuple(some), (_tabulate(setting, how, some),), (_plot(some),))
            for (setting, how), some in by_setting.items()
        )


def _describe_setting(results: Results) -> tuple[str, str]:
    """The setting; and the configurations, data source and protocol with what belongs to it, in words."""
    setting = GOAL if results.option("goal") else results.option("setting")
    how = f"{', '.join(results.option('configs')) or 'default configs'} ({results.option('source')}), protocol "
    how += str(results.option("protocol"))
    if results.option("goal") and (wanted := results.option("goal_task") or "first") != "first":
        how += f", goal {wanted}"
    return setting, how + ", format forced" * bool(results.option("constrain"))


def _label(run: Run) -> str:
    """The letter, the model or models, and the mitigation."""
    who = " and ".join(name for name, _ in run.results.option("agents")) or run.results.model_name
    return f"{run.letter}: {who}, {run.results.option('mitigation') or 'no mitigation'}"


def _tabulate(setting: str, how: str, runs: Sequence[Run]) -> Table:
    """The scores of every stage of runs that were asked in one way, as in their reports."""
    scores = Grid("", ("stage",), (*SCORES, *counts("bias_score")), names=STAGES)
    built = ((run, scores.build(get_benchmark(run.results.benchmark), run.results)) for run in runs)
    tables = [(run, table) for run, table in built if table]
    lines = tuple(
        (Cell(f"{_label(run)}, {stage.text}"), *cells) for run, table in tables for stage, *cells in table.rows
    )
    columns = tables[0][1].columns[1:] if tables else ()
    said = MITIGATED[setting] if as_in_figures(runs) else not_beside_them(runs, lambda run: (TEST_SET,))
    note = f"{how}. {said}".strip()
    return Table(TITLES[setting], ("run", *columns), lines, note)


def _plot(runs: Sequence[Run]) -> Plot:
    from evenhand.report.plots import grouped_bars

    rows = {
        _label(run): {stage: run.results.figures.row("bias_score", stage=stage) for stage in STAGES} for run in runs
    }
    stages = [stage for stage in STAGES if any(of_run[stage].n for of_run in rows.values())]
    bars: dict[str, dict[str, tuple[float, Sequence[float]]]] = {
        label: {STAGES[stage]: (of_run[stage].value, of_run[stage].interval or ()) for stage in stages}
        for label, of_run in rows.items()
    }
    note = f"{whiskers(bars, '95 % intervals over scenarios').capitalize()}. 1: all by stereotype, -1: all against it."
    draw = partial(grouped_bars, bars, "bias score", (0.0, "no bias"), (-1.0, 1.0))
    return Plot("Bias scores of the runs", draw, note)
