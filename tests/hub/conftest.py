"""A hub of each test's own, and fresh processes with an empty HF_HOME that know no other."""

import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.hub.hub_server import serving
from tests.hub.weights import weights

TOKEN, OTHERS_TOKEN = "hf_" + "a" * 34, "hf_" + "b" * 34  # of the users `ann` and `bob`


@pytest.fixture(scope="session")
def port():
    """One for all tests' hubs, one after the other: a process knows one hub from its start to its end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def hub(port):
    """The server's state: ann may write to `ann` and `lab`, bob to `bob`."""
    with serving(port) as served:
        served.store.users |= {TOKEN: "ann", OTHERS_TOKEN: "bob"}
        served.store.organizations["lab"] = {"ann"}
        yield served


@pytest.fixture(scope="session")
def environment(port, tmp_path_factory):
    """Of a fresh process: the hub, ann's token; its HF_HOME was empty when the tests began."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING_FACE", "EVENHAND"))
    }
    return kept | {
        "HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(tmp_path_factory.mktemp("hf-home")), "HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }  # fmt: skip


@pytest.fixture
def python(hub, environment, tmp_path):
    """python("print(1)", HF_TOKEN=…) → exit code, stdout, stderr of a fresh process with an empty HF_HOME."""

    def call(code, *arguments, **changed):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        own = {"HF_HOME": str(tmp_path / "hf-home"), **changed}
        done = subprocess.run(command, env=environment | own, cwd=tmp_path, capture_output=True, text=True)
        return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)

    return call


# Imports what takes long once; each command is a process of its own, forked from it before anything was called.
FORKS = """
import json, os, sys, traceback
import cloudpickle, dacite, huggingface_hub.hf_api, jinja2, jsonschema, pandas, pyarrow.parquet, safetensors, sqlite3
import evenhand.benchmarks.contact_controls.verdict, evenhand.benchmarks.contact_hypothesis.benchmark
import evenhand.benchmarks.contact_hypothesis.publishing, evenhand.hub.cards.model, evenhand.hub.checkpoint
import evenhand.hub.publish_command, evenhand.hub.publishing, evenhand.hub.refusals, evenhand.hub.submission.command
import evenhand.hub.submission.submission, evenhand.metrics.contact_bias.scores, evenhand.report.comparison
import evenhand.mitigations, evenhand.progress, evenhand.statistics.estimators, evenhand.tools.dataset_upkeep.hub_tasks
import evenhand.trainers.rewards
from evenhand.cli import main
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        code = 70
        try:
            os.environ.update(asked["changed"])
            os.chdir(asked["cwd"])
            for descriptor, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(f"{asked['cwd']}/.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
            code = main(asked["arguments"])
        except SystemExit as stopped:
            code = stopped.code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="session")
def forks(environment):
    command = [sys.executable, "-c", FORKS]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def command(hub, forks, tmp_path):
    """command("publish", …) → the command line in a process of its own: its exit code, what it printed (out, err)."""

    def call(*arguments, **changed):
        asked = {"arguments": [*map(str, arguments)], "changed": {"HF_TOKEN": TOKEN, **changed}, "cwd": str(tmp_path)}
        forks.stdin.write(json.dumps(asked) + "\n")
        forks.stdin.flush()
        code = int(forks.stdout.readline())
        return SimpleNamespace(code=code, out=(tmp_path / ".out").read_text(), err=(tmp_path / ".err").read_text())

    return call


@pytest.fixture
def checkpoint(tmp_path):
    """A folder of full weights, as small as the Hub takes one for a checkpoint."""
    folder = tmp_path / "fair-model"
    folder.mkdir()
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A model\n")
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "model.safetensors").write_bytes(weights(bytes(range(256)) * 100))
    return folder
