"""A finished run's folder whose files were damaged: one sentence from every command that reads it, nothing overwritten.

What a command doesn't read may be damaged, and it does its work.
"""

import hashlib
import json
import random
import shutil
import sqlite3
from contextlib import closing

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FILES = ("config.json", "results.json", "predictions.parquet", "store.sqlite")
LIMIT = 4
CONTACT = ["run", "contact_hypothesis", "--model", "stub:first", "--limit", LIMIT]
PERSONAS = ["run", "mllm_stereotypes", "--model", "stub:say:male", "--limit", LIMIT]


@pytest.fixture
def folders(finished, tmp_path):
    """folders("contact_hypothesis") → copies of two finished runs that can be compared."""

    def call(benchmark):
        models = {"contact_hypothesis": ("stub:first", "stub:last")}.get(benchmark, ("stub:say:male", "stub:say:female"))
        made = [tmp_path / "first", tmp_path / "second"]
        for folder, model in zip(made, models):
            shutil.copytree(finished(benchmark, model, limit=LIMIT), folder)
        return made

    return call


def contents(folder):
    """What lies in a folder, but for the lock and what SQLite keeps beside a store that it opens."""
    ours = (path for path in folder.rglob("*") if not path.name.startswith((".lock", "store.sqlite-")))
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder" for path in ours}


def is_one_sentence(called):
    """A refusal: its exit code, and one line that says what came and what to do."""
    assert called.code in (1, 2), called.err
    said = [line for line in called.err.splitlines() if line and "row/s" not in line]  # of the bar
    assert len(said) == 1, called.err
    assert said[0].startswith("evenhand: ")
    assert "Traceback" not in said[0]
    assert len(said[0]) < 2000
    return said[0]


def as_json(changed):
    """A file whose record was changed."""

    def damage(path):
        record = json.loads(path.read_text())
        path.write_text(json.dumps(changed(record)))

    return damage


def table(sql):
    def damage(path):
        path.unlink()
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(sql)

    return damage


def in_store(sql):
    def damage(path):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(sql)
            connection.commit()

    return damage


def as_folder(path):
    path.unlink()
    path.mkdir()


def in_predictions(changed):
    return lambda path: changed(pd.read_parquet(path)).to_parquet(path)


ANY = {
    "{}": lambda path: path.write_bytes(b"{}"),
    "empty": lambda path: path.write_bytes(b""),
    "not UTF-8": lambda path: path.write_bytes(b'{"benchmark": "\xff\xfe"}'),
    "random bytes": lambda path: path.write_bytes(random.Random(0).randbytes(999)),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a folder": as_folder,
    "deeply nested": lambda path: path.write_text('{"a":' * 100_000 + "1" + "}" * 100_000),
    "nested as parsers bear": lambda path: path.write_text('{"options":' * 300 + "1" + "}" * 300),
    "a huge number": lambda path: path.write_text('{"schema_version": 1' + "0" * 9999 + "}"),
    "a number beyond floats": lambda path: path.write_text('{"schema_version": 1e999}'),
    "NaN": lambda path: path.write_text('{"schema_version": NaN}'),
    "an array": lambda path: path.write_text("[1]"),
    "half a character": lambda path: path.write_text('{"schema_version": 1, "benchmark": "\\ud800"}'),
}  # fmt: skip
OF_RESULTS = {
    "unknown key within": as_json(lambda r: r | {"config": r["config"] | {"shoe_size": 43}}),
    "unknown option within": as_json(lambda r: r | {"config": r["config"] | {"options": {"shoe_size": 43}}}),
    "no figures": as_json(lambda r: r | {"metrics": {k: r["metrics"][k] for k in ("n", "n_read", "unread_rate", "warnings")}}),
    "figures as texts": as_json(lambda r: r | {"metrics": {k: v if k == "warnings" else "high" for k, v in r["metrics"].items()}}),
    "n as a text": as_json(lambda r: r | {"n": "12"}),
    "n is true": as_json(lambda r: r | {"n": True, "metrics": r["metrics"] | {"n": True}}),
    "another n": as_json(lambda r: r | {"n": 10**400}),
    "warnings of numbers": as_json(lambda r: r | {"metrics": r["metrics"] | {"warnings": [1]}}),
    "helpers without identity": as_json(lambda r: r | {"helpers": [{}]}),
    "another benchmark": as_json(lambda r: r | {"benchmark": "labe"}),
    "no benchmark": as_json(lambda r: r | {"benchmark": "shoes"}),
    "another run's": as_json(lambda r: r | {"config": r["config"] | {"seed": 7}}),
    "published of another kind": as_json(lambda r: r | {"published": {"figures": 7}, "config": 3}),
}  # fmt: skip
OF_PREDICTIONS = {
    "other columns": in_predictions(lambda p: pd.DataFrame({"shoe": [43]})),
    "no columns but ids": in_predictions(lambda p: p[["id"]]),
    "no rows": in_predictions(lambda p: p[:0]),
    "ids of numbers": in_predictions(lambda p: p.assign(id=range(len(p)))),
    "an id twice": in_predictions(lambda p: pd.concat([p, p])),
    "columns of another type": in_predictions(lambda p: p.assign(**{name: 1.5 for name in p if name != "id"})),
    "columns of lists": in_predictions(lambda p: p.assign(**{name: [[1]] * len(p) for name in p if name != "id"})),
}  # fmt: skip
OF_STORES = {
    "another program's": table("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('precious')"),
    "another version's": table("CREATE TABLE meta (name, value); CREATE TABLE replies (key, reply)"),
    "whose replies": in_store("UPDATE meta SET value = '[1]'"),
    "whose replies, broken": in_store("UPDATE meta SET value = '{'"),
    "log-probabilities of words": in_store("UPDATE replies SET choice_log_probs = '[[\"high\"]]'"),
    "log-probabilities cut off": in_store("UPDATE replies SET choice_log_probs = '[[0.5'"),
    "log-probabilities of nothing": in_store("UPDATE replies SET choice_log_probs = '3'"),
    "log-probabilities nested": in_store(f"UPDATE replies SET choice_log_probs = '{'[' * 100_000}'"),
    "texts of bytes": in_store("UPDATE replies SET text = x'ff00'"),
    "texts that are not UTF-8": in_store("UPDATE replies SET text = CAST(x'ff00' AS TEXT)"),
}  # fmt: skip
READ_BY_REPORTS = [
    *((file, name, how) for file in FILES[:3] for name, how in ANY.items()),
    *(("results.json", name, how) for name, how in OF_RESULTS.items()),
    *(("predictions.parquet", name, how) for name, how in OF_PREDICTIONS.items()),
]
READ_BY_RUNS = [
    *((file, name, how) for file in ("config.json", "store.sqlite") for name, how in ANY.items()),
    *(("store.sqlite", name, how) for name, how in OF_STORES.items()),
]
HARMLESS = [("store.sqlite", "empty")]  # how one is found whose run was killed at its very beginning


def named(damages):
    return [pytest.param(file, how, id=f"{file}, {name}") for file, name, how in damages if (file, name) not in HARMLESS]


@pytest.mark.parametrize("benchmark", ["contact_hypothesis", "mllm_stereotypes"])
@pytest.mark.parametrize(("file", "how"), named(READ_BY_REPORTS))
def test_reading_a_damaged_run_is_refused_in_a_sentence(evenhand, folders, tmp_path, benchmark, file, how):
    first, second = folders(benchmark)
    how(second / file)
    before = contents(tmp_path)
    is_one_sentence(evenhand("report", second))
    is_one_sentence(evenhand("compare", first, second))
    is_one_sentence(evenhand("compare", second, first, "--output", tmp_path / "page.html"))
    is_one_sentence(evenhand("ensemble", first, second, "--output", tmp_path / "ensemble"))
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("file", "how"), named(READ_BY_RUNS))
def test_going_on_with_a_damaged_run_is_refused_in_a_sentence(evenhand, folders, tmp_path, file, how):
    first, _ = folders("contact_hypothesis")
    how(first / file)
    before = contents(tmp_path)
    said = is_one_sentence(evenhand(*CONTACT, "--output", first))
    assert "another --output" in said
    assert "run the same command again" not in said
    assert contents(tmp_path) == before


@pytest.mark.parametrize("file", ["results.json", "predictions.parquet"])
@pytest.mark.parametrize("name", ["{}", "cut off", "empty"])
def test_what_is_made_from_replies_is_made_again(evenhand, folders, file, name):
    """The advice of reports helps: the same command mends it, and asks nothing."""
    first, _ = folders("contact_hypothesis")
    whole = contents(first)
    ANY[name](first / file)
    assert "repeat" in is_one_sentence(evenhand("report", first))
    assert evenhand(*CONTACT, "--output", first).code == 0
    assert contents(first) == whole
