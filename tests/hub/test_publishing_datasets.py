"""`evenhand publish dataset` against a hub, and the dataset read back by plain `datasets` in fresh processes."""

import json

from evenhand.library import DATASETS

PUBLISH = ("publish", "dataset", "contact_controls", "--namespace", "lab")
READ = """
import datasets, json
rows = datasets.load_dataset("lab/contact_controls", "controls", split="test")
tagged = datasets.load_dataset("lab/contact_controls", "counter_examples", revision="v1.1.1", streaming=True)
first = next(iter(tagged["train"]))
import evenhand
again = evenhand.load_dataset("lab/contact_controls", "controls", "test", revision="v1.1.1")
packaged = evenhand.load_dataset("contact_controls", "controls", "test")
print(json.dumps([len(rows), first["id"], again.to_list() == packaged.to_list() == rows.to_list()]))
"""


def repository(hub):
    return hub.store.repositories["dataset", "lab/contact_controls"]


def test_what_is_published_is_loaded_back_whole_tagged_and_streaming(hub, command, python):
    done = command(*PUBLISH)
    assert done.code == 0, done.err
    assert "dataset lab/contact_controls (new, public, main)" in done.out
    assert "add data/controls/test.parquet" in done.out
    there = repository(hub).files
    assert {path: there[path] for path in there if path != ".gitattributes"} == {
        path.relative_to(DATASETS / "contact_controls").as_posix(): path.read_bytes()
        for path in (DATASETS / "contact_controls").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert repository(hub).refs["v1.1.1"] == repository(hub).refs["main"]
    assert len(repository(hub).commits) == 2  # the Hub's own first, and ours
    read = python(READ)
    assert read.code == 0, read.err
    rows, first, equal = json.loads(read.out.splitlines()[-1])
    assert (rows, equal) == (280, True)
    assert first
