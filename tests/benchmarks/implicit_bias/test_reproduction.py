"""Table 3, Figures 6, 16 and 18 and appendix E, out of runs whose figures are known."""

import json
from dataclasses import replace

import pytest
import reproduce_implicit_bias
import reproducing
from reproduce_implicit_bias import appendix_e, bias_scores, table_3
from reproduce_implicit_bias import finished as finished_run

from evenhand.benchmarks.implicit_bias.options import GOAL, NO_GOAL, NONE, REFLECTION, TEST_SET, published_figures
from evenhand.benchmarks.implicit_bias.understanding.benchmark import Understanding
from evenhand.flow.configuration import run_config

WAYS = ("word", "reason")
MODELS = ("gpt-35-turbo", "gpt-4", "mistral-7b-instruct")


@pytest.fixture(scope="module")
def stories(finished):
    return finished_run(finished("implicit_bias_understanding", "stub:first", protocol="choose"))


def held(finished, **options):
    own = {"configs": ("test",), "protocol": "rank", "limit": 4, "runs": 1, **options}
    return finished_run(finished("implicit_bias", "stub:first", **own))


def records(table):
    """{name of the row: {column: cell}}, and all rows are as wide as the head."""
    assert all(len(row) == len(table.columns) for row in table.rows)
    return {row[0].text: dict(zip(table.columns[1:], row[1:])) for row in table.rows}


def test_table_3_has_baselines_and_the_papers_figures_beside(stories):
    rows = records(table_3({(model, way): stories for way in WAYS for model in ("base", "half", "full")}))
    accuracy = rows["base, word"]["accuracy"]  # always "present": half of the stories of each of 22 scenarios
    assert [accuracy.value, accuracy.low, accuracy.high] == pytest.approx([0.5, 0.423, 0.577], abs=5e-4)
    assert [rows["base, word"][name].value for name in ("n read", "clusters")] == [44, 22]
    assert rows["random answers"]["accuracy"].value == 0.5
    assert not any("published" in name for name in rows)  # evenhand's stories, scored


def test_published_figures_stand_beside_runs_that_differ_in_nothing(stories):
    papers = Understanding()
    printed = papers.configuring.published(papers.configuring.filled(run_config("implicit_bias_understanding", "m")))
    whole = replace(stories, results=replace(stories.results, published=printed))
    rows = records(table_3({(model, way): whole for way in WAYS for model in ("base", "half", "full")}))
    published = {name: rows[f"{name}, published"]["accuracy"].value for name in ("gpt-4", "half-ft-gpt-35-turbo")}
    assert published == {"gpt-4": 0.8261, "half-ft-gpt-35-turbo": 0.8043}


def test_figures_pair_each_model_with_the_base(finished):
    alone = held(finished, setting="none")
    other = replace(alone, predictions=alone.predictions.assign(score=1.0))
    table = bias_scores(NONE, {"base": alone, "full": other}, "Ranked.")
    rows = records(table)
    assert rows["base"]["difference from base"].value == ""
    assert rows["full"]["difference from base"].value == pytest.approx(1 - alone.predictions["score"].mean())
    assert [rows["base"][name].value for name in ("n read", "clusters")] == [4, 4]
    assert "Published" not in table.note
    papers = [replace(run, results=replace(run.results, differs=[TEST_SET])) for run in (alone, other)]
    papers_note = bias_scores(NONE, dict(zip(("base", "full"), papers)), "").note
    assert "fine-tuning on the full data gives the lowest scores" in papers_note


@pytest.mark.parametrize("setting", [NO_GOAL, GOAL])
def test_figures_of_interaction_have_every_stage(finished, setting):
    plain = held(finished, setting="interaction", limit=3)
    reflecting = held(finished, setting="interaction", limit=3, mitigation="self-reflection")
    rows = records(bias_scores(setting, {"base": plain, "self-reflection": reflecting}, ""))
    assert {name: row["difference from base"].value != "" for name, row in rows.items()} == {
        "base, first responses": False,
        "base, last responses": False,
        "self-reflection, first responses": True,
        "self-reflection, after reflection": False,
        "self-reflection, last responses": True,
    }
    assert [*records(appendix_e({"self-reflection": reflecting}))] == ["self-reflection"]
    printed = published_figures(REFLECTION)
    reflecting = replace(reflecting, results=replace(reflecting.results, published=printed))
    rates = records(appendix_e({"self-reflection": reflecting}))
    assert [*rates] == ["self-reflection", *(f"{model}, published" for model in MODELS)]
    assert rates["gpt-4, published"]["self-correction"].text == "0.20 to 0.30"


def test_the_script_asks_every_cell_once_and_goes_on(monkeypatch, tmp_path):
    """What is there already is not made again."""
    asked = []
    monkeypatch.setattr(reproducing, "called", asked.append)
    (tmp_path / "half").mkdir()
    (tmp_path / "half/training.json").write_text(json.dumps({}))
    monkeypatch.setattr("sys.argv", ["x", "--output", str(tmp_path), "--record", str(tmp_path / "record.json")])
    monkeypatch.setattr(reproduce_implicit_bias.Reproduction, "record", lambda self: ("", "", []))
    reproduce_implicit_bias.main()
    assert [command[:4] for command in asked if command[0] == "train"] == [["train", "implicit-bias", "--data", "full"]]
    folders = [command[-1] for command in asked]
    assert len(folders) == len({*folders}) == 1 + 6 + 5 + 18


def test_the_authors_data_and_prompts_are_asked_for(monkeypatch, tmp_path):
    """Every command is one that evenhand accepts; the goal is the paper's Task 1."""
    asked = []
    monkeypatch.setattr(reproducing, "called", asked.append)
    options = ["--source", "official", "--prompts", "official", "--protocol", "generate", "--runs", "5"]
    monkeypatch.setattr("sys.argv", ["x", *options, "--output", str(tmp_path), "--record", str(tmp_path / "record")])
    monkeypatch.setattr(reproduce_implicit_bias.Reproduction, "record", lambda self: ("", "", []))
    reproduce_implicit_bias.main()
    assert all(command[command.index("--source") + 1] == "official" for command in asked)
    runs = [" ".join(command) for command in asked if command[1] == "implicit_bias"]
    assert not any("--goal-task" in run for run in runs)
    assert all("--runs 5" in run for run in runs)
    alone = [run for run in runs if "--setting none" in run]
    assert [("--moderator" in run, "--prompts official" in run) for run in alone] == [(False, True)] * 3 + [
        (True, False)
    ] * 2
