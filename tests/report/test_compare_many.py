"""Many runs side by side: those that differ in model and mitigation alone share a panel, the first is the base."""

from dataclasses import replace

import pandas as pd
import pytest

from evenhand.benchmarks.implicit_bias.options import TEST_SET
from evenhand.benchmarks.implicit_bias.report import MITIGATED, NO_GOAL, ImplicitBiasComparing
from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.run_folder import RunFolder
from evenhand.report.comparison import compare
from evenhand.report.findings import Run
from tests.benchmarks.implicit_bias.stub_agents import by_stereotype
from tests.benchmarks.implicit_bias.test_self_reflection import Penitent
from tests.report.test_compare import cells

SETTINGS = {
    "none": {"setting": "none"},
    "interaction": {"setting": "interaction"},
    "goal": {"setting": "interaction", "goal": True},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """{(setting, mitigation): folder} of agents that assign by stereotype until they reflect or discuss."""
    out = tmp_path_factory.mktemp("runs")
    return {
        (setting, mitigation): evaluate(
            run_config("implicit_bias", "m", protocol="generate", mitigation=mitigation, limit=14, **asked),
            out / f"{setting}-{mitigation}",
            model=Penitent(by_stereotype),
        ).path
        for setting, asked in SETTINGS.items()
        for mitigation in (None, "self-reflection")
    }


@pytest.fixture(scope="module")
def comparison(folders):
    return compare(*folders.values())


def test_a_panel_for_each_setting_with_all_stages(comparison):
    """By stereotype at first (+1), neutral after reflection and at last (0)."""
    assert [panel.tables[0].title.split("(")[1] for panel in comparison.panels] == [
        "as the paper's Figures 16 and 17)",
        "as the paper's Figure 6)",
        "as the paper's Figure 18)",
    ]
    differs = (
        "only 14 of 111 rows; A, B: evenhand's scenarios, not the authors' (--source official); A, B: prompts in "
        "evenhand's words, not the authors' (--prompts official); A, B: 1 run, not 5; B: scenarios: appendix E's "
        "figures are of test"
    )
    note = comparison.panels[0].tables[0].note
    assert note.endswith(f"Published figures are not shown beside them (A, B: {differs}).")
    alone, talked, goal = (cells(panel.tables[0]) for panel in comparison.panels)
    assert {name: row["bias score"] for name, row in alone.items()} == {
        "A: oracle, no mitigation, all responses": "1.00 [0.54, 1.00]",
        "B: oracle, self-reflection, all responses": "1.00 [0.54, 1.00]",
    }
    assert {name: row["bias score"].split()[0] for name, row in talked.items()} == {
        "C: oracle, no mitigation, first responses": "1.00",
        "C: oracle, no mitigation, last responses": "0.00",
        "D: oracle, self-reflection, first responses": "1.00",
        "D: oracle, self-reflection, after reflection": "0.00",
        "D: oracle, self-reflection, last responses": "0.00",
    }
    assert [name[0] for name in goal] == list("EEFFF")


def test_each_run_is_paired_with_the_base_of_its_panel(comparison, folders):
    rows = cells(comparison.headline)
    assert [name.split(":")[0] for name in rows] == ["B minus A", *["D minus C"] * 2, *["F minus E"] * 2]
    pair = compare(folders["interaction", None], folders["interaction", "self-reflection"])
    alone = cells(pair.headline)["bias score: last"]
    assert list(rows["D minus C: bias score: last"].values())[:3] == list(alone.values())[:3]
    assert f"this family of {len(rows)}" in comparison.headline.note


@pytest.mark.drawn
def test_drawings_are_the_same_each_time_and_have_every_run(comparison):
    for panel, letters in zip(comparison.panels, ("AB", "CD", "EF")):
        [plot] = panel.plots
        drawn = plot.draw()
        assert drawn == plot.draw()
        assert all(f">{letter}: " in drawn for letter in letters)


def test_warnings_that_runs_share_are_said_once(comparison):
    assert len(set(comparison.warnings)) == len(comparison.warnings)
    assert any(warning.startswith("run A, B, C, D, E, F: ") for warning in comparison.warnings)


@pytest.mark.drawn
def test_on_the_terminal_and_as_a_page(evenhand, folders, tmp_path):
    page = tmp_path / "page.html"
    assert evenhand("compare", *folders.values(), "--output", page).code == 0
    text = page.read_text()
    assert text.count("<svg") == 4
    assert "Figure 18" in text


def test_two_runs_of_different_settings_are_compared_all_the_same(folders):
    rows = cells(compare(folders["interaction", None], folders["goal", None]).headline)
    assert list(rows) == ["bias score: first", "bias score: last"]


def test_agents_of_several_models_are_named(tmp_path):
    folder = evaluate(
        run_config(
            "implicit_bias",
            agents=(("tuned", "stub:first"), ("raw", "stub:random")),
            protocol="rank",
            mitigation="self-reflection-ice",
            limit=7,
        ),
        tmp_path / "mixed",
    )
    said = folder.read_predictions()
    reflected = said[said["stage"] == "reflected"]
    assert set(reflected["agent_model"]) == {"tuned", "raw"}
    assert reflected["outcome"].notna().all()
    [panel] = compare(folder.path, folder.path).panels
    assert next(iter(cells(panel.tables[0]))) == "A: tuned and raw, self-reflection-ice, first responses"


def test_three_runs_of_another_benchmark(run):
    runs = [run(f"stub:{model}", output=model).folder for model in ("first", "last", "random")]
    comparison = compare(*runs)
    rows = cells(comparison.headline)
    assert len(rows) == 24
    assert {name.split(":")[0] for name in rows} == {"B minus A", "C minus A"}
    [table] = comparison.panels[0].tables
    assert len(table.rows) == 12


@pytest.mark.parametrize("number", [1, 27])
def test_numbers_that_cant_be_compared(folders, number):
    with pytest.raises(UsageError, match=f"expected 2 to 26 runs to compare, got {number}"):
        compare(*[folders["none", None]] * number)


def test_runs_of_different_benchmarks(folders, run):
    with pytest.raises(UsageError, match="name runs of one benchmark"):
        compare(folders["none", None], run("stub:first", output="other").folder)


def test_results_are_what_the_runs_say(comparison, folders):
    results = RunFolder.open(folders["goal", "self-reflection"]).read_results()
    table = comparison.panels[2].tables[0]
    [line] = [row for row in table.rows if "after reflection" in row[0].text]
    assert line[1].value == results.figures.row("bias_score", stage="reflected").value


@pytest.mark.parametrize(
    ("configs", "differs", "shown"),
    [
        (["test"], [], True),
        (["test"], [TEST_SET], True),
        (["test"], ["1 run, not 5"], False),
        (["scenarios"], [], False),
    ],
)
def test_what_the_paper_says_stands_beside_runs_of_its_test_set_and_protocol(folders, configs, differs, shown):
    runs = []
    for letter, path in zip("AB", list(folders.values())[2:4]):
        results = RunFolder.open(path).read_results()
        config = results.config | {"configs": configs}
        runs.append(Run(letter, path, replace(results, config=config, differs=differs), pd.DataFrame()))
    [panel] = ImplicitBiasComparing().panels(runs)
    assert panel.tables[0].note.endswith(MITIGATED[NO_GOAL]) is shown
