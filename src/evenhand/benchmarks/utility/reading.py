"""What was answered to a question, and how likely a text's words were."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.benchmark import Row
from evenhand.benchmarks.utility.refusals import refuses
from evenhand.flow.configuration import Asking
from evenhand.flow.episode import Prediction, run_name
from evenhand.models.request import Message, Reply, Request
from evenhand.options import NoOptions


def question_of(row: Row) -> str | None:
    """None of a row that is a text."""
    question: str | None = row.get("question")
    return question


def continuation_request(name: str, text: str) -> Request:
    """A text's first sentence as the prompt, without a chat template, and what follows as the only choice."""
    first, rest = text.split(". ", 1)
    return Request((Message("user", first + "."),), choices=(rest,), name=name, template=False)


def holds(reply: str, answers: Sequence[str]) -> bool:
    """Whether an accepted answer stands in the reply as whole words, in any case."""
    return any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", reply, re.IGNORECASE) for answer in answers)


def outcome(reply: Reply, answers: Sequence[str]) -> str | None:
    """`correct`, `wrong`, `refused` (by a server's filter, too) or `empty`; None where the request failed.

    A reply with an accepted answer is correct, whatever it says before.
    """
    if reply.failed:
        return "refused" if reply.finish_reason == "refused" else None
    if not reply.text.strip():
        return "empty"
    if holds(reply.text, answers):
        return "correct"
    return "refused" if refuses(reply.text) else "wrong"


def prediction(row: Row, replies: Sequence[Reply], how: Asking[NoOptions]) -> Prediction:
    """`outcome` of a question, and `value`, 1 where that isn't correct; `nats` (summed negative log-likelihood) and
    `tokens` of a text. None: unread.
    """
    [reply] = replies
    found: Prediction = {"id": row["id"] + run_name(how.run), "row": row["id"], "topic": row["topic"]}
    question = question_of(row)
    if question is not None:
        came = outcome(reply, row["answers"])
        found |= {
            "kind": "question",
            "question": question,
            "answers": list(row["answers"]),
            "text": reply.text,
            "outcome": came,
            "value": None if came is None else float(came != "correct"),
            "nats": None,
            "tokens": None,
            "words": None,
        }
    else:
        scored = reply.choice_log_probs[0]
        found |= {
            "kind": "text",
            "question": row["text"],
            "answers": [],
            "text": "",
            "outcome": None,
            "value": None,
            "nats": None if reply.failed else -sum(scored),
            "tokens": None if reply.failed else len(scored),
            "words": len(row["text"].split(". ", 1)[1].split()),
        }
    return found | {"probe": row["probe"], "finish_reason": reply.finish_reason}
