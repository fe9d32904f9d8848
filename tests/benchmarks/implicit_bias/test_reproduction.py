"""Table 3, Figures 6, 16 and 18 and appendix E, out of runs whose figures are known."""

import json
import runpy

import pytest

from evenhand.benchmarks.implicit_bias.published import GOAL, NO_GOAL, NONE
from evenhand.benchmarks.implicit_bias.reproduction import Finished, appendix_e, bias_scores, table_3
from evenhand.errors import UsageError

WAYS = ("word", "reason")


@pytest.fixture(scope="module")
def stories(finished):
    return Finished.of(finished("implicit_bias_understanding", "stub:first", protocol="choose"))


def held(finished, **options):
    own = {"configs": ("test",), "protocol": "rank", "limit": 4, "runs": 1, **options}
    return Finished.of(finished("implicit_bias", "stub:first", **own))


def cells(table):
    return [[cell.text for cell in row] for row in table.rows]


def test_table_3_has_baselines_and_the_papers_figures_beside(stories):
    table = table_3({(model, way): stories for way in WAYS for model in ("base", "half", "full")})
    rows = {row[0]: row[1:] for row in cells(table)}
    assert (
        rows["base, word"][0] == "0.500 [0.423, 0.577]"
    )  # always "present": half of the stories of each of 22 scenarios
    assert rows["base, word"][3:] == ["44 of 44 (22)", "0.7391", "0.5938"]
    assert rows["half, reason"][4:] == ["0.8043", "0.3334"]
    assert rows["full, word"][4:] == ["0.8913", "0.6875"]
    assert [*rows][-3:] == ["random answers", "words alone", "gender of whoever is named first"]
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_figures_pair_each_model_with_the_base(finished):
    alone = held(finished, setting="none")
    other = Finished(alone.results, alone.predictions.assign(score=1.0))
    table = bias_scores(NONE, {"base": alone, "full": other}, "Ranked.")
    base, full = cells(table)
    assert base[7] == ""
    assert full[7].startswith("+" if alone.predictions["score"].mean() < 1 else "0")
    assert base[8] == "4 of 4 (4)"
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert "fine-tuning on the full data gives the lowest scores" in table.note


@pytest.mark.parametrize("setting", [NO_GOAL, GOAL])
def test_figures_of_interaction_have_every_stage(finished, setting):
    plain = held(finished, setting="interaction", limit=3)
    reflecting = held(finished, setting="interaction", limit=3, mitigation="self-reflection")
    rows = cells(bias_scores(setting, {"base": plain, "self-reflection": reflecting}, ""))
    assert [row[0] for row in rows] == [
        "base, first responses",
        "base, last responses",
        "self-reflection, first responses",
        "self-reflection, after reflection",
        "self-reflection, last responses",
    ]
    assert [row[7] != "" for row in rows] == [False, False, True, False, True]
    table = appendix_e({"self-reflection": reflecting})
    assert [row[0] for row in cells(table)][1:] == [
        "gpt-35-turbo, published",
        "gpt-4, published",
        "mistral-7b-instruct, published",
    ]


def test_the_script_asks_every_cell_once_and_goes_on(root, monkeypatch, tmp_path):
    """What is there already is not made again."""
    script = runpy.run_path(str(root / "scripts/reproduce_implicit_bias.py"))
    asked = []
    functions = script["main"].__globals__
    monkeypatch.setitem(functions, "called", asked.append)
    (tmp_path / "half").mkdir()
    (tmp_path / "half/training.json").write_text(json.dumps({}))
    monkeypatch.setattr("sys.argv", ["x", "--output", str(tmp_path), "--page", str(tmp_path / "page.md")])
    with pytest.raises(UsageError, match="does not exist"):  # nothing was run, so there is nothing to write
        script["main"]()
    assert [command[:4] for command in asked if command[0] == "train"] == [["train", "implicit-bias", "--data", "full"]]
    folders = [command[-1] for command in asked]
    assert len(folders) == len({*folders}) == 1 + 6 + 3 + 12
    assert not (tmp_path / "page.md").exists()
