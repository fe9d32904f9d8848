"""README's six commands, from a base model to a published checkpoint with its submitted results, as they stand there.

The hub has a tiny model under the id that README names, and an organization NS; of README's words only sizes of the
training are others here (SIZES).
"""

import json
import re
import shlex
import subprocess
import sys

import datasets
import pytest
import yaml

from evenhand.library import dataset_version
from tests.hub.conftest import FORKS, TOKEN

SIZES = {"--limit 480": "--limit 4 --measured 4", "--epochs 2": "--max-steps 1"}
BASE, MODEL = "HuggingFaceTB/SmolLM2-360M-Instruct", "NS/scd"
HEAVY = "import datasets, gc, matplotlib.pyplot, pandas, peft, scipy.stats, transformers, trl; gc.freeze()\n"
pytestmark = pytest.mark.slow


def readme_commands(root):
    page = (root / "docs" / "publishing.md").read_text(encoding="utf-8")
    section = page.split("## From a base model to a published checkpoint")[1]
    return re.search(r"```\n(.*?)\n```", section, re.DOTALL)[1].splitlines()


@pytest.fixture(scope="module")
def forks(environment):
    """As of all these tests, with the libraries imported that a training needs: once for all six."""
    started = [sys.executable, "-c", HEAVY + FORKS]
    known = environment | {"HF_DATASETS_CACHE": str(datasets.config.HF_DATASETS_CACHE)}  # packaged rows, read before
    with subprocess.Popen(started, env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def base(hub, tiny_checkpoint):
    """The commit of the tiny model, where README's is on the Hub."""
    hub.store.organizations["NS"] = {"ann"}
    return hub.store.put("model", BASE, tiny_checkpoint)


def test_six_commands_lead_from_a_base_model_to_a_published_checkpoint(hub, base, command, root, tmp_path):
    six = readme_commands(root)
    assert [" ".join(shlex.split(each)[:2]) for each in six] == [
        "evenhand train", "evenhand run", "evenhand run", "evenhand publish", "evenhand publish", "evenhand submit",
    ]  # fmt: skip
    for each in six:
        for size, smaller in SIZES.items():
            assert size in six[0]
            each = each.replace(size, smaller)
        done = command(*shlex.split(each)[1:])
        assert done.code == 0, done.err
        assert TOKEN not in done.out + done.err

    published = hub.store.repositories["model", MODEL]
    assert published.refs["v1.0.0"] == published.refs["main"]
    card = published.files["README.md"].decode()
    told = yaml.safe_load(card.split("---")[1])
    assert told["base_model"] == BASE
    [entry] = told["model-index"]
    measured = {result["metrics"][0]["name"] for result in entry["results"]}
    assert any("against" in name for name in measured), measured

    [request] = published.pull_requests
    proposed = published.at(f"refs/pr/{request.num}")[1].files
    [record] = [json.loads(blob.content) for path, blob in proposed.items() if path.startswith("every_eval_ever/")]
    results = json.loads((tmp_path / "runs" / "scd" / "results.json").read_text())
    assert record["model_info"]["id"] == MODEL
    headline = [row["value"] for row in results["figures"] if row["headline"]]
    assert record["evaluation_results"][0]["score_details"]["score"] == headline[0]
    entries = [
        entry
        for path, blob in proposed.items()
        if path.startswith(".eval_results/")
        for entry in yaml.safe_load(blob.content)
    ]
    dataset = hub.store.repositories["dataset", "NS/contact_controls"]
    tasks = yaml.safe_load(dataset.files["eval.yaml"])["tasks"]
    assert {each["dataset"]["task_id"] for each in entries} == {task["id"] for task in tasks}
    published_as = dataset.refs[f"v{dataset_version('contact_controls')}"]
    for each in entries:
        assert (each["dataset"]["id"], each["dataset"]["revision"]) == ("NS/contact_controls", published_as)
    ran = json.loads((tmp_path / "runs" / "base" / "results.json").read_text())["model_identity"]
    trained = json.loads(published.files["training.json"])["base"]["identity"]
    assert {each.partition(" ")[0] for each in (ran, trained)} == {f"{BASE}@{base}"}
    compared = command("compare", "runs/base", "runs/scd", "--output", "scd.html")
    assert compared.code == 0, compared.err
    assert (tmp_path / "scd.html").is_file()

    loaded = command("run", "contact_controls", "--model", MODEL, "--output", "runs/loaded")
    assert loaded.code == 0, loaded.err
    again = json.loads((tmp_path / "runs" / "loaded" / "results.json").read_text())
    assert published.refs["main"] in again["model_identity"]
    assert again["figures"] == results["figures"]
