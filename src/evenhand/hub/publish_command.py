"""evenhand publish dataset|metric|model|leaderboard NAME …: show what will be done, and do it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from evenhand.command_line import Group, parse
from evenhand.errors import UsageError, unknown_name
from evenhand.hub.contents import ALLOW, Contents, Kind
from evenhand.options import made, option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    import argparse

    from rich.console import Console

    from evenhand.hub.publishing import Plan

KINDS: tuple[Kind, ...] = get_args(Kind)
NAMES = {"model": "folders of checkpoints", "leaderboard": "folders that evenhand leaderboard wrote"}
SHOWN = 20  # paths of each sort; more are counted
USAGE = f"usage: evenhand publish {'|'.join(KINDS)} NAME … --namespace NS [--create-pr] [--private] [--dry-run]"


@dataclass(frozen=True)
class PublishOptions:
    namespace: str | None = option(None, "user or organization on the Hub; required", metavar="NS")
    create_pr: bool = option(False, "open a pull request, or continue an open one, instead of a commit to main")
    private: bool = option(False, "make a new repository private")
    dry_run: bool = option(False, "show what would be done, and do nothing")
    allow: tuple[str, ...] = option((), ALLOW, metavar="PATH")


@dataclass(frozen=True)
class LeaderboardOptions(PublishOptions):
    name: str | None = option(None, "name of the Space (default: the folder's)", metavar="NAME")


def _parse_version(text: str) -> str:
    """Return a version of three numbers, so that git takes its tag. Raises ValueError."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise ValueError(f"{text!r} is not three numbers like 1.0.0, whose tag is v1.0.0")
    return text


@dataclass(frozen=True)
class ModelOptions(PublishOptions):
    name: str | None = option(None, "name of the repository (default: the folder's)", metavar="NAME")
    base: str | None = option(None, "the base model's id on the Hub, if it was tuned from a folder", metavar="ID")
    runs: tuple[Path, ...] = option(
        (),
        "runs of the checkpoint, and of its base in the same settings, for the card",
        metavar="DIR",
        parse=typed_path,
    )
    version: str = option(
        "1.0.0", "tagged v<version>; other weights need another", metavar="X.Y.Z", parse=_parse_version
    )


OPTIONS: Mapping[str, type[PublishOptions]] = {"model": ModelOptions, "leaderboard": LeaderboardOptions}


def publish(arguments: Sequence[str], console: Console) -> None:
    """Publish one repository after the other, once the contents of all of them have passed the checks."""
    kind, *rest = [*arguments] or [""]
    if kind in ("-h", "--help"):
        console.print(f"{USAGE}\n\nevenhand publish model --help says more.", soft_wrap=True)
        return
    if not kind or kind.startswith("-"):
        raise UsageError(f"what to publish is needed first: {', '.join(KINDS)} ({USAGE})")
    if kind not in KINDS:
        raise unknown_name("kind of repository", kind, KINDS, USAGE)
    names, asked = _parse(kind, rest)
    all_contents = [_make_contents(kind, name, asked) for name in names]

    from evenhand.hub.refusals import refuse

    for note in refuse(all_contents, asked.allow):
        console.print(f"Note: {note}", soft_wrap=True)
    carry_out(all_contents, asked.create_pr, asked.dry_run, console)


def _parse(kind: str, arguments: Sequence[str]) -> tuple[list[str], Any]:
    """Return the names and the options."""
    options = OPTIONS.get(kind, PublishOptions)

    def add_names(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("names", nargs="+", metavar="NAME", help=NAMES.get(kind, f"{kind}s of evenhand"))

    groups = {"options": Group("options", options)}
    parsed, values = parse(f"evenhand publish {kind}", f"Publish {kind}s on the Hub.", arguments, groups, add_names)
    asked = made(options, values["options"])
    if asked.namespace is None:
        raise UsageError("--namespace NS is needed: the user or the organization on the Hub to publish under")
    names = list(dict.fromkeys(parsed.names))
    of_one = [flag for flag in ("name", "base", "runs") if getattr(asked, flag, None)]
    if len(names) > 1 and of_one:
        raise UsageError(f"--{' and --'.join(of_one)} fits one {kind}, not {len(names)}; publish them one by one")
    return names, asked


def _make_contents(kind: str, name: str, asked: Any) -> Contents:
    if kind in ("dataset", "metric"):
        from evenhand.hub.packaged import dataset_contents, metric_contents

        make = dataset_contents if kind == "dataset" else metric_contents
        return make(name, asked.namespace, asked.private)
    if kind == "model":
        from evenhand.hub.checkpoint import model_contents

        return model_contents(name, asked)
    from evenhand.hub.leaderboard.writing import leaderboard_contents

    return leaderboard_contents(typed_path(name), asked.namespace, asked.private, asked.name)


def carry_out(all_contents: Sequence[Contents], create_pr: bool, dry_run: bool, console: Console) -> None:
    """Plan for all repositories, show the plans and, unless it is a dry run, publish one after the other."""
    from evenhand.hub import publishing

    say = partial(console.print, soft_wrap=True)
    plans = [publishing.plan(contents, create_pr, dry_run) for contents in all_contents]
    for each in plans:
        for line in _describe(each):
            say(line)
    if dry_run:
        say("Nothing was sent (--dry-run).")
        return
    for each in plans:
        if each.changes or each.tag is not None or each.head is None:
            say(publishing.publish(each))


def _describe(planned: Plan) -> list[str]:
    """Return what publishing will change, in lines."""
    from evenhand.hub.client import token

    contents = planned.contents
    where = "a new pull request" if planned.create_pr else "main"
    if planned.pull_request is not None:
        where = f"pull request {planned.pull_request}"
    new = f"new, {'private' if contents.private else 'public'}, " if planned.head is None else ""
    counts = f"up to date, {len(planned.same)} files the same"
    if planned.changes:
        counts = (
            f"{len(planned.added)} files to add, {len(planned.changed)} to change, {len(planned.deleted)} to delete, "
            f"{len(planned.same)} the same"
        )
    lines = [f"{contents.name} ({new}{where}): {counts}"]
    if planned.unasked:
        lines.append(f"  The Hub could not be asked ({planned.unasked}). What is there already is unknown.")
    elif token() is None:
        lines.append("  Seen without a token: private repositories and your open pull requests are unknown.")
    for word, paths in (("add", planned.added), ("change", planned.changed), ("delete", planned.deleted)):
        lines += [f"  {word} {path}" for path in paths[:SHOWN]]
        lines += [f"  {word} {len(paths) - SHOWN} more"] if len(paths) > SHOWN else []
    lines += [f"  left alone, since evenhand did not bring it: {path}" for path in planned.kept[:SHOWN]]
    if planned.tag:
        lines.append(f"  tag {planned.tag}")
    elif planned.create_pr and contents.tag:
        lines.append(f"  no tag: once this is merged, the command without --create-pr sets {contents.tag} if missing")
    elif planned.changes and contents.tag:
        lines.append(f"  {contents.tag} is set already, and stays where it is")
    return lines
