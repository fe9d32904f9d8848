"""evenhand submit against a hub: one pull request, gone on with, whatever becomes of the answers."""

import json

import pytest
import yaml

from evenhand.library import dataset_version
from tests.hub.conftest import OTHERS_TOKEN, TOKEN
from tests.hub.hub_repositories import Blob, Commit
from tests.hub.submittable import MODEL, change, change_figure, change_predictions, whole

DATASET = "lab/contact_hypothesis"
FIRST = {"scale": "certainty", "contact": "no_contact"}
SHARE = ".eval_results/evenhand-contact_hypothesis-certainty-no_contact.yaml"


@pytest.fixture
def model(hub):
    """The model's repository; the run's dataset is published beside it, under the version's tag."""
    dataset = hub.store.create("dataset", DATASET, "ann")
    dataset.refs[f"v{dataset_version('contact_hypothesis')}"] = dataset.refs["main"]
    dataset.tags.add(f"v{dataset_version('contact_hypothesis')}")
    return hub.store.create("model", MODEL, "ann")


@pytest.fixture
def contact(finished, tmp_path):
    return whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")


@pytest.fixture
def submit(command, contact):
    def call(*options, **changed):
        done = command("submit", contact, "--model-id", MODEL, "--namespace", "lab", *options, **changed)
        assert TOKEN not in done.out + done.err
        assert OTHERS_TOKEN not in done.out + done.err
        assert "Traceback" not in done.err
        return done

    return call


def proposed(model):
    """Files of the only pull request."""
    [request] = model.pull_requests
    _, commit = model.at(f"refs/pr/{request.num}")
    return {path: blob.content.decode() for path, blob in commit.files.items()}


def test_one_pull_request_that_is_gone_on_with(hub, model, contact, submit):
    looked = submit("--dry-run")
    assert looked.code == 0, looked.err
    assert f"add {SHARE}" in looked.out
    assert "Nothing was sent" in looked.out
    assert model.pull_requests == []

    done = submit()
    assert done.code == 0, done.err
    assert f"Pull request: {hub.url}/{MODEL}/discussions/1" in done.out
    [entry] = yaml.safe_load(proposed(model)[SHARE])
    dataset = hub.store.repositories["dataset", DATASET]
    assert entry["dataset"] == {"id": DATASET, "task_id": "certainty-no_contact", "revision": dataset.refs["main"]}
    assert len(proposed(model)) == 1 + 9 + 1  # the Hub's own, nine tasks, a record
    assert set(model.files) == {".gitattributes"}

    assert "up to date" in submit().out
    change_figure(contact, "biased", FIRST, value=25.0, low=20.0, high=30.0)
    again = submit()
    assert f"change {SHARE}" in again.out
    [entry] = yaml.safe_load(proposed(model)[SHARE])
    assert entry["value"] == 0.75

    model.merge(model.pull_requests[0])
    assert SHARE in model.files
    assert "up to date" in submit().out
    assert len(model.pull_requests) == 1


def test_what_others_entered_is_not_added_again(hub, model, submit):
    """The same task of the same revision, in a file of another name; of another revision it is another result."""
    tasks = ["certainty-no_contact", "frequency-no_contact", "likelihood-no_contact"]
    revision = hub.store.repositories["dataset", DATASET].refs["main"]
    entries = [
        {"dataset": {"id": DATASET, "task_id": task, "revision": of}, "value": 0.5}
        for task, of in zip(tasks, [revision, "0" * 40, None], strict=True)
    ]
    theirs = {
        ".eval_results/theirs.yaml": yaml.safe_dump(entries),
        ".eval_results/broken.yaml": "[",
        ".eval_results/odd.yaml": "- 3\n- {dataset: 4}\n",
    }
    blobs = {path: Blob(text.encode(), False) for path, text in theirs.items()}
    model.add(Commit({**model.at("main")[1].files, **blobs}, model.refs["main"], "theirs", "bob"), "main")
    done = submit()
    assert done.code == 0, done.err
    said = f"{DATASET} certainty-no_contact is already in .eval_results/theirs.yaml, and is not added again"
    assert said in " ".join(done.out.split())
    added = {path for path in proposed(model) if path.startswith(".eval_results/evenhand-")}
    assert SHARE not in added
    assert SHARE.replace("certainty", "frequency") in added
    assert SHARE.replace("certainty", "likelihood") not in added


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--source", "javascript:alert(1)", "must be a web address (https://…)"),
        ("--source", "https:///x", "must be a web address (https://…)"),
        ("--evaluator", "/data/ann/x", "names a path of a machine"),
        ("--evaluator", r"C:\Users\ann", "names a path of a machine"),
        ("--evaluator", OTHERS_TOKEN, "holds a token of the Hub"),
    ],
)
@pytest.mark.parametrize("elsewhere", [(), ("--output", "written")])
def test_what_is_said_of_it_is_looked_at(model, submit, tmp_path, option, value, said, elsewhere):
    done = submit(option, value, *elsewhere)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (tmp_path / "written").exists()
    assert model.pull_requests == []


@pytest.mark.parametrize(("kind", "token", "author"), [("lost", TOKEN, "ann"), (500, OTHERS_TOKEN, "bob")])
def test_never_two_pull_requests_whoever_proposes(hub, model, submit, kind, token, author):
    hub.fail("POST", "/commit/", kind, Retry_After="0")
    hub.fail("GET", "/refs", 429, Retry_After="0")
    done = submit(HF_TOKEN=token)
    assert done.code == 0, done.err
    assert [each.author for each in model.pull_requests] == [author]
    assert SHARE in proposed(model)


def test_results_of_the_base_are_not_the_tuned_model_s(hub, model, contact, submit):
    """A folder's fingerprint in the model's training.json tells its base, whatever the flag says."""
    base, tuned = "/data/ann/base@0123456789abcdef bfloat16", "/data/ann/tuned@fedcba9876543210 float32"
    record = Blob(json.dumps({"base": {"model": "base", "identity": base}}).encode(), False)
    model.add(Commit({**model.at("main")[1].files, "training.json": record}, model.refs["main"], "x", "ann"), "main")
    change(contact, model="/data/ann/base", model_identity=base.replace("bfloat16", "float32"))
    done = submit("--under-another-name")
    assert (done.code, model.pull_requests) == (2, [])
    assert f"asked the base that {MODEL} was tuned from (version 0123456789abcdef by" in " ".join(done.err.split())
    change(contact, model="/data/ann/tuned", model_identity=tuned)
    assert submit("--under-another-name").code == 0


def test_what_is_missing_is_said(hub, contact, submit):
    said = f"dataset lab/contact_hypothesis, version {dataset_version('contact_hypothesis')}, is not on the Hub"
    assert said in " ".join(submit().err.split())
    hub.store.create("dataset", DATASET, "ann")
    assert said in " ".join(submit().err.split())
    assert "evenhand publish dataset contact_hypothesis --namespace lab" in " ".join(submit().err.split())


def test_a_model_that_is_not_there(hub, model, submit):
    hub.store.repositories.pop(("model", MODEL))
    done = submit()
    assert done.code == 2
    assert f"model {MODEL} is not there" in " ".join(done.err.split())


def test_secrets_in_answers_are_not_sent(hub, model, contact, submit):
    """Single answers are what a model wrote, and it may have learned anything."""
    change_predictions(contact, text=f"No. hf_{'x' * 34}")
    done = submit("--single-answers")
    assert done.code == 2
    assert "holds a token of the Hub" in " ".join(done.err.split())
    assert model.pull_requests == []
