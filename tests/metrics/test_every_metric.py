"""What every metric folder has, and that each is an `evaluate` module that stands alone and keeps its docstring."""

import ast
import doctest
import os
import shutil
import subprocess
import sys
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


every_file = pytest.mark.parametrize(
    ("name", "file"), [(name, path.name) for name in metric_names() for path in sorted((METRICS / name).glob("*.py"))]
)


def imports(name, file):
    """(the modules outside its folder that a file imports, those of its folder)."""
    outside, inside = set(), set()
    for node in ast.walk(ast.parse((METRICS / name / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            outside |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            outside.add(node.module)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, f"{name}/{file} imports from outside its folder"
            assert node.module, f"{name}/{file}: evaluate doesn't see 'from . import'"
            inside.add(node.module)
    return outside, inside


@every_file
def test_it_stands_alone(name, file):
    outside, _ = imports(name, file)
    assert not {module for module in outside if module.split(".")[0] == "evenhand"}


@every_file
def test_what_a_file_imports_of_its_folder_the_shell_imports_too(name, file):
    """evaluate copies only the files that the shell itself imports."""
    _, inside = imports(name, file)
    _, copied = imports(name, f"{name}.py")
    assert inside <= copied


@every_metric
def test_a_copy_elsewhere_loads_in_a_new_process(name, tmp_path):
    """Of the folder alone, as on the Hub, and with no modules copied before."""
    shutil.copytree(METRICS / name, tmp_path / name)
    program = f"import evaluate; print(evaluate.load({str(tmp_path / name)!r}).name)"
    environment = os.environ | {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split() == [name], ran.stderr


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
