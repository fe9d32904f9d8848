"""action.yml: what GitHub runs is run here by bash, step for step."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


@pytest.mark.parametrize("there", [True, False])
def test_the_action_ends_as_the_command_does_and_writes_a_summary(finished, evenhand, root, tmp_path, there):
    action = yaml.safe_load((root / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    base, other = (finished("contact_hypothesis", f"stub:{name}", limit=20) for name in ("first", "random"))
    candidate = other if there else tmp_path / "none"
    code = evenhand("gate", base, candidate, "--max-increase", "8").code
    inputs = {"base": str(base), "candidate": str(candidate), "arguments": "--max-increase 8"}
    given = {name: inputs.get(name, each.get("default", "")) for name, each in action["inputs"].items()}
    variables = {name: given[text.split(".")[1].split()[0]] for name, text in step["env"].items()}
    summary = tmp_path / "summary.md"
    environment = {**os.environ, **variables, "GITHUB_STEP_SUMMARY": str(summary)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(["bash", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert (code == 2) != there
    assert summary.is_file() == there
    assert (tmp_path / "gate.xml").is_file() == there
