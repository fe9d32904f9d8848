"""docs/notebook.ipynb is run, with stubs in place of models; what its cells end with is shown as a notebook would."""

import ast
import json
from pathlib import Path

import pandas as pd
import pytest

import evenhand
from evenhand.flow.run_folder import RunFolder
from evenhand.report.comparison import Comparison
from evenhand.report.pages import ReportedRun
from tests.docs.pages import stood_in
from tests.scripted_models import Scripted


@pytest.fixture(scope="module")
def shown(tmp_path_factory, root):
    """What each code cell ends with."""
    notebook = json.loads((root / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    assert all(not cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    values, names = [], {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        for cell in cells:
            *statements, last = ast.parse(stood_in(cell)).body
            exec(compile(ast.Module(statements, []), "cell", "exec"), names)
            values.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
        yield values, [value._repr_html_() for value in values if hasattr(value, "_repr_html_")]


def test_every_cell_shows_something(shown):
    values, html = shown
    assert [type(value) for value in values] == [
        ReportedRun, pd.DataFrame, list, pd.DataFrame, Comparison, pd.DataFrame,
    ]  # fmt: skip
    assert all("<table" in each for each in html)
    assert "random answers: 50" in html[0]
    assert "By dimension" in values[2]


def test_frames_have_numbers(shown):
    """Of a model that always takes the first option half is biased where actions are balanced."""
    run, frame = shown[0][:2]
    biased = run.read_results().figures.row("biased", scale="certainty", contact="no_contact")
    [row] = frame[
        (frame["figure"] == "biased") & (frame["scale"] == "certainty") & (frame["contact"] == "no_contact")
    ].itertuples()
    assert (row.value, row.low, row.n) == (biased.value, biased.low, biased.n)
    differences = shown[0][-1]
    assert {"B minus A", "B minus A, low", "p"} <= {*differences.columns}


def test_what_a_model_says_its_name_is_stays_text(tmp_path):
    model = Scripted(lambda request: "Yes", name="<script>alert(1)</script>@1")
    config = evenhand.run_config("contact_hypothesis", "stub", limit=3, protocol="generate", configs=("certainty",))
    html = evenhand.evaluate(config, tmp_path / "run", model=model)._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_run_that_has_not_finished_says_so(tmp_path):
    assert "does not exist" in ReportedRun(tmp_path / "none")._repr_html_()
    assert repr(RunFolder(Path("runs/none"))) == "RunFolder('runs/none'), not finished"
    (tmp_path / "report.html").touch()
    assert repr(RunFolder(tmp_path)) == f"RunFolder('{tmp_path}'), finished"
