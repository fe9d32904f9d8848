"""The page itself, in Gradio: what a visitor gives, and the functions of `scoring` behind the buttons."""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub.apps.declared import Column
from evenhand.hub.apps.figures import columns_page, style
from evenhand.hub.apps.given import BETWEEN, LARGEST
from evenhand.hub.apps.scoring import MetricPage

if TYPE_CHECKING:
    import evaluate
    import gradio

SUFFIXES = [".csv", ".tsv", ".jsonl", ".json", ".parquet"]
FONTS = ["system-ui", "sans-serif"]  # of the visitor's machine: a page that asks nobody else for anything
EMPTY = '<div class="result"><p class="note">The score appears here.</p></div>'


def refuse_without_gradio() -> None:
    """Raises UsageError where it isn't installed."""
    if util.find_spec("gradio") is None:
        raise UsageError("the page needs Gradio, which is not installed; run: pip install 'evenhand[app]'")


def launch(metric: evaluate.Metric, folder: Path, port: int | None = None) -> None:
    """Serve the page until it is stopped; for this machine alone, unless GRADIO_SERVER_NAME says else, as in a Space.

    port: None is the first free one from 7860 on. Raises UsageError without gradio, and for a port in use.
    """
    refuse_without_gradio()
    import gradio

    theme = gradio.themes.Default(font=FONTS, font_mono=["ui-monospace", "monospace"])
    try:
        blocks = page(MetricPage.of(metric, folder))
        _, url, _ = blocks.launch(
            server_port=port,
            theme=theme,
            css=style(),
            max_file_size=LARGEST,
            footer_links=[],
            share=False,
            quiet=True,
            prevent_thread_lock=True,
        )
    except OSError as error:
        which = f"port {port} is in use, or not for you" if port else "no port from 7860 on is free"
        raise UsageError(f"{which}; give another with --port") from error
    print(f"{metric.name} on {url} (Ctrl-C ends it)", flush=True)
    blocks.block_thread()


def page(of: MetricPage) -> gradio.Blocks:
    import gradio

    title = of.about.head.get("title", of.metric.name)
    with gradio.Blocks(title=title, analytics_enabled=False) as blocks:
        gradio.Markdown(f"# {title}\n{of.about.head.get('description', '')}")
        with gradio.Tab("A table"):
            _table(of, gradio)
        with gradio.Tab("Answers to one question"):
            _answers(of, gradio)
        with gradio.Accordion("Which columns a table has", open=False):
            gradio.HTML(columns_page(of.declared))
    return blocks


def _table(of: MetricPage, gradio: Any) -> None:
    names = ", ".join(each.name for each in of.declared.needed)
    table = gradio.Textbox(
        label="Paste a table with a header, from a file or a spreadsheet",
        info=f"Needed: {names}. Intervals need clusters, too.",
        lines=8,
        max_lines=12,
        elem_classes="pasted",
    )
    with gradio.Row():
        score = gradio.Button("Score", variant="primary", min_width=170)
        example = gradio.Button("Load the example", min_width=170)
        file = gradio.UploadButton("Choose a file", file_types=SUFFIXES, min_width=170)
    said = gradio.Markdown(visible=False)
    result = gradio.HTML(EMPTY)
    alone = {"concurrency_id": "score", "api_name": False}
    score.click(of.pasted, table, result, **alone)
    file.upload(of.uploaded, file, result, **alone)
    example.click(
        lambda: (of.about.table, gradio.update(value=f"The example: {of.about.example}", visible=True)),
        None,
        [table, said],
        api_name=False,
    ).then(of.pasted, table, result, **alone)


def _answers(of: MetricPage, gradio: Any) -> None:
    """One box for each column that says what was asked; the example's first row stands there to begin with."""
    first = of.first_asked()
    with gradio.Row(elem_classes="asked"):
        asked = [
            gradio.Textbox(label=each.name, info=_said(each), value=first[each.name], min_width=220)
            for each in of.declared.references
        ]
    answers = gradio.Textbox(label="Answers, one a line", info=_said(of.declared.prediction), lines=5, max_lines=16)
    score = gradio.Button("Score", variant="primary")
    result = gradio.HTML(EMPTY)

    def scored(text: str, *cells: str) -> str:
        return of.answers(text, dict(zip(first, cells)))

    score.click(scored, [answers, *asked], result, concurrency_id="score", api_name=False)


def _said(column: Column) -> str:
    lists = f" A list, with {BETWEEN} between its values." if column.kind.startswith("list") else ""
    return column.about.replace("`", "") + lists
