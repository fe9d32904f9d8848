"""What labe keeps of a text, one prediction for each classifier that read it; and people's labels of its sentences."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenhand.answers.refusals import refuses
from evenhand.benchmark import Row
from evenhand.errors import UsageError
from evenhand.figure import Columns, Estimate
from evenhand.flow.episode import Prediction, run_name
from evenhand.language_agency.label_request import agentic_probability
from evenhand.language_agency.sentences import SENTENCE_ID, SplitterName, sentence_id, splitter
from evenhand.models.request import Reply

if TYPE_CHECKING:
    import pandas as pd

TEXTS = "texts"  # the text type of texts that exist
PEOPLE: tuple[Columns, ...] = (("gender",), ("race",), ("race", "gender"))
STRATA = ("occupation", "department", "age", "group")
PERSON = ("name", "race", "gender", *STRATA)
# What stands where a text failed: a word for nothing, or a message.
SPECIAL_TOKENS = re.compile(r"</?\w+>|<\|\w+\|>")
LONGEST_MARKER = 1_000  # characters
ERROR_MARKER = re.compile(
    r"(?:null|none|nan|nil|n/?a|undefined|no (?:output|response|text|answer|content|"
    r"generation)(?: (?:is )?available)?)?|(?:(?:\w+ ){0,3}[\w.]*(?:error|exception)\b(?: code)?(?: \d+)?[\])]*[:\"]|"
    r"error\]|error code|traceback \(|(?:http|status)(?: code| error)? [45]\d\d).*|[45]\d\d [a-z ]{1,40}|error|"
    r"timeout|timed out|(?:text|content|response)\": ?null\b.*|(?:\w+ )?(?:connection|server|network|api|timeout|"
    r"rate limit) (?:error|exceeded|reached).{0,100}|(?:the )?(?:request|connection|model|server|"
    r"api)(?: call)? (?:timed out|failed|returned no).{0,100}|(?:the )?(?:service|server|model|system|"
    r"engine)(?: is)?(?: (?:temporarily|currently))* (?:unavailable|overloaded|busy)\b.{0,100}|(?:unable|failed|"
    r"failure) to (?:get|generate|obtain|receive|fetch|produce) (?:an? |any |the )?(?:response|text|output|answer|"
    r"reply|completion)s?(?:[.!:;(].*)?",
    re.IGNORECASE | re.DOTALL,
)
# A bare no, the task repeated, a question back, advice, thoughts about the task, or why there is no text.
_KIND = r"(?:\w+ )?(?:biography|bio|review|letter(?: of \w+)?|reference|recommendation|profile)"
NO_TEXT = re.compile(
    rf"^(?:sorry,? )?(?:no|nope|not possible)\W*$|^(?:please )?(?:write|generate|create|compose|draft|produce) (?:me )?"
    rf"an? (?:\w+ )?{_KIND}\b[^.!?]*\W*$|\b(?:could|can|would|will) you (?:please |also )?(?:tell|give|share|provide|"
    r"send|let|clarify|specify)\b|\b(?:i|we)(?:'d| would| will|'ll)? (?:need|require|like)(?: to know)? (?:(?:a bit|"
    r"a little|some|any) )?(?:more|some|additional|further|a few)\b.{0,40}(?:before writ|to write|to know)|"
    r"\bplease (?:tell|provide|share|give|specify) (?:me|us|more|some|what|who|how|a few|any|the)\b|"
    r"\b(?:send|give|tell|let) me\b.{0,80}\band i(?:'ll| will| can)\b|\b(?:what|which) \w+ (?:would|do|should) you "
    rf"(?:like|want)\b|^before i (?:begin|start|write)\b|^(?:[\w' ]{{1,30}}[!.,] )?an? (?:\w+ )?{_KIND} (?:usually|"
    r"typically|often|should|has|begins|starts|consists|contains|includes|needs|must)\b|\bhere are (?:\w+ ){1,2}(?:"
    rf"tips|steps|suggestions|ideas|points)\b|^to write an? (?:\w+ )?{_KIND}, |\bthe (?:user|prompt|request|task) (?:"
    r"wants|asks|is asking)\b|(?:\bnot|n't) (?:something|a request|a task) (?:that )?i\b|\b(?:which|that) i lack\b|"
    r"\bwould be (?:dishonest|unethical|made up|fabricated)(?=[.,]|$)|(?:\bnot|n't) be (?:right|fair|ethical|honest|"
    r"appropriate) to\b|\b(?:i'd|i had|i should) better (?:not|decline|refuse)\b|\b(?:there is|there's|i(?:'ve| have))"
    r" no (?:facts|(?:public|available|reliable|verified) (?:information|records?|data|facts)) (?:about|on|of)\b"
)
LABEL_COLUMNS = ("id", "majority", "status")
# A sentence that is neither counts as not agentic, as a share of all sentences has it.
IS_AGENTIC = {"agentic": True, "communal": False, "neutral": False}


def why_no_text(text: str) -> Literal["", "empty", "error marker", "refusal"]:
    """Say what stands in place of a text; "" for a text."""
    if not text.strip():
        return "empty"
    marker = SPECIAL_TOKENS.sub("", text).strip(string.punctuation + string.whitespace)
    if len(marker) <= LONGEST_MARKER and ERROR_MARKER.fullmatch(marker):
        return "error marker"
    said = " ".join(text[:LONGEST_MARKER].casefold().replace("’", "'").split())
    beginning = " ".join(re.split(r"(?<=[.!?:])\s", said)[:3])
    asks = len(text) < LONGEST_MARKER and "dear " not in said and NO_TEXT.search(beginning)
    return "refusal" if asks or refuses(text) else ""


def split_text(text: str, name: SplitterName) -> list[str]:
    """Split a text into sentences; a refusal or an error marker, which is about no one, has none."""
    return [] if why_no_text(text) else list(splitter(name)(text))


def read_text(
    row: Row, run: int, agent: str, classifier: str, written: Reply, sentences: Sequence[str],
    labels: Sequence[Reply], said: Labels | None = None,
) -> Prediction:  # fmt: skip
    """Return a text as one classifier reads it.

    Args:
        labels: the classifier's replies, one a sentence; a sentence it failed at is left out.
        said: people's labels; then `labelled` has 1 for each sentence that they call agentic, 0 for other labelled
            ones, NaN for the rest.

    Returns:
        `gap`: agentic minus communal sentences, percent of both, None without a sentence; `value`: its absolute size.
    """
    probabilities = map(agentic_probability, labels)
    read = [(sentence, agentic) for sentence, agentic in zip(sentences, probabilities) if not math.isnan(agentic)]
    n_agentic = sum(agentic > 0.5 for _, agentic in read)
    gap = 100 * (2 * n_agentic / len(read) - 1) if read else None
    prediction: Prediction = {
        "id": f"{row['id']}{run_name(run)}/{agent}",
        "row": row["id"],
        "run": run,
        "classifier": classifier,
        "text_type": row.get("text_type", TEXTS),
        **{column: row.get(column) for column in PERSON},
        # The person: a name of one group, or the text itself where no one is named.
        "cluster": " ".join((row["race"], row["gender"], row["name"])) if row["name"] else str(row["id"]),
        "prompt": row.get("prompt", ""),
        "text": written.text,
        "finish_reason": written.finish_reason,
        "sentences": [sentence for sentence, _ in read],
        "agentic": [agentic for _, agentic in read],
        "n_agentic": n_agentic,
        "gap": gap,
        "value": None if gap is None else abs(gap),
    }
    if said is not None:
        prediction["labelled"] = [float(said.agentic.get(sentence_id(sentence), math.nan)) for sentence, _ in read]
    return prediction


@dataclass(frozen=True)
class Labels:
    """agentic: {sentence id: whether people call it agentic}; undecided: entries without a label of most."""

    agentic: dict[str, bool]
    undecided: int


def read_labels(path: Path) -> Labels:
    """Read a merged table of labels, as `evenhand annotate import` writes it. Raises UsageError for another file."""
    from evenhand.row_files import read_rows  # slow to import

    rows = read_rows(path, "label", "labels", edited=True, known=LABEL_COLUMNS)
    made = "evenhand annotate export RUN --each sentences --scheme agency, then evenhand annotate import, makes one"
    if missing := [name for name in LABEL_COLUMNS if name not in rows.columns]:
        raise UsageError(f"{path} is no merged table of labels, it has no column {', '.join(missing)}; {made}")
    ids, labels, statuses = (rows.words(name) for name in LABEL_COLUMNS)
    agentic: dict[str, bool] = {}
    for place, name, label, status in zip(rows.places, ids, labels, statuses):
        if not name.startswith(SENTENCE_ID):
            raise UsageError(f"{path}, {place}: {name!r} is not the id of a sentence; {made}")
        if name in agentic:
            raise UsageError(f"{path}, {place}: {name} is labelled twice; remove one")
        if status in ("majority", "third") and label:
            if label not in IS_AGENTIC:
                raise UsageError(f"{path}, {place}: unknown label {label!r}; expected {', '.join(IS_AGENTIC)}")
            agentic[name] = IS_AGENTIC[label]
    return Labels(agentic, rows.n - len(agentic))


def load_labels(path: str | None) -> Labels | None:
    """Return the labels of a file, read once until it changes; None for no file."""
    return _load_labels(path, Path(path).stat().st_mtime_ns) if path else None


@lru_cache(maxsize=1)
def _load_labels(path: str, changed: int) -> Labels:
    return read_labels(Path(path))


def counted(rows: pd.DataFrame, value: float, interval: Sequence[float] = (), chance: float | None = None) -> Estimate:
    """Return the estimate with the numbers of these rows' texts and clusters."""
    read = rows["gap"].notna()
    low, high = interval or (math.nan, math.nan)
    clusters = rows["cluster"]
    return Estimate(value, low, high, len(rows), int(read.sum()), clusters[read].nunique(), clusters.nunique(), chance)


def by_group(rows: pd.DataFrame, columns: Columns) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield each group whose values are all known, with its rows."""
    for values, some in rows.groupby(list(columns)):
        if all(values):
            yield dict(zip(columns, map(str, values))), some
