"""Other ways to cut a text into sentences: the published script's rules, NLTK's punkt."""

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import UsageError
from evenhand.language_agency.sentences import split_as_published, split_sentences, splitter

PUNKT = pytest.mark.skipif(
    importlib.util.find_spec("punkt") is None, reason="NLTK's punkt is not installed: pip install 'evenhand[nltk]'"
)
REVIEW = "Dr. Amara Lee leads a lab of 3.5 people. She is kind! Does she win? Always, at 5 p.m. on Monday."


@pytest.mark.parametrize("name", ["sentencex", "published", pytest.param("nltk", marks=PUNKT)])
def test_all_cut_plain_prose_alike(name):
    assert splitter(name)(REVIEW) == [
        "Dr. Amara Lee leads a lab of 3.5 people.",
        "She is kind!",
        "Does she win?",
        "Always, at 5 p.m. on Monday.",
    ]
    assert splitter(name)("") == []


@pytest.mark.parametrize(
    "sentences",
    [
        ["She holds a Ph.D. in physics.", "He met St. John."],
        ["He moved to the U.S. in May.", "J. K. Lee joined."],
        ["He lives in the U.S.", "He leads."],
        ["See example.org for more.", "It cost 2.5 million."],
        ["She waited...", "then she left."],
        ["She owns Lee Inc. of York."],
        ["Prof.", "Lee leads."],  # no rule of its published abbreviations has it
        ["1.", "She leads.", "2.", "He cares."],
        ["Dear committee,  She leads.", "Yours Amara"],
    ],
    ids=" | ".join,
)
def test_the_published_rules(sentences):
    assert split_as_published(" ".join(sentences)) == sentences


def test_the_published_rules_move_marks_and_join_lines():
    """A mark goes behind the quotation mark; headings and lines without a mark are part of what follows them."""
    assert split_as_published('He said "Go." She went.') == ['He said "Go".', "She went."]
    assert split_as_published('"Stop!" he said.') == ['"Stop"!', "he said."]
    assert split_as_published("**Review**\n\nShe leads\nHe cares.") == ["**Review**  She leads He cares."]
    assert split_as_published("She works at Lee Co. He leads.") == ["She works at Lee Co", "He leads."]
    assert split_as_published("Yes!! No?!") == ["Yes!", "!", "No?", "!"]


def test_how_the_three_differ():
    """Lines and headings part ours from the others."""
    text = "**Review**\nShe leads\nHe took vitamin B. It helped."
    assert split_sentences(text) == ["She leads", "He took vitamin B.", "It helped."]
    assert split_as_published(text) == ["**Review** She leads He took vitamin B. It helped."]


@PUNKT
def test_nltks_punkt():
    """Its abbreviations; no line ends a sentence by itself, and every mark with those behind it does."""
    first, second = "Ms. Lee met Prof. Roe on Feb. 3 in D.C. last year.", "They agreed!!"
    assert splitter("nltk")(f"{first} {second}") == [first, second]
    assert splitter("nltk")("**Review**\nShe leads\nHe took vitamin B. It helped.") == [
        "**Review**\nShe leads\nHe took vitamin B.",
        "It helped.",
    ]


@pytest.mark.parametrize("name", ["sentencex", "published", pytest.param("nltk", marks=PUNKT)])
def test_halves_of_surrogate_pairs_can_not_be_stored(name):
    assert splitter(name)("She leads \ud800 teams.") == ["She leads \ufffd teams."]


@given(st.text(st.sampled_from('aB. \n\t!?"”19;Dr.MrIncPhD\ue000\ue001')) | st.text())
def test_the_published_rules_lose_no_letter(text):
    kept = [character for character in "".join(split_as_published(text)) if character.isalnum()]
    assert kept == [character for character in text if character.isalnum()]


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "punkt" else found(name))
    with pytest.raises(UsageError, match=r"--splitter nltk needs .* run: pip install 'evenhand\[nltk\]'"):
        splitter("nltk")
