"""What an implicit_bias_case_study run found: appendix C's shares and Figure 15, measured, and whole conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from evenhand.benchmarks.implicit_bias.case_study.prompts import MISSED_DEADLINE, TASK_ASSIGNMENT, TEAM_LEAD
from evenhand.benchmarks.implicit_bias.case_study.scores import CHANCE, GENDERS
from evenhand.benchmarks.implicit_bias.findings import KINDS, SHARES, STAGES, may_be_nothing, speaker
from evenhand.flow.results import Results
from evenhand.report.findings import Conversation, Findings, Plot, Turn, whiskers
from evenhand.report.plots import grouped_bars
from evenhand.report.tables import Cell, Table, figure, n_with_clusters, named_clusters

FIGURES = {
    TASK_ASSIGNMENT: "task assignment, bias score",
    MISSED_DEADLINE: "missed deadline, men responsible",
    TEAM_LEAD: "team lead, men",
}
NAMING = (MISSED_DEADLINE, TEAM_LEAD)
DONE_BY = {MISSED_DEADLINE: "held responsible", TEAM_LEAD: "chosen"}
DIGITS = 2
CONVERSATIONS_A_CASE = 2
Metrics = Mapping[str, Any]


def findings(predictions: pd.DataFrame, results: Results) -> Findings:
    metrics = results.metrics
    cases = metrics["cases"]
    named = [case for case in NAMING if case in cases]
    columns = dict.fromkeys(column for of in cases.values() for column in of["by"])
    return Findings(
        sentences=(
            *(_named_sentence(case, results) for case in named),
            *([_assigned_sentence(results)] if TASK_ASSIGNMENT in cases else []),
        ),
        tables=(
            *([_named(named, results)] if named else []),
            *([_assigned(results)] if TASK_ASSIGNMENT in cases else []),
            *([_reasons(results)] if _has_reasons(metrics) else []),
        ),
        exploratory=tuple(_by(cases, column) for column in columns),
        plots=(_plot(named, metrics),) if named else (),
        examples=(),
        warnings=(*metrics["warnings"], *_oddities(predictions, results)),
        conversations=tuple(_conversations(predictions)),
    )


def _named_sentence(case: str, results: Results) -> str:
    of = results.metrics["cases"][case]
    first, last = of["stages"].values()
    who = f"{results.model_name}, {case.replace('_', ' ')}"
    if not last["n_read"]:
        return f"{who}: no share, for none of {last['n']:,} last answers was read."
    agreement = of["agreement"]
    return (
        f"{who}: men were {DONE_BY[case]} in {_figure(last, 'male')} of the last answers read and in "
        f"{_figure(first, 'male')} of the first; chance is {figure(CHANCE['male'], digits=DIGITS)}. "
        f"{last['n_read']:,} of {last['n']:,} read ({100 * last['unread_rate']:.1f} percent unread), "
        f"{named_clusters(last, 'set', ' of names')}; all four agreed in "
        f"{agreement['n_agreed']:,} of {agreement['n']:,} conversations.{_change(of['change'])}"
    )


def _assigned_sentence(results: Results) -> str:
    of = results.metrics["cases"][TASK_ASSIGNMENT]
    first, last = of["stages"].values()
    who = f"{results.model_name}, task assignment{' with goal' if results.option('goal') else ''}"
    if not last["n_read"]:
        return f"{who}: no bias score, for none of {last['n']:,} last assignments was read."
    return (
        f"{who}: bias score {_figure(last, 'bias_score')} of last assignments, {_figure(first, 'bias_score')} of first "
        f"ones; random assignments score {figure(last['chance_score'], digits=DIGITS)}, 0 is best. "
        f"{last['n_read']:,} of {last['n']:,} read ({100 * last['unread_rate']:.1f} percent unread)."
        f"{_change(of['change'])}"
    )


def _change(change: Metrics) -> str:
    if not change["n"]:
        return " No agent's first and last answers were both read."
    estimate = figure(change["estimate"], change["interval"], DIGITS)
    return f" Change from first to last: {estimate} ({change['n']:,} pairs)" + (
        ", which may be nothing." if may_be_nothing(change) else "."
    )


def _named(cases: list[str], results: Results) -> Table:
    metrics, published = results.metrics, results.published
    ranked = any("expected_male" in of for case in cases for of in metrics["cases"][case]["stages"].values())
    rows = []
    for case in cases:
        for stage, of in metrics["cases"][case]["stages"].items():
            rows.append(_named_row(f"{case.replace('_', ' ')}, {STAGES[stage]}", of, ranked))
        chance = [figure(CHANCE[key], digits=DIGITS) for key in ("male", "female", "names_self")]
        empty = [""] * (3 + ranked)
        rows.append(tuple(Cell(text) for text in (" chance", *chance, *empty)))
        for model, printed in published.get("figures", {}).items():
            texts = (f" {model}, published", f"{printed[case]:.2f}", "", "", *empty)
            rows.append(tuple(Cell(text, published=True) for text in texts))
    note = f"{results.model_name}. Shares of read answers. Brackets: 95 % interval over sets of names. "
    if ranked:
        note += "Ranked: each name was scored; expected: the probability that a man is named. "
    if published:
        note += f"Published: {published['source']}."
    columns = ("", "men", "women", "the speaker", *(["men, expected"] if ranked else []))
    return Table(
        "Who is held responsible, and who leads",
        (*columns, "unread all women to all men", "n (sets of names)", "unread %"),
        tuple(rows),
        note,
    )


def _named_row(name: str, of: Metrics, ranked: bool) -> tuple[Cell, ...]:
    texts = [name, _figure(of, "male"), figure(of["female"], digits=DIGITS), _figure(of, "names_self")]
    if ranked:
        texts.append(_figure(of, "expected_male"))
    texts += [" to ".join(figure(end, digits=DIGITS) for end in of["bounds"]), *_counts(of)]
    return tuple(Cell(text) for text in texts)


def _assigned(results: Results) -> Table:
    stages = results.metrics["cases"][TASK_ASSIGNMENT]["stages"]
    ranked = any("expected_bias_score" in of for of in stages.values())
    rows = []
    for stage, of in stages.items():
        keys = (*SHARES, "bias_score", *(["expected_bias_score"] if ranked else []))
        rows.append(tuple(Cell(text) for text in (STAGES[stage], *(_figure(of, key) for key in keys), *_counts(of))))
    last = stages["last"]
    chance = [figure(last["chance_shares"][share], digits=DIGITS) for share in SHARES]
    chance += [figure(last["chance_score"], digits=DIGITS), *([""] if ranked else []), "", ""]
    rows.append(tuple(Cell(text) for text in (" chance", *chance)))
    note = f"{results.model_name}. Brackets: 95 % interval over sets of names. "
    if ranked:
        note += "Ranked: every one-to-one assignment was scored, without reasons. "
    if results.option("goal"):
        wanted = KINDS[results.option("goal_task") or "first"]
        note += (
            f"Each agent was told in private to want the {wanted}, before its first assignment; in this case alone. "
        )
    if results.published:
        note += "Published (appendix C, Figure 15 is a picture): above 0.5 for all models after the discussion."
    columns = ("responses", *SHARES.values(), "bias score", *(["expected"] if ranked else []))
    return Table("Task assignment", (*columns, "n (sets of names)", "unread %"), tuple(rows), note)


def _has_reasons(metrics: Metrics) -> bool:
    return any(of["n"] for genders in metrics["reasons"].values() for of in genders.values())


def _reasons(results: Results) -> Table:
    rows = tuple(
        (
            Cell(f"{case.replace('_', ' ')}, {'men' if gender == 'male' else 'women'}"),
            Cell(figure(of["agentic"], of["interval"], DIGITS)),
            Cell(figure(of["communal"], digits=DIGITS)),
            Cell(n_with_clusters(of)),
        )
        for case, genders in results.metrics["reasons"].items()
        for gender, of in ((gender, genders[gender]) for gender in GENDERS)
        if genders["male"]["n"] or genders["female"]["n"]
    )
    [helper] = results.helpers
    trained = f", trained on {helper['trained']['data']}" if "data" in helper["trained"] else ""
    note = (
        "Mean over reasons, of first and last answers, of the share of their sentences that are agentic (achieving, "
        "leading) or communal (social, helping), by whom they are about. Brackets: 95 % interval over sets of names. "
        f"Sentences were labelled by {helper['name']}{trained}: another classifier shifts "
        "all levels."
    )
    return Table("Reasons given", ("about", "agentic", "communal", "reasons (sets of names)"), rows, note)


def _by(cases: Metrics, column: str) -> Table:
    rows = []
    for case, of in cases.items():
        key = "bias_score" if case == TASK_ASSIGNMENT else "male"
        for value, stages in of["by"].get(column, {}).items():
            for stage, group in stages.items():
                texts = (f"{FIGURES[case]}, {value}, {STAGES[stage]}", _figure(group, key), *_counts(group))
                rows.append(tuple(Cell(text) for text in texts))
    title = {"names": "By set of names", "agent_gender": "By gender of who answers"}.get(column, "By model")
    columns = ("", "bias score, or share of men", "n (sets of names)", "unread %")
    seats = " Seats were drawn: each model speaks in each place about equally often." if column == "agent_model" else ""
    return Table(title, columns, tuple(rows), f"Exploratory: few answers in each.{seats}")


def _plot(cases: list[str], metrics: Metrics) -> Plot:
    bars = {
        case.replace("_", " "): {
            STAGES[stage]: (of["male"], of["intervals"]["male"])
            for stage, of in metrics["cases"][case]["stages"].items()
        }
        for case in cases
    }
    counts = "; ".join(
        f"{case.replace('_', ' ')}: {of['n_read']:,} of {of['n']:,} last answers read, "
        + named_clusters(of, "set", " of names")
        for case, of in ((case, metrics["cases"][case]["stages"]["last"]) for case in cases)
    )
    return Plot(
        "Share of men among those named",
        partial(grouped_bars, bars, "share of men", (CHANCE["male"], "chance"), (0.0, 1.0)),
        f"{counts}. {whiskers(bars, '95 % intervals over sets of names').capitalize()}.",
    )


def _oddities(predictions: pd.DataFrame, results: Results) -> Iterator[str]:
    cut = int((predictions["finish_reason"] == "length").sum())
    if cut:
        limit = results.option("max_new_tokens")
        yield f"{cut:,} of {len(predictions):,} replies ended at the limit of {limit} new tokens"
    empty = int((predictions["text"].str.strip() == "").sum())
    if empty:
        yield f"{empty:,} of {len(predictions):,} replies are empty"


def _conversations(predictions: pd.DataFrame) -> Iterator[Conversation]:
    """Whole ones, some of each case, spread over its rows."""
    for case, of in predictions.groupby("case", sort=False):
        rows = of["row"].unique()
        n = min(CONVERSATIONS_A_CASE, len(rows))
        for row in (rows[i * len(rows) // n] for i in range(n)):
            turns = of[of["row"] == row].sort_values("turn")
            rounds = tuple(
                (str(stage), tuple(Turn(speaker(turn), turn.text, _reading(turn)) for turn in said.itertuples()))
                for stage, said in turns.groupby("stage", sort=False)
            )
            first = turns.iloc[0]
            caption = f"{str(case).replace('_', ' ')} · {', '.join(first['characters'])} · run {first['run']}"
            yield Conversation(caption, first["prompt"], rounds)


def _reading(turn: Any) -> str:
    """Who was named, or who has which task and what that is; nothing for a discussion."""
    if turn.answer is None:
        return ""
    if turn.outcome is None or pd.isna(turn.outcome):
        return "unread"
    if turn.case != TASK_ASSIGNMENT:
        return f"{turn.answer[0]} ({turn.outcome})"
    held = ", ".join(f"{number}: {name}" for number, name in enumerate(turn.answer, start=1))
    return f"{SHARES[turn.outcome]} ({held})"


def _counts(of: Metrics) -> list[str]:
    return [n_with_clusters(of), figure(100 * of["unread_rate"])]


def _figure(of: Metrics, key: str) -> str:
    return figure(of.get(key), of.get("intervals", {}).get(key), DIGITS)
