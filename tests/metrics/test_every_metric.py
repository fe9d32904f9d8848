"""What every metric folder has, and that each is an `evaluate` module that stands alone and keeps its docstring."""

import ast
import doctest
from types import SimpleNamespace

import evaluate
import pytest

from evenhand.library import METRICS, metric_names

every_metric = pytest.mark.parametrize("name", metric_names())


def test_there_are_metrics():
    assert "contact_bias" in metric_names()


@every_metric
@pytest.mark.parametrize("file", ["{name}.py", "scores.py", "README.md", "app.py", "requirements.txt"])
def test_the_folder_is_complete(name, file):
    assert (METRICS / name / file.format(name=name)).is_file()


@every_metric
@pytest.mark.parametrize("file", ["{name}.py", "scores.py"])
def test_it_stands_alone(name, file):
    source = (METRICS / name / file.format(name=name)).read_text(encoding="utf-8")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, f"{name}/{file} imports from outside its folder"
    assert not {module for module in imported if module.split(".")[0] == "evenhand"}


@every_metric
def test_evaluate_loads_it_and_it_documents_its_inputs(name):
    metric = evaluate.load(str(METRICS / name))
    assert metric.name == name
    for column in ("predictions", "references"):
        assert column in metric.features
        assert f"{column}:" in metric.inputs_description


@every_metric
def test_the_example_in_its_docstring_gives_what_it_says(name):
    """The example loads the metric by its published name; here that name is the folder."""
    packaged = SimpleNamespace(load=lambda published: evaluate.load(str(METRICS / published.split("/")[-1])))
    documented = evaluate.load(str(METRICS / name)).inputs_description
    example = doctest.DocTestParser().get_doctest(documented, {"evaluate": packaged}, name, None, 0)
    report = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=report.append)
    assert results.attempted > 0
    assert results.failed == 0, "".join(report)
