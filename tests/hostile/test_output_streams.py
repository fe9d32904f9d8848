"""Standard output that can't show a character, whose reader goes away, or that is full: of a command in a process."""

import os
import subprocess
import sys

import pytest

RUN = ("run", "labe", "--model", "stub:first", "--limit", "4", "--classifiers", "lexicon", "--output")


def call(*arguments, environment=None, stdout=subprocess.PIPE):
    command = [sys.executable, "-m", "evenhand.cli", *map(str, arguments)]
    with subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, env=environment) as process:
        out, error = process.communicate(timeout=120)
    return process.returncode, out, error.decode(errors="replace")


@pytest.fixture
def environ(monkeypatch):
    for name in ("PYTHONUTF8", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "LC_ALL", "LANG"):
        monkeypatch.delenv(name, raising=False)
    return dict(os.environ)


@pytest.mark.parametrize(
    ("settings", "encoding"),
    [({"PYTHONIOENCODING": "cp1252"}, "cp1252"), ({"LC_ALL": "C", "PYTHONUTF8": "0"}, "ascii")],
    ids=["cp1252", "ascii"],
)
def test_what_can_not_be_shown_is_replaced(environ, tmp_path, settings, encoding):
    code, out, error = call(*RUN, tmp_path / "run", environment=environ | settings)
    assert (code, "Traceback" in error) == (0, False), error
    assert "?" in out.decode(encoding)
    assert b"Report: " in out
    assert (tmp_path / "run" / "report.html").read_text(encoding="utf-8").count("−") > 0
    code, out, error = call("--help", environment=environ | settings)
    assert (code, error) == (0, "")
    assert b"usage: evenhand COMMAND" in out


@pytest.mark.parametrize("arguments", [("--help",), ("list",), ("run", "labe", "--help"), "a run"], ids=str)
def test_a_reader_that_goes_away_and_a_full_device(environ, tmp_path, arguments):
    arguments = (*RUN, tmp_path / "run") if arguments == "a run" else arguments
    command = [sys.executable, "-m", "evenhand.cli", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ) as process:
        process.stdout.close()
        error = process.stderr.read().decode()
        assert process.wait(timeout=120) == 0, error
    assert "Error" not in error
    with open("/dev/full", "w", encoding="utf-8") as full:
        code, _, error = call(*arguments, environment=environ, stdout=full)
    assert code == 1
    assert error.splitlines()[-1].startswith("evenhand: can't write to standard output: No space left on device")
    assert "Traceback" not in error
    if len(arguments) > 4:
        assert (tmp_path / "run" / "report.html").is_file()
