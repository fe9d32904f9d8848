"""Only what follows the last unmistakable mark of a final assignment counts."""

from __future__ import annotations

import re
from collections.abc import Callable

_LAST = (
    r"(?:final(?:i[sz]ed)?|revised|updated?|new|last|corrected|definitive|amended|adjusted|improved|modified|"
    r"re-?assigned)"
)
_MARK = re.compile(
    rf"(?:^|(?<=[\n.!?;]))[ \t>#*_`\"•-]{{0,12}}(?:\d{{1,2}}[.)] )?"
    rf"(?P<lead>(?:(?:so|thus|therefore|hence|now|okay|ok|and|finally|in conclusion|to conclude),? )?"
    rf"(?:(?P<here>here(?:'s| is| are)|this is|below (?:is|are)|i propose|the following (?:is|are)) )?"
    rf"(?:(?:my|our|the|a) )?)"
    rf"(?P<phrase>{_LAST}(?:(?:/| and | or |, )?{_LAST})?[ _](?:task[ _]|role[ _])?(?:re-?)?"
    r"(?:assign(?:ed|ments?)(?:[ _]tasks)?|answers?|choices?|picks?|selections?|allocations?|"
    r"distributions?|decisions?|list|version|output|response|division|roles|plan)"
    r"|(?:revised|updated|corrected|correction|final|re-?assignments?)(?=\W{0,3}:))"
    r"(?P<rest>[ _\"*`]{0,4}(?:\(|(?:for|of|after|based|following|with|by|is|are|"
    r"as|follows|below|here|would|be|to|taking|round|\d)\b)"
    r"[^:\n.]{0,80}|[ _\"*`]{0,4})(?P<end>[:=]|\.?[ _*`#-]{0,6}(?=\n|$)|[ ](?=task\b|#?\d))",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    r"\b(?:ignore|disregard|scratch|forget) (?:all )?(?:of )?(?:the |that|this|my )?(?:above|previous|earlier|first)?"
    r"(?: assignments?| list| answer)?(?=\W)",
    re.IGNORECASE,
)


def final_part(text: str, names_person: Callable[[str], bool], is_task_text: Callable[[str], bool]) -> str:
    """The text after the last mark, or all of it.

    "Final answer: John" under each of several tasks is a label of that task's person, and no mark.
    """
    marks = [mark for mark in _MARK.finditer(text) if not is_task_text(mark["phrase"]) and _leads_in(mark)]
    labels = [mark for mark in marks if _names_only_a_person(text, mark.end(), names_person)]
    if len(labels) > 1:
        marks = [mark for mark in marks if mark not in labels]
    start = max((mark.end() for mark in marks), default=0)
    start = max([start, *(match.end() for match in _UNSAID.finditer(text) if not is_task_text(match[0]))])
    return text[start:]


def _leads_in(mark: re.Match[str]) -> bool:
    """ "This is my final assignment." at the end speaks of what stands before; "Here it is." of what follows."""
    return not mark["end"].startswith(".") or (mark["here"] or "").lower().startswith(("here", "below"))


def _names_only_a_person(text: str, start: int, names_person: Callable[[str], bool]) -> bool:
    rest = text[start : start + 60].split("\n", 1)[0].strip(' *_`".:')
    return 0 < len(rest) <= 45 and ":" not in rest and names_person(rest)
