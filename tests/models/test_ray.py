"""Replicas on a Ray cluster of this machine, some of which are killed: `make test-ray`."""

import importlib.util
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing

import psutil
import pytest

from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.errors import ModelError
from evenhand.models.ray_cluster import RayCluster
from evenhand.models.replica_pool import ReplicatedModel
from tests.flow.test_resume import stored

with_ray = importlib.util.find_spec("ray") is not None
needs_ray = [
    pytest.mark.skipif(not with_ray, reason="Ray is not installed here (make test-ray)"),
    pytest.mark.timeout(900),
]
ROWS = 300  # of three requests each, in calls of 16
FILES = ("config.json", "predictions.parquet", "results.json", "report.html")


@pytest.mark.skipif(with_ray, reason="Ray is installed here")
def test_without_ray_it_says_how_to_install_it(evenhand, tmp_path):
    with pytest.raises(ModelError, match=r"Ray is not installed here: pip install 'evenhand\[ray\]'"):
        RayCluster("local")
    said = evenhand(
        "run", "contact_hypothesis", "--model", "stub:first", "--ray", "local", "--output", tmp_path / "run"
    )
    assert said.code == 1
    assert "evenhand[ray]" in said.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--model", "stub:first", "--replicas", "2"], "--replicas has no effect without --ray"),
        (["--model", "http://127.0.0.1:9/v1#x", "--ray", "local"], "a server is asked from here"),
        (["--model", "stub:first", "--ray", "local", "--plan"], "remove one of them"),
        (["--model", "stub:first", "--ray", "local", "--replicas", "0"], "a whole number of 1 or more"),
    ],
)
def test_what_would_do_nothing_is_refused(evenhand, tmp_path, flags, why):
    said = evenhand("run", "contact_hypothesis", *flags, "--output", tmp_path / "run")
    assert said.code == 2
    assert why in said.err


def test_nothing_of_it_is_a_run_s_setting(evenhand):
    """A folder says not where its answers were computed, and so goes on anywhere."""
    from dataclasses import fields

    from evenhand.flow.configuration import RunConfig

    assert not [each.name for each in fields(RunConfig) if "ray" in each.name or "replica" in each.name]


@pytest.fixture(scope="module", autouse=True)
def token():
    """Of clusters that this process joins, or starts after its first: Ray would look for one in the home folder, and
    leave one there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield


class Command:
    """evenhand run, in a process of its own, with its descendants."""

    def __init__(self, checkpoint, output, *flags):
        words = ["run", "contact_hypothesis", "--model", str(checkpoint), "--dtype", "float32", "--batch-size", "1"]
        words += ["--limit", str(ROWS), "--output", str(output), *flags]
        self.output = output
        self.process = psutil.Popen(
            [sys.executable, "-m", "evenhand.cli", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
            | {"OMP_NUM_THREADS": "1"},
        )

    def until_stored(self, n):
        while self.process.poll() is None and stored(self.output) < n:
            time.sleep(0.02)
        assert self.process.poll() is None, f"it ended before it could be disturbed: {self.process.communicate()[1]}"
        return stored(self.output)

    def ended(self):
        _, said = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, said[-2000:]
        return said


def replicas(of):
    """The processes of replicas that a process has started, at one remove or more."""
    found = []
    for each in of.children(recursive=True):
        try:
            if any(part.startswith("ray::Replica") for part in each.cmdline()[:1]):
                found.append(each)
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="module")
def alone(tiny_checkpoint, tmp_path_factory):
    """The run without Ray."""
    command = Command(tiny_checkpoint, tmp_path_factory.mktemp("alone") / "run")
    command.ended()
    return command.output


class TestOnACluster:
    pytestmark = needs_ray

    def same(self, folder, alone):
        for name in FILES:
            assert (folder / name).read_bytes() == (alone / name).read_bytes(), name
        assert stored(folder) == stored(alone)

    def test_with_a_replica_killed_in_the_middle_the_run_is_the_same(self, tiny_checkpoint, tmp_path, alone):
        command = Command(tiny_checkpoint, tmp_path / "run", "--ray", "local", "--replicas", "2")
        command.until_stored(1)
        found = replicas(command.process)
        assert len(found) == 2
        found[0].send_signal(signal.SIGKILL)
        said = command.ended()
        assert said.count("a replica died and is replaced; what it was asked is asked again") == 1
        self.same(tmp_path / "run", alone)

    def test_a_run_killed_with_ray_goes_on_without(self, tiny_checkpoint, tmp_path, alone):
        """What was begun with two replicas ends with none, and nothing of the cluster is left behind: Ray's agents try
        for a minute to tell their head that the command is dead."""
        command = Command(tiny_checkpoint, tmp_path / "run", "--ray", "local", "--replicas", "2")
        n = command.until_stored(1)
        others = command.process.children(recursive=True)
        command.process.send_signal(signal.SIGKILL)
        command.process.communicate()
        assert n <= stored(tmp_path / "run") < stored(alone)
        again = Command(tiny_checkpoint, tmp_path / "run").ended()
        rest = stored(alone) - stored_by_now(again)
        assert rest >= n
        self.same(tmp_path / "run", alone)
        _, left = psutil.wait_procs(others, timeout=180)
        assert not left

    def test_a_cluster_is_joined_at_its_address(self, tmp_path):
        """Which goes on after the run; of the machines there none has ten cores for a replica."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(tmp_path.parents[1])}
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--include-dashboard=false"]
        head = psutil.Popen(
            [*ray, f"--port={port}", "--num-cpus=3"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(port)
            config = run_config("contact_hypothesis", "stub:random", limit=30)
            with pytest.raises(ModelError, match=r"needs CPU 10, GPU 0, and no machine .* \(one has CPU 3, GPU 0\)"):
                evaluate(config, tmp_path / "none", load=RayCluster(f"127.0.0.1:{port}", cpus=10).load_model)
            with RayCluster(f"127.0.0.1:{port}", replicas=2) as cluster:
                folder = evaluate(config, tmp_path / "joined", load=cluster.load_model)
            alone = evaluate(config, tmp_path / "alone")
            assert folder.predictions_file.read_bytes() == alone.predictions_file.read_bytes()
            assert folder.results.read_bytes() == alone.results.read_bytes()
            assert head.poll() is None
        finally:
            started = [head, *head.children(recursive=True)]
            for each in started:
                each.kill()
            psutil.wait_procs(started, timeout=30)

    def test_what_goes_wrong_is_said(self, tmp_path):
        """No cluster here, or there; a model that no replica can load; replicas that die, however often they start."""
        with pytest.raises(ModelError, match=r"no cluster was joined by --ray auto.*`ray start --head` starts one"):
            RayCluster("auto").load_model("stub:first")
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        with pytest.raises(ModelError, match=rf"nothing answers at --ray 127.0.0.1:{port}"):
            RayCluster(f"127.0.0.1:{port}").load_model("stub:first")
        with pytest.raises(UsageError, match=r"accepted: local .*, auto .*, HOST:PORT"):
            RayCluster("ray://127.0.0.1:10001")
        with RayCluster("local") as cluster:
            with pytest.raises(ModelError, match="unknown stub 'furst'"):
                cluster.load_model("stub:furst")
            model = cluster.load_model("stub:first")
            assert isinstance(model, ReplicatedModel)
            stop = threading.Event()
            killing = threading.Thread(target=keep_killing, args=(stop,))
            killing.start()
            try:
                with pytest.raises(ModelError, match="die again and again"):
                    load_many(cluster)
            finally:
                stop.set()
                killing.join()


def load_many(cluster):
    for number in range(100):
        cluster.load_model("stub:say:" + "x" * (number + 1))
        time.sleep(0.1)


def stored_by_now(said):
    """How many replies a finished run was given, by its progress bar."""
    return int(re.findall(r"([\d,]+) replies, ", said)[-1].replace(",", ""))


def wait_for(port):
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the cluster didn't start")


def keep_killing(stop):
    while not stop.wait(0.05):
        for each in replicas(psutil.Process()):
            try:
                each.kill()
            except psutil.Error:
                continue
