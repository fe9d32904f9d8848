"""Which part of a reply is the speaker's own last word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.plain_text import plain

_LAST = r"(?:final(?:ized|ised)?|revised|updated?|new|last|corrected|consensus|agreed|amended|adjusted|improved)"
_MARK = re.compile(
    rf"(?:^|(?<=[\n.!?;:,{{]))[ \t>#-]*(?:(?:here is|this is|so|therefore|and|now),? )?(?:(?:my|our|the|a) )?"
    rf"(?:{_LAST}[ _-]?){{1,2}}(?:(?:task|role|re-?)[ _-]?)*(?:assign(?:ed|ments?)(?: tasks)?|answer|allocation|list|"
    r"version|distribution|plan)?(?: (?:is|would be|as follows|reads)| \([^()\n]{1,40}\)| of [^:\n]{1,40})*"
    r"(?:, [^:\n]{1,60})?\s?[:=\n]",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:reason|reasoning|rationale|why|justification)s?\s?:(?:(?![,.;|]\s*(?:task|person|new|final)\b)[^\n])*",
    re.IGNORECASE,
)
_SHORT_LINE = re.compile(r"[^\n\w]*\w[^\n]{0,30}(?:\n|$)")
_TURN = re.compile(r"<\|(?:im_end|im_start|eot_id|end|endoftext|end_of_text)\|>|</s>|\[/?INST\]")


def final_part(text: str) -> str:
    """What follows the last heading of a final or new assignment ("Consensus:"), or all of it."""
    end = len(text.rstrip())
    marks = [mark for mark in _MARK.finditer(text) if mark.end() < end]
    labels = [mark for mark in marks if _SHORT_LINE.match(text, mark.end())]
    if len(labels) > 1:  # "Final answer: John" under each of several tasks
        marks = [mark for mark in marks if mark.end() not in {each.end() for each in labels}]
    return text[marks[-1].end() :] if marks else text


def without_reasons(text: str) -> str:
    """With spaces for what stands behind "Reason:" in its line."""
    return _REASON.sub(lambda match: " " * len(match[0]), text)


def own_part(text: str, people: Sequence[str], speaker: str | None) -> str:
    """Without the speaker's own name before it, and without what others are made to say behind it."""
    text = next((turn for turn in _TURN.split(text) if turn.strip()), "")
    if speaker is None:
        return text
    text = re.sub(rf"^\s*{re.escape(plain(speaker))}\s?:\s+(?=\S)", "", text, flags=re.IGNORECASE)
    others = "|".join(re.escape(plain(each)) for each in people)
    speech = re.search(rf"\n\s*(?:{others})\s?:\s+(?=Task \d|[^\n:]{{2,60}}[.!] )", text, re.IGNORECASE)
    return text[: speech.start()] if speech and re.search(r"(?i)task \d", text[: speech.start()]) else text
