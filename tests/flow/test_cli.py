"""The command line: what is wrong, what is accepted, what to do; exit codes 0 done, 1 failed, 2 wrong usage."""

import errno
import json
import os

import datasets
import pytest

from evenhand import library
from evenhand.flow import evaluation
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.store import Store

RUN = ("run", "contact_hypothesis", "--model", "stub:first", "--limit", "30")


def test_list_is_one_line_each_and_json_says_all(evenhand, monkeypatch):
    """Also datasets that no benchmark asks."""
    monkeypatch.setattr("evenhand.cli.WIDTH_ELSEWHERE", 80)
    lines = evenhand("list").out.splitlines()
    assert "  contact_hypothesis           Social bias under intergroup contact" in lines
    assert max(map(len, lines[:-1])) <= 80
    said = json.loads(evenhand("list", "--json").out)
    assert sum(map(len, said.values())) == sum(line.startswith("  ") for line in lines)
    assert {each["name"]: set(each["configs"]) for each in said["datasets"]}.keys() == {*library.dataset_names()}
    for each in said["datasets"]:
        assert {*each["configs"]} >= {*library.config_names(each["name"])}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (
            ("run", "contact_hypotesis", "--output", "x"),
            2,
            "did you mean 'contact_hypothesis'? (evenhand list shows all)",
        ),
        ((*RUN, "--config", "certanty", "--output", "x"), 2, "did you mean 'certainty'?"),
        ((*RUN, "--config", "certainty", "certainty", "--output", "x"), 2, "named twice"),
        ((*RUN[:-1], "0", "--output", "x"), 2, "a whole number of 1 or more"),
        ((*RUN[:-1], "1000000", "--output", "x"), 2, "from 1 to 103,014"),
        ((*RUN, "--output", "x", "--new"), 2, "--new makes a folder in runs"),
        ((*RUN, "--limt", "3"), 2, "did you mean --limit?"),
        ((*RUN, "--batch_size", "3"), 2, "did you mean --batch-size?"),
        ((*RUN, "--num-samples", "3"), 2, "here: --limit"),
        ((*RUN, "--device=cuda"), 2, "here: --model-option device_map="),
        ((*RUN, "--tasks", "bbq"), 2, "evenhand run BENCHMARK"),
        ((*RUN, "--order", "balanced", "--protocol", "generate", "--output", "x"), 2, "needs --protocol choose"),
        (
            (*RUN, "--aggregate", "sum", "--protocol", "generate", "--output", "x"),
            2,
            "--aggregate sum is of the options'",
        ),
        ((*RUN, "--protocol", "rank", "--output", "x"), 2, "must be choose or generate, got 'rank'"),
        (("run", "contact_hypothesis", "--model", "stub:frist", "--output", "x"), 1, "stub:first"),
        (("run", "contact_hypothesis", "--model", "./absent", "--output", "x"), 1, "does not exist"),
        (("report", "absent"), 2, "does not exist; name the --output folder"),
        (("compare", "absent", "absent"), 2, "does not exist"),
        ((), 2, "a command is needed: list, run"),
        (("dance",), 2, "unknown command 'dance'; accepted: list, run"),
        (("compair",), 2, "did you mean 'compare'? (evenhand --help)"),
        (("run",), 2, "a benchmark is needed first: contact_hypothesis"),
        (("run", "--limit", "3"), 2, "a benchmark is needed first"),
        ((*RUN, "--classifiers", "lexicon", "--output", "x"), 2, "unrecognized arguments: --classifiers lexicon"),
        ((*RUN, "--temperature", "nan", "--output", "x"), 2, "--temperature: must be a number of 0 or more, got nan"),
        ((*RUN, "--seed", "½", "--output", "x"), 2, "--seed: must be a whole number of 0 or more, got '½'"),
        ((*RUN, "--model-option", "pairs", "--output", "x"), 2, "must be KEY=VALUE, got 'pairs'"),
        ((*RUN, "--model-option", "pairs=3", "--output", "x"), 2, "unknown option of stub 'pairs'"),
        (
            ("run", "contact_hypothesis", "--model", "", "--output", "x"),
            2,
            "--model: must be text that is not blank, got ''",
        ),
        (("train",), 2, "what to train is needed first: agency"),
        (("train", "agancy"), 2, "did you mean 'agency'?"),
    ],
)
def test_wrong_usage_is_explained_and_leaves_nothing_behind(evenhand, tmp_path, monkeypatch, arguments, code, says):
    monkeypatch.chdir(tmp_path)
    called = evenhand(*arguments)
    assert called.code == code
    assert says in called.err
    assert "Traceback" not in called.err
    assert len(called.err.splitlines()) == 1  # no usage, no progress bar
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("benchmark", "protocols"),
    [("contact_hypothesis", "choose,generate"), ("implicit_bias", "generate,rank"), ("labe", "generate")],
)
def test_help_lists_the_protocols_that_a_benchmark_has(evenhand, benchmark, protocols):
    assert f"--protocol {{{protocols}}}" in evenhand("run", benchmark, "--help").out


def test_help_of_run_names_what_every_benchmark_has(evenhand):
    called = evenhand("run", "--help")
    assert called.code == 0
    assert all(word in called.out for word in ("--model MODEL", "--limit N", "contact_hypothesis", "examples:"))


def test_without_output_the_same_command_resumes(evenhand, tmp_path, monkeypatch):
    """A larger one, too; --new begins another folder, which then resumes."""
    monkeypatch.chdir(tmp_path)
    for number, more in ((1, ()), (1, ("--limit", "36")), (2, ("--new",)), (2, ())):
        folder = f"runs/contact_hypothesis-stub-first-{number}"
        called = evenhand(*RUN, *more)
        assert called.code == 0
        assert f"Run folder: {folder}\n" in called.err
        assert f"Report: {folder}/report.html" in called.out
    assert len(list(tmp_path.glob("runs/*"))) == 2


def test_a_folder_of_something_else_is_left_alone(evenhand, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    called = evenhand(*RUN, "--output", tmp_path)
    assert called.code == 2
    assert "is no run folder of evenhand; choose another --output" in called.err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert evenhand("report", tmp_path).code == 2


def test_a_run_with_other_settings_is_not_mixed_in(evenhand, run):
    done = run("stub:first", limit=30)
    called = evenhand(*RUN[:3], "stub:last", "--limit", "40", "--output", done.folder)
    assert called.code == 2
    assert "other settings (model: 'stub:first', not 'stub:last')" in called.err
    assert json.loads((done.folder / "results.json").read_text()) == done.results


def test_a_store_of_another_model_is_not_mixed_in(evenhand, run, tmp_path):
    """The same settings, but what the name stands for has changed."""
    done = run("stub:first", limit=30)
    (done.folder / "store.sqlite").unlink()
    for leftover in done.folder.glob("store.sqlite-*"):
        leftover.unlink()
    Store(done.folder / "store.sqlite", {"default": "stub:first, an older one"}).close()
    called = evenhand(*RUN, "--output", done.folder)
    assert called.code == 2
    assert "holds replies of stub:first, an older one; this run asks stub:first" in called.err


def test_an_unfinished_run_has_no_report_yet(evenhand, run):
    done = run("stub:first", limit=30)
    (done.folder / "results.json").unlink()
    called = evenhand("report", done.folder)
    assert called.code == 2
    assert "has not finished: results.json missing; repeat its evenhand run command" in called.err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("results.json", b"{", "is no JSON"),
        ("results.json", b"[]", "is no JSON object"),
        ("results.json", b'{"benchmark": "contact_hypothesis"}', "written before results had a version"),
        ("results.json", b'{"schema_version": 99, "benchmark": "contact_hypothesis"}', "in version 99 of its format"),
        (
            "results.json",
            b'{"schema_version": 2, "benchmark": "contact_hypothesis"}',
            "damaged (wrong, missing or unknown: agents, config",
        ),
        ("predictions.parquet", b"PAR1", "was not made from the predictions.parquet beside it"),
        ("config.json", b'{"shoe_size": 43}', "holds a run with other settings"),
        ("store.sqlite", b"not SQLite at all" * 99, "is no store of evenhand"),
    ],
)
def test_a_damaged_run_is_explained(evenhand, run, name, content, says):
    done = run("stub:first", limit=30)
    for leftover in done.folder.glob("store.sqlite-*"):
        leftover.unlink()
    (done.folder / name).write_bytes(content)
    called = (
        evenhand(*RUN, "--output", done.folder)
        if name in ("store.sqlite", "config.json")
        else evenhand("report", done.folder)
    )
    assert called.code == (2 if name == "config.json" else 1)
    assert says in called.err


def test_two_processes_do_not_share_a_folder(evenhand, run):
    done = run("stub:first", limit=30)
    with RunFolder(done.folder).locked():
        called = evenhand(*RUN, "--output", done.folder)
    assert called.code == 1
    assert "another evenhand runs in" in called.err


def test_a_full_disk_while_replies_are_stored(evenhand, run, tmp_path, monkeypatch):
    """Fails with a clear message; once there is space again, the same command ends like an undisturbed run."""

    class SmallDisk(Store):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
            self._connection.execute(f"PRAGMA max_page_count = {pages + 1}")

    with monkeypatch.context() as small:
        small.setattr(evaluation, "Store", SmallDisk)
        called = evenhand(
            "run", "contact_hypothesis", "--model", "stub:random", "--limit", 60, "--output", tmp_path / "run"
        )
    assert called.code == 1
    assert "the disk is full" in called.err
    assert "free space and run the same command again" in called.err
    resumed = evenhand(
        "run", "contact_hypothesis", "--model", "stub:random", "--limit", 60, "--output", tmp_path / "run"
    )
    assert resumed.code == 0
    undisturbed = run("stub:random", output="undisturbed")
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == undisturbed.results


def test_a_full_disk_while_results_are_written(evenhand, run, monkeypatch, tmp_path):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    done = run("stub:first", limit=30)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        called = evenhand("report", done.folder)
    assert called.code == 1
    assert "the disk is full" in called.err
    assert evenhand("report", done.folder).code == 0


def test_a_place_that_can_not_be_written(evenhand, tmp_path):
    (tmp_path / "file").write_text("")
    called = evenhand(*RUN, "--output", tmp_path / "file" / "run")
    assert called.code == 1
    assert "can't write" in called.err


def test_an_empty_dataset_is_refused(evenhand, tmp_path, monkeypatch):
    columns = ("id", "scale", "template", "situation", "principle", "scenario", "action", "axis")
    empty = datasets.Dataset.from_dict({name: [] for name in columns})
    monkeypatch.setattr(library, "load_dataset", lambda *_, **__: empty)
    called = evenhand("run", "contact_hypothesis", "--model", "stub:first", "--output", tmp_path / "run")
    assert called.code == 2
    assert "has no rows" in called.err
    assert not (tmp_path / "run").exists()


def test_missing_files_are_named(evenhand, tmp_path, monkeypatch):
    """An official source that is not in the mirror; and nothing is left behind."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")  # nothing built earlier is loaded
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("EVENHAND_SOURCES", str(tmp_path / "mirror"))
    called = evenhand(*RUN, "--source", "official", "--output", tmp_path / "run")
    assert called.code == 1
    assert "expected there: contact_hypothesis/type1_dataset.csv" in called.err
    assert not (tmp_path / "run").exists()
