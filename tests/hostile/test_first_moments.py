"""A full disk or a kill at any of the first steps: the same command goes on. Of those that begin at once, one wins."""

import errno
import functools
import io
import json
import os
import sqlite3
import threading
from dataclasses import asdict, dataclass

import pytest

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.run_folder import LOCK, RunFolder
from evenhand.flow.store import Store
from evenhand.language_agency import trainer
from evenhand.language_agency.trainer import AgencyOptions
from evenhand.whole_files import PREFIX, SUFFIX

RUN = ("run", "contact_hypothesis", "--model", "stub:first", "--limit", "3", "--output")
FILES = ("predictions.parquet", "results.json", "report.html")


class Killed(BaseException):
    """Nothing more is done, not even cleaning up."""


class Disk:
    """Counts what is asked of the system to make and move files below a folder; the `fails`-th comes to nothing.

    killed: then, and whenever anything is asked later, nothing is done.
    """

    def __init__(self, monkeypatch, folder, fails=None, killed=False):
        self.folder, self.fails, self.killed, self.steps = str(folder), fails, killed, []
        for name in ("open", "mkdir", "replace", "rename", "unlink", "rmdir"):
            monkeypatch.setattr(os, name, self.wrapped(name, getattr(os, name)))
        real = os.fdopen

        def fdopen(descriptor, mode="r", *more, **named):
            file = real(descriptor, mode, *more, **named)
            return (
                self.small(file) if "w" in mode and self.is_mine(os.readlink(f"/proc/self/fd/{descriptor}")) else file
            )

        monkeypatch.setattr(os, "fdopen", fdopen)

    def is_mine(self, path):
        return str(path).startswith(self.folder)

    def wrapped(self, name, real):
        def call(path, *more, **named):
            writes = name != "open" or (more and more[0] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR))
            there = name == "mkdir" and os.path.isdir(path)
            if isinstance(path, (str, os.PathLike)) and writes and self.is_mine(path) and not there:
                self.step(f"{name} {os.path.basename(path)}")
            return real(path, *more, **named)

        return call

    def small(self, file):
        disk = self

        class Small(io.BufferedIOBase):
            def writable(self):
                return True

            def write(self, content):
                file.write(content[: len(content) // 2])
                file.flush()
                disk.step("write")
                return len(content) // 2 + file.write(content[len(content) // 2 :])

            def flush(self):
                if not file.closed:
                    file.flush()

            def close(self):
                file.close()
                super().close()

        return Small()

    def step(self, what):
        self.steps.append(what)
        if self.killed and self.fails is not None and len(self.steps) > self.fails:
            raise Killed
        if len(self.steps) - 1 == self.fails:
            raise Killed if self.killed else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def left(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@dataclass(frozen=True)
class Config:
    """Of a folder's run; other letters are other runs."""

    letter: str
    seed: int = 0

    def to_json(self):
        return asdict(self)


def begun(folder, letter="a"):
    with RunFolder.begin(folder, Config(letter)) as run:
        assert run.begun() == {"letter": letter, "seed": 0}
        run.write_record({"letter": letter})


@pytest.mark.parametrize("killed", [False, True], ids=["full disk", "killed"])
def test_a_folder_that_was_cut_off_at_any_first_step_goes_on(tmp_path, monkeypatch, killed):
    with monkeypatch.context() as patch:
        whole = Disk(patch, tmp_path / "whole")
        begun(tmp_path / "whole" / "run")
    assert {"mkdir run", f"open {LOCK}", "write"} <= set(whole.steps)
    for fails in range(len(whole.steps)):
        folder = tmp_path / str(fails) / "run"
        with monkeypatch.context() as patch:
            Disk(patch, folder.parent, fails, killed)
            with pytest.raises(Killed if killed else EvenhandError) as raised:
                begun(folder)
        assert killed or "free space and run the same command again" in str(raised.value), whole.steps[fails]
        begun(folder)
        assert left(folder) == [LOCK, "config.json", "results.json"]


def test_a_run_that_met_a_full_disk_goes_on(evenhand, tmp_path, monkeypatch):
    """While its configuration is written, and at its very end; what is left then is what an undisturbed run leaves."""
    with monkeypatch.context() as patch:
        whole = Disk(patch, tmp_path / "whole")
        assert evenhand(*RUN, tmp_path / "whole").code == 0
    first, last = whole.steps.index("write"), len(whole.steps) - 1
    for fails in (first, last):
        folder = tmp_path / f"run-{fails}"
        with monkeypatch.context() as patch:
            Disk(patch, folder, fails)
            called = evenhand(*RUN, folder)
        assert called.code == 1, whole.steps[fails]
        assert "the disk is full at" in called.err
        assert "Traceback" not in called.err
        assert evenhand(*RUN, folder).code == 0
        for name in FILES:
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
        assert not [name for name in left(folder) if name.endswith(SUFFIX)]


def test_a_store_that_met_a_full_disk_goes_on(tmp_path, monkeypatch):
    """At each of the statements that make it."""

    class Small(sqlite3.Connection):
        left = 0

        def count(self):
            if Small.left == 0:
                raise sqlite3.OperationalError("database or disk is full")
            Small.left -= 1

        def execute(self, *arguments):
            self.count()
            return super().execute(*arguments)

        def executescript(self, script):
            self.count()
            return super().executescript(script)

    models = {"default": "m"}
    for statements in range(6):
        path = tmp_path / f"{statements}.sqlite"
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Small))
            Small.left = statements
            with pytest.raises(EvenhandError, match="free space and run the same command"):
                Store(path, models)
        with Store(path, models) as store:
            assert len(store) == 0


def test_what_is_no_beginning_is_left_alone(tmp_path):
    """A name that is like ours, a link of such a name, another file beside them."""
    (tmp_path / "victim").write_text("mine")
    for name, link in {
        "notes.txt": False,
        f"{PREFIX}0.part.txt": False,
        f"{PREFIX}0{SUFFIX}": True,
        LOCK: True,
    }.items():
        folder = tmp_path / name.strip(".") / "run"
        folder.mkdir(parents=True)
        (folder / LOCK).touch()
        if link:
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(tmp_path / "victim")
        else:
            (folder / name).write_text("mine")
        with pytest.raises(UsageError, match="is no run folder of evenhand"), RunFolder.begin(folder, Config("a")):
            pytest.fail("begun")
        assert (folder / name).read_text() == "mine"
    assert (tmp_path / "victim").read_text() == "mine"


def test_of_many_that_begin_at_once_one_configuration_wins(tmp_path):
    """Nobody runs under another's; the others are told."""
    for attempt in range(10):
        folder, gate, ran, told = tmp_path / str(attempt), threading.Barrier(12), [], []

        def begin(letter, folder=folder, gate=gate, ran=ran, told=told):
            gate.wait()
            try:
                with RunFolder.begin(folder, Config(letter)) as run:
                    ran.append((letter, run.begun()["letter"]))
            except EvenhandError as error:
                told.append(str(error))

        threads = [threading.Thread(target=begin, args=("ab"[number % 2],)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        held = json.loads((folder / "config.json").read_text())["letter"]
        assert ran
        assert set(ran) == {(held, held)}
        assert len(ran) + len(told) == 12
        assert all("another evenhand runs in" in each or "with other settings" in each for each in told)
        assert left(folder) == [LOCK, "config.json"]


def test_a_training_that_was_cut_off_goes_on_with_what_is_missing(tmp_path, monkeypatch):
    """Seeds that are whole are kept; other options, and a folder of something else, are refused."""
    output, trained = tmp_path / "out", []

    def train_agency(data, recipe, seeds, output, **named):
        for seed in seeds:
            if not (output / f"seed-{seed}").is_dir():
                if len(trained) == 1:
                    trained.append(None)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                trained.append(seed)
                (output / f"seed-{seed}").mkdir()
                (output / f"seed-{seed}" / "config.json").write_text("{}")
        (output / "agency.json").write_text("{}")
        return {}

    monkeypatch.setattr("evenhand.language_agency.training.train_agency", train_agency)
    monkeypatch.setattr(trainer, "load_dataset", lambda *_, **__: {"train": [], "test": []})
    options = AgencyOptions(seeds=(1, 2))
    with pytest.raises(OSError, match="No space"):
        trainer.train(options, output)
    with pytest.raises(UsageError, match="other options"):
        trainer.train(AgencyOptions(seeds=(1, 3)), output)
    trainer.train(options, output)
    assert [seed for seed in trained if seed] == [1, 2]
    assert left(output) == ["agency.json", "seed-1", "seed-2"]
    with pytest.raises(UsageError, match="holds a finished training"):
        trainer.train(options, output)
