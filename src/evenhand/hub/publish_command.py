"""evenhand publish dataset|metric|model|leaderboard NAME …: shows what it will do, and does it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evenhand.command_line import Group, parse
from evenhand.errors import UsageError, unknown_name
from evenhand.hub.contents import ALLOW, Contents, Kind, matches
from evenhand.hub.secrets import without_secrets_in_errors
from evenhand.options import made, option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from evenhand.hub.publishing import Plan
    from evenhand.hub.remote import Changes

KINDS: tuple[Kind, ...] = get_args(Kind)
SHOWN = 20  # paths of each sort; more are counted
USAGE = (
    "usage: evenhand publish dataset|metric|model|leaderboard NAME … --namespace NS [--create-pr] [--private] "
    "[--dry-run]"
)
FOLDERS = {"model": "folders of checkpoints", "leaderboard": "folders that evenhand leaderboard wrote"}


@dataclass(frozen=True)
class PublishOptions:
    namespace: str | None = option(None, "the user or the organization on the Hub; needed", metavar="NS")
    create_pr: bool = option(False, "open a pull request, or go on with an open one, in place of a commit to main")
    private: bool = option(False, "make a new repository private")
    dry_run: bool = option(False, "show what would be done, and do nothing")
    allow: tuple[str, ...] = option((), ALLOW, metavar="PATH")


def _version(text: str) -> str:
    """Of numbers, so that its tag is a name that git takes. Raises ValueError."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise ValueError(f"{text!r} came; three numbers like 1.0.0 are accepted, whose tag is v1.0.0")
    return text


@dataclass(frozen=True)
class LeaderboardOptions(PublishOptions):
    name: str | None = option(None, "of the Space; the folder's by default", metavar="NAME")


@dataclass(frozen=True)
class ModelOptions(PublishOptions):
    name: str | None = option(None, "of the repository; the folder's by default", metavar="NAME")
    base: str | None = option(None, "the base model's id on the Hub, where it was tuned from a folder", metavar="ID")
    runs: tuple[Path, ...] = option(
        (), "of the checkpoint, and of its base in the same settings, for the card", metavar="DIR", parse=typed_path
    )
    version: str = option("1.0.0", "its tag is v<version>; other weights need another", metavar="X.Y.Z", parse=_version)


OPTIONS: Mapping[str, type[PublishOptions]] = {"model": ModelOptions, "leaderboard": LeaderboardOptions}


def publish(arguments: Sequence[str], console: Console) -> None:
    """One repository after the other; what they are to hold is made and looked through before anything is sent."""
    with without_secrets_in_errors():
        _publish(arguments, console)


def _publish(arguments: Sequence[str], console: Console) -> None:
    kind, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if kind in ("-h", "--help"):
        console.print(f"{USAGE}\n\nevenhand publish model --help says more.", markup=False, soft_wrap=True)
        return
    if not kind or kind.startswith("-"):
        raise UsageError(f"what to publish is needed first: {', '.join(KINDS)} ({USAGE})")
    if kind not in KINDS:
        raise unknown_name("kind of repository", kind, KINDS, USAGE)
    options = OPTIONS.get(kind, PublishOptions)

    def add_names(parser: argparse.ArgumentParser) -> None:
        what = FOLDERS.get(kind, f"{kind}s of evenhand")
        parser.add_argument("names", nargs="+", metavar="NAME", help=what)

    groups = {"options": Group("options", options)}
    parsed, values = parse(f"evenhand publish {kind}", f"Publish {kind}s on the Hub.", rest, groups, add_names)
    asked = made(options, values["options"])
    if asked.namespace is None:
        raise UsageError("--namespace NS is needed: the user or the organization on the Hub to publish under")
    names = list(dict.fromkeys(parsed.names))
    of_one = [flag for flag in ("name", "base", "runs") if getattr(asked, flag, None)]
    if len(names) > 1 and of_one:
        raise UsageError(
            f"--{' and --'.join(of_one)} would be of one {kind}, and {len(names)} came; publish one by one"
        )
    made_of = _makers()[kind]
    all_contents = [made_of(name, asked) for name in names]

    from evenhand.hub.publishing import dry_run_plans, plan
    from evenhand.hub.refusals import refuse

    for note in refuse(all_contents, asked.allow):
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    if asked.dry_run:
        for each in dry_run_plans(all_contents, asked.create_pr):
            show(each, console)
        console.print("Nothing was sent (--dry-run).")
        return
    plans = [plan(contents, asked.create_pr) for contents in all_contents]
    for each in plans:
        show(each, console)
    for each in plans:
        _do(each, console)


def _do(planned: Plan, console: Console) -> None:
    from evenhand.hub.publishing import publish as publish_plan

    if not planned.changes.all and planned.tag is None and planned.head is not None:
        return
    done = publish_plan(planned)
    what = "Pull request" if done.pull_request is not None else "Published"
    tagged = f", tagged {done.tag}" if done.tag else ""
    console.print(f"{what}: {done.url} (commit {done.commit[:7]}{tagged})", markup=False, soft_wrap=True)


def show(planned: Plan, console: Console) -> None:
    """What publishing will change, before it does."""
    contents, found = planned.contents, planned.changes

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True, highlight=False)

    if planned.unasked:
        say(f"{contents.name}: the Hub could not be asked ({planned.unasked}). What is there already isn't known.")
        say(f"  It is to hold {len(found.added)} files{f', tagged {planned.tag}' if planned.tag else ''}:")
        for path in found.added[:SHOWN]:
            say(f"  {path}")
        if len(found.added) > SHOWN:
            say(f"  {len(found.added) - SHOWN} more")
        say(f"  Not looked at: {'; '.join(_unknown(planned))}")
        return
    where = f"pull request {planned.pull_request}" if planned.pull_request is not None else "main"
    if planned.create_pr and planned.pull_request is None:
        where = "a new pull request"
    new = f"new, {'private' if contents.private else 'public'}, " if planned.head is None else ""
    if planned.anonymous:
        new = new and "new, or private, which only a token tells; "
        where = where.replace("a new pull request", "a pull request, of yours where one is open")
    say(f"{contents.name} ({new}{where}): {_counted(found)}")
    for word, paths in (("add", found.added), ("change", found.changed), ("delete", found.deleted)):
        for path in paths[:SHOWN]:
            say(f"  {word} {path}")
        if len(paths) > SHOWN:
            say(f"  {word} {len(paths) - SHOWN} more")
    for path in [path for path in found.other if matches(path, contents.owned)][:SHOWN]:
        say(f"  left alone, for evenhand did not bring it: {path}")
    if planned.tag:
        say(f"  tag {planned.tag}")
    elif planned.create_pr and contents.tag and contents.tag not in planned.tags:
        say(f"  no tag: once it is merged, the same command without --create-pr sets {contents.tag}")
    elif found.all and contents.tag:
        say(f"  {contents.tag} is set already, and stays where it is")


def _unknown(planned: Plan) -> list[str]:
    """What only the Hub tells."""
    asked = ["whether it is there, and yours", "which files would change or go", "what the Hub says of its card"]
    asked += ["whether its tag is set"] if planned.tag else []
    return asked + (["whether its base model is there"] if planned.contents.base else [])


def _counted(found: Changes) -> str:
    if not found.all:
        return f"up to date, {len(found.same)} files the same"
    return (
        f"{len(found.added)} files to add, {len(found.changed)} to change, {len(found.deleted)} to delete, "
        f"{len(found.same)} the same"
    )


def _makers() -> dict[str, Callable[[str, Any], Contents]]:
    """Of each kind, what makes the contents of a name."""
    from evenhand.hub.of_dataset import dataset_contents
    from evenhand.hub.of_metric import metric_contents
    from evenhand.hub.of_model import model_contents

    return {
        "dataset": lambda name, asked: dataset_contents(name, asked.namespace, asked.private),
        "metric": lambda name, asked: metric_contents(name, asked.namespace, asked.private),
        "leaderboard": _leaderboard,
        "model": lambda name, asked: model_contents(
            name, asked.namespace, asked.private, asked.name, asked.base, asked.version, asked.runs
        ),
    }


def _leaderboard(name: str, asked: LeaderboardOptions) -> Contents:
    from evenhand.hub.leaderboard.writing import leaderboard_contents

    return leaderboard_contents(typed_path(name), str(asked.namespace), asked.private, asked.name)
