"""A token that somebody types in a wrong place is not repeated."""

import pytest

import evenhand as library
from evenhand.errors import UsageError
from evenhand.hub.secrets import HIDDEN

TOKEN = "hf_" + "c1" * 17
OWN = "my-own-secret-of-no-form"


@pytest.mark.parametrize("token", [TOKEN, OWN])
@pytest.mark.parametrize(
    "arguments",
    [
        ("publish", "dataset", "labe", "--token", "{}"), ("run", "labe", "--token={}"), ("run", "{}"), ("{}",),
        ("list", "{}"), ("publish", "{}"), ("submit", "{}", "--model-id", "a/b"), ("compare", "{}", "{}"),
    ],
)  # fmt: skip
def test_by_no_error_of_the_command_line(evenhand, monkeypatch, token, arguments):
    monkeypatch.setenv("HF_TOKEN", OWN)
    done = evenhand(*(each.format(token) for each in arguments))
    assert done.code == 2
    assert token not in done.out + done.err
    assert HIDDEN in " ".join(done.err.split())


@pytest.mark.parametrize(
    "load",
    [
        lambda: library.load_dataset(TOKEN),
        lambda: library.load_dataset("labe", TOKEN),
        lambda: library.load_metric(TOKEN),
        lambda: library.load_metric("contact_bias", revision=TOKEN),
    ],
)
def test_by_no_error_of_the_library(load):
    with pytest.raises(UsageError) as caught:
        load()
    assert TOKEN not in str(caught.value)
    assert HIDDEN in str(caught.value)
