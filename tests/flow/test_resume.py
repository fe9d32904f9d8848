"""Killed and resumed equals uninterrupted, to the byte, and nothing that was stored is asked again."""

import random
import re
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

PROTOCOLS = {
    "choice scoring": ["--protocol", "choose"],
    "seeded sampling": ["--protocol", "generate", "--temperature", "1.0", "--max-new-tokens", "8"],
}
ROWS = 120
PROMPTS = 3 * ROWS


@pytest.fixture(params=PROTOCOLS, ids=str)
def start(request, tiny_checkpoint):
    """A function that starts a run in a folder as a process of its own."""

    def start(output):
        command = ["run", "contact_hypothesis", "--model", str(tiny_checkpoint), "--dtype", "float32"]
        command += ["--limit", str(ROWS), "--batch-size", "2", "--output", str(output), *PROTOCOLS[request.param]]
        return subprocess.Popen(
            [sys.executable, "-m", "evenhand.cli", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    return start


def stored(folder) -> int:
    """Replies in a store that may not be there yet."""
    try:
        with sqlite3.connect(f"file:{folder / 'store.sqlite'}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def interrupt(process, folder, after, how):
    """Send a signal once more than `after` replies are stored."""
    while process.poll() is None and stored(folder) <= after:
        time.sleep(0.002)
    process.send_signal(how)
    return process.communicate(timeout=60)


def asked(stderr) -> int:
    """How many requests a finished run asked, by its progress bar."""
    return int(re.findall(r"(\d+) asked", stderr)[-1])


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed(start, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    process = start(whole)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert asked(stderr) == PROMPTS

    rng = random.Random()
    for _ in range(4):
        before = stored(killed)
        process = start(killed)
        interrupt(process, killed, after=before + rng.randrange(PROMPTS // 8), how=signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        assert stored(killed) >= before
        assert not (killed / "results.json").exists()
    before = stored(killed)
    process = start(killed)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert asked(stderr) == PROMPTS - before
    for name in ("predictions.parquet", "results.json", "report.html"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name

    process = start(killed)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0
    assert asked(stderr) == 0


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(start, tmp_path):
    process = start(tmp_path / "run")
    _, stderr = interrupt(process, tmp_path / "run", after=0, how=signal.SIGINT)
    assert process.returncode == 1
    assert "every reply so far is stored. Run the same command again to go on." in stderr
    assert "Traceback" not in stderr
    assert stored(tmp_path / "run") > 0
