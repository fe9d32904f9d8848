"""People's labels of a run's sentences, as `evenhand annotate import` leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from evenhand.errors import UsageError
from evenhand.language_agency.sentences import SENTENCE_ID

NEEDED = ("id", "majority", "status")
# A sentence that is neither counts as not agentic, as a share of all sentences has it.
IS_AGENTIC = {"agentic": True, "communal": False, "neutral": False}


@dataclass(frozen=True)
class Labels:
    """agentic: {sentence id: whether people call it agentic}; undecided: entries without a label of most."""

    agentic: dict[str, bool]
    undecided: int


def read_labels(path: Path) -> Labels:
    """Raises UsageError for a file that is no merged table of labels of sentences."""
    from evenhand.row_files import read_rows  # slow to import

    rows = read_rows(path, "label", "labels", edited=True, known=NEEDED)
    made = "evenhand annotate export RUN --each sentences --scheme agency, then evenhand annotate import, makes one"
    if missing := [name for name in NEEDED if name not in rows.columns]:
        raise UsageError(f"{path} is no merged table of labels, it has no column {', '.join(missing)}; {made}")
    ids, labels, statuses = (rows.words(name) for name in NEEDED)
    agentic: dict[str, bool] = {}
    for place, name, label, status in zip(rows.places, ids, labels, statuses):
        if not name.startswith(SENTENCE_ID):
            raise UsageError(f"{path}, {place}: {name!r} is the id of no sentence; {made}")
        if name in agentic:
            raise UsageError(f"{path}, {place}: the label of {name} stands there twice; take one out")
        if status in ("majority", "third") and label:
            if label not in IS_AGENTIC:
                accepted = ", ".join(IS_AGENTIC)
                raise UsageError(f"{path}, {place}: the label {label!r} came; {accepted} are accepted")
            agentic[name] = IS_AGENTIC[label]
    return Labels(agentic, rows.n - len(agentic))


def kept_labels(path: str | None) -> Labels | None:
    """Return the labels of a file, read once until it changes; None for no file."""
    return _kept(path, Path(path).stat().st_mtime_ns) if path else None


@lru_cache(maxsize=1)
def _kept(path: str, changed: int) -> Labels:
    return read_labels(Path(path))
