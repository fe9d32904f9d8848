"""Submitted results, read back from a pull request by the client in a fresh process with an empty cache."""

import json

from evenhand.library import dataset_version
from tests.hub.submittable import MODEL, change_figure, whole

FIRST = {"scale": "certainty", "contact": "no_contact"}
READ = """
import json, sys, yaml
from huggingface_hub import HfApi, hf_hub_download, parse_eval_result_entries
revision = "refs/pr/1"
held = {path: hf_hub_download(sys.argv[1], path, revision=revision)
        for path in HfApi().list_repo_files(sys.argv[1], revision=revision) if path != ".gitattributes"}
entries = [entry for path, file in held.items() if path.startswith(".eval_results/")
           for entry in parse_eval_result_entries(yaml.safe_load(open(file)))]
[record] = [json.load(open(file)) for path, file in held.items() if path.endswith(".json")]
print(json.dumps([{each.task_id: each.value for each in entries}, len(record["evaluation_results"])]))
"""


def test_what_was_submitted_is_read_by_the_client(hub, command, finished, python, tmp_path):
    """25 % of biased answers are 0.75 on the boards; nine tasks; each scale, and all of them, in the record alone."""
    dataset = hub.store.create("dataset", "lab/contact_hypothesis", "ann")
    tag = f"v{dataset_version('contact_hypothesis')}"
    dataset.refs[tag] = dataset.refs["main"]
    dataset.tags.add(tag)
    hub.store.create("model", MODEL, "ann")
    run = whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")
    change_figure(run, "biased", FIRST, value=25.0, low=20.0, high=30.0)
    done = command("submit", run, "--model-id", MODEL, "--namespace", "lab")
    assert done.code == 0, done.err
    read = python(READ, MODEL)
    assert read.code == 0, read.err
    values, results = json.loads(read.out.splitlines()[-1])
    assert values["certainty-no_contact"] == 0.75
    assert (len(values), results) == (9, 13)
