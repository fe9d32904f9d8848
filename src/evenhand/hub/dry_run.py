"""What would be sent, also where the Hub can't be asked: then what is already there isn't known."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.hub.card_metadata import refuse_unreadable_metadata
from evenhand.hub.changes import changes
from evenhand.hub.client import Unreachable
from evenhand.hub.contents import Contents
from evenhand.hub.limits import refuse_too_much
from evenhand.hub.publishing import Plan, plan

OFFLINE = "HF_HUB_OFFLINE keeps everything off the network"


def looked_at(all_contents: Sequence[Contents], create_pr: bool = False) -> list[Plan]:
    """The plans of a dry run. After the Hub was once not to be reached it isn't asked again.

    Raises UsageError for what must not be published, as far as it can be told.
    """
    from huggingface_hub import constants

    unasked = OFFLINE if constants.HF_HUB_OFFLINE else ""
    plans = []
    for contents in all_contents:
        if not unasked:
            try:
                plans.append(plan(contents, create_pr, dry_run=True))
                continue
            except Unreachable as error:
                unasked = str(error)
        plans.append(_unasked(contents, create_pr, unasked))
    return plans


def _unasked(contents: Contents, create_pr: bool, why: str) -> Plan:
    """All files, as of a repository that has none; what can be told here is refused here."""
    refuse_unreadable_metadata(contents)
    every = changes(contents, {})
    refuse_too_much(contents, every.sent)
    return Plan(contents, create_pr, every, None, None, contents.tag, {}, anonymous=True, unasked=why)
