"""`evenhand publish dataset` and `metric` against a hub, read back by plain `datasets` and `evaluate` elsewhere."""

import json

import pytest

from evenhand import __version__
from evenhand.library import DATASETS, dataset_version

READ = """
import datasets, evaluate, evenhand, json
from evenhand.errors import EvenhandError
rows = datasets.load_dataset("lab/contact_controls", "controls", split="test")
streamed = datasets.load_dataset("lab/contact_controls", "counter_examples", revision="v{version}", streaming=True)
first = next(iter(streamed["train"]))
again = evenhand.load_dataset("lab/contact_controls", "controls", "test", revision="v{version}")
asked = {"scale": "certainty", "contact": "no_contact", "action": "positive"}
answers = {"predictions": ["Yes.", "No.", "No."], "references": 3 * [asked]}
scores = [
    metric.compute(**answers)["biased_percentage"]["overall"]
    for metric in (
        evaluate.load("lab/contact_bias"), evenhand.load_metric("lab/contact_bias", revision="v{evenhand}")
    )
]
missing = []
for load in (evenhand.load_dataset, evenhand.load_metric):
    try:
        load("lab/none", revision="main")
    except EvenhandError as error:
        missing.append(str(error))
print(json.dumps([len(rows), first["id"], again.to_list() == rows.to_list(), scores, missing]))
"""


@pytest.mark.slow
def test_what_is_published_is_loaded_back_whole_by_tag_and_streaming(hub, command, python):
    done = command("publish", "dataset", "contact_controls", "--namespace", "lab")
    assert done.code == 0, done.err
    assert "dataset lab/contact_controls (new, public, main)" in done.out
    assert "add data/controls/test.parquet" in done.out
    dataset = hub.store.repositories["dataset", "lab/contact_controls"]
    assert {path: content for path, content in dataset.files.items() if path != ".gitattributes"} == {
        path.relative_to(DATASETS / "contact_controls").as_posix(): path.read_bytes()
        for path in (DATASETS / "contact_controls").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert dataset.refs[f"v{dataset_version('contact_controls')}"] == dataset.refs["main"]
    assert len(dataset.commits) == 2  # the Hub's own first, and ours
    done = command("publish", "metric", "contact_bias", "--namespace", "lab")
    assert done.code == 0, done.err
    metric = hub.store.repositories["space", "lab/contact_bias"]
    assert metric.sdk == "gradio"
    assert metric.refs[f"v{__version__}"] == metric.refs["main"]

    read = python(READ.replace("{version}", dataset_version("contact_controls")).replace("{evenhand}", __version__))
    assert read.code == 0, read.err
    rows, first, equal, scores, missing = json.loads(read.out.splitlines()[-1])
    assert (rows, first, equal) == (280, "counter-001", True)
    assert scores == pytest.approx(2 * [200 / 3])
    assert [each.partition(" can't be had from the Hub")[0] for each in missing] == [
        "dataset lab/none at revision main", "metric lab/none at revision main",
    ]  # fmt: skip
