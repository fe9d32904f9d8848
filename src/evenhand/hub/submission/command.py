"""evenhand submit RUN …: results of finished runs to the model that they are of, in one pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.command_line import Group, parse, path
from evenhand.errors import UsageError
from evenhand.hub.contents import matches
from evenhand.hub.secrets import without_secrets_in_errors
from evenhand.hub.submission.options import SubmitOptions
from evenhand.options import made

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from evenhand.hub.submission.finished_run import FinishedRun
    from evenhand.hub.submission.submission import Submission


def submit(arguments: Sequence[str], console: Console) -> None:
    """Parses, calls, prints."""
    with without_secrets_in_errors():
        _submit(arguments, console)


def _submit(arguments: Sequence[str], console: Console) -> None:

    def add_rest(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help="folders of finished runs of one model")
        parser.add_argument(
            "--output", type=path, metavar="DIR", help="write the files there; nothing is asked of the Hub, or sent"
        )

    told = (
        "Open one pull request on a model's repository with results of finished runs: .eval_results for the Hub's "
        "boards, and records of Every Eval Ever."
    )
    parsed, values = parse("evenhand submit", told, arguments, {"options": Group("options", SubmitOptions)}, add_rest)
    asked = made(SubmitOptions, values["options"])
    if parsed.output is not None and asked.dry_run:
        raise UsageError("--output writes files and sends nothing, --dry-run writes none; give one of them")
    from evenhand.hub.refusals import refuse

    made_of, unasked = _made(parsed.runs, asked, parsed.output)
    notes = refuse([made_of.contents], asked.allow)
    _show(made_of, console)
    for note in notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    if parsed.output is not None:
        _write(made_of.files, parsed.output)
        console.print(f"Written: {parsed.output} (nothing was sent)", markup=False, soft_wrap=True)
        return
    _send(made_of, asked.dry_run, unasked, console)


def _made(runs: Sequence[Path], asked: SubmitOptions, output: Path | None) -> tuple[Submission, str]:
    """And why the Hub could not be asked, which a dry run bears; "" where it was, or need not be."""
    from evenhand.hub.contents import repository_id
    from evenhand.hub.publishing import try_the_hub
    from evenhand.hub.submission.identity import checked_model_id
    from evenhand.hub.submission.submission import read_runs, submission

    if not asked.model_id:
        raise UsageError("--model-id ORG/NAME is needed: the model on the Hub that ran")
    checked_model_id(asked.model_id)
    if asked.namespace is not None:
        repository_id(asked.namespace, "its-datasets")
    if output is not None:
        _check_folder(output)
    now = datetime.now(UTC)
    read = read_runs(runs)
    alone = submission(read, replace(asked, single_answers=False), {}, now)  # refused before the Hub is asked anything
    unasked = ""
    if output is None:
        found, unasked = try_the_hub(lambda: _asked_of_the_hub(read, asked, now), asked.dry_run)
        if found is not None:
            return found, ""
    made_of = submission(read, asked, {}, now) if asked.single_answers else alone
    unknown = "the Hub could not be asked, so the records do not say at which commit datasets are"
    notes = [f"{unknown}, and what others entered is among them"] if unasked else []
    return replace(made_of, notes=[*made_of.notes, *notes]), unasked


def _asked_of_the_hub(runs: Sequence[FinishedRun], asked: SubmitOptions, now: datetime) -> Submission:
    """Of what is known there: the weights that the model was tuned from, the datasets' commits, others' results."""
    from evenhand.hub.submission.on_the_hub import already_there, dataset_revisions, refuse_base
    from evenhand.hub.submission.submission import submission

    refuse_base(runs, asked.model_id)
    if asked.namespace is None:
        return submission(runs, asked, {}, now)
    made_of = submission(runs, asked, dataset_revisions(runs, asked.namespace), now)
    return made_of.without(already_there(asked.model_id, [*made_of.entries]))


def _show(made_of: Submission, console: Console) -> None:
    for each in made_of.entries:
        shown = f"{each.dataset_id} {each.task_id}: {each.value} ({(each.notes or '').partition('; evenhand ')[0]})"
        console.print(shown, markup=False, soft_wrap=True, highlight=False)
    for name, content in made_of.files.items():
        console.print(f"  {name}  {len(content) / 1000:,.1f} kB", markup=False, soft_wrap=True, highlight=False)
    for note in made_of.notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)


def _send(made_of: Submission, dry_run: bool, unasked: str, console: Console) -> None:
    from evenhand.hub.publish_command import show
    from evenhand.hub.publishing import dry_run_plans, plan, publish

    contents = made_of.contents
    [planned] = (
        dry_run_plans([contents], create_pr=True, unasked=unasked) if dry_run else [plan(contents, create_pr=True)]
    )
    show(planned, console)
    if dry_run:
        console.print("Nothing was sent (--dry-run).")
    elif planned.changes.all:
        done = publish(planned)
        console.print(f"Pull request: {done.url} (commit {done.commit[:7]})", markup=False, soft_wrap=True)
    else:
        console.print("All of it is there already; nothing was sent.")


OURS = (
    ".eval_results/evenhand-*.yaml",
    "every_eval_ever/data/evenhand/*/*/*.json",
    "every_eval_ever/data/evenhand/*/*/*.jsonl",
)


def _check_folder(folder: Path) -> None:
    """Raises UsageError for what is no folder, a run's, or one that holds files which no submission wrote."""
    from evenhand.flow.run_folder import is_run_folder

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; choose another --output")
    if any(is_run_folder(each) for each in (folder, *folder.absolute().parents)):
        raise UsageError(f"{folder} is inside a run folder, where only its own command writes; choose another --output")
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()]
    if others := sorted(path for path in files if not matches(path, OURS)):
        raise UsageError(f"{folder} holds other files ({others[0]} …); choose another --output")


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    """Files of an earlier submission that are not among them stay."""
    from evenhand.whole_files import explained, write_whole

    for name, content in files.items():
        path = folder / name
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
