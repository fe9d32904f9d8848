"""Runs from Python: what `import evenhand` offers works as a reader of its names would guess."""

import pandas as pd
import pytest

import evenhand
from evenhand.errors import UsageError
from evenhand.models.errors import ModelError


def shout(prompts):
    return [prompt.upper() for prompt in prompts]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_package_lists_its_public_names():
    assert {*dir(evenhand)} == {*evenhand.__all__, "__version__"}
    assert all(getattr(evenhand, name) for name in evenhand.__all__)


def test_a_run_by_names(here):
    run = evenhand.evaluate("contact_hypothesis", model="stub:random", limit=6)
    assert str(run.path) == "runs/contact_hypothesis-stub-random-1"
    assert len(run.predictions) == 18
    assert run.figures.equals(run.to_frame())
    assert run.report.is_file()
    assert "<table" in run._repr_html_()
    opened = evenhand.open_run(str(run.path))
    pd.testing.assert_frame_equal(opened.figures, run.figures)
    with pytest.raises(UsageError, match="no run folder"):
        evenhand.open_run("runs")


def test_a_function_is_a_model_that_writes(here):
    run = evenhand.evaluate("contact_hypothesis", model=shout, limit=3)
    assert run.read_config().protocol == "generate"
    assert run.read_config().model == "shout"
    assert any("shout can't choose" in each.text for each in run.read_results().warnings)
    assert all(text.isupper() for text in run.predictions["text"])
    compared = run.compare(evenhand.evaluate("contact_hypothesis", model="stub:first", limit=3))
    assert len(compared.to_frame())
    with pytest.raises(ModelError, match="one text per prompt"):
        evenhand.evaluate("contact_hypothesis", model=lambda prompts: "Yes", limit=3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: evenhand.run_config("contact_hypothesis", limit=0), "limit: must be a whole number of 1 or more"),
        (lambda: evenhand.run_config("contact_hypothesis", limt=3), "did you mean 'limit'"),
        (lambda: evenhand.evaluate("contact_hypothesis", model=shout, protocol="choose"), "protocol choose needs"),
        (lambda: evenhand.evaluate("contact_hypothesis", model="stub:first", configs=("x",)), "configuration"),
        (lambda: evenhand.evaluate(evenhand.run_config("bbq"), model="stub:first"), "evenhand.run_config"),
    ],
)  # fmt: skip
def test_errors_name_arguments(call, says):
    with pytest.raises(UsageError) as raised:
        call()
    assert says in str(raised.value)
    assert "--" not in str(raised.value)
