"""A hub of each test's own, and fresh processes with an empty HF_HOME that know no other."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.hub.hub_server import serving

TOKEN, OTHERS_TOKEN = "hf_" + "a" * 34, "hf_" + "b" * 34  # of the users `ann` and `bob`


@pytest.fixture
def hub():
    """The server's state: ann may write to `ann` and `lab`, bob to `bob`."""
    with serving() as served:
        served.store.users |= {TOKEN: "ann", OTHERS_TOKEN: "bob"}
        served.store.organizations["lab"] = {"ann"}
        yield served


@pytest.fixture
def environment(hub, tmp_path):
    """Of a fresh process: the hub, ann's token, an empty HF_HOME."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING_FACE", "EVENHAND"))
    }
    return kept | {
        "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "hf-home"), "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1", "NO_PROXY": "127.0.0.1,localhost",
    }  # fmt: skip


@pytest.fixture
def python(environment, tmp_path):
    """python("print(1)", HF_TOKEN=…) → returncode, stdout, stderr of a fresh process."""

    def call(code, *arguments, **changed):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, env=environment | changed, cwd=tmp_path, capture_output=True, text=True)
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)

    return call


@pytest.fixture
def command(python):
    """command("publish", …) → the command line in a fresh process: its exit code, what it printed (out, err)."""

    def call(*arguments, **changed):
        return python("import sys; from evenhand.cli import main; sys.exit(main(sys.argv[1:]))", *arguments, **changed)

    return call


@pytest.fixture
def checkpoint(tmp_path):
    """A folder of full weights, as small as the Hub takes one for a checkpoint."""
    folder = tmp_path / "fair-model"
    folder.mkdir()
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A model\n")
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 100)
    return folder
