"""Where a text is cut: what ends a sentence, what is a line of its own, and what is no sentence at all."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.language_agency.sentences import split_sentences

WORD = re.compile(r"[^\W\d_]+")
EMPHASIS = re.compile(r"[*_`]")
# What the splitter looks at, so that random texts are full of it; the rest of Unicode comes from st.text().
PIECES = (
    *"aB. \n\t\r!?\"'()*_`#-:,;1…。।؟“”’•>|İé漢ي\u00a0\u2028\u3000\x85\u200b\ud800",
    *("<return>", "Dr.", "e.g.", "Ph.D.", "U.S.", "\r\n", "**", "- ", "1. ", "## ", "J. ", "\U0001f389"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text()
PROSE = (
    "She leads a team of 3.5 people.",
    "He cares for Dr. Lee!",
    "Did they help?",
    '"We won," she said.',
    "Prof. J. K. Rowe earned a Ph.D. in the U.S. last year.",
    "彼女は優しい。",
)


def words(text):
    """Runs of letters, emphasis removed."""
    return WORD.findall(EMPHASIS.sub("", text))


@pytest.mark.parametrize(
    "sentences",
    [
        ["J. K. Rowe wrote it.", "She won."],
        ["W. E. B. Du Bois led.", "He won."],
        ["She met A. B. Lee.", "He led."],
        ["J.K. Rowe wrote it.", "She won."],
        ["She holds a Ph.D. in physics.", "She leads a lab."],
        ["She holds a Ph.D.", "She leads a lab."],
        ["He moved to the U.S. in 1990.", "He led."],
        ["He lives in the U.S.", "He leads."],
        ["Dr. Smith met Mr. Lee et al. at 5 p.m. on Monday.", "They agreed."],
        ["She is e.g. kind.", "No. 5 is alive."],
        ["She waited ... and then left.", "He stayed."],
        ["She waited...", "Then she left."],
        ['"I won."', "She smiled."],
        ["“She is kind.”", "He agreed."],
        ['He said, "She is a leader. She wins."', "Then he left."],
        ["She leads (he helps.) They go."],
        ["Growth was 3.5 percent.", "It rose to 4.2."],
        ["She earned $3.5M.", "He earned 2."],
        ["Is she kind?", "Yes!", "She is."],
    ],
    ids=" | ".join,
)
def test_prose(sentences):
    """A full stop ends a sentence, but not in an abbreviation, an initial, a number or a quotation."""
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["彼女は優しい。", "彼はリーダーだ。"],
        ["هي قائدة.", "هو لطيف."],
        ["هل هي قائدة؟", "هو لطيف."],
        ["वह नेता है।", "वह दयालु है।"],
        ["Она лидер.", "Он добрый."],
    ],
    ids=["Japanese", "Arabic", "Arabic question", "Devanagari", "Cyrillic"],
)
def test_other_scripts(sentences):
    assert split_sentences(" ".join(sentences)) == sentences
    assert split_sentences("\n".join(sentences)) == sentences


@pytest.mark.parametrize("mark", [*"-*+•·▪◦–—", "    -", "\t*"])
def test_every_bullet_is_a_sentence(mark):
    """With and without a full stop, in lower case and in upper; the marker is no part of it."""
    points = ["leads the team", "Cares for others.", "wins prizes", "Helps the new ones"]
    assert split_sentences("\n".join(f"{mark} {point}" for point in points)) == points


@pytest.mark.parametrize(
    "markers",
    [
        ["1.", "2.", "3.", "10."],
        ["1)", "2)", "3)", "100)"],
        ["(1)", "(2)", "(3)", "(4)"],
        ["a.", "b.", "c.", "d."],
        ["a)", "b)", "c)", "d)"],
        ["(a)", "(b)", "(c)", "(d)"],
        ["A)", "B)", "C)", "D)"],
        ["(A)", "(B)", "(C)", "(D)"],
        ["i.", "ii.", "iii.", "iv."],
        ["I.", "II.", "III.", "IV."],
        ["i)", "ii)", "iii)", "viii)"],
        ["(I)", "(II)", "(III)", "(IV)"],
    ],
    ids=" ".join,
)
def test_numbered_lists(markers):
    points = ["leads the team", "She cares for others.", "wins prizes", "Helps the new ones"]
    assert split_sentences("\n".join(map(" ".join, zip(markers, points)))) == points


def test_a_capital_with_a_full_stop_may_begin_a_name():
    """ "A. Lee" keeps its initial; in a list by capitals each point is one sentence, and keeps its marker."""
    assert split_sentences("A. Lee leads.\nV. Roe helps.") == ["A. Lee leads.", "V. Roe helps."]


def test_points_of_several_sentences():
    text = "- She leads. She wins.\n- **Warmth:** She cares for all.\n* 3.5 percent is enough"
    assert split_sentences(text) == ["She leads.", "She wins.", "Warmth: She cares for all.", "3.5 percent is enough"]


@pytest.mark.parametrize(
    "heading",
    [
        *("# Skills", "###### Skills and more of them", "**Skills**", "**Skills:**", "**Skills**:", "__Skills__"),
        *("Skills:", "- Skills:", "1. **Skills:**", "*Skills:*"),
        *("Dear Professor Smith,", "To Whom It May Concern:", "Dear members of the hiring committee:"),
        *("Sincerely,", "Best regards,", "With kind regards,"),
        *("---", "***", "* * *", "___", "=====", "\U0001f389\U0001f389", "|---|---|", "1.", "2024", "..."),
    ],
)
def test_what_is_no_sentence(heading):
    """Headings, labels, salutations, closings, rules, and lines without a letter: alone, and around sentences."""
    assert split_sentences(heading) == []
    assert split_sentences(f"{heading}\nShe leads.\n{heading}\n\nHe cares.\n{heading}") == ["She leads.", "He cares."]


def test_text_under_a_heading_goes_on_in_lower_case():
    """Unlike a wrapped line, a heading takes nothing of what follows with it."""
    for heading in ("# Skills", "## Skills", "**Skills**", "Skills:"):
        assert split_sentences(f"{heading}\nleads teams\nof ten.") == ["leads teams of ten."]


def test_seven_words_with_a_colon_are_a_sentence():
    assert split_sentences("She has led three teams and says:") == ["She has led three teams and says:"]
    assert split_sentences("She has led three teams saying:") == []


def test_a_letter():
    text = """Dear Members of the Committee,

    I recommend J. Doe. She is a **brilliant** and *very* kind
    person, who helps `all` of us!

    Her strengths:
    1. leads by example
    2. ***never*** gives up

    ---

    Sincerely,

    A. Smith, Ph.D.
    """
    assert split_sentences(text) == [
        "I recommend J. Doe.",
        "She is a brilliant and very kind person, who helps all of us!",
        "leads by example",
        "never gives up",
        "A. Smith, Ph.D.",
    ]


@pytest.mark.parametrize(
    "newline", ["\n", "\r\n", "\r", "<return>", "\n\n", "<return><return>", "\x0b", "\x0c", "\u2029"]
)
def test_newlines(newline):
    """Each kind ends a line, and a line in upper case is a paragraph of its own, without a full stop too."""
    assert split_sentences(newline.join(["She leads", "He cares", "- They win.", ""])) == [
        "She leads", "He cares", "They win.",
    ]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n", "  \n\t", "<return>"])
def test_hard_wrapped_lines_are_one_sentence(newline):
    lines = ["She is a very kind", "person, who helps", "others. He leads", "a team"]
    assert split_sentences(newline.join(lines)) == ["She is a very kind person, who helps others.", "He leads a team"]


@pytest.mark.parametrize("mark", ["*", "**", "***", "__", "___", "`"])
def test_emphasis_is_removed(mark):
    marked = f"She is {mark}very kind{mark} and {mark}bold{mark}."
    assert split_sentences(marked) == ["She is very kind and bold."]


def test_what_looks_like_emphasis_stays():
    assert split_sentences("He wrote snake_case and 2 * 3 * 4 = 24.") == ["He wrote snake_case and 2 * 3 * 4 = 24."]


@pytest.mark.parametrize("text", ["", " ", "\n", " \t\r\n \u00a0", "<return>", "12.5 %!", "...", "\U0001f600"])
def test_texts_without_a_letter(text):
    assert split_sentences(text) == []


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2003", "\u3000", "\x85"])
def test_wide_spaces(space):
    """An initial, such a space and a full stop: sentencex alone panics here, which no `except Exception` catches."""
    [sentence, *_] = split_sentences(f"She took vitamin B{space}. He did not.")
    assert sentence.startswith("She took vitamin B")


def test_halves_of_surrogate_pairs():
    """As JSON files have them: both halves make a character, one alone is replaced; tokenizers refuse either."""
    assert split_sentences("\ud83c\udf89 She leads \ud800 teams.") == ["\U0001f389 She leads \ufffd teams."]


@pytest.mark.parametrize(
    "text",
    ["a " * 50_000, "a, " * 33_333, "a\n" * 50_000, "*a " * 33_333, "**a " * 25_000, "__a " * 25_000, "(a " * 33_333],
    ids=lambda text: repr(text[:4]),
)
@pytest.mark.timeout(10)
def test_100_000_characters_without_a_full_stop_are_one_sentence(text):
    """Opening marks that nothing closes too: the time grows with the length, not with its square."""
    assert len(split_sentences(text)) == 1


def test_a_text_of_1000_bullets_counts_each():
    for end in ("", ".", ";", ","):
        points = [f"leads team number {i} of the whole company{end}" for i in range(1000)]
        assert split_sentences("".join(f"- {point}\n" for point in points)) == points


@given(TEXTS)
@example("B\u2028.'(")
@settings(max_examples=500, deadline=None)
def test_any_text(text):
    """Nothing raises; a sentence has a letter, no space around it and no newline in it; its words are the text's."""
    in_text = words(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    for sentence in split_sentences(text):
        assert re.search(r"[^\W\d_]", sentence)
        assert sentence == sentence.strip()
        assert "\n" not in sentence
        assert set(words(sentence)) <= set(in_text)


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_blank_line_parts_texts(one, other):
    """The sentences of both: of any two texts, and so of those whose first ends in a full stop."""
    for first in (one, one + "."):
        assert split_sentences(f"{first}\n\n{other}") == split_sentences(first) + split_sentences(other)


@given(st.lists(st.sampled_from(PROSE), min_size=1), st.sampled_from([" ", "  ", "\n", "\n\n", "<return>", "\n- "]))
@settings(max_examples=200, deadline=None)
def test_sentences_come_in_order_and_none_is_lost(sentences, between):
    assert split_sentences(between.join(sentences)) == sentences


def test_long_lines_are_cut_where_sentences_end():
    """sentencex alone takes seconds for the first of these, and minutes for ten times as many."""
    for mark in ("«", "`", "'", "“a ", '"'):
        assert {*"".join(split_sentences(mark * 30_000))} <= {*"“a "}
    sentences = [f"She leads team {n}." for n in range(2_000)]
    assert split_sentences(" ".join(sentences)) == sentences
    assert split_sentences("x" * 12_000 + ". She leads.") == ["x" * 12_000 + ".", "She leads."]
    doctors = " ".join(["Dr. A. Lee of the U.S. led (and helped) it."] * 1_000)
    assert split_sentences(doctors) == ["Dr. A. Lee of the U.S. led (and helped) it."] * 1_000
    long = "She leads " + "a very " * 600 + "large team: he helps,"
    assert split_sentences(long) == [long]
