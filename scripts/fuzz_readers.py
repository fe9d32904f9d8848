"""Fuzzed replies through every reader: what crashes, how many a second, and how time grows with their length.

python scripts/fuzz_readers.py --replies 1000000 --seed 0

Replies are mutations of plausible ones: parts repeated, cut off, shuffled, nested, put between strange characters. A
reader must return the same for the same reply, never raise, and take no second of the processor's time; ten times as
long a reply may take about ten times as long. Ends with 1 where one does not.

A reply follows from the seed and its number alone: --first 500000 --replies 500000 is the second half of a million.
"""

from __future__ import annotations

import argparse
import gc
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise

from evenhand.benchmarks.implicit_bias.assignment_reader import read_assignment
from evenhand.benchmarks.implicit_bias.case_study.reader import read_named, read_reason, read_reasons
from evenhand.benchmarks.implicit_bias.interaction import read_json_assignment
from evenhand.benchmarks.implicit_bias.understanding.present_or_absent import read_claim, read_present_or_absent
from evenhand.benchmarks.labe.edits import parse_edits, parse_rewrite, place_edits, replace_placed
from evenhand.benchmarks.mllm_stereotypes.visual_answers import read_box, read_side, read_social_term
from evenhand.command_line import ScriptHelp, whole
from evenhand.language_agency.sentences import split_as_published, split_sentences
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
LENGTHS = (1_000, 10_000, 100_000)  # characters
SUPERLINEAR = 30  # times as long for ten times the characters; a square would be 100
NOTICED = 0.5  # seconds, below which growth is noise
SLOW = 1.0  # seconds that no reader may take of a fuzzed reply, which has 4,000 characters at most
STUCK = 60.0  # seconds after which all readers of one reply are given up

_TERMS = Terms(("nurse", "software engineer", "doctor"), plurals=True)


def _edited(text: str) -> str:
    """What selective rewriting does with a reply, to a text that the reply is about."""
    original = text[:2_000]
    return replace_placed(original, place_edits(original, parse_edits(text).edits))


READERS: Mapping[str, Reader] = {
    "options": lambda text: [read_answer(text, scale) for scale in OPTIONS],
    "assignments": lambda text: read_assignment(text, TASKS, PEOPLE),
    "assignments, spoken": lambda text: read_assignment(text, TASKS, PEOPLE, "Mary"),
    "assignments, forced": lambda text: read_json_assignment(text, ("Task 1", "Task 2"), PEOPLE),
    "reflections": read_claim,
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
    "edits": _edited,
    "rewrites": lambda text: parse_rewrite(text, "She is helpful."),
    "paraphrases": read_paraphrases,
    "scenarios": scenario_replies.read_scenario,
    "stories": scenario_stories.read_reason,
    "captions": _TERMS,
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


def mutated(rng: random.Random) -> str:
    """A plausible reply with one to six things done to it."""
    text = rng.choice(PLAUSIBLE)
    for _ in range(rng.randint(1, 6)):
        text = rng.choice(_MUTATIONS)(text, rng)
    return text[:4_000]


def _span(text: str, rng: random.Random) -> tuple[int, int]:
    begin = rng.randint(0, len(text))
    return begin, min(len(text), begin + rng.randint(0, 30))


def _insert(text: str, rng: random.Random) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + rng.choice(STRANGE) * rng.choice((1, 1, 1, 2, 20)) + text[place:]


def _repeat(text: str, rng: random.Random) -> str:
    begin, end = _span(text, rng)
    return text[:begin] + text[begin:end] * rng.choice((2, 3, 30)) + text[end:]


def _delete(text: str, rng: random.Random) -> str:
    begin, end = _span(text, rng)
    return text[:begin] + text[end:]


def _truncate(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _join(text: str, rng: random.Random) -> str:
    return text + rng.choice(("", " ", "\n", "\n\n")) + rng.choice(PLAUSIBLE)


def _shuffle(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    rng.shuffle(words)
    return " ".join(words)


def _nest(text: str, rng: random.Random) -> str:
    opening, closing = rng.choice((("[", "]"), ("{", "}"), ("(", ")"), ('"', '"'), ("**", "**"), ('{"a":', "}")))
    depth = rng.choice((1, 2, 50))
    return opening * depth + text + closing * rng.choice((depth, depth - 1, 0))


def _spell(text: str, rng: random.Random) -> str:
    return rng.choice((str.upper, str.lower, str.title, str.swapcase))(text)


_MUTATIONS = (_insert, _insert, _repeat, _delete, _truncate, _join, _shuffle, _nest, _spell)


def long_reply(length: int, rng: random.Random) -> str:
    """One short piece over and over, at times with a plausible reply before it: what makes bad patterns explode."""
    piece = "".join(rng.choice((*STRANGE, *" ab1", *rng.choice(PLAUSIBLE).split())) for _ in range(rng.randint(1, 4)))
    begin = rng.choice(("", rng.choice(PLAUSIBLE)))
    return (begin + piece * (length // len(piece) + 1))[:length]


@dataclass(frozen=True)
class Crash:
    reader: str
    error: str
    reply: str


class Stuck(BaseException):
    """No reader catches it."""


@contextmanager
def _alarmed() -> Iterator[None]:
    """Python's patterns look at signals while they search, so that the clock of the processor's time ends them."""

    def ring(number: int, frame: object) -> None:
        raise Stuck(f"not read within {STUCK:g} s")

    before = signal.signal(signal.SIGVTALRM, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def crashed(name: str, reply: str) -> Crash | None:
    """Also where the same reply is read otherwise a second time."""
    try:
        first = READERS[name](reply)
        if READERS[name](reply) != first:
            return Crash(name, "read otherwise the second time", reply)
    except (Exception, Stuck) as error:
        return Crash(name, f"{type(error).__name__}: {error}", reply)
    return None


@dataclass
class Clock:
    """Seconds of the processor's time that a reader took in all, at most, and of which reply."""

    total: float = 0.0
    slowest: float = 0.0
    which: int = 0


def fuzz(replies: int, seed: int, first: int = 0) -> tuple[int, list[Crash], dict[str, Clock]]:
    """Of that many replies from the one of the number `first` on, each by every reader: how many there were until
    somebody stopped it, crashes, and times by reader.

    Every hundredth is read twice.
    """
    rng, now = random.Random(), time.process_time
    crashes: list[Crash] = []
    clocks = {name: Clock() for name in READERS}
    readers = [(name, reader, clocks[name]) for name, reader in READERS.items()]
    every, began, done = max(1_000, replies // 100), time.monotonic(), 0
    with _alarmed(), suppress(KeyboardInterrupt):
        for number in range(first, first + replies):
            rng.seed(seed << 64 | number)
            reply = mutated(rng)
            signal.setitimer(signal.ITIMER_VIRTUAL, STUCK)
            start = now()
            for name, reader, clock in readers:
                try:
                    reader(reply)
                except (Exception, Stuck) as error:
                    crashes.append(Crash(name, f"{type(error).__name__}: {error}", reply))
                end = now()
                took, start = end - start, end
                clock.total += took
                if took > clock.slowest:
                    clock.slowest, clock.which = took, number
            if number % 100 == 0:
                crashes += filter(None, (crashed(name, reply) for name in READERS))
            done += 1
            if done % every == 0:
                speed = done / (time.monotonic() - began)
                print(f"{done:,} replies, {len(crashes):,} crashes, {speed:,.0f}/s", file=sys.stderr, flush=True)
    return done, crashes, clocks


def growth(name: str, pieces: int, seed: int) -> tuple[list[float], str]:
    """Seconds of the slowest of so many replies at each of LENGTHS, and the slowest reply's beginning.

    Of each piece the shortest are tried first; a piece that is quick at one length is tried at the next.
    """
    slowest, which = [0.0] * len(LENGTHS), ""
    for piece in range(pieces):
        for place, length in enumerate(LENGTHS):
            reply = long_reply(length, random.Random(f"{seed} {piece}"))
            began = time.process_time()
            READERS[name](reply)
            took = time.process_time() - began
            if took > slowest[place]:
                slowest[place], which = took, reply[:160]
            if took > 20:
                break
    return slowest, which


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--replies", type=whole(), default=1_000_000, metavar="N", help="how many")
    parser.add_argument("--first", type=whole(0), default=0, metavar="K", help="number of the first one")
    parser.add_argument("--pieces", type=whole(0), default=100, metavar="N", help="long replies a reader")
    parser.add_argument("--seed", type=whole(0), default=0, metavar="S", help="of the replies")
    options = parser.parse_args()
    gc.collect()
    gc.freeze()  # what was imported stays
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was done until then is told
    done, crashes, clocks = fuzz(options.replies, options.seed, options.first)
    for crash in crashes[:20]:
        print(f"{crash.reader}: {crash.error}\n  {crash.reply!r}")
    last = options.first + done - 1
    print(f"replies {options.first:,} to {last:,} of seed {options.seed}: {done:,} replies, {len(crashes):,} crashes")
    stopped = done < options.replies
    print(f"{'reader':28}{'replies/s':>12}{'slowest, s':>12}{'of reply':>12}")
    for name, clock in clocks.items():
        speed = done / clock.total if clock.total else 0
        print(f"{name:28}{speed:12,.0f}{clock.slowest:12.4f}{clock.which:12,}", flush=True)
    slow = [f"{name} took {clock.slowest:.1f} s of reply {clock.which}" for name, clock in clocks.items()
            if clock.slowest > SLOW]  # fmt: skip
    pieces = 0 if stopped else options.pieces
    if pieces:
        print(f"{'reader':28}" + "".join(f"{f'{length:,} chars, s':>20}" for length in LENGTHS))
    for name in READERS if pieces else ():
        took, which = growth(name, pieces, options.seed)
        print(f"{name:28}" + "".join(f"{each:20.4f}" for each in took), flush=True)
        if any(after > NOTICED and after > SUPERLINEAR * before for before, after in pairwise(took)):
            slow.append(f"{name}, more than linear: {which!r}")
    for each in slow:
        print(f"too slow: {each}")
    return 1 if crashes or slow or stopped else 0


if __name__ == "__main__":
    sys.exit(main())
