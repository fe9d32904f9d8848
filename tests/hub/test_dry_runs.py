"""What is said before anything is sent: without a token, and of what is too large for one commit."""

import pytest

from tests.hub.submittable import MODEL, whole

NOBODY = {"HF_TOKEN": ""}


@pytest.fixture
def look(command, checkpoint):
    """A dry run of publishing to lab, by default without a token."""

    def call(*options, **changed):
        asked = ("publish", "model", checkpoint, "--namespace", "lab", "--dry-run", *options)
        return command(*asked, **{**NOBODY, **changed})

    return call


def test_a_dry_run_needs_no_token(hub, command, checkpoint, look):
    """What is public anybody may see; without --dry-run the same command needs one, and makes nothing."""
    new = look()
    assert new.code == 0, new.err
    assert "model lab/fair-model (new, public, main): 3 files to add" in new.out
    assert "Seen without a token" in new.out
    refused = command("publish", "model", checkpoint, "--namespace", "lab", **NOBODY)
    assert refused.code == 2
    assert "a token with the right to write is needed" in refused.err
    assert not hub.store.repositories
    assert command("publish", "model", checkpoint, "--namespace", "lab").code == 0
    assert "(main): up to date, 3 files the same" in look().out
    proposed = look("--create-pr")
    assert "(a new pull request): up to date" in proposed.out


def test_what_is_private_is_seen_with_a_token_alone(hub, command, checkpoint, look):
    assert command("publish", "model", checkpoint, "--namespace", "lab", "--private").code == 0
    assert "private repositories and your open pull requests are unknown" in look().out
    refused = look("--create-pr")
    assert refused.code == 2
    assert "model lab/fair-model is not there" in refused.err
    assert "up to date" in look(HF_TOKEN="hf_" + "a" * 34).out


def test_a_wrong_token_is_told_in_a_dry_run_too(look):
    refused = look(HF_TOKEN="hf_" + "z" * 34)
    assert refused.code == 2
    assert "the Hub does not accept the token" in refused.err
    assert "hf_z" not in refused.err + refused.out


QUICKLY = "import sys; from evenhand.hub import client; client.FIRST_WAIT = 0.01; from evenhand.cli import main; "


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"HF_ENDPOINT": "http://127.0.0.1:9"}, "a broken connection"),  # a port without a server
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE keeps everything off the network"),
    ],
    ids=["no network", "offline"],
)
def test_without_a_network_it_tells_what_can_be_told_here(python, checkpoint, changed, why):
    asked = ("publish", "model", checkpoint, "--namespace", "lab", "--dry-run")
    seen = python(QUICKLY + "sys.exit(main(sys.argv[1:]))", *asked, **changed)
    assert seen.code == 0, seen.err
    assert "The Hub could not be asked (" in seen.out
    assert why in seen.out
    assert "3 files to add" in seen.out
    assert "add README.md" in seen.out
    assert "tag v1.0.0" in seen.out
    assert "Nothing was sent (--dry-run)" in seen.out
    (checkpoint / "notes.md").write_text("password: hf_" + "a" * 34)
    refused = python(QUICKLY + "sys.exit(main(sys.argv[1:]))", *asked, **changed)
    assert refused.code == 2  # what can be told here, is


def test_a_submission_is_looked_at_without_a_token(hub, command, finished, tmp_path):
    run = whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")
    hub.store.create("model", MODEL, "ann")
    looked = command("submit", run, "--model-id", MODEL, "--dry-run", **NOBODY)
    assert looked.code == 0, looked.err
    assert "a new pull request): 1 files to add" in looked.out


@pytest.mark.parametrize(
    "changed",
    [{"HF_ENDPOINT": "http://127.0.0.1:9"}, {"HF_HUB_OFFLINE": "1"}],
    ids=["no network", "offline"],
)
def test_a_submission_is_looked_at_without_a_network(python, finished, tmp_path, changed):
    run = whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")
    asked = ("submit", run, "--model-id", MODEL, "--namespace", "lab", "--dry-run")
    seen = python(QUICKLY + "sys.exit(main(sys.argv[1:]))", *asked, **changed)
    assert seen.code == 0, seen.err
    assert ".eval_results/evenhand-contact_hypothesis-certainty-no_contact.yaml" in seen.out
    assert "the records do not say at which commit datasets are" in " ".join(seen.out.split())
    assert "What is there already is unknown" in " ".join(seen.out.split())
    assert "Nothing was sent (--dry-run)" in seen.out
    assert python(QUICKLY + "sys.exit(main(sys.argv[1:]))", *asked[:-1], **changed).code in (1, 2)
