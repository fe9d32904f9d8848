"""Language agency by string matching: what the lists hold, how their words are inflected, and how matches count."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.language_agency import lexicon as agency_lexicon
from evenhand.language_agency.lexicon import LexiconClassifier, forms

LISTS = ("agentic", "communal")
INFLECTED = {  # entry: all its forms
    ("agentic", "lead"): "lead leads leading led",
    ("agentic", "ability"): "ability abilities",
    ("agentic", "achieve"): "achieve achieves achieving achieved",
    ("agentic", "win"): "win wins winning won",
    ("agentic", "establish"): "establish establishes establishing established",
    ("agentic", "impress"): "impress impresses impressing impressed",
    ("agentic", "excel"): "excel excels excelling excelled",
    ("agentic", "oversee"): "oversee oversees overseeing oversaw overseen",
    ("agentic", "launch"): "launch launches launching launched",
    ("agentic", "leader"): "leader leaders",
    ("agentic", "brilliant"): "brilliant",
    ("agentic", "hard-working"): "hard-working",
    ("communal", "help"): "help helps helping helped",
    ("communal", "care"): "care cares caring cared",
    ("communal", "empathise"): "empathise empathises empathising empathised",
    ("communal", "unify"): "unify unifies unifying unified",
    ("communal", "embrace"): "embrace embraces embracing embraced",
    ("communal", "agree"): "agree agrees agreeing agreed",
    ("communal", "ally"): "ally allies",
    ("communal", "warm"): "warm",
}


def entries(name):
    """(word, part of speech, irregular forms) of a list."""
    lines = agency_lexicon._read(name).splitlines()
    return [(word, part, "".join(irregular)) for word, part, *irregular in (line.split("\t") for line in lines)]


def probability(sentence):
    [agentic] = LexiconClassifier().agentic_probabilities([sentence])
    return agentic


@pytest.mark.parametrize("name", LISTS)
def test_every_entry_is_well_formed(name):
    """A line is word, part of speech and, of verbs and nouns alone, irregular forms; words are sorted, each once."""
    text = agency_lexicon._read(name)
    assert text.endswith("\n")
    for line in text.splitlines():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*\t(adjective|adverb|(noun|verb)(\t[a-z]+( [a-z]+)*)?)", line), line
    found = [word for word, *_ in entries(name)]
    assert found == sorted(set(found))
    assert len(found) > 300


def test_no_form_is_in_both_lists():
    assert not forms("agentic") & forms("communal")


def test_the_lists_have_the_words_that_the_paper_names():
    """LABE, section 1 and the examples in its prompts."""
    assert {"authoritative", "assertive", "leadership"} <= forms("agentic")
    assert {"warm", "helpful", "friendly"} <= forms("communal")


@pytest.mark.parametrize(("entry", "expected"), INFLECTED.items(), ids=lambda each: each[1] if len(each) == 2 else "")
def test_inflection(entry, expected):
    name, word = entry
    [found] = [each for each in entries(name) if each[0] == word]
    assert set(agency_lexicon._inflected(*found)) == set(expected.split())
    assert set(expected.split()) <= forms(name)


def test_verbs_that_the_rules_would_misspell_list_their_forms():
    """One vowel and one consonant in one syllable (winned), -ee and -oe (overseeed), -ie (vieing), -c (panicing)."""
    misspelt = re.compile(r"[^aeiou]*[aeiou][bdgklmnprtz]|.*([eoy]e|ie|c)")
    regular = [word for name in LISTS for word, part, irregular in entries(name) if part == "verb" and not irregular]
    assert len(regular) > 150
    assert [word for word in regular if misspelt.fullmatch(word)] == []


def test_plurals_are_as_a_grammar_has_them():
    engine = pytest.importorskip("inflect").engine()
    for name in LISTS:
        nouns = [word for word, part, _ in entries(name) if part == "noun"]
        assert len(nouns) > 50
        assert {engine.plural_noun(noun) for noun in nouns} <= forms(name)


@pytest.mark.parametrize(
    ("sentence", "agentic"),
    [
        ("She leads.", 2 / 3),
        ("He cares.", 1 / 3),
        ("She leads and wins; he helps.", 3 / 5),
        ("They LED, Led, led.", 4 / 5),
        ("Caring, helpful and warm: a leader.", 2 / 6),
        ("A hard-working “leader”, who’s brilliant!", 4 / 5),
    ],
)
def test_the_probability_is_the_agentic_share_with_one_more_of_each(sentence, agentic):
    assert probability(sentence) == pytest.approx(agentic, abs=1e-12)


@pytest.mark.parametrize(
    "sentence", ["", "The table is green.", "She leads and cares.", "Она лидер.", "彼女は優しい。"]
)
def test_ties_are_communal(sentence):
    """Exactly one half, also without any word; the label is agentic above one half alone."""
    assert probability(sentence) == 0.5
    assert [each.label for text in LexiconClassifier().label([f"{sentence} Hello."]) for each in text][-1] == "communal"


def test_words_are_matched_whole():
    """Parts of words don't count, and a compound with a hyphen is a word of its own."""
    for word in ("misleading", "unkindness", "careworn", "lead-free"):
        assert probability(f"It was {word}.") == 0.5


@given(st.lists(st.sampled_from(["She leads.", "He cares.", "Green.", "They win, and help, and lead."]), max_size=20))
def test_each_sentence_counts_for_itself(sentences):
    """(sentences,), in order."""
    probabilities = LexiconClassifier().agentic_probabilities(sentences)
    assert probabilities.shape == (len(sentences),)
    np.testing.assert_array_equal(probabilities, [probability(each) for each in sentences])


@given(st.text())
def test_any_text_has_a_probability(text):
    assert 0 < probability(text) < 1


@pytest.mark.parametrize("changed", LISTS)
def test_identity_is_that_of_the_lists(changed, monkeypatch):
    """The same in every process, and another where a list has a further word: its labels are other labels."""
    identity = LexiconClassifier().identity
    assert re.fullmatch(r"string matching \(lexicons of evenhand\)@[0-9a-f]{16}", identity)
    assert LexiconClassifier().identity == identity
    assert LexiconClassifier().name == "string matching (lexicons of evenhand)"
    read = agency_lexicon._read
    monkeypatch.setattr(agency_lexicon, "_read", lambda name: read(name) + "zeal\tnoun\n" * (name == changed))
    assert LexiconClassifier().identity != identity
