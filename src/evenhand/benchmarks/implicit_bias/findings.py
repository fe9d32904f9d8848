"""What an implicit_bias run found: Table 1 and Figures 3 and 4 of the paper, measured, and whole conversations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.correction import with_former
from evenhand.benchmarks.implicit_bias.scenario import GoalTask, wanted_task
from evenhand.flow.results import Results
from evenhand.report.findings import Conversation, Example, Findings, Plot, Turn, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table, figure, n_with_clusters, named_clusters
from evenhand.statistics.resampling import LEVEL

STAGES = {
    "first": "first responses",
    "reflected": "after reflection",
    "last": "last responses",
    "all": "all responses",
}
SHARES = {"neutral": "neutral", "stereotypical": "stereotypical", "anti_stereotypical": "anti-stereotypical"}
DIGITS = 2
CONVERSATIONS, REASONS = 6, 24
BY = ("domain", "agent_gender", "agent_model")
FORCED = (
    "The format of assignments was forced (--constrain): they were asked for as JSON by a schema that names the "
    "characters for each task, and only what keeps to it is read."
)
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    stages = metrics["stages"]
    talked = "all" not in stages
    return Findings(
        sentences=(
            _sentence(results),
            *([_not_scored(metrics["unscored"])] if "unscored" in metrics else []),
            *([_goal(predictions, results)] if results.option("goal") else []),
            *([FORCED] if results.option("constrain") else []),
            *([_changed(metrics["change"])] if talked else []),
            *([_corrected(metrics["self_correction"])] if "self_correction" in metrics else []),
            *([_reduced(metrics["reduction"])] if "reduction" in metrics else []),
        ),
        tables=(
            _table_1(results),
            *([_appendix_e(results)] if "reduction" in metrics else []),
            *([_claims(metrics["claims"])] if "claims" in metrics else []),
            *([_runs(stages)] if _several_runs(stages) else []),
            *([shapes] if (shapes := _by(stages, "shape")).rows else []),
        ),
        exploratory=tuple(
            table for table in (*(_by(stages, column) for column in BY), _reasons(predictions)) if table.rows
        ),
        plots=_plots(stages),
        examples=() if talked else tuple(_examples(predictions)),
        warnings=(*_notes(metrics), *_warnings(stages), *_oddities(predictions, results)),
        conversations=tuple(_conversations(predictions)) if talked else (),
    )


def _sentence(results: Results) -> str:
    """The run in a sentence: score, interval, chance, how many were read."""
    metrics = results.metrics
    expected = ""
    if "expected_bias_score" in metrics:
        expected = f", {_figure(metrics, 'expected_bias_score')} in expectation over all that it might answer"
    what = "assignments" if "all" in metrics["stages"] else "last assignments"
    scenarios = named_clusters(metrics, "scenario")
    if not metrics["n"]:
        return f"{results.model_name}: no bias score, for no scenario's stereotypes are known."
    if not metrics["n_read"] and not expected:
        return f"{results.model_name}: no bias score, for none of {metrics['n']:,} {what} was read ({scenarios})."
    return (
        f"{results.model_name}: bias score of {what} {_figure(metrics, 'bias_score')}{expected}; random assignments "
        f"score {figure(metrics['chance_score'], digits=DIGITS)} here, 1 is all by stereotype, 0 is best. "
        f"{metrics['n_read']:,} of {metrics['n']:,} read ({100 * metrics['unread_rate']:.1f} percent unread), "
        f"{scenarios}."
    )


def _not_scored(unscored: Metrics) -> str:
    n, scenarios = unscored["n"], unscored["n_scenarios"]
    return (
        f"{n:,} assignments of {scenarios:,} scenario{'s' * (scenarios != 1)} are in no figure, for the stereotypes of "
        f"their tasks are not known ({unscored['n_read']:,} were read): --task-stereotypes FILE gives them."
    )


KINDS = {
    "first": "first task",
    "stereotypical-male": "first task that is stereotypically male",
    "stereotypical-female": "first task that is stereotypically female",
}


def _goal(predictions: pd.DataFrame, results: Results) -> str:
    """Which task is the goal, and how often it is a man's by stereotype; in the paper it always is."""
    kind: GoalTask = results.option("goal_task") or "first"
    stereotypes = predictions.drop_duplicates("scenario_id")["task_stereotypes"]
    wanted = [of[wanted_task(of, kind) - 1] for of in stereotypes]
    men, known = wanted.count("male"), sum(map(bool, wanted))
    unknown = f", not known of {len(wanted) - known:,} more" if known < len(wanted) else ""
    return (
        f"Each agent was told in private to want the {KINDS[kind]}: a man's by stereotype in {men:,} of "
        f"{known:,} scenarios{unknown}, in the paper in all."
    )


def _changed(change: Metrics) -> str:
    if change["estimate"] is None or not change["n"]:
        return "What the discussion changed can't be said: no agent's first and last assignments were both read."
    estimate = figure(change["estimate"], change["interval"], DIGITS)
    return f"From first to last assignments the score changed by {estimate} ({change['n']:,} pairs)" + (
        ", which may be nothing." if may_be_nothing(change) else "."
    )


def may_be_nothing(change: Metrics) -> bool:
    """Unless both the interval and the test say that there is a change."""
    low, high = change["interval"]
    found = low is not None and (low > 0 or high < 0) and change["p_value"] is not None and change["p_value"] < LEVEL
    return not found


def _corrected(correction: Metrics) -> str:
    if not correction["n"]:
        return "No self-correction can be seen: no first assignment was biased, or none was read before and after."
    rate = figure(correction["rate"], correction["interval"], DIGITS)
    spoiled = ""
    if correction["n_neutral"]:
        share = figure(correction["spoiled"], digits=DIGITS)
        spoiled = f"; of {correction['n_neutral']:,} neutral ones, {share} were not"
    return f"Self-correction: of {correction['n']:,} biased first assignments, {rate} were neutral afterwards{spoiled}."


def _reduced(reduction: Metrics) -> str:
    if reduction["rate"] is None:
        return "Whether interaction reduced the score can't be said: that of first assignments is not above 0."
    rate = figure(reduction["rate"], reduction["interval"], DIGITS)
    return f"After the interaction the score of first assignments was reduced by {rate} of itself."


def _appendix_e(results: Results) -> Table:
    """What is corrected before the discussion, and how far the score has fallen after it."""
    metrics, published = results.metrics, results.published
    keys = {"self_correction": "self-correction", "reduction": "reduction after interaction"}
    counted = [(metrics[key], n_with_clusters(metrics[key])) for key in keys]
    texts = [text for of, n in counted for text in (figure(of["rate"], of["interval"], DIGITS), n)]
    rows = [tuple(map(Cell, (results.model_name, *texts)))]
    for model in published.get("self_correction", {}):
        ends = (published[key].get(model) for key in keys)
        ranges = ("" if each is None else " to ".join(f"{end:.2f}" for end in each) for each in ends)
        texts = [text for each in ranges for text in (each, "")]
        rows.append(tuple(Cell(text, published=True) for text in (f" {model}, published", *texts)))
    note = (
        "Self-correction: the share of biased first assignments that are neutral after reflection, before anybody "
        "discusses. Reduction: bias score of first minus last responses, as a share of the first. Brackets: 95 % "
        "interval over scenarios. The paper has both as ranges, without formulas (appendix E): these are our readings."
    )
    note += f" Published: {published['source']}." if published else ""
    columns = (f"{each}{more}" for each in keys.values() for more in ("", ", n (scenarios)"))
    return Table("What reflection and interaction changed", ("model", *columns), tuple(rows), note)


def _claims(claims: Metrics) -> Table:
    rows = tuple(
        (Cell(SHARES.get(outcome, outcome)), *(Cell(f"{number:,}") for number in said.values()))
        for outcome, said in claims.items()
    )
    return Table(
        "What agents say of bias in their first assignment",
        ("first assignment", "bias present", "bias absent", "unread"),
        rows,
        "Numbers of assignments.",
    )


def _reasons(predictions: pd.DataFrame) -> Table:
    """What agents give as reasons for saying that bias is present or absent, spread over the rows."""
    reflected = predictions[predictions["stage"] == "reflected"]
    given = with_former(predictions[predictions["stage"] == "first"], reflected).dropna(subset=["claim"])
    given = given[given["reason"].fillna("").str.strip() != ""]
    rows = tuple(
        tuple(map(Cell, (str(row.id), _outcome(row.outcome_before), "present" if row.claim else "absent", row.reason)))
        for row in _spread(given, REASONS).itertuples()
    )
    note = f"{len(rows):,} of {len(given):,} reasons; all are in predictions.parquet, column reason."
    return Table("Reasons that agents give", ("agent", "first assignment", "says that bias is", "reason"), rows, note)


def _table_1(results: Results) -> Table:
    stages, published = results.metrics["stages"], results.published
    ranked = any("expected_bias_score" in of for of in stages.values())
    rows = []
    for stage, of in stages.items():
        rows.append(_row(STAGES[stage], of, ranked))
        chance = [figure(of["chance_shares"][share], digits=DIGITS) for share in SHARES]
        chance += [figure(of["chance_score"], digits=DIGITS), *([""] if ranked else []), "", ""]
        rows.append(tuple(Cell(text) for text in (" chance", *chance)))
        for model, printed in published.get("figures", {}).items():
            if stage in printed:
                row = printed[stage]
                texts = [f" {model}, published", *(f"{row[share]:.4f}" for share in SHARES), f"{row['bias_score']:.4f}"]
                texts += [*([""] if ranked else []), "", ""]
                rows.append(tuple(Cell(text, published=True) for text in texts))
    runs = results.option("runs")
    note = (
        f"{results.model_name}, {runs} run{'s' if runs > 1 else ''}. Brackets: 95 % "
        "interval over scenarios. Chance: uniformly random one-to-one assignments. "
    )
    if ranked:
        note += "Ranked: every one-to-one assignment was scored; expected: over the model's distribution of them. "
    if "figures" in published:
        note += f"Published: {published['source']}; models wrote their assignments."
    columns = ("responses", *SHARES.values(), "bias score", *(["expected"] if ranked else []))
    return Table(
        "Bias scores before and after interaction" if "all" not in stages else "Bias scores without interaction",
        (*columns, "n (scenarios)", "unread %"),
        tuple(rows),
        note,
    )


def _row(name: str, of: Metrics, ranked: bool) -> tuple[Cell, ...]:
    texts = [name, *(_figure(of, share) for share in SHARES), _figure(of, "bias_score")]
    if ranked:
        texts.append(_figure(of, "expected_bias_score"))
    texts += [n_with_clusters(of), _unread(of)]
    return tuple(Cell(text) for text in texts)


def _several_runs(stages: Metrics) -> bool:
    return any(len(of.get("runs", {})) > 1 for of in stages.values())


def _runs(stages: Metrics) -> Table:
    names = list(dict.fromkeys(run for of in stages.values() for run in of["runs"]))
    rows = tuple(
        (
            Cell(STAGES[stage]),
            *(Cell(figure(of["runs"].get(run), digits=DIGITS)) for run in names),
            Cell(figure(of["run_sd"], digits=DIGITS)),
        )
        for stage, of in stages.items()
    )
    columns = ("responses", *(f"run {run}" for run in names), "standard deviation")
    return Table("Bias score of each run", columns, rows, "The paper averages five runs.")


def _by(stages: Metrics, column: str) -> Table:
    """Each stage's figures for each value of the column: Figures 3 and 4 for domains."""
    named = [
        (f"{value}, {STAGES[stage]}" if len(stages) > 1 else str(value), of["by"][column][value])
        for value in dict.fromkeys(value for of in stages.values() for value in of["by"].get(column, {}))
        for stage, of in stages.items()
        if value in of["by"].get(column, {})
    ]
    title = {"shape": "By numbers of men and women"}.get(column, f"By {column.replace('_', ' ')}")
    note = "Seats were drawn: each model speaks in each place about equally often." if column == "agent_model" else ""
    return by_group(title, column.replace("_", " "), named, note)


def by_group(title: str, groups: str, named: Sequence[tuple[str, Metrics]], note: str = "") -> Table:
    """A row for each group's figures."""
    ranked = any("expected_bias_score" in of for _, of in named)
    columns = (groups, "bias score", "chance", *(["expected"] if ranked else []), "n (scenarios)", "unread %")
    rows = tuple(_group(name, of, ranked) for name, of in named)
    return Table(title, columns, rows, f"Brackets: 95 % interval. {note}".rstrip())


def _group(name: str, of: Metrics, ranked: bool) -> tuple[Cell, ...]:
    texts = [name, _figure(of, "bias_score"), figure(of["chance_score"], digits=DIGITS)]
    if ranked:
        texts.append(_figure(of, "expected_bias_score"))
    return tuple(Cell(text) for text in (*texts, n_with_clusters(of), _unread(of)))


def _plots(stages: Metrics) -> tuple[Plot, ...]:
    domains = {stage: of["by"].get("domain", {}) for stage, of in stages.items()}
    bars = {
        domain: {
            STAGES[stage]: (of[domain]["bias_score"], interval(of[domain], "bias_score"))
            for stage, of in domains.items()
            if domain in of
        }
        for domain in sorted({domain for of in domains.values() for domain in of})
    }
    if not bars:
        return ()
    counts = "; ".join(
        f"{STAGES[stage]}: {of['n_read']:,} of {of['n']:,} read, {named_clusters(of, 'scenario')}"
        for stage, of in stages.items()
    )
    labels = {name.replace("_", " "): values for name, values in bars.items()}
    figures = "Figure 4" if "all" not in stages else "Figure 3"
    return (
        Plot(
            f"Bias score by domain (as the paper's {figures})",
            partial(grouped_bars, labels, "bias score", (0.0, "no bias"), (-1.0, 1.0)),
            f"{counts}. {whiskers(bars, '95 % intervals over scenarios').capitalize()}.",
        ),
    )


def _notes(metrics: Metrics) -> list[str]:
    """What is said of the rows and of failed requests, and of no stage."""
    of_stages = {warning for of in metrics["stages"].values() for warning in of["warnings"]}
    return [note for note in metrics["warnings"] if note not in of_stages]


def _warnings(stages: Metrics) -> tuple[str, ...]:
    """Each stage's, once where they are the same."""
    stages_of: dict[str, list[str]] = {}
    for stage, of in stages.items():
        for warning in of["warnings"]:
            stages_of.setdefault(warning, []).append(stage)
    return tuple(
        warning if len(named) == len(stages) else f"{STAGES[named[0]]}: {warning}"
        for warning, named in stages_of.items()
    )


def _oddities(predictions: pd.DataFrame, results: Results) -> Iterator[str]:
    limit = results.option("max_new_tokens")
    cut = int((predictions["finish_reason"] == "length").sum())
    if cut:
        yield f"{cut:,} of {len(predictions):,} replies ended at the limit of {limit} new tokens"
    empty = int((predictions["text"].str.strip() == "").sum())
    if empty:
        yield f"{empty:,} of {len(predictions):,} replies are empty"


def _examples(predictions: pd.DataFrame) -> Iterator[Example]:
    for row in _spread(predictions).itertuples():
        yield Example(
            caption=f"{row.domain} · {row.shape} · run {row.run}",
            prompt=_matter(row),
            answer=row.text,
            reading=_reading(row),
        )


def _conversations(predictions: pd.DataFrame) -> Iterator[Conversation]:
    """Whole conversations, spread over the rows."""
    for chosen in _spread(predictions.drop_duplicates("row")).itertuples():
        turns = predictions[predictions["row"] == chosen.row].sort_values("turn")
        rounds = [
            (str(stage), tuple(Turn(speaker(turn), turn.text, _reading(turn)) for turn in of.itertuples()))
            for stage, of in turns.groupby("stage", sort=False)
        ]
        yield Conversation(f"{chosen.domain} · {chosen.shape} · run {chosen.run}", _matter(chosen), tuple(rounds))


def _spread(rows: pd.DataFrame, most: int = CONVERSATIONS) -> pd.DataFrame:
    n = min(most, len(rows))
    return rows.iloc[[i * len(rows) // n for i in range(n)]]


def speaker(turn: Any) -> str:
    """Who speaks, as reports name it."""
    model = "" if turn.agent_model == "default" else f", {turn.agent_model}"
    return f"{turn.agent} ({turn.agent_gender}{model})"


def _matter(row: Any) -> str:
    """The scenario in one paragraph, each task with its stereotype."""
    tasks = " ".join(
        f"{number}. {re.sub(r'[.]$', '', task)} [{stereotype or 'not known'}]"
        for number, (task, stereotype) in enumerate(zip(row.tasks, row.task_stereotypes), start=1)
    )
    people = ", ".join(f"{name} ({gender})" for name, gender in zip(row.characters, row.genders))
    return f"{row.scenario} — {tasks} — {people}"


def _reading(row: Any) -> str:
    """An assignment as it was read: who has which task, and what that is; nothing for a discussion."""
    if row.assignment is None:
        return ""
    outcome = _outcome(row.outcome) if all(row.task_stereotypes) or not all(row.assignment) else "not scored"
    held = ", ".join(f"{number}: {name}" for number, name in enumerate(row.assignment, start=1))
    return outcome if outcome == "unread" else f"{outcome} ({held})"


def _outcome(outcome: str | None) -> str:
    return "unread" if outcome is None or pd.isna(outcome) else SHARES[outcome]


def _unread(of: Metrics) -> str:
    """In percent; of no assignments none."""
    rate = of["unread_rate"]
    return figure(None if rate is None else 100 * rate)


def _figure(of: Metrics, key: str) -> str:
    return figure(of.get(key), interval(of, key), DIGITS)


def interval(of: Metrics, key: str) -> list[float | None]:
    """Its ends; empty where there is none."""
    ends: list[float | None] = of.get("intervals", {}).get(key, [])
    return ends
