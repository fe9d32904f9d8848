"""Killed and resumed equals uninterrupted, to the byte, and nothing that was stored is asked again."""

import contextlib
import os
import random
import re
import signal
import sqlite3
import sys
import time

import pytest

from evenhand.cli import main

PROTOCOLS = {
    "choice scoring": ["--protocol", "choose"],
    "seeded sampling": ["--protocol", "generate", "--temperature", "1.0", "--max-new-tokens", "8"],
}
ROWS = 30
PROMPTS = 3 * ROWS
SECONDS = 300


def call(arguments, said):
    """In a process of its own: what it says goes to a file."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
    with open(said, "a", encoding="utf-8") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
        with open(1, "w", closefd=False) as sys.stdout, open(2, "w", closefd=False) as sys.stderr:
            code = main(arguments)
        os._exit(code)


class Called:
    """A command in a process of its own, forked from one that has imported everything."""

    def __init__(self, processes, arguments, said):
        self.said = said
        said.unlink(missing_ok=True)
        self.process = processes.Process(target=call, args=(arguments, str(said)))
        self.process.start()

    @property
    def runs(self):
        return self.process.is_alive()

    def send(self, how):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, how)

    def ended(self):
        """(exit code, what was said)"""
        self.process.join(SECONDS)
        assert not self.process.is_alive()
        return self.process.exitcode, self.said.read_text(encoding="utf-8")


@pytest.fixture(params=PROTOCOLS, ids=str)
def start(request, tiny_checkpoint, processes, tmp_path):
    """A function that starts a run in a folder as a process of its own."""

    def start(output):
        command = ["run", "contact_hypothesis", "--model", str(tiny_checkpoint), "--dtype", "float32"]
        command += ["--limit", str(ROWS), "--batch-size", "2", "--output", str(output), *PROTOCOLS[request.param]]
        return Called(processes, command, tmp_path / "said.txt")

    return start


def stored(folder) -> int:
    """Replies in a store that may not be there yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder / 'store.sqlite'}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM replies").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def interrupt(called, folder, after, how):
    """Send a signal once more than `after` replies are stored."""
    while called.runs and stored(folder) <= after:
        time.sleep(0.002)
    called.send(how)
    return called.ended()


def asked(said) -> int:
    """How many replies a finished run got from its model, by its progress bar."""
    return int(re.findall(r"(\d+) replies, ", said)[-1])


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed(start, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    code, said = start(whole).ended()
    assert code == 0, said
    assert asked(said) == PROMPTS

    rng = random.Random()
    for _ in range(2):
        before = stored(killed)
        code, _ = interrupt(start(killed), killed, before + rng.randrange(PROMPTS // 8), signal.SIGKILL)
        assert code == -signal.SIGKILL
        assert stored(killed) >= before
        assert not (killed / "results.json").exists()
    before = stored(killed)
    code, said = start(killed).ended()
    assert code == 0, said
    assert asked(said) == PROMPTS - before
    for name in ("predictions.parquet", "results.json", "report.html"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name

    code, said = start(killed).ended()
    assert code == 0
    assert asked(said) == 0


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(start, tmp_path):
    code, said = interrupt(start(tmp_path / "run"), tmp_path / "run", after=0, how=signal.SIGINT)
    assert code == 1
    assert "replies of finished calls are stored" in said
    assert "Run the same command again to go on." in said
    assert "Traceback" not in said
    assert stored(tmp_path / "run") > 0
