"""What was answered to a question, and how likely a text's words were."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.answers.plain_text import mend_typos, plain
from evenhand.answers.refusals import refuses
from evenhand.benchmark import Row
from evenhand.benchmarks.utility.questions import UtilityOptions
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Message, Reply, Request


def continuation_request(name: str, text: str) -> Request:
    """Ask how likely a text goes on as it does after its first sentence; without a chat template."""
    first, rest = text.split(". ", 1)
    return Request((Message("user", first + "."),), choices=(rest,), name=name, template=False)


_NUMBERS = "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
_SPELLED = {str(n): word for n, word in enumerate(_NUMBERS)} | {word: str(n) for n, word in enumerate(_NUMBERS)}
_THOUSANDS = re.compile(r"(?<=\d)[, ](?=\d{3}\b)")
_UNKNOWING = re.compile(  # "I can't recall.", which elsewhere may explain an answer
    r"^\W*(?:unknown|pass|not sure|no answer)\W*$|\bi (?:can.?t|cannot|do not|don.?t) (?:recall|remember)\b|"
    r"\bescapes me\b|\bnever heard of\b|\bi(?:.d| would) have to (?:look|check)|\bbeyond (?:what i know|me)\b|"
    r"\bi(?:.m| am) (?:not|un) ?(?:sure|certain)[^,.]{0,40}\W*$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|neither|nor|rather than|instead of|other than)|n't)(?: (?!but\b)[\w']+){0,3}[ \"'*]*$|"
    r"\d+ or $|\beither (?:\w+ or )?$"
)
_DENIED_AFTER = re.compile(r"\W*(?:(?:is|was|are|were)(?:n't| not)\b|(?:is|was) (?:wrong|incorrect))")


def holds_answer(reply: str, answers: Sequence[str]) -> bool:
    """Whether an accepted answer stands in the reply as whole words, in any case, a number in words or digits.

    What is denied ("not Paris") and one of two numbers ("1944 or 1945") is no answer.
    """
    said, *known = (_THOUSANDS.sub("", plain(each).casefold()) for each in (reply, *answers))
    for answer in {*known, *(_SPELLED[each] for each in known if each in _SPELLED)}:
        for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", mend_typos(said, [answer])):
            before, after = match.string[: match.start()], match.string[match.end() :]
            if not (_DENIED.search(before) or _DENIED_AFTER.match(after)):
                return True
    return False


def read_outcome(reply: Reply, answers: Sequence[str]) -> str | None:
    """Return `correct`, `wrong`, `refused` (by a server's filter, too) or `empty`.

    None where the request failed, or the model was still thinking. A reply with an accepted answer is
    correct, whatever it says before.
    """
    if reply.failed or reply.finish_reason == "thought":
        return "refused" if reply.finish_reason == "refused" else None
    if not reply.text.strip():
        return "empty"
    if holds_answer(reply.text, answers):
        return "correct"
    return "refused" if refuses(reply.text) or _UNKNOWING.search(reply.text) else "wrong"


def read_row(row: Row, replies: Sequence[Reply], how: Asking[UtilityOptions]) -> Prediction:
    """Read the reply to a question or a text.

    `outcome` of a question, and `value`, 1 where that isn't correct; `nats` (summed negative log-likelihood), `tokens`
    and `words` of a text. None: unread.
    """
    [reply] = replies
    found: Prediction = {
        "id": row["id"] + run_name(how.run), "row": row["id"], "topic": row["topic"], "kind": "question",
        "question": row.get("question"), "answers": list(row.get("answers") or ()), "text": reply.text,
        "outcome": None, "value": None, "nats": None, "tokens": None, "words": None,
    }  # fmt: skip
    if how.options.scorer:
        found["scorer"] = how.options.scorer
    if found["question"] is not None:
        outcome = read_outcome(reply, row["answers"])
        found |= {"outcome": outcome, "value": None if outcome is None else float(outcome != "correct")}
    else:
        words = len(row["text"].split(". ", 1)[1].split())
        found |= {"kind": "text", "question": row["text"], "answers": [], "text": "", "words": words}
        if not reply.failed:
            scored = reply.choice_log_probs[0]
            found |= {"nats": -sum(scored), "tokens": len(scored)}
    return found | {"probe": row["probe"], "finish_reason": reply.finish_reason}
