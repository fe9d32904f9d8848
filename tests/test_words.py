"""Names of columns and groups are shown in words; names of models and files stay as they are."""

import pytest

from evenhand.flow.run_folder import RunFolder
from evenhand.words import WORDS, in_words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("body_type", "body type"),
        ("certainty, no_contact", "certainty, no contact"),
        ("axis race_ethnicity 9 : 12.", "axis race and ethnicity 9 : 12."),
        ("runs/body_type", "runs/body_type"),
        ("org/body_type-7b", "org/body_type-7b"),
        ("my_body_type", "my_body_type"),
        ("body_type.csv", "body_type.csv"),
        ("tiny_llama", "tiny_llama"),
    ],
)
def test_only_whole_names_are_said_in_words(text, shown):
    assert in_words(text) == shown
    assert in_words(shown) == shown


def test_no_two_names_are_said_alike():
    assert len({*WORDS.values()}) == len(WORDS)
    assert not [words for words in WORDS.values() if "_" in words]


def test_every_group_of_the_datasets_is_said_in_words(finished):
    results = RunFolder.open(finished("contact_hypothesis", "stub:random", limit=60)).read_results()
    names = {value for row in results.figures for value in row.groups.values()}
    assert len(names) > 20
    assert not [name for name in names if "_" in in_words(name)]
