"""evenhand submit RUN …: results of finished runs to their model, in one pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError
from evenhand.hub.contents import ALLOW, Contents, repository_id
from evenhand.options import made, option

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

TITLE = "Results measured with evenhand"
HELP = "Open one pull request on a model with results of runs: .eval_results, and records of Every Eval Ever."


@dataclass(frozen=True)
class SubmitOptions:
    model_id: str = option("", "the model on the Hub that ran; required", metavar="ORG/NAME")
    namespace: str | None = option(
        None, "where the runs' datasets are published on the Hub; without it, no .eval_results", metavar="NS"
    )
    under_another_name: bool = option(
        False, "what ran is that model, though it ran from a folder, a server, or by another name"
    )
    date: str | None = option(None, "when the runs were made (default: when they were finished)", metavar="DATE")
    source: str | None = option(None, "where a reader finds more (default: the record sent along)", metavar="URL")
    evaluator: str = option("unknown", "who ran it: a person or an organization", metavar="NAME")
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = option(
        "other", "the evaluator's relationship to the model's developer"
    )
    single_answers: bool = option(False, "send every read answer, too; a whole run may have 300,000, in 360 MB")
    dry_run: bool = option(False, "look at the Hub, show what would be sent, and send nothing")
    allow: tuple[str, ...] = option((), ALLOW, metavar="PATH")


def submit(arguments: Sequence[str], console: Console) -> None:
    """Make the files, check and show them, and write or send them."""

    def add_rest(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="folders of finished runs of one model")
        parser.add_argument(
            "--output", type=path, metavar="DIR", help="write the files there; nothing is asked of the Hub, or sent"
        )

    parsed, values = parse("evenhand submit", HELP, arguments, {"options": Group("options", SubmitOptions)}, add_rest)
    asked, output = made(SubmitOptions, values["options"]), parsed.output
    _check_options(asked, output)
    from evenhand.hub.client import Unreachable
    from evenhand.hub.publish_command import carry_out
    from evenhand.hub.refusals import refuse
    from evenhand.hub.submission.submission import HubState, ask_hub, check_runs, make_submission

    checked = check_runs(parsed.runs, asked)  # unfit runs are refused before the Hub is asked anything
    state, unasked = HubState(), []
    try:
        state = ask_hub([each.run for each in checked], asked) if output is None else state
    except Unreachable:
        if not asked.dry_run:
            raise
        unasked = ["the Hub could not be asked, so the records do not say at which commit datasets are"]
    submission = make_submission(checked, asked, state)
    contents = Contents("model", asked.model_id, submission.files, TITLE)
    allowed = refuse([contents], asked.allow)
    say = partial(console.print, soft_wrap=True)
    for each in submission.entries:
        say(f"{each.dataset_id} {each.task_id}: {each.value} ({(each.notes or '').partition('; evenhand ')[0]})")
    for name, content in submission.files.items():
        say(f"  {name}  {len(content) / 1000:,.1f} kB")
    for note in (*submission.notes, *unasked, *allowed):
        say(f"Note: {note}")
    if output is None:
        carry_out([contents], True, asked.dry_run, console)
        return
    from evenhand.whole_files import explained, write_whole

    for name, content in submission.files.items():  # those of an earlier submission stay
        with explained(output / name):
            (output / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(output / name, content)
    say(f"Written: {output} (nothing was sent)")


def _check_options(asked: SubmitOptions, output: Path | None) -> None:
    """Raise UsageError for options that don't fit."""
    from evenhand.flow.run_folder import is_run_folder
    from evenhand.hub.submission.finished_run import checked_model_id
    from evenhand.hub.submission.validation import is_address

    if not asked.model_id:
        raise UsageError("--model-id ORG/NAME is needed: the model on the Hub that ran")
    checked_model_id(asked.model_id)
    if asked.source is not None and not is_address(asked.source):
        raise UsageError(f"--source must be a web address (https://…), got {asked.source[:100]!r}")
    if asked.namespace is not None:
        repository_id(asked.namespace, "its-datasets")
    if output is not None and asked.dry_run:
        raise UsageError("--output writes files and sends nothing, --dry-run writes none; give one of them")
    if output is not None and any(map(is_run_folder, (output, *output.absolute().parents))):
        raise UsageError(f"{output} is inside a run folder, where only its own command writes; choose another --output")
