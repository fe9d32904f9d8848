"""Which part of a reply is the speaker's own last word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.benchmarks.implicit_bias.assignment_reader.changes import TURN
from evenhand.plain_text import plain

_LAST = r"(?:final(?:ized|ised)?|revised|updated?|new|last|corrected|consensus|agreed|amended|adjusted|improved)"
# What may be repeated here must begin where nothing before it can end, or a chain of "of … of …" takes forever.
_MARK = re.compile(
    rf"(?:^|(?<=[\n.!?;:,{{]))[ \t>#-]*(?:(?:here is|this is|so|therefore|and|now),? )?(?:(?:my|our|the|"
    rf"a) )?(?:(?:{_LAST}[ _-]?){{1,2}}|(?<=my )|(?<=our ))"
    r"(?:(?:task|role|re)[ _-]{0,2})*(?:assign(?:ed|ments?)(?: tasks)?|answer|allocation|decision|choice|list|version|"
    r"distribution|plan)?(?: (?:is|would be|as follows|reads)| \([^()\n]{1,40}\)|"
    r" of (?:(?! of )[^:\n]){1,40}){0,3}(?:, [^:\n]{1,60})?\s?[:=\n]|(?<=\n)[ #>]*(?:(?:task|"
    r"role) )?assignments?\s?:?[ ]*\n",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:reason|reasoning|rationale|why|justification)s?\s?:(?:(?![,.;|]\s*(?:task|person|new|final)\b)[^\n])*",
    re.IGNORECASE,
)
_CAST = re.compile(
    r"(?:^|(?<=\n))\W*(?:the )?(?:characters|participants|people|cast)(?: (?:involved|are|here))*\s?[:=][^\n]*(?:\n[^\S\n]*(?:[-•*]|\d{1,2}[.):]?)? ?"
    r"[A-Z][\w' -]*(?:\(\w+\))?,?[^\S\n]*(?=\n|$))*",
    re.IGNORECASE,
)
_SHORT_LINE = re.compile(r"[^\n\w]*\w[^\n]{0,30}(?:\n|$)")
_TASK = re.compile(r"\btask \d", re.IGNORECASE)
_TURN = re.compile(r"<\|(?:im_end|im_start|eot_id|end|endoftext|end_of_text)\|>|</s>|\[/?INST\]|\n(?:User|Human) ?:")


def final_part(text: str) -> str:
    """What follows the last heading of a final or new assignment ("Consensus:"), or all of it."""
    end = len(text.rstrip())
    marks = [mark for mark in _MARK.finditer(text) if mark.end() < end]
    labels = [mark for mark in marks if _SHORT_LINE.match(text, mark.end())]
    if len(labels) > 1:  # "Final answer: John" under each of several tasks
        marks = [mark for mark in marks if mark.end() not in {each.end() for each in labels}]
    return text[marks[-1].end() :] if marks else text


def without_reasons(text: str) -> str:
    """Without what stands behind "Reason:" or "Characters:" in its line, and the list below the latter."""
    return _CAST.sub("\n", _REASON.sub(" ", text))


def own_part(text: str, people: Sequence[str], speaker: str | None) -> str:
    """What the speaker says: without their name before it, and without what others are made to say.

    Others' lines behind an own answer are left out. Where others' lines come first, a recap, the speaker's last line
    counts, or all of it where a heading of a final assignment follows the last of them; else nothing.
    """
    text = next((turn for turn in _TURN.split(text) if turn.strip()), "")
    if speaker is None:
        return text
    names = {plain(each).lower(): each for each in people}
    either = "|".join(re.escape(each) for each in names)
    labels = list(re.finditer(rf"(?:^|(?<=\n))\s*({either})\s?:\s+(?=\S)", text, re.IGNORECASE)) if either else []
    ends = [each.start() for each in labels[1:]] + [len(text)]
    spoken = [
        (names[each[1].lower()], each, end) for each, end in zip(labels, ends) if _is_speech(text[each.end() : end])
    ]
    if not spoken:
        return text
    who, first, _ = spoken[0]
    before = text[: first.start()]
    own = [text[label.end() : end] for who, label, end in spoken if who == speaker]
    if _TASK.search(before):
        return TURN.join([before, *own])
    if who == speaker:
        return TURN.join(own)
    if any(mark.end() > spoken[-1][1].end() for mark in _MARK.finditer(text)):
        return text
    return own[-1] if own else ""


def _is_speech(said: str) -> bool:
    """Not "Lisa: Task 1", which gives her a task: an assignment of several, or a sentence of another kind."""
    return len(_TASK.findall(said)) > 1 or (not _TASK.search(said) and bool(re.search(r"[.!](?:\s|$)", said)))
