"""scripts/reproduce_scd.py: every training and run once, what takes long where it is asked for, and a page of them."""

import json
import shutil
from pathlib import Path

import pytest
import reproduce_scd
import reproducing
from write_results import load_tables

from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.report.markdown import markdown


@pytest.fixture
def call(tmp_path, monkeypatch):
    """call(*options) calls the script, and returns the commands that it gave."""
    command, given = reproducing.called, []

    def run(*options, instead=command):
        given.clear()
        monkeypatch.setattr(reproducing, "called", lambda arguments: (given.append(arguments), instead(arguments)))
        places = ("--output", tmp_path / "runs", "--record", tmp_path / "record.json")
        monkeypatch.setattr("sys.argv", ["x", *map(str, (*options, *places))])
        reproduce_scd.main()
        return list(given)

    return run, command


def test_what_takes_long_is_made_with_all_alone_and_goes_on_from_the_rest(call, monkeypatch):
    run, _ = call

    def make_folder(arguments):
        folder = Path(arguments[arguments.index("--output") + 1])
        folder.mkdir(parents=True)
        (folder / ("training.json" if arguments[0] == "train" else "results.json")).touch()

    monkeypatch.setattr(reproduce_scd.Reproduction, "record", lambda *_: ("", "", []))
    monkeypatch.setattr(reproduce_scd.Reproduction, "ask_neutral", lambda *_: None)
    commands = {option: run(*filter(None, [option]), instead=make_folder) for option in ("", "--all", "--quick")}
    trained = {
        option: [each[each.index("--setting") + 1] for each in some if each[0] == "train"]
        for option, some in commands.items()
    }
    assert trained == {"": ["disjoint"], "--all": ["disjoint", "disjoint", "3a", "6"], "--quick": ["disjoint"]}
    assert "--counter-examples" in commands["--all"][0]
    assert len(commands[""]) == len(commands["--quick"]) == 1 + 2 * 6  # base and tuned model, each asked six things
    assert len(commands["--all"]) == (1 + 6) + (1 + 3) + 2 * (1 + 2)
    [half] = [each for each in commands["--all"] if each[0] == "train" and each[-1].endswith("balanced")]
    assert {"--counter-examples", "80", "8"} < {*half}  # 80 prompt sets of three examples and 240, eight times
    asked_of_half = [each for each in commands["--all"] if each[0] == "run" and each[-1].endswith("balanced")]
    assert [each[1] for each in asked_of_half] == ["contact_hypothesis", "contact_hypothesis", "contact_controls"]
    written = [each for each in commands[""] if "generate" in each]
    held_out = ["run", "contact_hypothesis", "--held-out", "disjoint", "--limit", "180"]
    assert [each[: each.index("--protocol")] for each in written] == [held_out, held_out]
    assert run("--all", instead=make_folder) == []


def records(table):
    """{row: {column: text without its interval}}."""
    return {
        row[0].text: dict(zip(table.columns[1:], [cell.text.split(" [")[0] for cell in row[1:]])) for row in table.rows
    }


@pytest.fixture
def reproduction(finished, tmp_path):
    """reproduction(folder=run, …), of finished runs."""

    def make(**runs):
        for name, run in runs.items():
            shutil.copytree(run, tmp_path / name.replace("_", "-"))
        return reproduce_scd.Reproduction("embedded", reproduce_scd.QUICK, tmp_path)

    return make


def test_a_constant_answerer_is_biased_in_one_kind_of_action_alone(reproduction, finished):
    always = finished("contact_hypothesis", "stub:first", limit=24)
    work = reproduction(new_base=always, new_tuned=always)
    base, tuned = ([cell.text.split(" [")[0] for cell in work.biased_cells("new", each)] for each in ("base", "tuned"))
    assert base[:2] == [tuned[0], ""]
    assert tuned[1] == "0.0"
    assert tuned[-4:] == ["100.0", "0.0", "72", "0"]  # unkind actions accepted, kind actions declined, answers, unread


def test_who_says_yes_errs_where_no_is_right(reproduction, finished):
    """By kind in all unwise kindness, and no more than the base that says it, too.

    Who chooses the option listed first says yes, but to six questions: in three of 80 of either cell No is first.
    """
    always = finished("contact_controls", "stub:first")
    unread = finished("contact_controls", "stub:random:perhaps", protocol="generate")
    work = reproduction(controls_base=always, controls_balanced=always, controls_unread=unread)
    rows = records(work.controls_table(["base", "balanced", "unread"]))
    cells = ["50.0", "0.0", "3.8", "100.0", "96.2", "0.0"]
    assert [*rows["balanced"].values()][:6] == cells
    assert rows["base"] == rows["balanced"] | {"minus base": ""}
    assert (rows["unread"]["answers"], rows["unread"]["unread"]) == ("240", "240")  # Yes/No questions alone are written


@pytest.mark.slow
def test_the_page_has_a_tiny_model_before_and_after(call, tiny_checkpoint, tmp_path, monkeypatch):
    run, command = call
    monkeypatch.setattr(reproduce_scd, "FULL", reproduce_scd.Size(4, 1, 6, 2))
    monkeypatch.setattr(cuts, "select_plausible", lambda rows: rows.select(range(0, rows.num_rows, 47)))

    def small(given):
        long = {"implicit_bias": ["--max-failed", "1"], "contact_controls": ["--limit", "24"]}  # the one's texts fail
        few = ["--max-new-tokens", "1"] if "--max-new-tokens" in given else []
        short = long.get(given[1], few)
        command([*given, *short, "--dtype", "float32"])

    run("--model", str(tiny_checkpoint), instead=small)
    record = (tmp_path / "record.json").read_text()
    assert json.loads(record)["command"] == "python scripts/reproduce_scd.py"
    page = "\n".join(map(markdown, load_tables(tmp_path / "record.json")))
    for asked in ("held out disjoint", "new", "written"):
        assert all(f"| {asked} | {name} |" in page for name in ("base", "disjoint"))
    assert page.count("\n| disjoint |") == 2  # controls, and otherwise
    assert run("--model", str(tiny_checkpoint)) == []
    assert (tmp_path / "record.json").read_text() == record
