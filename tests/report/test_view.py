"""The table of every prompt and answer."""

import json
import re
import shutil

import pytest

from evenhand.errors import UsageError
from evenhand.flow.episode import EXCHANGE
from evenhand.flow.run_folder import RunFolder
from evenhand.report.view import collect_rows, write_view
from tests.edited_runs import write_predictions

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\nnext line"


@pytest.fixture
def runs(finished):
    return [RunFolder.open(finished("contact_hypothesis", f"stub:{which}", limit=20)) for which in ("first", "random")]


def test_what_all_prompts_begin_with_stands_once(runs):
    rows, shared = collect_rows(runs[:1])
    predictions = runs[0].read_predictions(exchanges=True)
    system, user = predictions["messages"][0]
    assert shared == system["content"]
    assert rows["prompt"][0] == user["content"]
    assert rows["reply"].tolist() == predictions["text"].tolist()
    assert rows["value"].tolist() == [f"{each:.3g}" for each in predictions["value"]]


def test_columns_of_few_values_are_shown(runs):
    rows, _ = collect_rows(runs[:1])
    assert {"scale", "contact", "action", "answer", "biased"} <= {*rows}
    assert not {*EXCHANGE, "row", "question"} & {*rows}


def test_runs_stand_side_by_side_where_they_differ_first(runs):
    rows, _ = collect_rows(runs)
    texts = [each.read_predictions().set_index("id")["text"] for each in runs]
    assert rows["reply A"].tolist() == texts[0][rows["id"]].tolist()
    assert rows["reply B"].tolist() == texts[1][rows["id"]].tolist()
    differs = (rows["value A"] != rows["value B"]).map({True: "yes", False: "no"})
    assert rows["differs"].tolist() == differs.tolist() == sorted(differs, reverse=True)


def test_runs_of_other_rows_have_nothing_in_common(runs, finished):
    other = RunFolder.open(finished("utility", "stub:say:I can't answer that."))
    with pytest.raises(UsageError):
        collect_rows([runs[0], other])


def test_what_a_model_wrote_is_text(runs, tmp_path):
    folder = RunFolder(shutil.copytree(runs[0].path, tmp_path / "run"))
    predictions = folder.read_predictions(exchanges=True)
    harmless = tmp_path / "harmless.html"
    write_view([folder], harmless)
    write_predictions(folder.path, predictions.assign(text=HOSTILE))
    write_view([folder], tmp_path / "hostile.html")
    one, other = (path.read_text(encoding="utf-8") for path in (harmless, tmp_path / "hostile.html"))
    for tag in ("<script", "</script", "<img"):
        assert other.count(tag) == one.count(tag)
    [data] = re.findall(r'"data_json": ("(?:[^"\\]|\\.)*")', other)
    answers = {row[2] for row in json.loads(json.loads(data))}
    assert answers == {HOSTILE.replace("<", "&lt;").replace(">", "&gt;")}


def test_thoughts_stand_beside_the_replies_that_have_one(runs, tmp_path):
    folder = RunFolder(shutil.copytree(runs[0].path, tmp_path / "run"))
    predictions = folder.read_predictions(exchanges=True)
    thoughts = ["Hm."] + [None] * (len(predictions) - 1)
    write_predictions(folder.path, predictions.assign(thought=thoughts))
    assert collect_rows([folder])[0]["thought"].tolist() == ["Hm."] + [""] * (len(predictions) - 1)
    write_view([folder], tmp_path / "view.html")
    assert "Hm." in (tmp_path / "view.html").read_text(encoding="utf-8")


def test_the_command_writes_beside_the_run_and_the_report_links_to_it(runs, evenhand, tmp_path):
    folder = RunFolder(shutil.copytree(runs[0].path, tmp_path / "run"))
    assert evenhand("view", folder.path).code == 0
    assert folder.view.is_file()
    assert 'href="view.html"' in folder.report.read_text(encoding="utf-8")
    assert evenhand("view", *(each.path for each in runs)).code == 2
    assert evenhand("view", *(each.path for each in runs), "--output", tmp_path / "both.html").code == 0
