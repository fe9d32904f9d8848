"""scripts/reproduce_scd.py: every training and run once, what takes long where it is asked for, and a page of them."""

import json
import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

from evenhand.benchmarks.contact_hypothesis import cuts


@pytest.fixture
def script(root, tmp_path, monkeypatch):
    """The script's names; calling `run` calls it, and returns the commands that it gave."""
    found = runpy.run_path(str(root / "scripts/reproduce_scd.py"))
    functions = found["main"].__globals__
    command, given = functions["called"], []

    def run(*options, instead=command):
        given.clear()
        monkeypatch.setitem(functions, "called", lambda arguments: (given.append(arguments), instead(arguments)))
        places = ("--output", tmp_path / "runs", "--page", tmp_path / "page.md")
        monkeypatch.setattr("sys.argv", ["x", *map(str, (*options, *places))])
        found["main"]()
        return list(given)

    return run, found


def test_what_takes_long_is_made_with_all_alone_and_goes_on_from_the_rest(script, monkeypatch):
    run, found = script

    def done(arguments):
        folder = Path(arguments[arguments.index("--output") + 1])
        folder.mkdir(parents=True)
        (folder / ("training.json" if arguments[0] == "train" else "results.json")).touch()

    monkeypatch.setattr(found["Reproduction"], "page", lambda *_: "")
    asked = []
    monkeypatch.setattr(found["Reproduction"], "ask_neutral", lambda *_: None)
    monkeypatch.setattr(found["Reproduction"], "ask_counter_examples", lambda _, name: asked.append(name))
    commands = {option: run(*filter(None, [option]), instead=done) for option in ("", "--all", "--quick")}
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
    assert asked == ["base", "disjoint", "counter-examples", "balanced"]
    assert run("--all", instead=done) == []


def test_the_counter_examples_are_asked_of_a_model_and_told_by_part(script, tiny_checkpoint, tmp_path):
    """They are as many of each cell; unread ones are in no percentage."""
    _, found = script
    work = found["Reproduction"](str(tiny_checkpoint), found["QUICK"], tmp_path)
    work.ask_counter_examples("base")
    answers = json.loads(work.counter_examples("base").read_text())
    crossed = [(each["action"], each["agrees"]) for each in answers]
    assert [crossed.count((action, part)) for action in ("positive", "negative") for part in (True, False)] == [60] * 4
    some = [("positive", True, False), ("positive", True, True), ("negative", False, True), ("negative", False, None)]
    told = [
        {"id": str(place), "action": action, "agrees": agrees, "against_ideal": wrong}
        for place, (action, agrees, wrong) in enumerate(some)
    ]
    work.counter_examples("base").write_text(json.dumps(told))
    table = found["learned_counter_examples"]({"base": work.counter_examples("base")})
    name, overall, *cells, n, unread = (cell.text.split(" [")[0] for cell in table.rows[0])
    assert (name, overall, n, unread) == ("base", "66.7", "4", "1")
    assert cells == ["50.0", "no data", "no data", "100.0"]


def test_counter_examples_are_compared_by_question(script, tmp_path):
    """Four of six that both read are wrong before, and one of them after; where the sound is right nothing moves."""
    _, found = script
    told = {"base": [True] * 4 + [False] * 2 + [None], "tuned": [True] + [False] * 5 + [True]}
    for name, wrong in told.items():
        rows = [{"id": f"w{k}", "agrees": False, "against_ideal": each} for k, each in enumerate(wrong)]
        rows += [{"id": f"r{k}", "agrees": True, "against_ideal": k < 3} for k in range(6)]
        rows = [each | {"action": "negative"} for each in rows]
        (tmp_path / name).write_text(json.dumps(rows))
    *_, moved = found["learned_counter_examples"]({name: tmp_path / name for name in told}).rows
    name, _, *of_kind_actions, right, wrong, n, _ = (cell.text for cell in moved)
    assert of_kind_actions == ["no data", "no data"]
    assert (name, n) == ("tuned minus base", "12")
    assert right.startswith("0.0 [")
    assert wrong.startswith("-50.0 [")


def test_calibration_is_of_the_probability_of_the_unbiased_answer(script):
    """Answers of confidence .95, .95, .75 and .65, of which the third is biased, and one unread."""
    _, found = script
    answers = pd.DataFrame(
        {
            "biased": [False, False, True, False, None],
            "probability": [0.95, 0.95, 0.75, 0.65, None],
        }
        | {"situation": list("abcde")}
    )
    of_controls = answers.rename(columns={"biased": "against_ideal", "situation": "item"})
    brier, *shares = cells = found["calibration"](answers)
    assert cells == found["calibration"](of_controls, wrong="against_ideal", clusters="item")
    assert brier.value == pytest.approx(0.1725)  # (.0025 + .0025 + .5625 + .1225) / 4
    assert [each.value for each in shares] == pytest.approx([82.5, 75, 30, 4])


@pytest.mark.slow
def test_the_page_has_a_tiny_model_before_and_after(script, tiny_checkpoint, tmp_path, monkeypatch):
    run, found = script
    functions = found["main"].__globals__
    monkeypatch.setitem(functions, "FULL", found["Size"](4, 1, 12, 8))
    monkeypatch.setattr(cuts, "select_plausible", lambda rows: rows.select(range(0, rows.num_rows, 47)))
    command = functions["called"]

    def small(given):
        short = ["--max-failed", "1"] if given[1] == "implicit_bias" else []  # its texts are longer than the context
        command([*given, *short, "--dtype", "float32"])

    run("--model", str(tiny_checkpoint), instead=small)
    page = (tmp_path / "page.md").read_text()
    assert "`python scripts/reproduce_scd.py`: " in page
    [tables] = re.findall(r"\*\*Written in place of scored\*\*\n\n(.*?)\n\n", page, re.DOTALL)
    names = [line.split(" | ")[0].removeprefix("| ") for line in tables.splitlines()]
    assert names == ["percent biased", "---", "base", "disjoint"]
    assert "| disjoint minus base |" in page
    for options in ((), ("--rescore",)):
        assert run("--model", str(tiny_checkpoint), *options) == []
        assert (tmp_path / "page.md").read_text() == page
