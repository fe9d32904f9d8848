"""What every metric folder has, and that each is an `evaluate` module that stands alone and keeps its docstring."""

import ast
import doctest
import math
import os
import subprocess
import sys
from types import SimpleNamespace

import evaluate
import numpy as np
import pytest

from evenhand.hub.packaged import standing_alone
from evenhand.library import METRICS, metric_names

every_metric = pytest.mark.parametrize("name", metric_names())

ANSWERS = {  # metric: (answer, its opposite, what both are references of)
    "contact_bias": ("Yes", "No", {"scale": "certainty", "contact": "no_contact", "action": "positive"}),
    "bbq_bias": (
        "0",
        "1",
        {"context_condition": "ambig", "question_polarity": "neg", "label": "1", "unknown": "1", "target": "0"},
    ),
    "association_score": (
        "male",
        "female",
        {"attribute": "gender", "scenario": "occupation", "instance": "nurse", "candidates": ["male", "female"]},
    ),
    "implicit_bias_score": (
        ["Al", "Bo"],
        ["Bo", "Al"],
        {"task_stereotypes": ["male", "female"], "characters": ["Al", "Bo"], "genders": ["male", "female"]},
    ),
    "agency_gap": ([1, 1, 0], [0, 1, 0], {"gender": "male", "race": "White"}),
}


def test_there_are_metrics():
    assert "contact_bias" in metric_names()


@every_metric
@pytest.mark.parametrize(
    "file", ["{name}.py", "scores.py", "README.md", "app.py", "requirements.txt", "about.json", "example.csv"]
)
def test_the_folder_is_complete(name, file):
    assert (METRICS / name / file.format(name=name)).is_file()


every_file = pytest.mark.parametrize(
    ("name", "file"),
    [
        (name, path.name)
        for name in metric_names()
        for path in sorted((METRICS / name).glob("*.py"))
        if path.name != "app.py"  # the Space's page, which a part of evenhand accompanies
    ],
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
def test_what_it_needs_of_evenhand_can_be_put_beside_it(name, file):
    outside, _ = imports(name, file)
    shared = {module for module in outside if module.split(".")[0] == "evenhand"}
    assert {module.rpartition(".")[0] for module in shared} <= {"evenhand.statistics", "evenhand.answers"}


@every_file
def test_what_a_file_imports_of_its_folder_the_shell_imports_too(name, file):
    """evaluate copies only the files that the shell itself imports."""
    _, inside = imports(name, file)
    _, copied = imports(name, f"{name}.py")
    assert inside <= copied


@pytest.mark.slow
def test_published_folders_load_in_a_new_process_without_evenhand(tmp_path):
    """Of each folder alone, as on the Hub, and with no modules copied before."""
    for name in metric_names():
        (tmp_path / name).mkdir()
        for path, content in standing_alone(name).items():
            assert b"from evenhand" not in content
            (tmp_path / name / path).write_bytes(content)
    program = (
        "import sys; sys.modules['evenhand'] = None\nimport evaluate\n"
        f"for name in {metric_names()!r}:\n"
        f"    metric = evaluate.load(f'{tmp_path}/{{name}}')\n"
        f"    answer, other, reference = {ANSWERS!r}[name]\n"
        "    metric.compute(predictions=[answer, other], references=[reference] * 2)\n"
        "    print(metric.name)"
    )
    environment = os.environ | {"HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split() == list(metric_names()), ran.stderr


@every_metric
def test_evaluate_loads_it_and_it_documents_its_inputs(name):
    metric = evaluate.load(str(METRICS / name), keep_in_memory=True)
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


@every_metric
def test_intervals_have_a_width_and_take_a_number_of_draws(name):
    """36 clusters, each of one answer. Scores of distances are of draws: of 1,000 where nothing is said."""
    metric = evaluate.load(str(METRICS / name), keep_in_memory=True)
    answer, opposite, reference = ANSWERS[name]
    columns = {
        "predictions": [answer, answer, opposite] * 12,
        "references": [reference] * 36,
        "clusters": [f"cluster {i}" for i in range(36)],
    }

    def intervals(**n_resamples):
        found = metric.compute(**columns, **n_resamples)["intervals"]
        return np.array([ends for ends in _ends(found) if not np.isnan(ends).any()])

    whole = intervals()
    assert len(whole)
    np.testing.assert_array_equal(intervals(n_resamples=1000), whole)
    assert (np.diff(whole) > 0).any()
    assert (np.diff(intervals(n_resamples=1)) >= 0).all()
    for wrong in (0, -5, 2.5, None):
        with pytest.raises(ValueError, match=f"n_resamples is {wrong}; give a whole number of draws, 1 or more"):
            metric.compute(**columns, n_resamples=wrong)


@every_metric
def test_what_is_no_answer_is_refused_with_its_row(name):
    """evaluate alone would look at the first row only, cut 0.5 to 0, and take the others for texts or for missing."""
    metric = evaluate.load(str(METRICS / name), keep_in_memory=True)
    answer, _, reference = ANSWERS[name]
    of_lists = [] if isinstance(answer, str) else ["Al", "1"]
    for strange in (1, 0.5, None, True, b"Yes", {"a": 1}, [["Al"], "Bo"], ["Al", 1], ["Al", None], *of_lists):
        with pytest.raises(ValueError, match="row 2"):
            metric.compute(predictions=[answer, answer, strange], references=[reference] * 3)
    with pytest.raises(ValueError, match="row 0"):
        metric.add(prediction=0.5, reference=reference)


@every_metric
def test_columns_of_another_kind_are_refused(name):
    metric = evaluate.load(str(METRICS / name), keep_in_memory=True)
    answer, _, reference = ANSWERS[name]
    texts = [key for key, value in reference.items() if isinstance(value, str)]
    for key in reference:
        for strange in (1, None, b"x", [1], [None]):
            with pytest.raises(ValueError, match=f"row 1: {key} has"):
                metric.compute(predictions=[answer] * 2, references=[reference, reference | {key: strange}])
    for columns in ({"clusters": "ab"}, {"clusters": 2}, {"clusters": ["a"]}, {"by": ["a"]}, {"by": {"x": "ab"}}):
        with pytest.raises(ValueError, match=r"clusters|by"):
            metric.compute(predictions=[answer] * 2, references=[reference] * 2, **columns)
    with pytest.raises(ValueError, match=r"row 1: clusters has \['a'\]"):
        metric.compute(predictions=[answer] * 2, references=[reference] * 2, clusters=["a", ["a"]])
    missing = {key: value for key, value in reference.items() if key != next(iter(texts), "genders")}
    with pytest.raises(ValueError, match="row 1: references has"):
        metric.compute(predictions=[answer] * 2, references=[reference, missing])


@pytest.mark.parametrize(("name", "column"), [("contact_bias", "probabilities"), ("implicit_bias_score", "expected")])
def test_numbers_beside_answers_are_numbers(name, column):
    metric = evaluate.load(str(METRICS / name), keep_in_memory=True)
    answer, _, reference = ANSWERS[name]
    for strange in ("0.5", True, [0.5], math.inf, 2):
        with pytest.raises(ValueError, match=f"row 1: {column} is"):
            metric.compute(predictions=[answer] * 2, references=[reference] * 2, **{column: [None, strange]})


def _ends(intervals):
    for value in intervals.values():
        yield from _ends(value) if isinstance(value, dict) else [value]
