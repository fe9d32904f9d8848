"""A checkpoint's card says what runs of it and of its base say, in one card: the one that its trainer writes."""

import json
import math
import shutil
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.rows import drawn_rows
from evenhand.hub.cards.model import model_card
from evenhand.models.fingerprint import fingerprint
from evenhand.models.request import Reply
from evenhand.trainers.card import card
from tests.hub.submittable import change
from tests.scripted_models import Scripted

NAME = "contact_controls"
RECORD = {
    "trainer": "social-contact", "source": "a paper", "steps": 2, "packing": "tree", "losses": [2.0, 1.0],
    "recipe": {"model": "lab/base", "rank": 64, "measured": 48, "revision": None},
    "data": {"cut": "by scale", "prompt_sets": 10_000}, "measured": [], "judged": None, "note": "",
    "measured_by": "evenhand run contact_hypothesis --held-out 1",
    "base": {"model": "lab/base", "identity": "lab/base@1 float32"},
}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    benchmark = get_benchmark(NAME)
    return {row["id"]: row for row in drawn_rows(benchmark, benchmark.configuring.filled(run_config(NAME, "m"))).rows}


@pytest.fixture(scope="module")
def ran(rows, tmp_path_factory):
    """ran(answer, identity, …) → the folder of a run of the controls by a model that answers so."""

    def call(answer, identity, model, **options):
        def reply(request):
            chosen = answer(rows[request.name.removesuffix("/swapped")])
            return Reply("", "choice", tuple((math.log(0.8 if each == chosen else 0.2),) for each in request.choices))

        config = run_config(NAME, model, **options)
        return evaluate(config, tmp_path_factory.mktemp("ran") / "run", model=Scripted(reply, identity)).path

    return call


def other(row, option):
    return next(each for each in row["options"] if each != option)


def by_polarity(row):
    return row["affirming"] if row["action"] == "positive" else other(row, row["affirming"])


def right(row):
    return row["ideal"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "fair"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    (folder / "training.json").write_text(json.dumps(RECORD))
    return folder


@pytest.fixture(scope="module")
def base(ran):
    return ran(right, "lab/base@1 float32", "lab/base")


@pytest.fixture(scope="module")
def tuned(ran, folder):
    return ran(by_polarity, f"{folder}@{fingerprint(folder)} float32", str(folder))


@pytest.fixture(scope="module")
def told(folder, base, tuned):
    return model_card(folder, [tuned, base], repo_id="lab/fair")


def test_without_runs_it_is_the_trainers(folder):
    assert model_card(folder) == card(RECORD, "lab/base", ["adapter_config.json", "training.json"])


def test_a_polarity_that_was_learned_stands_first(told):
    """Its base follows what is right; it says yes to every unwise kindness."""
    assert (
        "**This model is not debiased: it follows a polarity: yes to most actions that sound kind and no to most"
        in told
    )
    assert "The base: Most of its answers are right, to kind actions and to unkind ones" in told
    assert told.index("not debiased") < told.index("## Before and after")
    assert "| says yes to kind actions that are unwise | 0.0 | 100.0 | 100.0 [82.4, 100.0] |" in told


def test_figures_are_compares_own(told, base, tuned):
    from evenhand.report.comparison import compare

    comparison = compare(base, tuned)
    for row in comparison.headline.rows:
        assert f"| {row[0].text} | {row[1].text} | {row[2].text} | {row[3].text} |" in told
    assert "(not what it was trained for)" in told


def test_its_front_matter_is_valid_and_has_its_scores(told, tuned):
    data = ModelCard(told).data
    assert data.base_model == "lab/base"
    assert data.model_name == "fair"
    figures = json.loads((tuned / "results.json").read_text())["figures"]
    headline = next(row["value"] for row in figures if row["headline"])
    [overall] = [each for each in data.eval_results if each.metric_name == "against what is right"]
    assert overall.metric_value == pytest.approx(headline, abs=0.001)
    assert (overall.dataset_type, overall.dataset_config) == ("lab/contact_controls", "controls")


def test_it_says_what_it_is_for_and_what_not_and_names_no_place(told, base, tuned, folder):
    assert "## What it is for" in told
    assert "Decisions on people" in told
    assert 'base = AutoModelForCausalLM.from_pretrained("lab/base")' in told
    assert 'PeftModel.from_pretrained(base, "lab/fair")' in told
    for place in (base, tuned, folder):
        assert str(place) not in told


def test_runs_that_dont_belong_are_refused(folder, base, tuned, ran, tmp_path):
    with pytest.raises(UsageError, match=r"has no run of the base in the same settings among --runs; give one of each"):
        model_card(folder, [tuned])
    with pytest.raises(UsageError, match="is a run of the base; also give the one of"):
        model_card(folder, [base])
    stranger = ran(right, "lab/stranger@2 float32", "lab/stranger")
    with pytest.raises(UsageError, match=r"is a run of lab/stranger@2 float32, neither of .* nor of its base lab/base"):
        model_card(folder, [tuned, stranger])
    later = ran(right, "lab/base@9 float32", "lab/base")
    with pytest.raises(UsageError, match=r"is a run of .* at 9, and .* was tuned from 1; run the base as it was"):
        model_card(folder, [tuned, later])
    former = ran(right, f"{folder}@0123456789abcdef float32", str(folder))
    with pytest.raises(UsageError, match=r"measured other files than .* holds now; run it again"):
        model_card(folder, [former, base])
    few = ran(right, "lab/base@1 float32", "lab/base", limit=20)
    with pytest.raises(UsageError, match="limited to 20 rows"):
        model_card(folder, [tuned, few])
    with pytest.raises(UsageError, match=r"has no training\.json"):
        model_card(tmp_path)


def test_another_dtype_of_the_base_is_named(folder, tuned, ran):
    half = ran(right, "lab/base@1 float16", "lab/base")
    assert "A was computed in float16, B in float32." in model_card(folder, [tuned, half])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows_sha256": "a" * 64}, "Both asked the rows of a file"),
        ({"config.options.held_out": "1"}, r"Both asked what a training held out (--held-out 1)"),
        ({"config.source": "official"}, "Both asked the published rows"),
    ],
)
def test_figures_of_other_rows_are_called_so_and_are_not_in_model_index(folder, base, tuned, tmp_path, changes, said):
    copies = [Path(shutil.copytree(each, tmp_path / each.parent.name)) for each in (base, tuned)]
    for each in copies:
        change(each, **changes)
    told = model_card(folder, copies, repo_id="lab/fair")
    assert said in told
    assert ModelCard(told).data.eval_results is None
