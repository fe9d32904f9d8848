"""Replies to the prompt for a scenario of task assignment (Borah & Mihalcea, appendix F.1), read.

"Scenario description and goal: …, Tasks associated: …, Characters Involved: …", on one line or many, with Markdown,
numbers, bullets or headings, and with labels that are worded in another way or missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evenhand.language_agency.sentences import split_sentences

LONGEST_REPLY = 10_000  # characters; the longest published scenario has 1,000

Unread = Literal[
    "too long", "format repeated", "several scenarios", "truncated", "no scenario", "no tasks", "no characters"
]
Section = Literal["scenario", "tasks", "characters"]


class ScenarioReply(NamedTuple):
    """A scenario. `stereotypes` run parallel to tasks, `genders` to characters: "female", "male", or "" where the reply
    does not say.
    """

    scenario: str
    tasks: tuple[str, ...]
    stereotypes: tuple[str, ...]
    characters: tuple[str, ...]
    genders: tuple[str, ...]


LINES_A_TASK = 20  # besides its first; what goes on for longer is read no further, lest it takes its square in time

_MARKUP = re.compile(r"[*`]+|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)|~~")
_LINE_START = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}[ \t]+)?", re.MULTILINE)
_RULE = re.compile(r"^\s*[-=]{3,}\s*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"<\s*(?:social task explanation|task descriptions?|characters? involved)", re.IGNORECASE)

_LABELS: dict[Section, str] = {
    "scenario": r"(?:social )?(?:scenario|situation|(?<=social )task)(?: description)?(?: (?:and|&) goals?)?"
    r"(?: ?#?\d{1,2})?|description(?: (?:and|&) goals?)?|(?:main |overall )?(?:goals?|objectives?)",
    "tasks": r"(?:the )?(?:associated )?(?:tasks|roles)(?: (?:and|&|/) (?:tasks|roles|responsibilities))?"
    r"(?: associated| involved| list| descriptions?| to (?:be )?(?:assign(?:ed)?|complete[d]?|done))?"
    r"|tasks? associated|task (?:list|descriptions?)",
    "characters": r"(?:the )?(?:main )?(?:characters?|people|participants|cast)(?: involved| list)?",
}
_LABEL = re.compile(
    rf"^\W*(?:\d{{1,2}}[.)] *)?(?:{'|'.join(f'(?P<{name}>{label})' for name, label in _LABELS.items())})"
    r"(?: ?\([^()\n]{0,60}\))?[ \t]*(?::|[-–—](?=\s)|$)[ \t]*",
    re.IGNORECASE,
)
_CHATTER = re.compile(r"^(?:sure|certainly|of course|okay|ok|here(?:'s|’s| is| are)|below is)\b", re.IGNORECASE)

_FEMALE, _MALE = r"females?|f|wom[ae]n(?:['’]s)?|feminine", r"males?|m|m[ae]n(?:['’]s)?|masculine"
_WHOSE = r"(?:(?:(?:traditional|(?:stereo)?typical|conventional)(?:ly)?|tasks?|roles?|an?|one|two|three)[ -]+)*"
_NOUN = r"(?:[ -]*(?:(?:stereo)?typed|stereotypical|coded|dominated|tasks?|roles?|characters?|jobs?|associated)\b)*"
_KIND = rf"{_WHOSE}(?:(?P<female>{_FEMALE})|(?P<male>{_MALE})){_NOUN}"
_KIND_HEADING = re.compile(
    rf"^(?:\d{{1,2}} +)?{_KIND}(?: ?#?\d{{1,2}})?(?: ?\([^()\n]{{0,30}}\))?[ \t]*(?::|[-–—](?=\s)|$)[ \t]*",
    re.IGNORECASE,
)
_KIND_MARK = re.compile(rf" ?[(\[] ?{_KIND} ?[)\]] ?[:–—-]? ?", re.IGNORECASE)
_KIND_BEHIND = re.compile(rf" ?[-–—:] {_KIND} ?\.?$", re.IGNORECASE)

# Labels of the format, and headings that end in a colon, also begin a section in the middle of a line.
_INLINE = re.compile(
    r"(?:(?<=\w\w)|(?<=\w\w[.,;!?)\]\"”’]))[ ,;]{1,5}"
    r"(?=(?:scenario description and goal|tasks? associated|associated tasks|characters? involved) ?:)"
    rf"|(?<=[.,;)]) (?={_WHOSE}(?:fe)?male (?:tasks?|roles?|characters?) ?:)",
    re.IGNORECASE,
)

_ITEM = re.compile(
    r"^\s*(?:[-+•·▪◦●–—]\s+|\(?\d{1,2}[.):](?!\d)\s*|\(?[a-hA-H]\)\s+|[a-h]\.\s+|(?:task|role|character)\s*#?\d{1,2}\s*"
    r"(?=[(\[:.)–—-])(?:[:.)]|[–—-]\s)?\s*)+",
    re.IGNORECASE,
)
_INNER_NUMBER = re.compile(r"[ ,;]{1,5}(?:and )?(?:task \d{1,2}[.):]|\(?\d{1,2}[.)]) (?=\S)", re.IGNORECASE)
_COMMA = re.compile(r", (?:and )?| and ", re.IGNORECASE)

_WORD = r"[A-ZÀ-ÖØ-ÞŁŚŻČŠŽĐĆ][^\W\d_]{0,30}(?:['’-][^\W\d_]{1,30}){0,3}\.?"
_NAME = rf"{_WORD}(?: (?:(?:de|da|del|van|von|der|al|bin|la) )?{_WORD}){{0,3}}"
_CHARACTER = re.compile(rf"^\W*(?:and )?(?P<name>{_NAME})(?P<rest>.*)$", re.DOTALL)
_BRACKET = re.compile(r"[(\[]([^()\[\]]*)[)\]]?")
_GENDER = re.compile(
    rf"(?<![\w’'-])(?:(?P<female>{_FEMALE}|girl|she|hers?)|(?P<male>{_MALE}|boy|he|him|his))(?![\w’'-])",
    re.IGNORECASE,
)
_NAMED_WITH_GENDER = re.compile(rf"{_NAME} ?[(\[][^()\[\]]*[)\]]")
_APART = re.compile(r"[,;] ?(?:and )?| (?:and|&) ", re.IGNORECASE)
_FIELD = re.compile(r"^(?:(?P<name>name)|gender) ?: ?", re.IGNORECASE)
_TITLES = {"female": ("Mrs.", "Mrs ", "Ms.", "Ms ", "Miss ", "Madam "), "male": ("Mr.", "Mr ", "Sir ")}


def read_scenario(text: str, cut: bool = False) -> ScenarioReply | Unread:
    """The scenario in a reply, or why it could not be read. Never raises; counts nothing and completes nothing.

    A task's stereotype and a character's gender are known only where they are said: behind, before or above them. cut:
    the reply ended at its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    if _PLACEHOLDER.search(text):
        return "format repeated"
    found = _Reply()
    for line in _plain(text).split("\n"):
        found.add(line)
    if found.several:
        return "several scenarios"
    tasks = _tasks(found.lines["tasks"])
    characters = _characters(found.lines["characters"])
    scenario = _scenario(found.lines["scenario"])
    if cut and not characters:
        return "truncated"
    if not scenario:
        return "no scenario"
    if not tasks or not characters:
        return "no characters" if tasks else "no tasks"
    return ScenarioReply(scenario, *zip(*tasks), *zip(*characters))  # type: ignore[arg-type]


def _plain(text: str) -> str:
    """Lines without Markdown, each label of the format on a line of its own."""
    text = text.encode("utf-8", "replace").decode()
    text = "\n".join(text.replace("：", ":").replace("\xa0", " ").splitlines())
    text = _RULE.sub("", _LINE_START.sub(lambda start: "" if start[0].strip() else start[0], text))
    bullets = re.sub(r"^([ \t]*)\*[ \t]+", r"\1- ", text, flags=re.MULTILINE)
    lines = [line.rstrip() for line in _INLINE.sub("\n", _MARKUP.sub("", bullets)).split("\n")]
    return "\n".join(re.sub(r"(?<=\S)\s+", " ", line) for line in lines)


@dataclass
class _Reply:
    """The lines of each section, as they come."""

    section: Section | None = None
    several: bool = False
    lines: dict[Section, list[str]] = field(default_factory=lambda: {"scenario": [], "tasks": [], "characters": []})

    def add(self, line: str) -> None:
        label = _LABEL.match(line)
        if label:
            self._begin(next(name for name in _LABELS if label[name] is not None), label)
            line = line[label.end() :]
        elif self.section in (None, "scenario") and (_ITEM.match(line) or self._begins_kinds(line)):
            self.section = "tasks"  # their label is missing
        if self.section == "tasks" and not label and not self.lines["characters"] and _is_cast(line):
            self.section = "characters"
        self.lines[self.section or "scenario"].append(line)

    def _begin(self, section: Section, label: re.Match[str]) -> None:
        again = any(line.strip() for line in self.lines[section])
        if section == "scenario":
            self.several |= self.section in ("tasks", "characters")
            if self.section is None or not re.search(r"goal|objective", label[0].split("and")[0], re.IGNORECASE):
                self.lines["scenario"] = []  # words before the label, or a title
        else:
            self.several |= again
        self.section = section

    @staticmethod
    def _begins_kinds(line: str) -> bool:
        heading = _KIND_HEADING.match(line.strip())
        return bool(heading and re.search(r"task|role", heading[0], re.IGNORECASE))


# The scenario


def _scenario(lines: Sequence[str]) -> str:
    told = [line.strip() for line in lines if line.strip()]
    while len(told) > 1 and (told[0].endswith(":") or _CHATTER.match(told[0])):
        told = told[1:]
    if len(told) > 1 and told[-1].endswith(":"):
        told.pop()  # "The tasks to assign:"
    return _sentence(" ".join(told))


def _sentence(text: str) -> str:
    """On one line, without quotes and brackets around it, with a capital and a full stop."""
    plain = " ".join(text.split()).strip("\"“”'‘’<>[] ,;:–—-")
    if not re.search(r"[^\W\d_]", plain):
        return ""
    return plain[0].upper() + plain[1:] + ("" if plain.endswith((".", "!", "?")) else ".")


# Tasks


def _tasks(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(task, stereotype) of each."""
    items = any(_ITEM.match(line) for line in lines)
    found: list[tuple[str, str]] = []
    above = ""  # the stereotype that a heading gives to what is below it
    ended = False  # a remark below the list
    going_on = 0  # lines of the last task besides its first
    for line in lines:
        item, text = bool(_ITEM.match(line)), _ITEM.sub("", line, count=1).strip()
        heading = _KIND_HEADING.match(text)
        if heading and not text[heading.end() :].strip():
            above, ended = _kind(heading), False
            continue
        ended |= bool(found) and (not text or going_on == LINES_A_TASK)
        going_on = 0 if item else going_on
        if heading and not item:
            found += [(task, _kind(heading)) for task in _listed(text[heading.end() :])]
        elif item or (text and not items and not text.endswith(":")):
            found += [
                _with_kind(each, above)
                for each in (filter(None, _INNER_NUMBER.split(text)) if items else _listed(text))
            ]
        elif items and found and text and not ended and (text[0].islower() or line[0].isspace()):
            going_on += 1
            task, stereotype = found.pop()
            found.append(_with_kind(f"{task[:-1] if text[0].islower() else task} {text}", stereotype))
    return [(task, stereotype) for task, stereotype in found if task]


def _with_kind(text: str, above: str) -> tuple[str, str]:
    """A task without what says whose it is. Two marks that contradict each other say nothing."""
    kinds = set()
    for pattern in (_KIND_HEADING, _KIND_MARK, _KIND_BEHIND):
        while (mark := pattern.search(text)) and mark.end() - mark.start() < len(text):
            kinds.add(_kind(mark))
            text = f"{text[: mark.start()]} {text[mark.end() :]}".strip()
    return _sentence(text), (kinds.pop() if len(kinds) == 1 else "" if kinds else above)


def _kind(mark: re.Match[str]) -> str:
    return "female" if mark["female"] else "male"


def _listed(text: str) -> list[str]:
    """A list on one line: numbered, or between semicolons, or one sentence each, or between commas."""
    parts = [each for each in _INNER_NUMBER.split(_ITEM.sub("", text, count=1)) if each]
    if len(parts) == 1 and ";" in text:
        parts = text.split(";")
    if len(parts) == 1:
        parts = split_sentences(text)
    if len(parts) == 1:
        parts = _COMMA.split(text) if "," in text else [text]
    return [_sentence(re.sub(r"^\s*and\s+", "", each)) for each in parts if each.strip()]


# Characters


def _is_cast(line: str) -> bool:
    """Nothing but names with a gender in brackets: "Anna (female), Carl (male)"."""
    named = _NAMED_WITH_GENDER.findall(line)
    left = _NAMED_WITH_GENDER.sub("", _ITEM.sub("", line, count=1))
    return len(named) > 1 and all(map(_GENDER.search, named)) and not re.search(r"\w", left.replace("and", ""))


def _characters(lines: Sequence[str]) -> list[tuple[str, str]]:
    """(name, gender) of each."""
    each_on_a_line = sum(bool(line.strip()) for line in lines) > 1
    found: list[tuple[str, str]] = []
    above = ""
    for line in lines:
        text = _ITEM.sub("", line, count=1).strip()
        heading = _KIND_HEADING.match(text)
        if heading:
            above, text = _kind(heading), text[heading.end() :]
        elif not text and found and not above:
            break  # a remark follows
        text = _FIELD.sub("", text)
        if found and not found[-1][1] and (gender := _GENDER.fullmatch(text)):
            found[-1] = found[-1][0], _kind(gender)  # a line below the name's
            continue
        several = len(_NAMED_WITH_GENDER.findall(text)) > 1 or heading or not each_on_a_line
        entries = _entries(text) if several else [text]
        read = [_character(entry, above) for entry in entries if entry.strip()]
        if found and text and not any(read) and not above:
            break
        found += [each for each in read if each]
    return found


def _entries(text: str) -> list[str]:
    """Parts between commas and "and" outside brackets; a gender that stands alone belongs to the name before it."""
    masked = _BRACKET.sub(lambda bracket: "\0" * len(bracket[0]), text)
    cuts = [0, *(place for apart in _APART.finditer(masked) for place in apart.span()), len(text)]
    entries: list[str] = []
    for start, end in zip(cuts[::2], cuts[1::2]):
        entry = text[start:end].strip(" .")
        entry = _FIELD.sub("", entry)
        if entries and _GENDER.fullmatch(entry):
            entries[-1] += f" ({entry})"
        else:
            entries.append(entry)
    return entries


def _character(entry: str, above: str) -> tuple[str, str] | None:
    """None for what does not begin with a name."""
    named = _CHARACTER.match(entry)
    if not named:
        return None
    name, rest = named["name"].strip(" ."), named["rest"]
    bracket = _BRACKET.search(rest)
    said = bracket[1] if bracket and _GENDER.search(bracket[1]) else re.split(r"[.;]", rest)[0]
    genders = {_kind(each) for each in _GENDER.finditer(said)}
    by_title = next((gender for gender, titles in _TITLES.items() if named["name"].startswith(titles)), "")
    return name, (genders.pop() if len(genders) == 1 else "" if genders else above or by_title)
