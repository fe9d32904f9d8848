"""Busy servers, cut connections, lost answers, kills: asked again or a clear sentence; never half, never twice."""

import subprocess
import sys
import time

import pytest

from tests.hub.conftest import OTHERS_TOKEN, TOKEN
from tests.hub.hub_repositories import Blob, Commit
from tests.hub.weights import weights

FILES = {".gitattributes", "README.md", "config.json", "model.safetensors"}


@pytest.fixture
def publish(command, checkpoint):
    def call(*options, **changed):
        done = command("publish", "model", checkpoint, "--namespace", "lab", *options, **changed)
        assert not {TOKEN, OTHERS_TOKEN} & {*done.out.split(), *done.err.split()}
        assert TOKEN not in done.out + done.err
        assert "Traceback" not in done.err
        return done

    return call


def repository(hub):
    return hub.store.repositories["model", "lab/fair-model"]


def is_published_once(hub):
    """Whole, by one commit beside the Hub's own first, tagged."""
    there = repository(hub)
    return set(there.files) == FILES and len(there.commits) == 2 and there.refs.get("v1.0.0") == there.refs["main"]


def test_every_other_request_may_fail_once(hub, publish):
    """With status 500, 429 (and how long to wait), or a cut connection."""
    hub.fail("GET", "/api/models/lab/fair-model$", "cut")
    hub.fail("POST", "/create", 503, Retry_After="0")
    hub.fail("POST", "/preupload/", 429, Retry_After="0")
    hub.fail("PUT", "/large/", "cut")
    hub.fail("POST", "/validate-yaml", 500, Retry_After="0")
    hub.fail("GET", "/tree/", 429, Retry_After="0")
    hub.fail("POST", "/tag/", "lost")
    done = publish()
    assert done.code == 0, done.err
    assert all(fault.times == 0 for fault in hub.faults)
    assert is_published_once(hub)


@pytest.mark.parametrize("kind", ["lost", "cut", 500])
def test_a_commit_is_there_once_whatever_became_of_its_answer(hub, publish, kind):
    hub.fail("POST", "/commit/", kind, Retry_After="0")
    done = publish()
    assert done.code == 0, done.err
    assert is_published_once(hub)
    assert hub.asked("POST", "/commit/") == (1 if kind == "lost" else 2)


def test_a_hub_that_stays_broken_is_given_up_and_gone_on_with(hub, publish):
    """What was sent is not sent again; of the commit nothing is there in between."""
    hub.fail("POST", "/commit/", 500, times=5, Retry_After="0")
    done = publish()
    assert done.code == 1
    assert "publishing model lab/fair-model: failed after 5 attempts, the last with status 500" in done.err
    assert set(repository(hub).files) == {".gitattributes"}
    assert "v1.0.0" not in repository(hub).refs
    assert publish().code == 0
    assert is_published_once(hub)
    assert hub.asked("PUT", "/large/") == 1


@pytest.mark.parametrize("at", ["/large/", "/commit/"])
def test_a_kill_leaves_nothing_half_and_the_same_command_goes_on(hub, environment, publish, checkpoint, at):
    hub.fail("PUT" if at == "/large/" else "POST", at, "hold")
    command = [sys.executable, "-m", "evenhand.cli", "publish", "model", str(checkpoint), "--namespace", "lab"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (hub.asked("PUT", at) or hub.asked("POST", at)) and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    assert set(repository(hub).files) in ({".gitattributes"}, FILES)
    assert publish().code == 0
    assert is_published_once(hub)


@pytest.mark.parametrize(
    ("token", "code", "words"),
    [
        (
            "hf_wrong" + "x" * 30,
            2,
            "the Hub does not accept the token; it is read from the environment variable HF_TOKEN",
        ),
        ("", 2, "a token with the right to write is needed"),
        (OTHERS_TOKEN, 2, "status 403 (you don't have the rights to write to the namespace lab)"),
    ],
)
def test_tokens_that_will_not_do(hub, publish, token, code, words):
    done = publish(HF_TOKEN=token)
    assert (done.code, hub.store.repositories) == (code, {})
    assert words in done.err
    assert not token or token not in done.out + done.err


@pytest.mark.parametrize("wrong", ["\u00e9", " x", "\u2028"])
def test_a_token_that_none_can_be(hub, publish, wrong):
    done = publish(HF_TOKEN=TOKEN[:20] + wrong + TOKEN[:20])
    assert done.code == 2
    assert "the token holds characters that no token has" in done.err
    assert TOKEN[:20] not in done.out + done.err
    assert hub.requests == []


@pytest.mark.parametrize("option", ["--namespace", "--name", "--base"])
def test_a_token_in_the_place_of_a_name_is_not_repeated(publish, option):
    done = publish(option, OTHERS_TOKEN)
    assert done.code == 2
    assert OTHERS_TOKEN not in done.out + done.err


def test_how_long_to_wait_may_be_said_as_a_rate_limit(hub, publish):
    """1 s, and one more, for it is rounded down; without it, it would be asked again after 1 s."""
    hub.fail("POST", "/create", 429, RateLimit='"api";r=0;t=1')
    done = publish()
    assert done.code == 0, done.err
    assert "status 429" in done.err
    assert "retrying in 2 s" in done.err


def test_somebody_else_was_faster(hub, publish):
    hub.fail("POST", "/commit/", 412)
    done = publish()
    assert done.code == 1
    assert "the repository was changed in the meantime; run the command again" in done.err


def test_there_is_one_pull_request_whatever_happens(hub, publish, checkpoint):
    """Its answer is lost; the command is repeated; the card changes; it is merged, and the tag set."""
    assert publish().code == 0
    (checkpoint / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A better card\n")
    (checkpoint / "model.safetensors").write_bytes(weights(b"other weights"))
    hub.fail("POST", "/commit/", "lost")
    opened = publish("--create-pr", "--version", "1.1.0")
    assert opened.code == 0, opened.err
    assert "/lab/fair-model/discussions/1" in opened.out
    again = publish("--create-pr", "--version", "1.1.0")
    assert "up to date" in again.out
    (checkpoint / "README.md").write_text("---\nlicense: apache-2.0\n---\n# The best card\n")
    assert "pull request 1" in publish("--create-pr", "--version", "1.1.0").out
    [request] = repository(hub).pull_requests
    assert b"A model" in repository(hub).files["README.md"]
    repository(hub).merge(request)
    merged = publish("--version", "1.1.0")
    assert merged.code == 0
    assert repository(hub).refs["v1.1.0"] == repository(hub).refs["main"]
    assert b"The best card" in repository(hub).files["README.md"]


def test_what_a_gitignore_hides_is_said(hub, publish, checkpoint):
    assert publish().code == 0
    there = repository(hub)
    ignore = Blob(b"notes.txt\n", False)
    there.add(Commit({**there.at("main")[1].files, ".gitignore": ignore}, there.refs["main"], "more", "ann"), "main")
    (checkpoint / "notes.txt").write_text("hello")
    (checkpoint / "README.md").write_text("---\nlicense: mit\n---\n# A model\n")
    for options in ((), ("--create-pr",)):
        done = publish(*options)
        assert done.code == 1
        assert "lacks notes.txt; if the repository's .gitignore hides them" in done.err


def test_others_pull_requests_are_left_alone(hub, publish, checkpoint):
    """Bob may not write to lab, and may propose; ann's of the same title is another."""
    assert publish().code == 0
    (checkpoint / "README.md").write_text("---\nlicense: mit\n---\n# Other\n")
    assert publish("--create-pr", HF_TOKEN=OTHERS_TOKEN).code == 0
    assert publish("--create-pr").code == 0
    assert [each.author for each in repository(hub).pull_requests] == ["bob", "ann"]


def test_a_card_that_the_hub_does_not_take_is_told_before_anything_is_made(hub, publish, checkpoint):
    """What huggingface_hub's own classes take, and the fixture not: a reason that the validator gives."""
    hub.says_of_cards = ['"license" must be one of the list']
    done = publish()
    assert done.code == 2
    assert 'the Hub does not take the metadata of README.md: "license" must be one of the list' in done.err
    assert not hub.store.repositories


def test_a_card_that_is_too_long_to_be_asked_about(hub, publish):
    """As the real Hub answered long cards: https://github.com/embeddings-benchmark/mteb/issues/1892."""
    hub.fail("POST", "/validate-yaml", 413)
    done = publish()
    assert done.code == 1
    assert "status 413" in done.err
    assert not hub.store.repositories


def test_offline_is_told_at_once(python, checkpoint):
    code = "import sys; from evenhand.cli import main; sys.exit(main(sys.argv[1:]))"
    done = python(code, "publish", "model", checkpoint, "--namespace", "lab", HF_HUB_OFFLINE="1")
    assert done.code == 2
    assert "HF_HUB_OFFLINE keeps everything off the network; unset it" in done.err
    assert "retrying" not in done.err
