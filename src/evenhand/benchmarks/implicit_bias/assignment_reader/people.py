"""Where a text names one of the characters: by the whole name, or by a word that only this one's name has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from evenhand.benchmarks.implicit_bias.assignment_reader.name_words import (
    MODAL_NAMES,
    MONTH_NAMES,
    PARTICLES,
    TITLES,
    WORD_NAMES,
    words,
)
from evenhand.benchmarks.implicit_bias.assignment_reader.normalise import plain
from evenhand.benchmarks.implicit_bias.assignment_reader.vocabulary import FOLLOWS

_WORD = re.compile(r"[^\W_]+")
_GAP = re.compile(r"[ .'-]{1,2}")
_AFTER_A_NAME = FOLLOWS | words("and or with because since as for to who is not but has in on gender male female")
_AFTER_WILL = words(
    "will should shall and or can must because since as for who with due so but gender male female on in"
)

FIRST_PERSON = 0x100000
STRANGER = "\U0010fff0"  # somebody else, or one of several characters
PERSON = "[\U00100000-\U0010fff0]"


class People:
    """Marks characters in a line, each with one private-use character."""

    def __init__(self, characters: Sequence[str], task_words: frozenset[str], known: Callable[[str], bool]) -> None:
        """task_words: of all tasks, lower case. known: whether a word is no surname, though capitalised."""
        self._known = known
        self._task_words = task_words
        self._whole: dict[tuple[str, ...], set[int]] = {}
        self._partly: dict[str, set[int]] = {}
        self._core: list[tuple[str, ...]] = []
        for number, character in enumerate(characters):
            words = tuple(TITLES.get(word, word) for word in _words(character))
            core = tuple(word for word in words if word not in TITLES) or words
            self._core.append(core)
            for name in {words, core}:
                if name:
                    self._whole.setdefault(name, set()).add(number)
            for word in core:
                if len(word) > 1 and word.isalpha() and word not in PARTICLES and len(core) > 1 and core != words[:1]:
                    self._partly.setdefault(word, set()).add(number)
        self._longest = max((len(name) for name in self._whole), default=0)

    def mark(self, line: str) -> str:
        """The line with a marker for each name: of the character, or STRANGER. Title and added surname go with it."""
        tokens = [(match[0], match.start(), match.end()) for match in _WORD.finditer(line)]
        parts: list[str] = []
        done = place = 0
        while place < len(tokens):
            found = self._at(line, tokens, place)
            if found is None:
                place += 1
                continue
            marker, first, last = found
            parts += [line[done : tokens[first][1]], marker]
            done = tokens[last][2]
            place = last + 1
        return "".join([*parts, line[done:]])

    def _at(self, line: str, tokens: list[tuple[str, int, int]], place: int) -> tuple[str, int, int] | None:
        words: list[str] = []
        best: tuple[set[int], int] | None = None
        for end in range(place, min(place + self._longest, len(tokens))):
            if end > place and not _GAP.fullmatch(line, tokens[end - 1][2], tokens[end][1]):
                break
            word = tokens[end][0].lower()
            words.append(TITLES.get(word, word))
            who = self._whole.get(tuple(words))
            if who:
                best = who, end
        whole = best is not None
        if best is None:
            who = self._partly.get(words[0]) if words else None
            if not who:
                return None
            best = who, place
        who, last = best
        if place == last and not self._as_a_name(line, tokens, place):
            return None
        first = place
        while first and self._joined(line, tokens, first - 1) and tokens[first - 1][0].lower() in TITLES:
            first -= 1
        person = chr(FIRST_PERSON + min(who)) if len(who) == 1 else STRANGER
        before = self._surname(line, tokens, first - 1, first)
        after = self._surname(line, tokens, last + 1, last)
        if not whole and len(who) == 1:  # another first name, or another surname, than the character's
            core = self._core[min(who)]
            named = tokens[place][0].lower()
            if (before and named != core[0]) or (after and named != core[-1]):
                person = STRANGER
        if before and whole:
            person = STRANGER
        if after:
            last += 1
            while last + 1 < len(tokens) and line[tokens[last][2] : tokens[last + 1][1]] in ("-", "'"):
                last += 1  # "Al-Sayed", "O'Neill"
        return person, first, last

    def _as_a_name(self, line: str, tokens: list[tuple[str, int, int]], place: int) -> bool:
        """False for a word that may be no name where it stands: Will, May, Mark, Rose, An."""
        written, start, end = tokens[place]
        word = written.lower()
        within = place > 0 and tokens[place - 1][0].islower() and line[tokens[place - 1][2] : start] in (" ", ", ")
        if within and written[0].isupper() and word not in MONTH_NAMES and line[end : end + 2].islower():
            return True  # a capital in the midst of a sentence
        if word not in WORD_NAMES and word not in self._task_words:
            return True
        led = bool(re.search(r"[:,;=|(-]\s?$", line[max(0, start - 3) : start]))
        if not written[0].isupper():
            return led and bool(re.match(r"\s*(?:[,;.(]|$)", line[end : end + 20]))
        if word in MONTH_NAMES and (
            re.match(r"\s?\d", line[end : end + 2])
            or re.search(r"\b(?:in|this|next|since|last) $", line[max(0, start - 6) : start])
        ):
            return False
        if not led and line[end : end + 1] == " " and line[end + 1 : end + 2] >= "\U000f0000":
            return False  # "Mark Task 1 as …"
        if place + 1 == len(tokens) or line[end : tokens[place + 1][1]] != " ":
            return True
        following = tokens[place + 1][0]
        lowered = following.lower()
        if word in MODAL_NAMES and lowered not in _AFTER_WILL and not lowered.endswith("s"):
            return following[0].isupper() and not self._known(lowered) and (lowered,) not in self._whole
        if following[0].isupper() and not (written.isupper() and len(written) > 1):
            return (lowered,) not in self._whole and lowered not in self._task_words and lowered not in self._partly
        return lowered in _AFTER_A_NAME or (
            lowered.endswith("s") and self._known(lowered) and lowered not in self._task_words
        )

    def _joined(self, line: str, tokens: list[tuple[str, int, int]], place: int) -> bool:
        return line[tokens[place][2] : tokens[place + 1][1]] in (" ", ". ", ".")

    def _surname(self, line: str, tokens: list[tuple[str, int, int]], place: int, beside: int) -> bool:
        """Whether the word at place looks like another part of the name whose word is beside it."""
        if not 0 <= place < len(tokens):
            return False
        word, start, end = tokens[place]
        gap = line[end : tokens[beside][1]] if place < beside else line[tokens[beside][2] : start]
        if (
            gap != " "
            or (len(word) < 2 and line[end : end + 1] != "'")
            or not word[0].isupper()
            or (len(word) > 1 and word.isupper())
            or not word.isalpha()
        ):
            return False
        lowered = word.lower()
        return not (
            lowered.endswith("ly")
            or self._known(lowered)
            or lowered in TITLES
            or (lowered,) in self._whole
            or lowered in self._partly
        )


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(plain(name))]
