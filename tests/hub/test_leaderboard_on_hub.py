"""Results gathered from a hub, and a board published there as a Space."""

import csv
import json

import pytest

from tests.hub.board_records import ACCURACY, CONTACT, record, result
from tests.hub.hub_repositories import Blob, Commit
from tests.hub.submittable import MODEL


def put(hub, kind, name, **files):
    """A repository with these files, by names in which __ is /."""
    repository = hub.store.create(kind, name, "ann")
    blobs = {path.replace("__", "/"): Blob(text.encode(), False) for path, text in files.items()}
    return repository.add(Commit(blobs, repository.refs["main"], "more", "ann"), "main")


@pytest.fixture
def sources(hub):
    """A model with its own record and another's, and a results dataset: their commits."""
    records = {
        "good": record(MODEL, result(*CONTACT, 40.0, (35.0, 45.0))),
        "foreign": record("lab/other", result(*CONTACT, 1.0)),
    }
    told = {f"every_eval_ever__data__evenhand__{name}.json": json.dumps(each) for name, each in records.items()}
    card = "---\nbase_model: [lab/base]\n---\n"
    model = put(hub, "model", MODEL, **{"README.md": card, "big.json": "{}", **told})
    of_base = record("lab/base", result(*CONTACT, 60.0, (55.0, 65.0)), result(*ACCURACY, 70.0, (60.0, 80.0)))
    large = json.dumps({"evaluation_results": "x" * 2_000_000})
    rows = {"data__lab__base__1.json": json.dumps(of_base), "data__huge.json": large, "data__1_samples.jsonl": "{}"}
    return model, put(hub, "dataset", "lab/results", **rows)


def test_models_and_datasets_of_the_hub(hub, command, sources, tmp_path):
    model, dataset = sources
    done = command("leaderboard", MODEL, "datasets/lab/results", "--output", "board")
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert f"it says to be of lab/other, and lies in the repository of {MODEL}" in done.out
    assert "data/huge.json: it has 2,000,0" in done.out
    with (tmp_path / "board/leaderboard.csv").open(newline="") as file:
        rows = {(row["model"], row["task"]): row for row in csv.DictReader(file)}
    assert {key: (row["base"], row["rank"], row["link"]) for key, row in rows.items()} == {
        (MODEL, "all"): ("lab/base", "1", f"{hub.url}/{MODEL}/blob/{model}/every_eval_ever/data/evenhand/good.json"),
        ("lab/base", "all"): ("", "2", f"{hub.url}/datasets/lab/results/blob/{dataset}/data/lab/base/1.json"),
        ("lab/base", "questions"): ("", "", f"{hub.url}/datasets/lab/results/blob/{dataset}/data/lab/base/1.json"),
    }
    gone = command("leaderboard", "datasets/lab/gone", "--output", "other")
    assert (gone.code, "is no dataset on the Hub" in gone.err) == (2, True)

    sent = command("publish", "leaderboard", "board", "--namespace", "lab", "--name", "bias")
    assert sent.code == 0, sent.err
    space = hub.store.repositories["space", "lab/bias"]
    assert space.sdk == "gradio"
    assert {*space.files} == {".gitattributes", "README.md", "app.py", "index.html", "leaderboard.csv"}
