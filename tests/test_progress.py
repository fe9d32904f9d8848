"""What takes long gives a sign of life, and bars stand within each other."""

import errno
import fcntl
import io
import os
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from contextlib import contextmanager, redirect_stderr

import pytest

from evenhand.cli import COMMANDS, Command, main
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.flow.runner import Step
from evenhand.progress import AtWork, Bar, ProgressBar, write_line
from evenhand.terminal import Terminal
from evenhand.trainers.progress import TrainingBar


@pytest.fixture(autouse=True)
def drawn_each_second(monkeypatch):
    """As on a terminal; in a log it would be each ten."""
    monkeypatch.setattr("evenhand.progress.drawing_interval", lambda: 0.1)


def wait_for(said, words):
    """What was said by then; fails where these words, a regular expression, don't come."""
    all_said = ""
    end = time.monotonic() + 60
    while not re.search(words, all_said):
        assert time.monotonic() < end, f"{words!r} was not said: {all_said!r}"
        time.sleep(0.02)
        all_said += said.readouterr().err
    return all_said


def test_what_is_short_says_nothing(capsys):
    with AtWork("reading"):
        pass
    assert capsys.readouterr() == ("", "")


def test_what_is_long_says_what_it_does_and_for_how_long(capsys):
    with AtWork("reading \x1b[2J", silent_for=0.01) as work:
        assert "reading ␛[2J: running for 00:" in wait_for(capsys, "running")
        work.tell("judging")
        wait_for(capsys, "judging: running for 00:0")


def test_a_command_without_bars_of_its_own_is_watched(capsys, monkeypatch):
    monkeypatch.setattr(AtWork.__init__, "__defaults__", (0.01,))
    monkeypatch.setattr(Command, "__call__", lambda self, arguments, console: wait_for(capsys, "compare: running"))
    assert not COMMANDS["compare"].tells
    assert "running for 00:0" in main(["compare"])


def test_in_a_log_each_sign_of_life_is_a_line(capsys):
    with AtWork("reading", silent_for=0.01):
        said = wait_for(capsys, "running")
        Terminal(width=20).print("found")
    said += capsys.readouterr().err
    assert {line.partition(" for ")[0] for line in said.splitlines()} == {"reading: running"}


@contextmanager
def terminal(rows=24, columns=80):
    """One in place of standard error; the function takes what was written to it."""
    shows, takes = os.openpty()
    fcntl.ioctl(takes, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with open(takes, "w", buffering=1) as stream, redirect_stderr(stream):
        yield lambda: _drained(shows)
    os.close(shows)


def _drained(terminal):
    """What was written to it; of what comes in parts all, once nothing follows for half a second."""
    said = b""
    while select.select([terminal], [], [], 0.5)[0]:
        said += os.read(terminal, 100_000)
    return said.decode()


def test_on_a_terminal_the_line_goes_at_the_end():
    said = ""
    end = time.monotonic() + 60
    with terminal() as written:
        with AtWork("reading", silent_for=0.01):
            while "running" not in said and time.monotonic() < end:
                said += written()
            Terminal(stderr=True, width=20).print("found")
        said += written()
    assert said.index("running") < said.index("found\r\n") < said.rindex("running")
    left = said.rpartition("running")[2].rpartition("\r")
    assert not left[2]  # the cursor stands at the begin of
    assert not left[0].rpartition("\r")[2].strip()  # blanks over it


def can_draw():
    """Whether another thread gets the lock of all bars."""
    other = threading.Thread(target=Bar(total=1).refresh, daemon=True)
    other.start()
    other.join(timeout=10)
    return not other.is_alive()


class Gone(io.StringIO):
    """A stream whose reader has gone away."""

    def write(self, text):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def closed():
    stream = open(os.devnull, "w")  # noqa: SIM115
    stream.close()
    return stream


def detached():
    stream = io.TextIOWrapper(io.BytesIO())
    stream.detach()
    return stream


class OfSomebody:
    """As loggers and copiers of output are: nothing but what print needs."""

    def write(self, text):
        self.said = getattr(self, "said", "") + text

    def flush(self):
        pass


STREAMS = {"gone": Gone(), "none": None, "closed": closed(), "detached": detached(), "of somebody": OfSomebody()}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_progress_that_nobody_reads_stops_no_work(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    with AtWork("reading", silent_for=0.01), ProgressBar("labe") as run, TrainingBar() as training:
        run.update(3, Step(finished=1))
        training.update("training", 1, 2)
        training.update("saving", 0, 0)
        time.sleep(0.1)
        write_line("a line")
        run.update(3, Step(finished=2))
    assert run._bar.n == 3
    assert can_draw()


def test_a_drawing_that_is_interrupted_gives_back_the_lock(monkeypatch):
    bar = Bar(total=3)
    monkeypatch.setattr(bar, "display", lambda *given, **named: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bar.refresh()
    assert can_draw()


def test_a_bar_may_be_told_before_it_is_entered(capsys):
    ProgressBar("labe").update(3, Step(finished=1))
    assert "labe" in capsys.readouterr().err


def test_output_that_is_closed_stops_no_work(monkeypatch, tmp_path):
    """Streams as the system gave them, in a process of its own."""
    script = "import sys, evenhand; sys.stdout.close(); sys.stderr.close(); "
    script += "evenhand.evaluate(evenhand.run_config('contact_hypothesis', 'stub:random', limit=2), sys.argv[1])"
    assert subprocess.run([sys.executable, "-c", script, tmp_path / "run"], check=False).returncode == 0
    assert (tmp_path / "run" / "report.html").is_file()


def test_a_delayed_bar_leaves_no_trace_of_what_was_short(capsys):
    """Not even where something is written above it."""
    with ProgressBar("labe", delay=1e6) as run:
        run.update(3, Step(finished=1))
        write_line("a line")
    assert capsys.readouterr().err == "a line\n"


def test_a_bar_in_a_log_is_lines_of_text(capsys, monkeypatch):
    """The first and the last, and one when it is time; nothing that moves a cursor."""
    monkeypatch.setattr("evenhand.progress.drawing_interval", lambda: 1e6)
    with Bar(total=200, desc="labe") as bar:
        for _ in range(100):
            bar.update(1)
            bar.refresh()
        write_line("a line")
        monkeypatch.setattr("evenhand.progress.drawing_interval", lambda: 0.0)
        bar.refresh()
        bar.update(100)
    said = capsys.readouterr().err
    assert re.sub(r" \[.*?\]", "", said).splitlines() == [
        "labe:   0%, 0 of 200", "a line", "labe:  50%, 100 of 200", "labe: 100%, 200 of 200",
    ]  # fmt: skip
    assert not {"\r", "\x1b"} & {*said}


def test_a_terminal_without_a_size_shows_progress():
    with terminal(0, 0) as written:
        Bar(total=3, desc="labe").close()
        assert "labe:   0%" in written()


@pytest.mark.parametrize(("delay", "shows"), [(0.0, True), (1e6, False)])
def test_a_run_from_python_has_a_bar_once_it_takes_long(capsys, monkeypatch, tmp_path, delay, shows):
    monkeypatch.setattr("evenhand.flow.evaluation.SILENT_FOR", delay)
    evaluate(run_config("contact_hypothesis", "stub:random", limit=3), tmp_path / "run")
    assert ("contact_hypothesis: 100%" in capsys.readouterr().err.replace(", writing the report", "")) == shows


def test_a_measurement_stands_within_the_training(capsys):
    with TrainingBar() as bar:
        for done in (0, 1):
            bar.update("training", done, 2)
        for done in range(3):
            bar.update("measuring", done, 2)
        outer, inner = bar._bars
        assert (outer.n, inner.n, inner.leave) == (1, 2, False)
        bar.update("training", 2, 2)
        assert (bar._bars, outer.n) == ([outer], 2)
        bar.update("saving", 0, 0)
        assert bar._bars == []
    said = capsys.readouterr().err
    assert said.index("training:   0%") < said.index("measuring:   0%") < said.index("training: 100%")
    assert said.endswith("saving\n")


def test_time_moves_between_steps(capsys):
    with TrainingBar() as bar:
        bar.update("asking what was learned", 0, 280)
        wait_for(capsys, r"\[00:0[1-9]<")
    with ProgressBar("labe") as run:
        run.update(3, Step(doing="scoring"))
        wait_for(capsys, r"\[00:0[1-9]<")
