"""evenhand view: every prompt and answer of a run, or of several side by side, as a table that filters and searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from evenhand.errors import UsageError
from evenhand.flow.episode import EXCHANGE
from evenhand.flow.run_folder import RunFolder
from evenhand.report.findings import render
from evenhand.whole_files import write_whole

_LONGEST = 20_000  # characters of a cell
_OF_REPLIES = ("text", "value")
_FEW_VALUES, _MOST_VALUES = 12, 60  # of a column that filters by a list of its values
_PAGE_ROWS = 25


def collect_rows(folders: Sequence[RunFolder]) -> tuple[pd.DataFrame, str]:
    """Return one row an answer, and the turns with which every prompt begins.

    Several runs are joined by the ids of their answers: each brings its columns `reply` and `value`, and `differs`
    says where they don't all read the same.

    Raises UsageError for runs without an answer in common.
    """
    first, *others = [each.read_predictions(exchanges=True) for each in folders]
    prompts, shared = _describe_prompts(first)
    rows = pd.DataFrame({"id": first["id"], "prompt": prompts, **_describe_answers(first)})
    if "thought" in first and first["thought"].notna().any():
        rows["thought"] = first["thought"].fillna("").str.slice(0, _LONGEST)
    for letter, other in zip("BCDEFGHIJKLMNOPQRSTUVWXYZ", others):
        answers = pd.DataFrame({"id": other["id"], **_describe_answers(other)})
        rows = rows.merge(answers, on="id", suffixes=("", f" {letter}"))
    if not len(rows):
        raise UsageError("these runs have no answer in common; name runs of the same benchmark and rows")
    if others:
        rows = rows.rename(columns={"reply": "reply A", "value": "value A"})
        values = rows.filter(regex="^value ")
        rows["differs"] = values.ne(values.iloc[:, 0], axis=0).any(axis=1).map({True: "yes", False: "no"})
        rows = rows.sort_values("differs", ascending=False, kind="stable")
    described = first.set_index("id").loc[rows["id"]]
    for name in described.columns.difference([*rows, *_OF_REPLIES, *EXCHANGE], sort=False):
        column = described[name]
        if column.map(lambda each: isinstance(each, str | bool | int | float) or each is None).all():
            column = column.astype(str).mask(column.isna(), "")
            if 1 < column.nunique() <= max(_FEW_VALUES, min(_MOST_VALUES, len(rows) // 10)):
                rows[name.replace("_", " ")] = column.to_numpy()
    return rows.reset_index(drop=True), shared


def _describe_prompts(predictions: pd.DataFrame) -> tuple[list[str], str]:
    """Return what varies among prompts, and the turns with which all of them begin."""
    if "messages" not in predictions or predictions["messages"].isna().all():
        return [""] * len(predictions), ""
    chats = [
        [] if chat is None else [(each["role"], each["content"]) for each in chat] for chat in predictions["messages"]
    ]
    n = 0
    while all(len(chat) > n + 1 and chat[n] == chats[0][n] for chat in chats):
        n += 1
    return [_write_turns(chat[n:]) for chat in chats], _write_turns(chats[0][:n])


def _write_turns(chat: Sequence[tuple[str, str]]) -> str:
    text = "\n\n".join(content if len(chat) == 1 else f"[{role}] {content}" for role, content in chat)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _describe_answers(predictions: pd.DataFrame) -> dict[str, pd.Series]:
    text = predictions["text"].fillna("").astype(str).str.slice(0, _LONGEST)
    value = predictions.get("value", pd.Series(index=predictions.index, dtype=float))
    return {"reply": text, "value": value.map(lambda each: "unread" if pd.isna(each) else f"{float(each):.3g}")}


def _break_lines(cell: str) -> str:
    """Write line breaks as U+2028, for pandas, by which itables formats cells, would write a backslash and an n."""
    return "\u2028".join(cell.splitlines())


def write_view(folders: Sequence[RunFolder], place: Path) -> None:
    """Write the table as a page that loads nothing, in which everything that a model wrote is text.

    Raises UsageError for runs that have not finished, or have no answer in common.
    """
    from itables import to_html_datatable
    from itables.javascript import generate_init_offline_itables_html
    from itables.utils import find_package_file

    rows, shared = collect_rows(folders)
    names = [each.read_results().model_name for each in folders]
    few = [place for place, name in enumerate(rows) if rows[name].nunique() <= _MOST_VALUES]
    controls: list[Mapping[str, object]] = [
        {"targets": few, "columnControl": ["order", ["searchList"]]},
        {"targets": "_all", "columnControl": ["order", ["search"]]},
    ]
    table = to_html_datatable(
        rows.map(_break_lines), connected=False, table_id="rows", display_logo_when_loading=False, showIndex=False,
        maxBytes=0, maxColumns=0, columnDefs=controls, order=[], deferRender=True, pageLength=_PAGE_ROWS,
        autoWidth=False, classes="display compact", scrollX=True, style="width:100%",
        layout={"topStart": "pageLength", "topEnd": "search"}, ordering={"indicators": False, "handler": False},
    )  # fmt: skip
    table = table.replace(r"\\u2028", r"\\n")  # a line break, in JSON in a text of JavaScript
    library = generate_init_offline_itables_html(find_package_file("html/dt_bundle.js"))
    title = " and ".join(dict.fromkeys(names))
    letters = [f"{letter}: {name}" for letter, name in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", names)] if names[1:] else []
    page = render(
        "view.html.jinja", title=title, runs=letters, shared=shared, library=library, table=table, n=len(rows)
    )
    write_whole(place, page)
