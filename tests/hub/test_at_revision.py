"""`load_metric` and `load_dataset` with a revision give that revision, or an error; caches hold others."""

import json

import pytest

from evenhand.library import METRICS

LOAD = """
import json, sys, evenhand
from evenhand.errors import EvenhandError
from sys import modules
got = []
for revision in sys.argv[1:]:
    for load in (
        lambda: modules[type(evenhand.load_metric("lab/contact_bias", revision=revision)).__module__].VERSION,
        lambda: evenhand.load_dataset("lab/rows", split="train", revision=revision)["version"][:],
        lambda: [
            row["version"]
            for row in evenhand.load_dataset("lab/rows", split="train", revision=revision, streaming=True)
        ],
    ):
        try:
            got.append(load())
        except EvenhandError as error:
            got.append(str(error))
print(json.dumps(got))
"""


@pytest.fixture
def tags(hub, tmp_path):
    """v1, v2 and `down` (v1's commit), of a metric whose module says its version, and of a dataset of two rows."""
    for version in (1, 2):
        folder = tmp_path / f"metric-{version}"
        folder.mkdir()
        for path in (METRICS / "contact_bias").glob("*.*"):
            (folder / path.name).write_bytes(path.read_bytes())
        with (folder / "contact_bias.py").open("a") as script:
            script.write(f"\nVERSION = {version}\n")
        rows = tmp_path / f"rows-{version}"
        rows.mkdir()
        (rows / "README.md").write_text("# Rows\n")
        (rows / "train.jsonl").write_text(2 * f'{{"version": {version}}}\n')
        for kind, name, of in (("space", "lab/contact_bias", folder), ("dataset", "lab/rows", rows)):
            commit = hub.store.put(kind, name, of)
            repository = hub.store.repositories[kind, name]
            repository.refs[f"v{version}"] = commit
            repository.refs.setdefault("down", commit)
            repository.tags |= {f"v{version}", "down"}


@pytest.mark.slow
def test_another_revision_is_never_given_in_its_place(hub, tags, python):
    for method in ("GET", "HEAD"):
        hub.fail(method, "/down", 500, times=1000, Retry_After="0")
    done = python(LOAD, "v1", "v2", "main", "v1", "v7", "down")
    assert done.code == 0, done.err
    got = json.loads(done.out.splitlines()[-1])
    assert got[:12] == [version for each in (1, 2, 2, 1) for version in (each, [each, each], [each, each])]
    for each, revision in zip(got[12:], ["v7"] * 3 + ["down"] * 3, strict=True):
        assert f"at revision {revision} can't be had from the Hub: " in each

    asked = len(hub.requests)
    again = python(LOAD, "v1", "v2", "main", "down", HF_HUB_OFFLINE="1")
    assert again.code == 0, again.err
    assert len(hub.requests) == asked
    got = json.loads(again.out.splitlines()[-1])
    assert [*got[::3]][:3] == [1, 2, 2]
    assert "it was not loaded here before, and HF_HUB_OFFLINE is set" in got[9]
    assert got[4] == got[7] == [2, 2]
    assert "the rows that are in the cache are of another commit" in got[1]  # `datasets` gives what it took last
