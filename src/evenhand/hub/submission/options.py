"""What is said of a submission besides its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.hub.contents import ALLOW
from evenhand.options import option

Relationship = Literal["first_party", "third_party", "collaborative", "other"]


@dataclass(frozen=True)
class SubmitOptions:
    model_id: str = option("", "the model on the Hub that ran; needed", metavar="ORG/NAME")
    namespace: str | None = option(
        None, "where the runs' datasets are published on the Hub; without it, no .eval_results", metavar="NS"
    )
    under_another_name: bool = option(
        False, "what ran is that model, though it ran from a folder, a server, or by another name"
    )
    date: str | None = option(None, "when the runs were made; by default when they were finished", metavar="DATE")
    source: str | None = option(None, "where a reader finds more; by default the record sent along", metavar="URL")
    evaluator: str = option("unknown", "who ran it: a person or an organization", metavar="NAME")
    relationship: Relationship = option("other", "the evaluator's, to the model's developer")
    single_answers: bool = option(False, "send every read answer, too; a whole run may have 300,000, in 360 MB")
    dry_run: bool = option(False, "look at the Hub, show what would be sent, and send nothing")
    allow: tuple[str, ...] = option((), ALLOW, metavar="PATH")
