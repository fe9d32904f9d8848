"""Where a text refers to one of the tasks: by its number, by its whole text, or by words that only this task has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from evenhand.benchmarks.implicit_bias.assignment_reader.normalise import plain
from evenhand.benchmarks.implicit_bias.assignment_reader.vocabulary import GENERIC, KINDS, STOP_WORDS

FIRST_NUMBER, FIRST_TEXT, FIRST_ITEM = 0xF0000, 0xF4000, 0xF8000
UNKNOWN = 0x3FFF  # a number that no task has
NUMBER = "[\U000f0000-\U000f3fff]"  # "Task 1", "#1", "T1"
TEXT = "[\U000f4000-\U000f7fff]"  # the whole text of a task
ITEM = "[\U000f8000-\U000fbfff]"  # "1." before an item of a list

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_VALUES = {word: n for words in (_ORDINALS, _CARDINALS) for n, word in enumerate(words, 1)}
# "task" in other languages, without accents
_FOREIGN_TASK = plain(
    r"\b(?:aufgabe|tarea|tache|compito|tarefa|taak|zadanie|uppgift|opgave|oppgave|ukol|gorev|sarcina|feladat|tugas|"
    r"zadacha|задача|задание|завдання)|(?:任务|任務|タスク|課題|작업|과제|مهمة|המשימה|משימה|कार्य)"
)
_DIGITS = r"\d{1,2}(?![\w%]|[.,:]\d)"
_ONE = re.compile(
    rf"(?:\btasks?|{_FOREIGN_TASK}|(?<![\w'’])t)[ .-]?(?: ?(?:number|no\.?|nr\.?|#|\())? ?(?P<n>{_DIGITS})(?:\s?\))?"
    rf"|\btask(?: ?(?:number|no\.?|#))? (?P<word>{'|'.join(_CARDINALS)})\b(?!-| by )"
    rf"|(?:\bno\. ?|(?<!\w)# ?)(?P<hash>{_DIGITS})"
    rf"|(?:\bthe )?\b(?:(?P<ordinal>{'|'.join(_ORDINALS)})|(?P<nth>\d{{1,2}})(?:st|nd|rd|th)) task\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    rf"\btasks:? (?:number |no\. ?|#)?(?P<first>{_DIGITS})"
    rf"(?P<others>(?:(?:, and | ?, ?| and | ?& ?| ?/ ?)(?:t|#)?{_DIGITS}){{1,20}})"
    rf"|\btasks (?P<from>{_DIGITS})(?: ?- ?| to | through )(?P<to>{_DIGITS})"
    rf"|\btask (?P<one>{_DIGITS})(?: and | ?& ?| ?/ ?)(?P<two>{_DIGITS})(?! ?[.)])",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:(?P<both>both)|all(?: of)?(?: the)?(?: (?P<count>two|three|four|five|six|\d))?) (?:of the )?tasks\b", re.I
)
_ITEM = re.compile(r"\(?(?P<n>\d{1,2})(?:\s?[.):](?!\d)\)?|(?= - ))\s*")
_NEXT_ITEM = re.compile(r"(?:^|(?<=[\s,;.]))\(?(?P<n>\d{1,2})[.):](?=\s)\s*")
_WORD = re.compile(r"[^\W_]+")

_SUFFIXES = (
    "ivities", "ivity", "ations", "ation", "ements", "ement", "ments", "ment", "ions", "ion", "ings", "ing", "iers",
    "ers", "er", "ors", "or", "ies", "ied", "ed", "es", "is", "s", "ly", "al", "ive", "e", "y",
)  # fmt: skip


def stem(word: str) -> str:
    """What forms of a word have in common: connect of connection, connectivity; plan of planning."""
    word = re.sub(r"is(?=e|ing|ation)", "iz", word).replace("izz", "iz")
    for _ in range(2):
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
                word = word[: -len(suffix)]
                if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
                    word = word[:-1]
                break
        else:
            break
    return word


_GENERIC = frozenset(stem(word) for word in GENERIC.split())
Match = tuple[int, float]  # the task, and which share of the text's content words it has


def words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


class Tasks:
    """Marks task references in a line, and matches words against tasks."""

    def __init__(self, tasks: Sequence[str]) -> None:
        self.number = len(tasks)
        texts = [plain(task) for task in tasks]
        self.words = frozenset(word for text in texts for word in words_of(text))
        self._wholes = [tuple(words_of(text)) for text in texts]
        self._verbs = frozenset(
            word
            for whole in self._wholes
            for place, word in enumerate(whole)
            if place == 0 or whole[place - 1] == "and"
        )
        self._stems = [_content(words) for words in self._wholes]
        for kind, members in KINDS.items():  # "food" says which task is meant where only one has a kind of food
            having = [n for n, whole in enumerate(self._wholes) if not members.isdisjoint(whole)]
            if len(having) == 1 and kind not in self.words:
                self._stems[having[0]] += (stem(kind),)
        self._having = Counter(word for stems in self._stems for word in set(stems))
        unique = [(n, words) for n, words in enumerate(self._wholes) if words and self._wholes.count(words) == 1]
        self._named = [
            (
                re.compile(
                    r"(?<!\w)" + r"\W{1,4}".join(map(re.escape, words)) + r"(?!\w)(?:[.!](?=\s*(?:[^\w\s]|$)))?",
                    re.IGNORECASE,
                ),
                n,
            )
            for n, words in sorted(unique, key=lambda item: -len(item[1]))
            if len(words) > 1
        ]

    def is_task_text(self, phrase: str) -> bool:
        """Whether a phrase stands in a task's text."""
        words = tuple(words_of(phrase))
        return any(
            words == own[start : start + len(words)]
            for own in self._wholes
            for start in range(len(own) - len(words) + 1)
        )

    def known(self, word: str) -> bool:
        return stem(word) in self._having

    def mark(self, line: str) -> str:
        """The line with one private-use character for each reference; the number of a list's item only at its head."""
        for pattern, task in self._named:
            line = pattern.sub(chr(FIRST_TEXT + task), line)
        line = _SEVERAL.sub(self._several, _ALL.sub(self._all, line))
        line = _ONE.sub(self._one, line)
        head = re.match(r"\s*(?:# |- )?", line)
        start = head.end() if head else 0
        item = _ITEM.match(line, start)
        if item is None:
            return line
        expected = int(item["n"]) + 1
        parts = [line[:start], self._marker(item["n"], FIRST_ITEM)]
        place = item.end()
        for following in _NEXT_ITEM.finditer(line, place):  # "1. John 2. Emily"
            if int(following["n"]) == expected:
                parts += [line[place : following.start()], " ; ", self._marker(following["n"], FIRST_ITEM)]
                place, expected = following.end(), expected + 1
        return "".join([*parts, line[place:]])

    def _marker(self, number: str, first: int = FIRST_NUMBER) -> str:
        n = int(number)
        return chr(first + (n - 1 if 1 <= n <= self.number else UNKNOWN))

    def _one(self, match: re.Match[str]) -> str:
        number = match["n"] or match["hash"] or match["nth"]
        word = match["word"] or match["ordinal"]
        return self._marker(number or str(_VALUES[word.lower()]))

    def _all(self, match: re.Match[str]) -> str:
        count = 2 if match["both"] else _VALUES.get((match["count"] or "").lower(), self.number)
        return "".join(chr(FIRST_NUMBER + n) for n in range(self.number)) if count == self.number else match[0]

    def _several(self, match: re.Match[str]) -> str:
        if match["from"]:
            numbers = [str(n) for n in range(int(match["from"]), int(match["to"]) + 1)]
        else:
            numbers = re.findall(r"\d+", match[0])
        return "".join(self._marker(number) for number in numbers) or match[0]

    def task(self, marker: str) -> int | None:
        """The task that a marker stands for; None for a number that none has."""
        n = (ord(marker) - FIRST_NUMBER) % 0x4000
        return None if n == UNKNOWN else n

    def scores(self, text: str) -> tuple[list[float], list[str]]:
        """How much each task shares with a text, rare words counting more; and the text's content stems."""
        stems = list(dict.fromkeys(_content(words_of(text[:1200]))))
        scores = []
        for own in self._stems:
            score = sum((0.4 if word in _GENERIC else 1.0) / self._having[word] ** 1.5 for word in stems if word in own)
            scores.append(score)
        return scores, stems

    def match(self, text: str) -> Match | None:
        """The one task that a text clearly names, by a margin; else None."""
        marked = {self.task(marker) for marker in re.findall(TEXT, text)}
        if marked:
            only = marked.pop()
            return (only, 1.0) if not marked and only is not None else None
        scores, stems = self.scores(text)
        if not stems or not scores:
            return None
        begun = [n for n, own in enumerate(self._stems) if own[:1] == tuple(stems)]
        if len(begun) == 1 and self._having[stems[0]] == 1:
            return begun[0], 1.0
        order = sorted(range(self.number), key=lambda n: -scores[n])
        best, second = scores[order[0]], scores[order[1]] if self.number > 1 else 0.0
        own = self._stems[order[0]]
        telling = any(word in own and word not in _GENERIC for word in stems)
        if not telling or best < 0.9 or best - second < 0.6 or best < 1.8 * second:
            return None
        return order[0], sum(word in own for word in stems) / len(stems)

    def begins_any(self, word: str) -> bool:
        """Whether a word is one of those that the tasks tell somebody to do."""
        return word in self._verbs or (word.endswith("s") and word[:-1] in self._verbs)

    def begins_like(self, text: str, task: int) -> bool:
        """Whether a text's first content word is the task's first, or the text is the task's."""
        stems = _content(words_of(text[:1200]))
        return bool(re.search(TEXT, text)) or bool(stems and self._stems[task] and stems[0] == self._stems[task][0])

    def begins_another(self, text: str, task: int) -> bool:
        """Whether a text begins with what another task, and no other, tells somebody to do."""
        stems = _content(words_of(text[:1200]))[:1]
        return bool(stems) and stems[0] not in self._stems[task] and any(own[:1] == stems for own in self._stems)

    def shares(self, text: str, task: int) -> bool:
        """Whether a text has any content word of a task."""
        return bool(re.search(TEXT, text)) or bool(set(_content(words_of(text[:1200]))) & set(self._stems[task]))

    def has_word(self, word: str) -> bool:
        return word in self.words

    def leans_elsewhere(self, text: str, task: int) -> bool:
        """Whether another task shares more with a text than this one does."""
        scores, _ = self.scores(text)
        return any(score > scores[task] + 0.3 for score in scores)


def _content(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in words if len(word) > 1 and word not in STOP_WORDS and not word.isdigit())
