"""The page in Gradio: what a visitor gives, and the functions of `scoring` behind the buttons."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub.apps.declared import BETWEEN, Column
from evenhand.hub.apps.scoring import HERE, MetricPage, render
from evenhand.hub.apps.tables import LARGEST

if TYPE_CHECKING:
    import evaluate
    import gradio

SUFFIXES = [".csv", ".tsv", ".jsonl", ".json", ".parquet"]
FONTS = ["system-ui", "sans-serif"]  # of the visitor's machine: the page loads nothing from elsewhere
EMPTY = '<div class="result"><p class="note">The score appears here.</p></div>'


def refuse_without_gradio() -> None:
    """Raises UsageError where it isn't installed."""
    if util.find_spec("gradio") is None:
        raise UsageError("the page needs Gradio, which is not installed; run: pip install 'evenhand[app]'")


def launch(metric: evaluate.Metric, folder: Path, port: int | None = None) -> None:
    """Serve the page until it is stopped, on this machine alone unless GRADIO_SERVER_NAME says else, as in a Space.

    Args:
        folder: the metric's, with about.json and example.csv.
        port: None is the first free one from 7860 on.

    Raises:
        UsageError: Gradio is not installed, or the port is in use.
    """
    refuse_without_gradio()
    import gradio

    try:
        blocks = build_page(MetricPage.of(metric, folder))
        _, url, _ = blocks.launch(
            server_port=port, theme=gradio.themes.Default(font=FONTS, font_mono=["ui-monospace", "monospace"]),
            css=(HERE / "style.css").read_text(encoding="utf-8"), max_file_size=LARGEST, footer_links=[], share=False,
            quiet=True, prevent_thread_lock=True,
        )  # fmt: skip
    except OSError as error:
        which = f"port {port} is in use, or not for you" if port else "no port from 7860 on is free"
        raise UsageError(f"{which}; give another with --port") from error
    print(f"{metric.name} on {url} (Ctrl-C ends it)", flush=True)
    blocks.block_thread()


def build_page(page: MetricPage) -> gradio.Blocks:
    """Two tabs, and which columns a table has."""
    import gradio

    title = page.about.head.get("title", page.metric.name)
    with gradio.Blocks(title=title, analytics_enabled=False) as blocks:
        gradio.Markdown(f"# {title}\n{page.about.head.get('description', '')}")
        with gradio.Tab("A table"):
            _add_table(page, gradio)
        with gradio.Tab("Answers to one question"):
            _add_answers(page, gradio)
        with gradio.Accordion("Which columns a table has", open=False):
            gradio.HTML(render("columns.html.jinja", declared=page.declared))
    return blocks


def _add_table(page: MetricPage, gradio: Any) -> None:
    names = ", ".join(each.name for each in page.declared.needed)
    table = gradio.Textbox(
        label="Paste a table with a header, from a file or a spreadsheet", lines=8, max_lines=12,
        info=f"Needed: {names}. Intervals need clusters, too.", elem_classes="pasted",
    )  # fmt: skip
    with gradio.Row():
        score = gradio.Button("Score", variant="primary", min_width=170)
        example = gradio.Button("Load the example", min_width=170)
        file = gradio.UploadButton("Choose a file", file_types=SUFFIXES, min_width=170)
    caption = gradio.Markdown(visible=False)
    result = gradio.HTML(EMPTY)
    alone = {"concurrency_id": "score", "api_name": False}
    score.click(page.pasted, table, result, **alone)
    file.upload(page.uploaded, file, result, **alone)
    caption_text = f"The example: {page.about.example}"
    shown = example.click(
        lambda: (page.about.table, gradio.update(value=caption_text, visible=True)),
        None,
        [table, caption],
        api_name=False,
    )
    shown.then(page.pasted, table, result, **alone)


def _add_answers(page: MetricPage, gradio: Any) -> None:
    """One box for each column that says what was asked, filled from the example's first row."""
    first = page.first_asked()
    with gradio.Row(elem_classes="asked"):
        asked = [
            gradio.Textbox(label=each.name, info=_explain(each), value=first[each.name], min_width=220)
            for each in page.declared.references
        ]
    prediction = page.declared.prediction
    answers = gradio.Textbox(label="Answers, one a line", info=_explain(prediction), lines=5, max_lines=16)
    score = gradio.Button("Score", variant="primary")
    result = gradio.HTML(EMPTY)
    score.click(
        lambda text, *cells: page.answers(text, dict(zip(first, cells))),
        [answers, *asked],
        result,
        concurrency_id="score",
        api_name=False,
    )


def _explain(column: Column) -> str:
    lists = f" A list, with {BETWEEN} between its values." if column.kind.startswith("list") else ""
    return column.about.replace("`", "") + lists
