"""Replies to the prompt for a scenario of task assignment (Borah & Mihalcea, appendix F.1), read.

"Scenario description and goal: …, Tasks associated: …, Characters Involved: …", on one line or many, with Markdown,
numbers, bullets or headings, and with labels that are worded in another way or missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evenhand.language_agency.sentences import split_sentences

LONGEST_REPLY = 10_000  # characters; the longest published scenario has 1,000

Unread = Literal[
    "too long", "format repeated", "several scenarios", "truncated", "no scenario", "no tasks", "no characters"
]
Section = Literal["scenario", "tasks", "characters"]


class ScenarioReply(NamedTuple):
    """A scenario. `stereotypes` of the tasks and `genders` of the characters: "female", "male", or "" where the reply
    does not say.
    """

    scenario: str
    tasks: tuple[str, ...]
    stereotypes: tuple[str, ...]
    characters: tuple[str, ...]
    genders: tuple[str, ...]


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
_TASKS_OF_KIND = re.compile(rf"(?=.*(?:task|role)){_KIND_HEADING.pattern}", re.IGNORECASE)
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
_APART = re.compile(r"(?:[,;] ?(?:and )?| (?:and|&) )(?![^(\[]*[)\]])", re.IGNORECASE)  # outside of brackets
_FIELD = re.compile(r"\b(?:name|gender) ?: ?", re.IGNORECASE)
_TITLES = {"female": ("Mrs.", "Mrs ", "Ms.", "Ms ", "Miss ", "Madam "), "male": ("Mr.", "Mr ", "Sir ")}


def read_scenario(text: str, cut: bool = False) -> ScenarioReply | Unread:
    """Read the scenario in a reply, or return why it could not be read. Never raises.

    A task's stereotype and a character's gender are known only where the reply says them: behind, before or above.

    Args:
        cut: the reply reached its limit of tokens.
    """
    if len(text) > LONGEST_REPLY:
        return "too long"
    if _PLACEHOLDER.search(text):
        return "format repeated"
    lines = _split_sections(_remove_markup(text))
    if lines is None:
        return "several scenarios"
    scenario = _read_description(lines["scenario"])
    tasks, characters = _read_tasks(lines["tasks"]), _read_characters(lines["characters"])
    if cut and not characters:
        return "truncated"
    if not scenario:
        return "no scenario"
    if not tasks or not characters:
        return "no characters" if tasks else "no tasks"
    return ScenarioReply(scenario, *zip(*tasks), *zip(*characters))  # type: ignore[arg-type]


def _remove_markup(text: str) -> str:
    """Return lines without Markdown, each label of the format on a line of its own."""
    text = text.encode("utf-8", "replace").decode()
    text = "\n".join(text.replace("：", ":").replace("\xa0", " ").splitlines())
    text = _RULE.sub("", _LINE_START.sub(lambda start: "" if start[0].strip() else start[0], text))
    bullets = re.sub(r"^([ \t]*)\*[ \t]+", r"\1- ", text, flags=re.MULTILINE)
    lines = [line.rstrip() for line in _INLINE.sub("\n", _MARKUP.sub("", bullets)).split("\n")]
    return "\n".join(re.sub(r"(?<=\S)\s+", " ", line) for line in lines)


def _split_sections(text: str) -> dict[str, list[str]] | None:
    """Return the lines of each section, without its label; None where a section comes twice."""
    lines: dict[str, list[str]] = {"scenario": [], "tasks": [], "characters": []}
    section = ""
    for line in text.split("\n"):
        if label := _LABEL.match(line):
            named = str(label.lastgroup)
            if section in ("tasks", "characters") if named == "scenario" else "".join(lines[named]).strip():
                return None
            if not section or not re.search("goal|objective", label[0].split("and")[0], re.IGNORECASE):
                lines["scenario"] = [] if named == "scenario" else lines["scenario"]  # words before it, or a title
            section, line = named, line[label.end() :]
        elif section in ("", "scenario") and (_ITEM.match(line) or _TASKS_OF_KIND.match(line.strip())):
            section = "tasks"  # its label is missing
        elif section == "tasks" and not lines["characters"] and _is_cast(line):
            section = "characters"
        lines[section or "scenario"].append(line)
    return lines


def _read_description(lines: Sequence[str]) -> str:
    told = [line.strip() for line in lines if line.strip()]
    while len(told) > 1 and (told[0].endswith(":") or _CHATTER.match(told[0])):
        told = told[1:]
    if len(told) > 1 and told[-1].endswith(":"):
        told.pop()  # "The tasks to assign:"
    return _make_sentence(" ".join(told))


def _make_sentence(text: str) -> str:
    """Return a text on one line, without quotes and brackets around it, with a capital and a full stop."""
    plain = " ".join(text.split()).strip("\"“”'‘’<>[] ,;:–—-")
    if not re.search(r"[^\W\d_]", plain):
        return ""
    return plain[0].upper() + plain[1:] + ("" if plain.endswith((".", "!", "?")) else ".")


def _read_tasks(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return (task, stereotype) of each."""
    has_items = any(map(_ITEM.match, lines))
    found: list[tuple[str, str]] = []  # with the stereotype that is said above
    above, ended = "", False  # ended: what follows is a remark below the list
    for line in lines:
        item, text = _ITEM.match(line), _ITEM.sub("", line, count=1).strip()
        heading = _KIND_HEADING.match(text)
        if heading and heading.end() == len(text):
            above, ended = _read_kind(heading), False
        elif heading and not item:
            found += [(each, _read_kind(heading)) for each in _split_list(text[heading.end() :])]
        elif item or (text and not has_items and not text.endswith(":")):
            found += [(each, above) for each in (_INNER_NUMBER.split(text) if has_items else _split_list(text))]
        elif found and text and not ended and (text[0].islower() or line[0].isspace()):
            found[-1] = (f"{found[-1][0]} {text}", found[-1][1])
        ended = bool(found) and (ended or not text)
    return [read for text, kind in found if (read := _read_stereotype(text, kind))[0]]


def _read_stereotype(text: str, above: str) -> tuple[str, str]:
    """Return a task without what says whose it is, and its stereotype; none where two marks contradict each other."""
    kinds = set()
    for pattern in (_KIND_HEADING, _KIND_MARK, _KIND_BEHIND):
        while (mark := pattern.search(text)) and mark.end() - mark.start() < len(text):
            kinds.add(_read_kind(mark))
            text = f"{text[: mark.start()]} {text[mark.end() :]}".strip()
    return _make_sentence(text), (kinds.pop() if len(kinds) == 1 else "" if kinds else above)


def _read_kind(mark: re.Match[str]) -> str:
    return "female" if mark["female"] else "male"


def _split_list(text: str) -> list[str]:
    """Split a list on one line: numbered, or between semicolons, or one sentence each, or between commas."""
    parts = [each for each in _INNER_NUMBER.split(_ITEM.sub("", text, count=1)) if each]
    if len(parts) == 1 and ";" in text:
        parts = text.split(";")
    if len(parts) == 1:
        parts = split_sentences(text)
    if len(parts) == 1 and "," in text:
        parts = _COMMA.split(text)
    return [re.sub(r"^\s*and\s+", "", each) for each in parts]


def _is_cast(line: str) -> bool:
    """Return whether a line is names with a gender in brackets, and nothing else: "Anna (female), Carl (male)"."""
    named = _NAMED_WITH_GENDER.findall(line)
    left = _NAMED_WITH_GENDER.sub("", _ITEM.sub("", line, count=1))
    return len(named) > 1 and all(map(_GENDER.search, named)) and not re.search(r"\w", left.replace("and", ""))


def _read_characters(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return (name, gender) of each; what follows the list is a remark."""
    one_a_line = sum(bool(line.strip()) for line in lines) > 1
    found: list[tuple[str, str]] = []
    above = ""
    for line in lines:
        text = _ITEM.sub("", line, count=1).strip()
        if heading := _KIND_HEADING.match(text):
            above, text = _read_kind(heading), text[heading.end() :]
        one = one_a_line and not heading and len(_NAMED_WITH_GENDER.findall(text)) < 2
        before = len(found)
        for entry in [text] if one and not _FIELD.search(text) else _APART.split(text):
            entry = _FIELD.sub("", entry).strip(" .")
            if found and (said := _GENDER.fullmatch(entry)):  # behind the name, or on the line below it
                found[-1] = found[-1][0], _read_kind(said)
                before -= 1
            elif named := _CHARACTER.match(entry):
                found.append(_read_character(named, above))
        if before and len(found) == before and not above:
            break
    return found


def _read_character(named: re.Match[str], above: str) -> tuple[str, str]:
    bracket = _BRACKET.search(named["rest"])
    said = bracket[1] if bracket and _GENDER.search(bracket[1]) else re.split(r"[.;]", named["rest"])[0]
    genders = {_read_kind(each) for each in _GENDER.finditer(said)}
    by_title = next((gender for gender, titles in _TITLES.items() if named["name"].startswith(titles)), "")
    return named["name"].strip(" ."), (genders.pop() if len(genders) == 1 else "" if genders else above or by_title)
