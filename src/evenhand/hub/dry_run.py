"""What would be sent, also where the Hub can't be asked: then what is already there isn't known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from evenhand.hub.card_metadata import refuse_unreadable_metadata
from evenhand.hub.changes import changes
from evenhand.hub.client import Unreachable
from evenhand.hub.contents import Contents
from evenhand.hub.limits import refuse_too_much
from evenhand.hub.publishing import Plan, plan

T = TypeVar("T")
OFFLINE = "HF_HUB_OFFLINE keeps everything off the network"


def heard(asked: Callable[[], T], dry_run: bool = True) -> tuple[T | None, str]:
    """What the Hub answers; or None, and why it could not be asked. Raises Unreachable where it is no dry run."""
    from huggingface_hub import constants

    if dry_run and constants.HF_HUB_OFFLINE:
        return None, OFFLINE
    try:
        return asked(), ""
    except Unreachable as error:
        if not dry_run:
            raise
        return None, str(error)


def looked_at(all_contents: Sequence[Contents], create_pr: bool = False, unasked: str = "") -> list[Plan]:
    """The plans of a dry run. After the Hub was once not to be reached it isn't asked again.

    unasked: why it was not to be reached before. Raises UsageError for what must not be published, as far as it can be
    told.
    """
    plans = []
    for contents in all_contents:
        seen: Plan | None = None
        if not unasked:
            seen, unasked = heard(partial(plan, contents, create_pr, dry_run=True))
        plans.append(seen or _unasked(contents, create_pr, unasked))
    return plans


def _unasked(contents: Contents, create_pr: bool, why: str) -> Plan:
    """All files, as of a repository that has none; what can be told here is refused here."""
    refuse_unreadable_metadata(contents)
    every = changes(contents, {})
    refuse_too_much(contents, every.sent)
    return Plan(contents, create_pr, every, None, None, contents.tag, {}, anonymous=True, unasked=why)
