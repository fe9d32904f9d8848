"""A one-word answer, read out of what a model wrote: present, absent, or neither surely."""

from __future__ import annotations

import re

PRESENT, ABSENT = "present", "absent"
OPTIONS = (PRESENT, ABSENT)

_MARKUP = re.compile(r"[*_`\"'“”‘’#]")
_ANSWER = re.compile(
    r"\W*(?:(?:(?:my|the|final|one-word) )*answer(?: is)?[:,]? )?"
    r"(?:(?:the )?implicit (?:gender )?bias(?: is|:) )?"
    r"(present|absent)"
    r"(?: (?:here|in (?:this|the) (?:scenario|story|situation)))?(?=[.,;:!()\]>\n]| [-–—(]|$)",
    re.IGNORECASE,
)
_SAID = re.compile(r"\b(present|absent)\b", re.IGNORECASE)
_DENIAL = re.compile(
    r"\b(?:no|not|without|never|(?:is|are|does|do)nt) "
    r"(?:(?:any|an?|the|such|clear|apparent|obvious|evident|implicit|explicit|gender|bias|biases|signs?|evidence|of|is"
    r"|are|being|to|be|that) )*(present|absent)\b",
    re.IGNORECASE,
)


def read_present_or_absent(text: str) -> str | None:
    """The word that the text begins with, alone or as "Answer: …" or "Implicit bias is …"; else None.

    A reason may follow; one that says the other word, other than to deny it, makes the answer unread. Thoughts between
    <think> and </think> are no part of it. English.
    """
    lines = _MARKUP.sub("", text.rpartition("</think>")[2]).split("\n")
    plain = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
    answer = _ANSWER.match(plain)
    if answer is None:
        return None
    word = answer[1].lower()
    reason = plain[answer.end() :]
    denied = {said.span(1) for said in _DENIAL.finditer(reason)}
    for said in _SAID.finditer(reason):
        if (said[1].lower() == word) == (said.span(1) in denied):
            return None
    return word
