"""evenhand app: a metric's page on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def app(arguments: Sequence[str], console: Console) -> None:
    from evenhand.command_line import Parser
    from evenhand.errors import unknown_name
    from evenhand.hub.apps.page import launch, refuse_without_gradio
    from evenhand.library import METRICS, load_metric, metric_names

    parser = Parser(
        prog="evenhand app",
        description="A page on which you paste answers, or a table of them, and see the score, its interval and what "
        "the metric warns of. It runs on this machine, and nothing that is pasted leaves it.",
    )
    parser.add_argument("metric", metavar="METRIC", help=", ".join(metric_names()))
    parser.add_argument("--port", type=_port, metavar="N", help="where it listens (default: the first free from 7860)")
    parsed = parser.parse_args(list(arguments))
    if parsed.metric not in metric_names():
        raise unknown_name("metric", parsed.metric, metric_names())
    refuse_without_gradio()
    launch(load_metric(parsed.metric), METRICS / parsed.metric, parsed.port)


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} came; a whole number from 1 to 65535 is accepted")
