"""evenhand submit RUN …: results of finished runs to their model, in one pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError
from evenhand.hub.contents import ALLOW, matches
from evenhand.options import made, option

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from evenhand.hub.submission.submission import Submission

WRITTEN = (
    ".eval_results/evenhand-*.yaml",
    "every_eval_ever/data/evenhand/*/*/*.json",
    "every_eval_ever/data/evenhand/*/*/*.jsonl",
)
HELP = (
    "Open one pull request on a model's repository with results of finished runs: .eval_results for the Hub's boards, "
    "and records of Every Eval Ever."
)


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
    asked = made(SubmitOptions, values["options"])
    if parsed.output is not None and asked.dry_run:
        raise UsageError("--output writes files and sends nothing, --dry-run writes none; give one of them")
    from evenhand.hub.publish_command import carry_out
    from evenhand.hub.refusals import refuse

    say = partial(console.print, markup=False, soft_wrap=True, highlight=False)
    made_of = _make(parsed.runs, asked, parsed.output)
    allowed = refuse([made_of.contents], asked.allow)
    for each in made_of.entries:
        say(f"{each.dataset_id} {each.task_id}: {each.value} ({(each.notes or '').partition('; evenhand ')[0]})")
    for name, content in made_of.files.items():
        say(f"  {name}  {len(content) / 1000:,.1f} kB")
    for note in (*made_of.notes, *allowed):
        say(f"Note: {note}")
    if parsed.output is not None:
        _write(made_of.files, parsed.output)
        say(f"Written: {parsed.output} (nothing was sent)")
    else:
        carry_out([made_of.contents], True, asked.dry_run, console)


def _make(runs: Sequence[Path], asked: SubmitOptions, output: Path | None) -> Submission:
    from evenhand.hub.client import Unreachable
    from evenhand.hub.contents import repository_id
    from evenhand.hub.submission.finished_run import checked_model_id
    from evenhand.hub.submission.submission import complete_from_hub, make_submission, read_runs

    if not asked.model_id:
        raise UsageError("--model-id ORG/NAME is needed: the model on the Hub that ran")
    checked_model_id(asked.model_id)
    if asked.namespace is not None:
        repository_id(asked.namespace, "its-datasets")
    if output is not None:
        _check_folder(output)
    now = datetime.now(UTC)
    read = read_runs(runs)
    made_of = make_submission(read, asked, now)  # unfit runs are refused before the Hub is asked anything
    if output is not None:
        return made_of
    try:
        return complete_from_hub(read, asked, now)
    except Unreachable:
        if not asked.dry_run:
            raise
        note = "the Hub could not be asked, so the records do not say at which commit datasets are"
        return replace(made_of, notes=[*made_of.notes, note])


def _check_folder(folder: Path) -> None:
    """Raise UsageError for a run's folder, and for one with files that no submission wrote."""
    from evenhand.flow.run_folder import is_run_folder

    if any(is_run_folder(each) for each in (folder, *folder.absolute().parents)):
        raise UsageError(f"{folder} is inside a run folder, where only its own command writes; choose another --output")
    files = [each.relative_to(folder).as_posix() for each in folder.rglob("*") if not each.is_dir()]
    if others := sorted(each for each in files if not matches(each, WRITTEN)):
        raise UsageError(f"{folder} holds other files ({others[0]} …); choose another --output")


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files; those of an earlier submission stay."""
    from evenhand.whole_files import explained, write_whole

    for name, content in files.items():
        with explained(folder / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, content)
