"""A package of other people: a benchmark with an option and three choices, a mitigation and a backend, by entry points.

evenhand's wheel and the package are installed in an environment of their own, outside the repository, which finds the
libraries that both need in this one.
"""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.hub.submittable import MODEL, whole

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parent / "example"
NOT_BUILT = (".git", ".venv*", "build", "runs", "tests", "__pycache__", "*.egg-info")

COMMANDS = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from evenhand.cli import main
for commands in sys.stdin:
    said = []
    for command in json.loads(commands):
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(command)
            except SystemExit as exit_:
                code = exit_.code
        said.append([code, out.getvalue(), err.getvalue()])
    print(json.dumps(said), flush=True)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory, root):
    """The interpreter of an environment with evenhand's wheel and the package, and nothing of the repository."""
    folder = tmp_path_factory.mktemp("elsewhere")
    environment, wheels = folder / "environment", folder / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    for source in (root, EXAMPLE):
        copy = shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns(*NOT_BUILT))
        wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(copy)]
        subprocess.run(wheel, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [*pip, "--python", str(python), "install", "--no-deps", "--no-index", *map(str, wheels.glob("*.whl"))]
    subprocess.run(install, check=True, capture_output=True)
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"])
    return python


@pytest.fixture(scope="module")
def call(python, tmp_path_factory):
    """call(commands) → code, out and err of each, all in one process of that environment."""
    elsewhere = tmp_path_factory.mktemp("cwd")
    command = [python, "-I", "-c", COMMANDS]
    with subprocess.Popen(command, cwd=elsewhere, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def call(*commands):
            print(json.dumps([[str(part) for part in command] for command in commands]), file=process.stdin, flush=True)
            return [SimpleNamespace(code=c, out=o, err=e) for c, o, e in json.loads(process.stdout.readline())]

        yield call
        process.stdin.close()


@pytest.fixture(scope="module")
def runs(call, tmp_path_factory):
    """What the package's benchmark gave with its backend, with a stub, with its mitigation, and with an option."""
    folder = tmp_path_factory.mktemp("runs")
    asked = {
        "either": ["--model", "always:either"],
        "first": ["--model", "stub:first"],
        "turns": ["--model", "stub:first", "--mitigation", "take-turns"],
        "couple": ["--model", "stub:first", "--couple", "Ann and Bob share a flat."],
        "part": ["--model", "stub:first", "--limit", "3"],
    }
    said = call(*(["run", "chores", *options, "--output", folder / name] for name, options in asked.items()))
    assert [each.code for each in said] == [0] * len(asked), said
    return folder


def gendered(folder):
    [figure] = json.loads((folder / "results.json").read_text())["figures"]
    return figure["value"]


def test_scores_are_what_the_definition_says(runs):
    """Either: no chore has a gender, 0 %. The first option: the man does everything, 100 %."""
    scores = {path.name: gendered(path) for path in runs.iterdir()}
    assert scores == {"either": 0.0, "first": 100.0, "turns": 100.0, "couple": 100.0, "part": 100.0}


def test_a_benchmark_without_published_figures_says_nothing_of_them(runs):
    assert json.loads((runs / "part" / "results.json").read_text())["differs"] == []
    assert "Published figures" not in (runs / "part" / "report.html").read_text()


def test_options_and_mitigations_reach_the_model_and_the_record(runs):
    plain, couple, turns = (
        json.loads((runs / name / "config.json").read_text()) for name in ("first", "couple", "turns")
    )
    assert couple["options"] == {"couple": "Ann and Bob share a flat."}
    assert plain["options"] == {"couple": "A man and a woman live together."}
    assert turns["mitigation"] == "take-turns"
    keys = set()
    for name in ("first", "couple", "turns"):
        with closing(sqlite3.connect(runs / name / "store.sqlite")) as store:
            keys |= {key for (key,) in store.execute("SELECT key FROM replies")}
    assert len(keys) == 3 * 5  # every prompt was another one


def test_it_is_listed_helped_planned_reported_and_compared(call, runs):
    listed, helped, planned, reported, compared = call(
        ["list"],
        ["run", "chores", "--help"],
        ["run", "chores", "--model", "stub:first", "--plan"],
        ["report", runs / "first"],
        ["compare", runs / "either", runs / "first", "--output", runs.parent / "compare.html"],
    )
    for said, words in (
        (listed, ("chores", "take-turns", "always")),
        (helped, ("--couple TEXT", "who they are (default: A man and a woman live together.)", "--limit N")),
        (planned, ("5 rows, 5 requests", "Nothing was stored.")),
        (reported, ("Report: ",)),
        (compared, ("chores given to one of them", "tied", "5 prompts in common")),  # five are too few to tell
    ):
        assert said.code == 0, said
        assert all(word in re.sub(r"\s+", " ", said.out) for word in words), said
    page = (runs / "first" / "report.html").read_text()
    assert "Who does the chores?" in page
    assert "iron the shirts" in page


def test_its_results_are_submitted_and_its_rows_profiled(call, runs, tmp_path):
    """The headline figure, under the name of its configuration: all five answers are "the man", 100 %."""
    whole(runs / "first", tmp_path / "run")
    submission = tmp_path / "submission"
    submitted, profiled = call(
        ["submit", tmp_path / "run", "--model-id", MODEL, "--namespace", "lab", "--output", submission],
        ["profile", "--model", "stub:first", "--benchmark", "chores", "--budget", "full", "--output", tmp_path / "p"],
    )
    assert submitted.code == 0, submitted
    [file] = submission.rglob("*.json")
    [result] = json.loads(file.read_text())["evaluation_results"]
    assert result["evaluation_name"] == "chores.home"
    assert (result["source_data"]["dataset_name"], result["score_details"]["score"]) == ("chores", 100.0)
    assert result["metric_config"]["lower_is_better"] is True
    assert profiled.code == 0, profiled
    assert "Who does the chores?" in (tmp_path / "p" / "profile.html").read_text()


def test_an_interrupted_run_goes_on(call, runs):
    """What was stored is not asked again, and the bytes are the same."""
    folder = runs / "first"
    before = {name: (folder / name).read_bytes() for name in ("predictions.parquet", "results.json", "report.html")}
    for name in before:
        (folder / name).unlink()
    with closing(sqlite3.connect(folder / "store.sqlite")) as store:
        store.execute("DELETE FROM replies WHERE key IN (SELECT key FROM replies ORDER BY key LIMIT 2)")
        store.commit()
    [said] = call(["run", "chores", "--model", "stub:first", "--output", folder])
    assert said.code == 0, said
    assert "2 replies" in said.err
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert len(pd.read_parquet(folder / "predictions.parquet")) == 5


def test_wrong_names_and_options_are_explained(call):
    misspelt, foreign, not_its_own = call(
        ["run", "chore", "--model", "stub:first", "--output", "x"],
        ["run", "chores", "--model", "stub:first", "--classifiers", "lexicon", "--output", "x"],
        ["run", "contact_hypothesis", "--model", "stub:first", "--mitigation", "take-turns", "--output", "x"],
    )
    assert [said.code for said in (misspelt, foreign, not_its_own)] == [2, 2, 2]
    assert "did you mean 'chores'?" in misspelt.err
    assert "unrecognized arguments: --classifiers lexicon" in foreign.err
    assert "--mitigation take-turns does not fit contact_hypothesis; it fits chores" in not_its_own.err


def test_the_documentation_walks_through_this_very_package(root):
    page = (root / "docs" / "adding-a-benchmark.md").read_text(encoding="utf-8")
    code = (EXAMPLE / "evenhand_chores.py").read_text(encoding="utf-8")
    assert code in page
    assert len(code.splitlines()) < 60
    points = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    assert points[points.index("[project.entry-points") : points.index("[tool.")].strip() in page
    assert "](docs/adding-a-benchmark.md)" in (root / "README.md").read_text(encoding="utf-8")


def test_nothing_inside_evenhand_names_it(root):
    for folder in ("src", "models", "trainers", "datasets", "metrics", "scripts"):
        for path in (root / folder).rglob("*.py"):
            assert not re.search(r"evenhand_chores|take-turns", path.read_text(encoding="utf-8")), path
