"""Whatever is written is written whole, and never through a link that somebody has planted."""

import ast
import os
import secrets
import stat

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import EvenhandError
from evenhand.whole_files import PREFIX, SUFFIX, is_remains, remove_remains, whole_file, write_whole

TABLE = pa.table({"n": [1, 2, 3]})


def write_parquet(path):
    with whole_file(path) as file:
        pq.write_table(TABLE, file)


WRITERS = {
    "text": lambda path: write_whole(path, "new ü\n"),
    "bytes": lambda path: write_whole(path, b"new"),
    "parquet": write_parquet,
}


@pytest.fixture
def victim(tmp_path):
    """A file elsewhere, which must stay as it is."""
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "victim"
    path.write_text("victim")
    yield path
    assert path.read_text() == "victim"


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_planted_link_is_not_written_through(tmp_path, victim, monkeypatch, write):
    """Not even where its name was guessed; the file itself, where it is a link, is replaced and not followed."""
    monkeypatch.setattr(secrets, "token_hex", lambda n: "0" * n)
    guessed = tmp_path / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
    guessed.symlink_to(victim)
    (tmp_path / "file").write_text("old")
    with pytest.raises((EvenhandError, FileExistsError)):
        write(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "old"
    guessed.unlink()
    (tmp_path / "link").symlink_to(victim)
    write(tmp_path / "link")
    assert not (tmp_path / "link").is_symlink()


def test_former_names_are_not_written_through(run, victim, evenhand):
    """report.html was written by way of .report.html.part."""
    folder = run("stub:first", limit=12).folder
    for name in ("report.html", "config.json", "results.json", "predictions.parquet"):
        (folder / f".{name}.part").symlink_to(victim)
    assert evenhand("report", folder).code == 0


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_what_is_written(tmp_path, write):
    """All of it, readable by whom the system's mask lets read; and nothing is left beside it."""
    before = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    content = (tmp_path / "file").read_bytes()
    assert content in ("new ü\n".encode(), b"new") or pd.read_parquet(tmp_path / "file").n.tolist() == [1, 2, 3]


def test_what_fails_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(TypeError), whole_file(tmp_path / "file") as file:
        file.writelines([b"half", None])
    assert (tmp_path / "file").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(("make", "says"), [(os.mkdir, "it is a folder"), (os.mkfifo, "it is a pipe or a device")])
def test_what_is_no_file_stays(tmp_path, make, says):
    make(tmp_path / "it")
    before = (tmp_path / "it").lstat()
    with pytest.raises(EvenhandError, match=says):
        write_whole(tmp_path / "it", "text")
    assert (tmp_path / "it").lstat().st_ino == before.st_ino
    assert len(list(tmp_path.iterdir())) == 1


def test_remains_go_and_nothing_else(tmp_path, victim):
    """Files and folders with names of ours, in folders too; links to elsewhere are not followed."""
    (tmp_path / "in").mkdir()
    remains = [
        tmp_path / f"{PREFIX}0a{SUFFIX}",
        tmp_path / "in" / f"{PREFIX}1b{SUFFIX}",
        tmp_path / f"{PREFIX}2{SUFFIX}",
    ]
    remains[2].mkdir()
    for path in (*remains[:2], remains[2] / "file"):
        path.write_text("half")
    kept = [tmp_path / "in" / "file", tmp_path / "file.part", tmp_path / f"x{PREFIX}0a{SUFFIX}"]
    for path in kept:
        path.write_text("whole")
    (victim.parent / f"{PREFIX}0a{SUFFIX}").write_text("another's")
    (tmp_path / "in" / "linked").symlink_to(victim.parent)
    (tmp_path / f"{PREFIX}3c{SUFFIX}").symlink_to(victim)
    remove_remains(tmp_path / "in")
    assert remains[0].exists()
    assert (victim.parent / f"{PREFIX}0a{SUFFIX}").exists()
    (victim.parent / f"{PREFIX}0a{SUFFIX}").unlink()
    remove_remains(tmp_path)
    assert not any(path.exists() for path in remains)
    assert all(path.read_text() == "whole" for path in kept)
    assert not is_remains(tmp_path / f"{PREFIX}3c{SUFFIX}")


def test_nothing_is_written_otherwise(root):
    """Of all modules, whole_files alone opens a file to write it, and gives names to what isn't whole yet."""
    otherwise = {"write_text", "write_bytes", "savefig", "mkstemp", "NamedTemporaryFile", "mktemp"}
    found = set()
    for path in [each for place in ("src", "models", "trainers") for each in (root / place).rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, (ast.Attribute, ast.Name)):
                name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
                modes = [each.value for each in (*call.args, *(kw.value for kw in call.keywords)) if is_text(each)]
                writes = name in ("open", "fdopen") and any(set(mode) & set("wax+") for mode in modes if len(mode) < 4)
                if name in otherwise or writes:
                    found.add((path.name, name))
    assert found == {("whole_files.py", "fdopen"), ("plots.py", "savefig")}  # the latter into memory


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
