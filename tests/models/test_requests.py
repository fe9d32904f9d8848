"""What identifies a request, and what does not."""

import dataclasses

import pytest

from evenhand.models.request import Image, Message, Request, Sampling

BASE = Request(
    messages=(Message("system", "Be fair."), Message("user", "Who leads?")),
    sampling=Sampling(temperature=0.7, top_p=0.95, max_new_tokens=20),
    seed=1,
    name="row 1",
)


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", "Who leads?"),)},
        {"messages": (Message("user", "Be fair."), Message("user", "Who leads?"))},
        {"choices": ("Yes", "No")},
        {"sampling": Sampling(temperature=0.8, top_p=0.95, max_new_tokens=20)},
        {"sampling": Sampling(temperature=0.7, top_p=0.9, max_new_tokens=20)},
        {"sampling": Sampling(temperature=0.7, top_p=0.95, max_new_tokens=21)},
        {"seed": 2},
    ],
)
def test_content_decides_the_digest(change):
    assert dataclasses.replace(BASE, **change).digest("m") != BASE.digest("m")


def test_a_prompt_to_the_letter_is_another_request_and_one_text():
    """Without a template: told apart from the same words with one; of several messages there is no letter."""
    one = Request((Message("user", "Who leads?"),))
    assert dataclasses.replace(one, template=False).digest("m") != one.digest("m")
    for messages in (BASE.messages, (Message("user", ("Who?", Image(b"1"))),), (Message("user", ""),)):
        with pytest.raises(ValueError, match="one message of text"):
            Request(messages, template=False)


def test_a_schema_counts_where_there_is_one():
    """Requests without one are what they were before there were any; choices have none."""
    assert BASE.digest("m") == "96e998b49c8620a4297b425a946a20b6ff77743b3d454f72a577d5e36ec10b2e"
    by_schema = [dataclasses.replace(BASE, schema=schema) for schema in (None, "{}", '{"type": "object"}')]
    assert len({request.digest("m") for request in by_schema}) == 3
    with pytest.raises(ValueError, match="nothing is written"):
        dataclasses.replace(BASE, choices=("Yes", "No"), schema="{}")


def test_the_model_decides_the_digest():
    assert BASE.digest("model a") != BASE.digest("model b")


def test_a_name_is_no_content():
    renamed = dataclasses.replace(BASE, name="row 2")
    assert renamed.digest("m") == BASE.digest("m")
    assert renamed == BASE


def test_the_seed_counts_only_where_something_is_drawn():
    greedy = dataclasses.replace(BASE, sampling=Sampling())
    scored = dataclasses.replace(BASE, choices=("Yes", "No"))
    for request in (greedy, scored):
        assert dataclasses.replace(request, seed=99).digest("m") == request.digest("m")


def test_an_image_counts_by_its_bytes_and_its_place():
    def asking(*parts):
        return Request(messages=(Message("user", parts),)).digest("m")

    picture, other = Image(b"one"), Image(b"two")
    assert asking("Who?", picture) == asking("Who?", Image(b"one"))
    assert len({asking("Who?", picture), asking("Who?", other), asking(picture, "Who?"), asking("Who?")}) == 4


def test_a_message_tells_its_text_and_images():
    message = Message("user", ("Who is ", Image(b"1"), "left?"))
    assert message.text == "Who is left?"
    assert message.images == (Image(b"1"),)


@pytest.mark.parametrize(
    "values", [{"temperature": -1}, {"top_p": 0}, {"top_p": 1.1}, {"top_k": -1}, {"max_new_tokens": 0}]
)
def test_sampling_out_of_range_is_refused(values):
    with pytest.raises(ValueError, match="out of range"):
        Sampling(**values)


@pytest.mark.parametrize("fields", [{"messages": ()}, {"messages": BASE.messages, "choices": ("Yes", "")}])
def test_a_request_asks_something(fields):
    with pytest.raises(ValueError, match="at least one message"):
        Request(**fields)
