"""A run that is killed at any of its writes, and started again, ends in the bytes of one that nobody disturbed.

What is counted, by audit hooks and SQLite's own trace: each file that is opened to be written, each folder made, each
file moved or removed, each SQL statement that changes the store. Before a file is moved to its place the process is
killed twice: once as it is, once with half of it written.
"""

import os
import signal
import sqlite3
import sys
import traceback
from itertools import count

import pytest

from evenhand.flow import evaluation
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.report import plots

ENDS_IN = ("predictions.parquet", "results.json", "report.html")
READS = ("SELECT", "--")  # of SQL; a trigger's are told as comments
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
SECONDS = 120
DONE, RAISED = 0, 1
CONFIG = run_config("contact_hypothesis", "stub:first", limit=2)


@pytest.fixture
def quick(monkeypatch):
    """What writes nothing into the folder is done once for all: rows loaded, figures computed, drawings drawn."""
    for name in ("drawn_rows", "figure_rows"):
        monkeypatch.setattr(evaluation, name, once(getattr(evaluation, name)))
    for name in ("grouped_bars", "heatmap"):
        monkeypatch.setattr(plots, name, once(getattr(plots, name)))


def once(function):
    """A function that is called with the same arguments each time."""
    made = []

    def call(*arguments, **named):
        if not made:
            made.append(function(*arguments, **named))
        return made[0]

    return call


def kill_at(folder, place):
    """Have this process killed at its `place`-th write to the folder, which has a half where a file is moved."""
    written = count()

    def write(half_of=None):
        if half_of is not None and next(written) == place:
            os.truncate(half_of, os.stat(half_of).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        if next(written) == place:
            os.kill(os.getpid(), signal.SIGKILL)

    def statement(sql):
        if not sql.lstrip().upper().startswith(READS):
            write()

    def hook(event, arguments):
        if not arguments or not str(arguments[0]).startswith(str(folder)):
            return
        if event == "os.rename":
            write(half_of=arguments[0])
        elif event in ("os.mkdir", "os.remove") or (event == "open" and arguments[2] & WRITES):
            write()

    def connect(*arguments, **named):
        connection = connected(*arguments, **named)
        connection.set_trace_callback(statement)
        return connection

    connected, sqlite3.connect = sqlite3.connect, connect
    sys.addaudithook(hook)


def in_a_fork(folder, place=None):
    """The run, in a process of its own, killed at a write where one is named; its exit code, or minus the signal."""
    process = os.fork()
    if process == 0:
        code = RAISED
        try:
            signal.alarm(SECONDS)
            if place is not None:
                kill_at(folder, place)
            evaluate(CONFIG, folder)
            code = DONE
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.slow
def test_killed_at_every_write_and_resumed(quick, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    evaluate(CONFIG, undisturbed)
    expected = {name: (undisturbed / name).read_bytes() for name in ENDS_IN}
    for place in count():
        folder = tmp_path / f"killed at {place}"
        ended = in_a_fork(folder, place)
        if ended == DONE:
            break
        assert ended == -signal.SIGKILL, place
        assert in_a_fork(folder) == DONE, f"killed at write {place}, and can't go on"
        assert {name: (folder / name).read_bytes() for name in ENDS_IN} == expected, place
    assert place > 20  # or the hooks saw nothing
