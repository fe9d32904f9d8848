"""What takes long gives a sign of life, and bars stand within each other."""

import time

import pytest

from evenhand.at_work import AtWork
from evenhand.cli import COMMANDS, Command, main
from evenhand.flow.progress import ProgressBar
from evenhand.flow.runner import Step
from evenhand.terminal import Terminal
from evenhand.trainers.progress import TrainingBar


@pytest.fixture(autouse=True)
def drawn_each_second(monkeypatch):
    """As on a terminal; in a log it would be each ten."""
    for module in ("at_work", "trainers.progress", "flow.progress"):
        monkeypatch.setattr(f"evenhand.{module}.drawn_every", lambda: 0.1)


def wait_for(said, words):
    """What was said by then; fails where they don't come."""
    all_said = ""
    end = time.monotonic() + 60
    while words not in all_said:
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
        assert "reading ␛[2J: at work for 00:" in wait_for(capsys, "at work")
        work.tell("judging")
        wait_for(capsys, "judging: at work for 00:0")


def test_a_command_without_bars_of_its_own_is_watched(capsys, monkeypatch):
    monkeypatch.setattr(AtWork.__init__, "__defaults__", (0.01,))
    monkeypatch.setattr(Command, "__call__", lambda self, arguments, console: wait_for(capsys, "evenhand compare: at"))
    assert not COMMANDS["compare"].tells
    assert "at work for 00:0" in main(["compare"])


def test_what_is_printed_stands_above_the_line(capsys):
    with AtWork("reading", silent_for=0.01):
        wait_for(capsys, "at work")
        Terminal(width=20).print("found")
    said = capsys.readouterr()
    assert said.out.endswith("found\n")
    assert said.err.index(" " * 20) < said.err.index("reading")  # cleared, drawn again


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
        wait_for(capsys, "[00:01<")
    with ProgressBar("labe") as run:
        run.update(3, Step(doing="scoring"))
        wait_for(capsys, "[00:01<")
