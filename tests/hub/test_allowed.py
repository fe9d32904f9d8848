"""A file that only looks as if it held a secret or a place, published because somebody says so."""

import pytest

from tests.hub.submittable import MODEL, whole

PLACE = "names a path of a machine: /data/ann/x"


@pytest.fixture
def told(checkpoint):
    """A checkpoint whose card names a place."""
    with (checkpoint / "README.md").open("a") as card:
        card.write("Its rows were in /data/ann/x then.\n")
    return checkpoint


def test_the_error_names_the_option_and_the_plan_what_was_found(hub, command, told):
    asked = ("publish", "model", told, "--namespace", "lab")
    refused = command(*asked)
    assert refused.code == 2
    assert f"README.md {PLACE} (line 5)" in refused.err
    assert "--allow README.md" in refused.err
    assert hub.store.repositories == {}
    done = command(*asked, "--allow", "README.md")
    assert done.code == 0, done.err
    assert f"README.md {PLACE} (line 5); published because of --allow" in done.out
    assert "README.md" in hub.store.repositories["model", "lab/fair-model"].files


def test_other_files_stay_refused(hub, command, told):
    (told / "weights.pkl").write_bytes(b"")
    (told / "notes.md").write_text("password: Geh3im99x")
    refused = command("publish", "model", told, "--namespace", "lab", "--allow", "README.md", "weights.pkl")
    assert refused.code == 2
    assert "weights.pkl is not a kind of file" in refused.err
    assert "notes.md holds a value assigned to a password" in refused.err
    assert "README.md names" not in refused.err
    assert hub.store.repositories == {}


def test_a_submission_has_the_option_too(hub, command, finished, tmp_path):
    run = whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")
    hub.store.create("model", MODEL, "ann")
    asked = ("submit", run, "--model-id", MODEL, "--evaluator", "lab of /data/ann/x", "--dry-run")
    refused = command(*asked)
    assert refused.code == 2
    path = refused.err.split("--allow ")[1].split()[0]
    assert path.endswith(".json")
    done = command(*asked, "--allow", path)
    assert done.code == 0, done.err
    assert "published because of --allow" in done.out
