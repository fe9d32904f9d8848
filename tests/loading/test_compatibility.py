"""What people have besides the versions that are tested together: `make test-compatibility` makes the environments.

A fresh clone has none of them, and these tests are skipped there.
"""

import json
import subprocess
import sys

import pytest

from tests.loading.test_datasets_versions import CONFIGS, ROOT, version_and_digests

ENVIRONMENTS = {"datasets 4": (".venv-datasets4", "4."), "the newest Python": (".venv-newest-python", "5.")}
METRIC = """
import json, sys
import evaluate

references = [{"scale": "certainty", "contact": "no_contact", "action": "positive"} for _ in range(6)]
clusters = ["a", "a", "b", "b", "c", "c"]
found = evaluate.load(sys.argv[1]).compute(
    predictions=["Yes", "No", "No", "Yes", "Yes", ""], references=references, clusters=clusters
)
print(json.dumps([sys.version_info[:2], found["biased_percentage"], found["intervals"], found["unread_rate"]]))
"""

pytestmark = pytest.mark.slow


def python_of(folder):
    python = ROOT / folder / "bin" / "python"
    if not (ROOT / folder / ".installed").exists():
        pytest.skip("make test-compatibility makes it")
    return python


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Of this environment: one digest of each configuration's rows."""
    folder = tmp_path_factory.mktemp("present")
    folders = [(ROOT / "datasets" / name, config) for name, config in CONFIGS]
    return folders, version_and_digests(sys.executable, folder / "home", folders, folder)[1:]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_same_rows_are_loaded(name, tmp_path, request):
    folder, version = ENVIRONMENTS[name]
    python = python_of(folder)
    folders, digests = request.getfixturevalue("expected")
    found, *of_it = version_and_digests(python, tmp_path / "home", folders, tmp_path)
    assert found.startswith(version)
    assert dict(zip(CONFIGS, of_it)) == dict(zip(CONFIGS, digests))


def test_a_metric_gives_the_same_on_the_newest_python(tmp_path):
    """Two of five read answers are biased: 40 %."""
    found = []
    for python in (python_of(".venv-newest-python"), sys.executable):
        command = [str(python), "-c", METRIC, str(ROOT / "metrics" / "contact_bias")]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout.splitlines()[-1]))
    (newer, *of_newer), (here, *of_here) = found
    assert newer > here
    assert json.dumps(of_newer) == json.dumps(of_here)
    assert of_newer[0]["overall"] == 40.0
