"""scripts/reproduce_methods.py: every training and run once, and a page out of the runs' own files."""

import json
import re
import shutil

import pytest
import reproduce_methods
import reproducing
from write_results import load_tables

from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.report.markdown import markdown

TRAINED = ("DPO",)
ROW = re.compile(r"^\| (base|instruction|DPO) \| (0|1) \| (.*) \|$", re.MULTILINE)


@pytest.fixture
def script(tiny_checkpoint, tmp_path, monkeypatch):
    """The script's names, of a small size; calling `run` calls it, and returns the commands that it gave."""
    monkeypatch.setattr(reproduce_methods, "FULL", reproduce_methods.Size(1, (0,), 6, 4, 1, 6))
    monkeypatch.setattr(cuts, "select_plausible", lambda rows: rows.select(range(0, rows.num_rows, 47)))
    command, given = reproducing.called, []

    def called(arguments):
        given.append(arguments)
        short = {"utility": ["--max-new-tokens", "1"], "contact_controls": ["--limit", "24"]}.get(arguments[1], [])
        command([*arguments, *short, "--dtype", "float32"])

    monkeypatch.setattr(reproducing, "called", called)
    asked = ["--model", tiny_checkpoint, "--bbq", "--methods", *TRAINED, "--output", tmp_path / "runs"]
    asked += ["--record", tmp_path / "record.json", "--drawing", tmp_path / "docs/m.svg"]
    monkeypatch.setattr("sys.argv", ["x", *map(str, asked)])

    def run():
        given.clear()
        reproduce_methods.main()
        return list(given)

    return run


@pytest.mark.slow
def test_each_is_made_once_and_the_page_has_all(script, tmp_path):
    first = script()
    assert [command[1] for command in first if command[0] == "train"] == ["preference"]
    assert len(first) == 1 + 3 * 5  # base, instruction and the training, each asked five things
    records = [
        json.loads(each.read_text()) for each in sorted((tmp_path / "runs/full").glob("*-0/model/training.json"))
    ]
    assert [each["steps"] for each in records] == [1]  # a budget of one token ends after a step
    record = (tmp_path / "record.json").read_text()
    page = "\n".join(map(markdown, load_tables(tmp_path / "record.json")))
    assert (tmp_path / "docs/m.svg").is_file()
    rows = ROW.findall(page)
    assert [row[:2] for row in rows[:3]] == [(name, "0") for name in ("base", "instruction", *TRAINED)]
    assert len(rows) == 3 + 3 + 2 + 1  # biased answers; elsewhere; minus the base; what it took
    held_out = {method: cells.split(" | ") for method, _, cells in rows[:3]}
    for method in ("instruction", *TRAINED):
        before, after, between = (
            float(re.match(r"-?[\d.]+", text)[0]) for text in (held_out["base"][0], *held_out[method][:2])
        )
        assert between == pytest.approx(after - before, abs=0.11)
    assert f"| {records[0]['computed_tokens']['learned']:,} |" in page

    shutil.rmtree(tmp_path / "runs/full/dpo-0/controls")
    again = script()
    assert [command[:2] for command in again] == [["run", "contact_controls"]]
    assert (tmp_path / "record.json").read_text() == record
