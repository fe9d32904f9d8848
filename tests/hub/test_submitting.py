"""evenhand submit against a hub: one pull request, gone on with, whatever becomes of the answers."""

import pytest
import yaml

from evenhand.library import dataset_version
from tests.hub.conftest import OTHERS_TOKEN, TOKEN
from tests.hub.submittable import MODEL, change, change_predictions, whole

DATASET = "lab/contact_hypothesis"
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

    assert "nothing was sent" in submit().out
    change(contact, **{"metrics.by.scale.certainty.biased_percentage.no_contact": 25.0})
    again = submit()
    assert f"change {SHARE}" in again.out
    [entry] = yaml.safe_load(proposed(model)[SHARE])
    assert entry["value"] == 0.75

    model.merge(model.pull_requests[0])
    assert SHARE in model.files
    assert "nothing was sent" in submit().out
    assert len(model.pull_requests) == 1


@pytest.mark.parametrize(("kind", "token", "author"), [("lost", TOKEN, "ann"), (500, OTHERS_TOKEN, "bob")])
def test_never_two_pull_requests_whoever_proposes(hub, model, submit, kind, token, author):
    hub.fail("POST", "/commit/", kind, Retry_After="0")
    hub.fail("GET", "/refs", 429, Retry_After="0")
    done = submit(HF_TOKEN=token)
    assert done.code == 0, done.err
    assert [each.author for each in model.pull_requests] == [author]
    assert SHARE in proposed(model)


def test_what_is_missing_is_said(hub, contact, submit):
    assert "dataset lab/contact_hypothesis is not on the Hub" in " ".join(submit().err.split())
    hub.store.create("dataset", DATASET, "ann")
    said = " ".join(submit().err.split())
    assert f"has no version {dataset_version('contact_hypothesis')} on the Hub (it has no version)" in said
    assert "evenhand publish dataset contact_hypothesis --namespace lab" in said


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
