"""What a newcomer may do wrong: a sentence that says what to do, exit code 2, and nothing made on the Hub."""

import shutil

import pytest

from tests.hub.conftest import OTHERS_TOKEN, TOKEN
from tests.hub.submittable import MODEL, add_warning, change, whole


@pytest.fixture
def places(checkpoint, tmp_path):
    """Folders by name: a checkpoint, the same under a name with blanks, and one without anything."""
    blanks, empty = tmp_path / "my fair model", tmp_path / "empty"
    shutil.copytree(checkpoint, blanks)
    empty.mkdir()
    return {"{model}": checkpoint, "{blanks}": blanks, "{empty}": empty, "{none}": tmp_path / "none"}


@pytest.fixture
def refused(hub, command, places):
    """refused("publish model {model} …") → what was said; changed: of the environment."""

    def call(text, **changed):
        done = command(*(places.get(word, word.replace("~", " ")) for word in text.split()), **changed)
        said = " ".join(done.err.split())
        assert done.code == 2, said
        assert "Traceback" not in said
        assert not {TOKEN, OTHERS_TOKEN, *changed.values()} & {*said.split()}
        assert not hub.store.repositories
        return said

    return call


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("publish model {model} --namespace bob", "you don't have the rights to write to the namespace bob"),
        ("publish model {model} --namespace my~lab", "'my lab/fair-model' can't be a repository's id on the Hub"),
        ("publish model {blanks} --namespace lab", "--name gives it another name"),
        ("publish model {empty} --namespace lab", "is no checkpoint: it needs config.json or adapter_config.json"),
        ("publish model {none} --namespace lab", "is no folder; name the folder of a checkpoint"),
        ("publish model {model} --namespace lab --version v1.0.0", "is not three numbers like 1.0.0"),
        ("publish model {model} --namespace lab --version the~best", "is not three numbers like 1.0.0"),
        ("publish model {model} --namespace lab --base no~id", "'no id' can't be a repository's id on the Hub"),
        ("publish model {model} --namespace lab --base lab/none", "its base model 'lab/none' is not on the Hub"),
        ("publish model {model}", "--namespace NS is needed"),
        ("publish dataset labee --namespace lab", "did you mean 'labe'?"),
        ("publish dataset bbq --namespace lab", "bbq has published rows alone"),
        ("publish metric contact~bias --namespace lab", "did you mean 'contact_bias'?"),
        ("publish space x --namespace lab", "accepted: dataset, metric, model"),
        ("submit {model} --model-id lab/x", "its config.json is of something else"),
        ("submit {empty} --model-id lab/x", "is no run folder of evenhand"),
        ("submit {none} --model-id lab/x", "does not exist; name the --output folder of an evenhand run"),
        ("submit {empty} --model-id my~model", "must be ORG/NAME"),
    ],
)
def test_nothing_is_made_and_a_sentence_says_what_to_do(refused, asked, said):
    assert said in refused(asked)


@pytest.mark.parametrize("token", ["hf_" + "z" * 34, "a~b"])
def test_a_wrong_token_is_told_and_not_repeated(refused, token):
    said = refused("publish model {model} --namespace lab", HF_TOKEN=token)
    assert "the Hub does not accept the token" in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"config.limit": 60}, "is limited to 60 rows"), (None, "holds a rehearsal")],
)
def test_runs_that_are_for_oneself_are_not_submitted(hub, command, finished, tmp_path, changes, said):
    """A folder's name with blanks is none of the reasons."""
    run = whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "my best run")
    model = hub.store.create("model", MODEL, "ann")
    assert command("submit", run, "--model-id", MODEL, "--dry-run").code == 0
    add_warning(run, "rehearsal") if changes is None else change(run, **changes)
    done = command("submit", run, "--model-id", MODEL)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert model.pull_requests == []
