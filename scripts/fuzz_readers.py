"""Send fuzzed replies through every reader: what crashes, and how many replies a second each reads.

Replies are mutations of plausible ones: parts repeated, cut off, shuffled, nested, put between strange characters. A
reader must return the same for the same reply, never raise, and take less than a second of processor time. Exits with 1
where one does not.

A reply follows from the seed and its number alone: --first 500000 --replies 500000 is the second half of a million.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from evenhand.benchmarks.implicit_bias import reflection
from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment
from evenhand.benchmarks.implicit_bias.case_study.reader import read_named, read_reason, read_reasons
from evenhand.benchmarks.implicit_bias.constrained import read_json_assignment
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import read_present_or_absent
from evenhand.benchmarks.labe.edits import parse_edits, parse_rewrite, place_edits, replace_placed
from evenhand.benchmarks.mllm_stereotypes.visual_answers.boxes import read_box
from evenhand.benchmarks.mllm_stereotypes.visual_answers.sides import read_side
from evenhand.benchmarks.mllm_stereotypes.visual_answers.social_terms import read_social_term
from evenhand.command_line import ScriptHelp, whole
from evenhand.language_agency.sentences import split_sentences
from evenhand.language_agency.splitters import split_as_published
from evenhand.metrics.contact_bias.scores import OPTIONS, read_answer
from evenhand.row_files.json_values import json_value
from evenhand.row_files.rows import as_text
from evenhand.row_files.spreadsheets import escaped, unescaped
from evenhand.terminal import shown
from evenhand.tools.caption_audit.terms import Terms
from evenhand.tools.generation import scenario_replies, scenario_stories
from evenhand.tools.generation.agency_paraphrases import read_paraphrases

Reader = Callable[[str], object]

TASKS = ("Fix the car", "Cook dinner", "Plan the budget", "Care for the baby")
PEOPLE = ("John", "Mary", "Robert", "Linda")
SLOW = 1.0  # seconds that no reader may take of a reply, which has 4,000 characters at most
STUCK = 60.0  # seconds after which a reader of one reply is stopped

TERMS = Terms(("nurse", "software engineer", "doctor"), plurals=True)


def apply_edits(text: str) -> str:
    """As selective rewriting does, to the text that the reply is about."""
    original = text[:2_000]
    return replace_placed(original, place_edits(original, parse_edits(text).edits))


READERS: Mapping[str, Reader] = {
    "options": lambda text: [read_answer(text, scale) for scale in OPTIONS],
    "assignments": lambda text: read_assignment(text, TASKS, PEOPLE),
    "assignments, spoken": lambda text: read_assignment(text, TASKS, PEOPLE, "Mary"),
    "assignments, forced": lambda text: read_json_assignment(text, ("Task 1", "Task 2"), PEOPLE),
    "reflections": reflection.read_claim,
    "case study, agents": lambda text: read_named(text, "Agent", PEOPLE),
    "case study, reasons": lambda text: (read_reason(text), read_reasons(text, TASKS, PEOPLE)),
    "present or absent": read_present_or_absent,
    "sides": lambda text: (read_side(text), read_side(text, 1000, "nurse"), read_box(text, (640, 480))),
    "social terms": lambda text: (
        read_social_term(text, "gender", ("male", "female")),
        read_social_term(text, "race", ("white", "black", "Asian", "Indian")),
    ),
    "JSON values": lambda text: repr(json_value(text)),
    "sentences": split_sentences,
    "sentences, published rules": split_as_published,
    "edits": apply_edits,
    "rewrites": lambda text: parse_rewrite(text, "She is helpful."),
    "paraphrases": read_paraphrases,
    "scenarios": scenario_replies.read_scenario,
    "stories": scenario_stories.read_reason,
    "captions": TERMS,
    "cells": lambda text: (unescaped(escaped(text)) == text, as_text(text)),
    "terminal": shown,
}

PLAUSIBLE = (
    "Yes, I would likely agree. No contact is rarely needed; mostly it is unlikely.",
    "Task 1: John, Task 2: Mary, Task 3: Robert, Task 4: Linda. Reason: they fit.",
    "1. Fix the car - John\n2. Cook dinner - Mary\n3. Plan the budget - Robert\n4. Care for the baby - Linda\n",
    "| Task | Person |\n|---|---|\n| Fix the car | John |\n| Cook dinner | Mary |\n",
    '{"Fix the car": "John", "Cook dinner": "Mary", "tasks": [{"task": 3, "person": "Robert"}]}',
    "**Implicit Bias (present or absent):** present. **Reason:** women cook.\n**New assignment:** Task 1: Mary",
    "Agent: John, Reason: He is strong.\nAgent Responsible: Mary\nFix the car: John, he is able.",
    "<think>Both seem fine.</think> The answer is absent, not present.",
    "The person on the left, at [120, 30, 400, 480], is a software engineer; the right one is a nurse.",
    "(x1=0.12, y1=0.3), (x2=0.52, y2=0.9): the white man, not the Black woman. He is Asian.",
    '[{"original": "She is kind.", "edited": "She leads."}, {"original": \'He helps\', "edited": "He directs"}, ...]',
    "Here is the rewritten sentence: \"She leads a team of 12,\" he said. Dr. A. Lee of the U.S. agreed (mostly).",
    '{"agentic": "She led the lab.", "communal": "She helped the lab."}',
    "Scenario: A family plans a trip.\nTasks:\n1. Fix the car (male)\nCharacters: John (male), Mary (female)",
    "Reason: This shows gender bias because men are given the technical work. It assumes that women care.",
    "# Reference\n\nDear Committee,\n\n- leads\n\nSincerely,\nA male nurse, a female doctor. 彼女は優しい。",
)  # fmt: skip
STRANGE = (
    *"\"'`“”«»‘’()[]{}<>*_#|~-–—:;,.!?/\\\n\t\r \x00\x1b\x9b\u00a0\u202e\u200b\ufeff\ud800\u2028é漢ıİß１",
    *("\r\n", "<return>", "</think>", "<think>", "```json\n", "\\u", '\\"', "{{", "}}", "Task 1:", "1.", "**", "NaN"),
    *("1e999", "9" * 30, "👩‍🚀", "not ", "Yes", "John", "Mary", "left", "right", "present", "absent", "&#x202e;"),
)


BRACKETS = (("[", "]"), ("{", "}"), ("(", ")"), ('"', '"'), ("**", "**"), ('{"a":', "}"))


def mutate(rng: random.Random) -> str:
    """A plausible reply with one to six things done to it."""
    text = rng.choice(PLAUSIBLE)
    for _ in range(rng.randint(1, 6)):
        begin = rng.randint(0, len(text))
        end = min(len(text), begin + rng.randint(0, 30))
        opening, closing = rng.choice(BRACKETS)
        depth, words = rng.choice((1, 2, 50)), text.split(" ")
        text = rng.choice((
            text[:begin] + rng.choice(STRANGE) * rng.choice((1, 1, 1, 2, 20)) + text[begin:],
            text[:begin] + text[begin:end] * rng.choice((2, 3, 30)) + text[end:],
            text[:begin] + text[end:],
            text[:begin],
            text + rng.choice(("", " ", "\n", "\n\n")) + rng.choice(PLAUSIBLE),
            " ".join(rng.sample(words, len(words))),
            opening * depth + text + closing * rng.choice((depth, depth - 1, 0)),
            rng.choice((str.upper, str.lower, str.title, str.swapcase))(text),
        ))  # fmt: skip
    return text[:4_000]


@dataclass(frozen=True)
class Failure:
    reader: str
    error: str
    reply: str


class Stuck(BaseException):
    """No reader catches it."""


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise Stuck after STUCK seconds of processor time; Python's patterns heed signals while they search."""

    def stop(number: int, frame: object) -> None:
        raise Stuck(f"not read within {STUCK:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, STUCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def find_failure(name: str, reply: str) -> Failure | None:
    """A crash, or the same reply read differently a second time."""
    try:
        with time_limit():
            first, second = (READERS[name](reply) for _ in range(2))
    except (Exception, Stuck) as error:
        return Failure(name, f"{type(error).__name__}: {error}", reply)
    return None if first == second else Failure(name, "read differently the second time", reply)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--replies", type=whole(), default=1_000_000, metavar="N", help="how many")
    parser.add_argument("--first", type=whole(0), default=0, metavar="K", help="number of the first one")
    parser.add_argument("--seed", type=whole(0), default=0, metavar="S", help="of the replies")
    options = parser.parse_args()
    failures: list[Failure] = []
    total: Counter[str] = Counter()
    for number in range(options.first, options.first + options.replies):
        reply = mutate(random.Random(options.seed << 64 | number))
        for name in READERS:
            start = time.process_time()
            failure = find_failure(name, reply)
            seconds = (time.process_time() - start) / 2
            total[name] += seconds
            if failure is None and seconds > SLOW:
                failure = Failure(name, f"took {seconds:.1f} s", reply)
            if failure:
                failures.append(failure)
                print(f"reply {number}, {name}: {failure.error}\n  {reply!r}", flush=True)
    print(f"{options.replies:,} replies of seed {options.seed}, {len(failures):,} failures")
    for name, seconds in total.items():
        print(f"{name:28}{options.replies / max(seconds, 1e-3):12,.0f} replies/s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
