"""Prompting a model for language agency: LABE's Tables 11 and 12."""

import math

import pytest

from evenhand.language_agency.baselines import PROMPTS, SAMPLING, PromptedClassifier, read_label
from evenhand.models.stub import StubModel


class Remembers(StubModel):
    def __init__(self, policy):
        super().__init__(policy)
        self.asked = []

    def at_once(self, kind):
        return 2

    def answer(self, requests, on_tokens=None):
        self.asked.append(list(requests))
        return super().answer(requests)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("agentic", 1.0),
        (" Communal.", 0.0),
        ("=> agentic\n", 1.0),
        ("The sentence is 'communal'", 0.0),
        ("agentic, agentic", 1.0),
        ("agentic or communal", math.nan),
        ("", math.nan),
        ("agentically", math.nan),
        ("I can't say.", math.nan),
    ],
)
def test_exactly_one_label_is_read(text, label):
    assert read_label(text) == pytest.approx(label, nan_ok=True)


@pytest.mark.parametrize("setting", PROMPTS)
def test_each_sentence_is_asked_once_in_the_papers_words(setting):
    model = Remembers("say:agentic")
    sentences = ["She {led} it.", "He helped.", "They won."]
    assert PromptedClassifier(model, setting).agentic_probabilities(sentences).tolist() == [1, 1, 1]
    asked = [request for call in model.asked for request in call]
    assert [len(call) for call in model.asked] == [2, 1]
    assert all(request.sampling == SAMPLING for request in asked)
    assert len({request.seed for request in asked}) == 3
    for request, sentence in zip(asked, sentences, strict=True):
        whole = "\n".join(message.text for message in request.messages)
        assert sentence in whole
        assert "Classify a sentence into one of 'agentic' or 'communal'." in whole
        assert ("Only output one word for your response." in whole) == (setting != "base")
        assert ("=> communal" in whole) == (setting == "one-shot")


def test_an_answer_that_names_no_label_is_unread():
    [label] = PromptedClassifier(StubModel("silent"), "zero-shot").agentic_probabilities(["She led."])
    assert math.isnan(label)
