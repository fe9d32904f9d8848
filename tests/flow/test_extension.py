"""A larger --limit, or more --runs, in the same folder asks only what is new, and ends as a fresh run does."""

import re

import pandas as pd
import pytest

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.plan import plan
from evenhand.flow.run_folder import RunFolder
from evenhand.models.request import Reply
from tests.scripted_models import Scripted

NAME = "contact_hypothesis"
FILES = ("config.json", "predictions.parquet", "results.json", "report.html")
WRITTEN = {"protocol": "generate", "temperature": 1.0, "max_new_tokens": 4}
QUESTIONS = {"benchmark": "utility", "configs": ("questions",)}
DRAWN = {"benchmark": "implicit_bias", "protocol": "generate"}


class Counting(Scripted):
    """A model whose answers depend on what is asked alone; it counts them, and fails after `most`."""

    def __init__(self, most=10**9):
        super().__init__(self.reply, at_once=4)
        self.most, self.asked = most, 0

    def reply(self, request):
        if self.asked == self.most:
            raise InterruptedError
        self.asked += 1
        if not request.choices:
            return Reply(["Yes", "No", "Likely"][request.seed % 3])
        first = sum(map(ord, request.messages[-1].text)) % 2
        return Reply(finish_reason="choice", choice_log_probs=((-0.5 - first,), (-1.0,)))


def configured(benchmark=NAME, **settings):
    return run_config(benchmark, "scripted", **settings)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ({"limit": 20}, {"limit": 40}),
        ({"limit": 20, **WRITTEN}, {"limit": 40, **WRITTEN}),
        ({"limit": 20, "runs": 1, **WRITTEN}, {"limit": 20, "runs": 3, **WRITTEN}),
        ({"limit": 20, "runs": 1, **WRITTEN}, {"limit": 30, "runs": 2, **WRITTEN}),
        ({**QUESTIONS, "limit": 30}, {**QUESTIONS, "limit": 45}),
        (
            {"benchmark": "implicit_bias_understanding", "limit": 4},
            {"benchmark": "implicit_bias_understanding", "limit": 8},
        ),
        ({"limit": 2, **DRAWN}, {"limit": 4, **DRAWN}),
    ],
    ids=str,
)
def test_only_what_is_new_is_asked_and_the_rest_is_as_of_a_fresh_run(tmp_path, smaller, larger):
    fresh, small, more = Counting(), Counting(), Counting()
    evaluate(configured(**larger), tmp_path / "fresh", fresh)
    evaluate(configured(**smaller), tmp_path / "run", small)
    planned = plan(configured(**larger), Counting(), tmp_path / "run")
    assert planned.stored == small.asked > 0
    evaluate(configured(**larger), tmp_path / "run", more)
    assert 0 < more.asked == fresh.asked - small.asked
    if "benchmark" not in larger:  # whose later steps depend on answers
        assert planned.to_ask == more.asked
    assert contents(tmp_path / "run") == contents(tmp_path / "fresh")
    assert plan(configured(**larger), Counting(), tmp_path / "run").to_ask == 0


def test_an_extension_that_is_killed_goes_on_and_is_no_result_before(tmp_path):
    small, larger = configured(limit=20), configured(limit=40)
    evaluate(larger, tmp_path / "fresh", Counting())
    evaluate(small, tmp_path / "run", Counting())
    with pytest.raises(InterruptedError):
        evaluate(larger, tmp_path / "run", Counting(most=9))
    with pytest.raises(EvenhandError, match=r"other settings .*limit: 20, not 40.*repeat the evenhand command"):
        RunFolder.open(tmp_path / "run").read_results()
    with pytest.raises(UsageError, match="--limit 40"):
        evaluate(small, tmp_path / "run", Counting())
    last = Counting()
    evaluate(larger, tmp_path / "run", last)
    assert last.asked == 3 * 20 - 8  # calls of four are stored whole
    assert contents(tmp_path / "run") == contents(tmp_path / "fresh")


@pytest.mark.parametrize(
    ("held", "asked", "says"),
    [
        ({"limit": 6}, {"limit": 4}, "a run of --limit 6, which is more than --limit 4; give --limit 6 or more"),
        ({"limit": 6, "runs": 2, **WRITTEN}, {"limit": 9, "runs": 1, **WRITTEN}, "give --runs 2 or more"),
        (QUESTIONS, {**QUESTIONS, "limit": 30}, "all rows, .* leave --limit out"),
        ({"limit": 4}, {"limit": 6, "seed": 1}, r"other settings \(seed: 0, not 1\)"),
        ({"limit": 4}, {"limit": 6, **WRITTEN}, r"other settings \(.*protocol: 'choose', not 'generate'"),
        ({"limit": 4}, {"limit": 6, "order": "balanced"}, "options.order"),
    ],
)
def test_less_or_something_else_is_refused(tmp_path, held, asked, says):
    evaluate(configured(**held), tmp_path / "run", Counting())
    before = contents(tmp_path / "run")
    for call in (evaluate, lambda config, folder, model: plan(config, model, folder)):
        with pytest.raises(UsageError, match=f"{says}.*another --output|another --output.*{says}|{says}"):
            call(configured(**asked), tmp_path / "run", Counting())
    assert contents(tmp_path / "run") == before


def test_another_model_is_refused_before_the_limit_is_recorded(tmp_path):
    evaluate(configured(limit=4), tmp_path / "run", Counting())
    other = Counting()
    other.identity = "another"
    with pytest.raises(UsageError, match="another"):
        evaluate(configured(limit=6), tmp_path / "run", other)
    assert RunFolder(tmp_path / "run").begun()["limit"] == 4


@pytest.mark.parametrize("settings", [{}, WRITTEN], ids=["scored", "written"])
def test_in_float32_texts_are_equal_and_probabilities_but_for_the_last_bits(tiny_checkpoint, tmp_path, settings):
    """Other requests share a batch than in a fresh run: sums of another order."""
    asked = {"dtype": "float32", "batch_size": 2, **settings}
    fresh = evaluate(run_config(NAME, str(tiny_checkpoint), limit=9, **asked), tmp_path / "fresh")
    for limit in (5, 9):
        run = evaluate(run_config(NAME, str(tiny_checkpoint), limit=limit, **asked), tmp_path / "run")
    if settings:
        assert contents(run.path) == contents(fresh.path)
    pd.testing.assert_frame_equal(run.read_predictions(), fresh.read_predictions(), rtol=1e-5)
    one, other = (each.read_results().figures.to_frame() for each in (run, fresh))
    pd.testing.assert_frame_equal(one, other, rtol=1e-5)


def test_in_16_bits_near_ties_are_told_of(tiny_checkpoint, tmp_path, caplog):
    for limit in (2, 3):
        evaluate(run_config(NAME, str(tiny_checkpoint), limit=limit, dtype="bfloat16"), tmp_path / "run")
    assert "The run was begun with limit: 2, not 3." in caplog.text


def test_the_command_line_says_how_much_is_stored(evenhand, tmp_path):
    command = ("run", NAME, "--model", "stub:random", "--output", tmp_path / "run", "--limit")
    assert "stored;" not in evenhand(*command, 20, "--plan").out
    assert not (tmp_path / "run").exists()
    assert evenhand(*command, 20).code == 0
    said = evenhand(*command, 40, "--plan").out
    assert "60 of 120 answers are stored; 60 will be asked" in said
    assert "This plan stored nothing" in said
    assert re.search(r"60 replies, ", evenhand(*command, 40).err)
    assert evenhand(*command, 30).code == 2


def test_predictions_that_results_were_not_made_from(evenhand, run, tmp_path):
    """A rerun that was killed between its two files; the same command mends it."""
    done, other = run("stub:first", limit=30), run("stub:last", limit=30, output="other")
    whole = (done.folder / "predictions.parquet").read_bytes()
    (done.folder / "predictions.parquet").write_bytes((other.folder / "predictions.parquet").read_bytes())
    for command in (
        ("report", done.folder),
        ("compare", done.folder, other.folder),
        ("gate", other.folder, done.folder),
    ):
        called = evenhand(*command)
        assert called.code in (1, 2)
        assert "was not made from the predictions.parquet beside it" in called.err, command
        assert "repeat the evenhand command" in called.err
    again = ("run", NAME, "--model", "stub:first", "--limit", 30, "--output", done.folder)
    assert evenhand(*again).code == 0
    assert (done.folder / "predictions.parquet").read_bytes() == whole
    assert evenhand("report", done.folder).code == 0
