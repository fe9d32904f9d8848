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

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow.foreign_files import as_written
from evenhand.flow.results import Results
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import Store

LIMIT = 4
CONTACT = ["run", "contact_hypothesis", "--model", "stub:first", "--limit", LIMIT]


@pytest.fixture
def folders(finished, tmp_path):
    """folders("contact_hypothesis") → copies of two finished runs that can be compared."""

    def call(benchmark):
        scored = benchmark == "contact_hypothesis"
        models = ("stub:first", "stub:last") if scored else ("stub:say:male", "stub:say:female")
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
    said = [line for line in called.err.splitlines() if line and "%, " not in line]  # of the bar
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
    "n as a text": as_json(lambda r: r | {"n": "12"}),
    "n is true": as_json(lambda r: r | {"n": True}),
    "another n": as_json(lambda r: r | {"n": 10**400}),
    "warnings of numbers": as_json(lambda r: r | {"warnings": [1]}),
    "helpers without identity": as_json(lambda r: r | {"helpers": [{}]}),
    "another benchmark": as_json(lambda r: r | {"benchmark": "labe"}),
    "no benchmark": as_json(lambda r: r | {"benchmark": "shoes"}),
    "another run's": as_json(lambda r: r | {"config": r["config"] | {"seed": 7}}),
    "published of another kind": as_json(lambda r: r | {"published": {"figures": 7}, "config": 3}),
    "published of numbers": as_json(lambda r: r | {"published": [7]}),
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


def figures(value):
    """Every figure is this."""
    return as_json(lambda r: r | {"figures": [row | {"value": value} for row in r["figures"]]})


OF_FIGURES = {
    "no figures": as_json(lambda r: r | {"figures": []}),
    "figures as texts": figures("high"),
    "figures of any size": figures(10**400),
}
"""Figures of a benchmark's own, which its report shows."""


def named(damages):
    return [pytest.param(file, how, id=f"{file}, {name}") for file, some in damages for name, how in some.items()]


OF_RECORDS = [("config.json", ANY), ("results.json", ANY | OF_RESULTS), ("predictions.parquet", ANY | OF_PREDICTIONS)]


@pytest.mark.parametrize(("file", "how"), named(OF_RECORDS))
def test_reading_a_damaged_run_is_refused_in_a_sentence(evenhand, folders, tmp_path, file, how):
    first, second = folders("contact_hypothesis")
    how(second / file)
    before = contents(tmp_path)
    is_one_sentence(evenhand("report", second))
    is_one_sentence(evenhand("compare", first, second))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("how", OF_FIGURES.values(), ids=OF_FIGURES)
def test_a_report_of_damaged_figures_is_refused_in_a_sentence(evenhand, folders, how):
    folder, _ = folders("contact_hypothesis")
    how(folder / "results.json")
    before = contents(folder)
    assert "repeat" in is_one_sentence(evenhand("report", folder))
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("file", "how"), named([("results.json", OF_RESULTS), ("predictions.parquet", OF_PREDICTIONS)])
)
def test_a_damaged_run_is_no_member_of_an_ensemble(evenhand, folders, tmp_path, file, how):
    first, second = folders("mllm_stereotypes")
    how(second / file)
    before = contents(tmp_path)
    is_one_sentence(evenhand("ensemble", first, second, "--output", tmp_path / "ensemble"))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("how", ANY.values(), ids=ANY)
def test_damaged_predictions_are_not_exported(evenhand, folders, tmp_path, how):
    folder, _ = folders("contact_hypothesis")
    how(folder / "predictions.parquet")
    before = contents(tmp_path)
    sheet = ["--scheme", "yes-no", "--output", tmp_path / "sheet.csv"]
    is_one_sentence(evenhand("annotate", "export", folder, *sheet))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("how", ANY.values(), ids=ANY)
def test_a_damaged_configuration_is_not_gone_on_with(folders, how):
    folder, _ = folders("contact_hypothesis")
    config = RunFolder(folder).read_config()
    how(folder / "config.json")
    before = contents(folder)
    with pytest.raises(EvenhandError, match="another --output"), RunFolder.begin(folder, config):
        pass
    assert contents(folder) == before


OF_ANY_STORE = {name: how for name, how in ANY.items() if name != "empty"}  # as one that was killed at its beginning


@pytest.mark.parametrize("how", (OF_ANY_STORE | OF_STORES).values(), ids=OF_ANY_STORE | OF_STORES)
def test_a_damaged_store_is_left_as_it_is(folders, how):
    """Running again, in vain, is no advice."""
    store = folders("contact_hypothesis")[0] / "store.sqlite"
    with closing(sqlite3.connect(store)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM replies")]
        [(models,)] = connection.execute("SELECT value FROM meta WHERE name = 'models'")
    how(store)
    before = contents(store.parent)
    advice = r"move it away|fix that"
    with pytest.raises(EvenhandError, match=advice) as raised, Store(store, json.loads(models)) as opened:
        opened.get(keys)
    assert "same command again" not in str(raised.value)
    assert contents(store.parent) == before


@pytest.mark.parametrize(("file", "how"), named([("config.json", {"{}": ANY["{}"]}), ("store.sqlite", OF_STORES)]))
@pytest.mark.slow
def test_going_on_with_a_damaged_run_is_refused_in_a_sentence(evenhand, folders, file, how):
    folder, _ = folders("contact_hypothesis")
    how(folder / file)
    before = contents(folder)
    assert "another --output" in is_one_sentence(evenhand(*CONTACT, "--output", folder))
    assert contents(folder) == before


@pytest.mark.parametrize(("file", "name"), [("results.json", "{}"), ("predictions.parquet", "cut off")])
def test_what_is_made_from_replies_is_made_again(evenhand, folders, file, name):
    """The advice of reports helps: the same command mends it, and asks nothing."""
    folder, _ = folders("contact_hypothesis")
    whole = contents(folder)
    ANY[name](folder / file)
    assert "repeat" in is_one_sentence(evenhand("report", folder))
    assert evenhand(*CONTACT, "--output", folder).code == 0
    assert contents(folder) == whole


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5),
    st.sampled_from([[], {}, [[1]], {"a": 1}, 10**400, 1e308]),
)  # fmt: skip


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_figures_that_anybody_changed_are_shown_or_refused(finished, data):
    """No traceback, whichever value of a record is missing or another; drawings are left out, for they take long."""
    folder = RunFolder(finished("contact_hypothesis", "stub:first", limit=LIMIT))
    record, predictions = folder.read_record(), folder.read_predictions()
    at = data.draw(st.sampled_from(record["figures"]))
    key = data.draw(st.sampled_from(sorted(at)))
    if data.draw(st.booleans()):
        del at[key]
    else:
        at[key] = data.draw(JUNK)
    refused, found = "", None
    try:
        with as_written(folder.path):
            benchmark = get_benchmark("contact_hypothesis")
            found = benchmark.findings(benchmark.prepare(predictions), Results.from_json(record))
    except EvenhandError as error:
        refused = str(error)
    assert "repeat" in refused or (found and found.tables and all(found.sentences))
