"""evenhand app: a metric's page on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse
from evenhand.errors import unknown_name
from evenhand.options import option

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class AppOptions:
    port: int | None = option(
        None, "port of the page (default: the first free one from 7860)", metavar="N", least=1, most=65535
    )


def app(arguments: Sequence[str], console: Console) -> None:
    """Serve the page until it is stopped."""
    from evenhand.hub.apps.page import launch, refuse_without_gradio
    from evenhand.library import METRICS, load_metric, metric_names

    def add_metric(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("metric", metavar="METRIC", help=", ".join(metric_names()))

    description = (
        "A page on which you paste answers, or a table of them, and see the score, its interval and what the metric "
        "warns of. It runs on this machine, and nothing that is pasted leaves it."
    )
    groups = {"options": Group("options", AppOptions)}
    parsed, values = parse("evenhand app", description, arguments, groups, add_metric)
    if parsed.metric not in metric_names():
        raise unknown_name("metric", parsed.metric, metric_names())
    refuse_without_gradio()
    launch(load_metric(parsed.metric), METRICS / parsed.metric, values["options"].get("port"))
