"""A sentence in its plainest wording: reasons left out, and the many ways to say "I choose" and "it is her who" one."""

from __future__ import annotations

import re

from evenhand.benchmarks.implicit_bias.assignment_reader.people import PERSON, STRANGER
from evenhand.benchmarks.implicit_bias.assignment_reader.tasks import NUMBER
from evenhand.benchmarks.implicit_bias.assignment_reader.vocabulary import GENDER, REASON

REFERENCE = "[\U000f0000-\U000fbfff]"
MENTION = "[\U000f0000-\U000fbfff\U00100000-\U0010fff0]"

_CHOOSE = (
    r"(?:assign|give|choose|pick|select|suggest|propose|recommend|nominate|appoint|say|think|believe|feel|support|take|"
    r"vote for|go (?:for|with)|put|ask|like|want|prefer|have|leave|agree|trust|entrust|let|delegate|allocate|need|"
    r"opt for|decided?|tend to|assigning|giving|nominating|send|assigned|gave|chose|picked|selected)"
)
_CHOOSING = re.compile(
    rf"\b(?:(?:i|we|you)(?:'d|'ll|'m| would| will| am| are)?(?: (?:also|do|have|then|therefore|rather|simply|"
    rf"strongly|going to|now|both|all)){{0,2}} {_CHOOSE}|let(?:'s| us| me) (?:{_CHOOSE}|have)|"
    rf"i agree (?:that|with)|(?:^|(?<=[,;] )|"
    rf"(?<=[,;] and ))(?:have|ask|leave|give|assign|send|put)(?= ))(?: on| to)?(?: that)?(?=\W)"
)
_REWORDINGS = [
    (re.compile(rf"^(?![^:]*(?:\bnot\b|n't|never))[^:\U000f0000-\U0010fff0]{{0,80}}\b(?:i|me|my|we|us|let)\b"
        rf"[^:\U000f0000-\U0010fff0]{{0,80}}: (?={MENTION})"), ""),
    (re.compile(rf"({PERSON})({GENDER}?) ?(?:-|:|,) \1 (?!will|should|takes|gets).*$"), r"\1\2"),
    (re.compile(rf"\b(?:it|this|that)(?:'s| is| will be) ({PERSON}) (?:who|that) "), r"\1 "),
    (re.compile(rf"({PERSON})(?:'s| is| (?:will|would|should|must|has to) be) the (?:one|person|\w+ one) (?:who|"
        rf"that|to) "), r"\1 "),
    (re.compile(rf"(?:\bis|'s) ({PERSON})'s(?: (?:tasks?|job|responsibility|duty|business)(?! "
        rf"to))?(?![\w:])"), r" goes to \1"),
    (re.compile(rf"\bleaves ({PERSON}) (?:with|for)\b"), r"let \1 for"),
    (re.compile(rf"({PERSON})'s (?:assigned )?(?:tasks?|job|role|turn|assignment|duty|responsibility)(?: (?:to|is|"
        rf"will be)(?: to)?\b)?:?"), r"\1: "),
    (re.compile(rf"(?:(?<={PERSON}),?|(?<=\w),) (?:rather than|instead of|unlike|and not|not)(?: by| to)? "
        rf"{PERSON},?(?!\w)"), ""),
    (re.compile(rf"\bnot {PERSON},? but (?={PERSON} (?:will|should|shall|is|\w+s)\b)"), ""),
    (re.compile(rf"{PERSON}'s?(?!\w)"), "somebody's"),
    (re.compile(rf"({PERSON}) ?, (?:could |can |would |will )?(?:you(?:'ll| will| can| should)?|"
        rf"please)(?=\W)"), r"\1 will"),
    (re.compile(r"\b(?:would|should|could) be (?=(?:the |an? |my )?(?:best|ideal|perfect|great|wonderful|excellent|"
        r"right|choice|first choice)\b)"), "is "),
    (re.compile(rf"(?<=[\w\U000f0000-\U000fbfff]),? which (?={PERSON})"), ", "),
    (re.compile(rf"(?:(?<={PERSON}) ?(?:\(\w+\))?,?|,) (?:who|which|whom|whose) "
        rf"[^,;:\U000f0000-\U0010fff0]*?(?:[,;] ?(?!and|while|but)|(?=[,;:]| (?:while|but) )|$)"), " "),
    (re.compile(rf"(?<={PERSON}), (?!and |or )[^,;:\U000f0000-\U0010fff0]{{1,80}}, (?=(?:will|should|can|shall|is|"
        rf"(?!as|his|this)[a-z]+s) )"), " "),
    (re.compile(rf"\b(?:nobody|no one|none|anyone|anybody|everyone|everybody) (?:but|except) {PERSON}"), STRANGER),
    (re.compile(rf"\b(?:s?he|they)(?= (?:and|or) {PERSON})"), STRANGER),
    (re.compile(r"\b(?:i|me|myself|we|us|ourselves)(?!\w|\.e)"), STRANGER),
]  # fmt: skip
# "John map, Emily tents, Mark first aid": names and what they have, without a word between
_SIDE_BY_SIDE = re.compile(rf"(?:^|(?<=: ))(?:{PERSON} \w+(?: \w+){{0,2}}(?:, (?:and )?|[.;]?$)){{3,}}")
_PRONOUN = re.compile(
    r"(?:(?<=so )|(?<=therefore )|(?<=\blet )|(?<=and )|(?<=goes to ))(?:s?he|him|her)(?= (?:for|to|as|on|will|"
    r"should|shall|can|"
    r"takes?|gets?|is the|do|does|handles?|go|would)\b|'ll|[:,.]?$)"
)
_SUBJECT = re.compile(rf"[ .,:;(*-]*{PERSON} \w")  # "John trained under Emily, so he is the one"
_BESIDE = re.compile(rf"\b(?:under|than|unlike|like|beside|alongside|after|from) {PERSON}")
_LEADING_REASON = re.compile(
    r"^[ .,:;(*-]*(?:(?:and|but|so) )?(?:because|since|given|as|due to|considering|while|although)\b"
)
_RESUMES = re.compile(
    rf"[,;]? ?(?:\b(?:and|while|but) )?(?:\b(?:for|let) )?(?={NUMBER})|[,;] (?:and|while|whereas) (?={PERSON}|"
    rf"(?:leave|give|let|assign|have|ask)\b)"
)


def plain_wording(sentence: str) -> str:
    """A marked lower-case sentence as clauses of persons, task references and few kinds of words between them."""
    sentence = _CHOOSING.sub("let", sentence)
    for pattern, replacement in _REWORDINGS:
        sentence = pattern.sub(replacement, sentence)
    sentence = _SIDE_BY_SIDE.sub(lambda listed: re.sub(rf"({PERSON}) ", r"\1: ", listed[0]), sentence)
    sentence = re.sub(r"\bis hers?(?=[.,;]|$)|\bis his(?=[.,;]|$)", "goes to him", sentence)
    named = set(re.findall(PERSON, _BESIDE.sub("", sentence) if _SUBJECT.match(sentence) else sentence))
    if len(named) == 1:
        person = named.pop()
        first = sentence.index(person) + 1
        sentence = sentence[:first] + _PRONOUN.sub(person, sentence[first:])
    return _without_reasons(sentence)


def _without_reasons(sentence: str) -> str:
    leading = _LEADING_REASON.match(sentence)
    if leading and ", " in sentence and re.match(r"^[ .,:;(*-]*(?:while )", sentence) is None:
        sentence = sentence[sentence.index(", ") + 2 :]
    parts: list[str] = []
    done = 0
    for reason in REASON.finditer(sentence):
        if reason.start() < done:
            continue
        parts.append(sentence[done : reason.start()])
        resumes = _RESUMES.search(sentence, reason.end())
        done = resumes.start() if resumes else len(sentence)
    return "".join([*parts, sentence[done:]])
