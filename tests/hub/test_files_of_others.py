"""In a pull request of ours that others added to, and that was merged as one commit under our title."""

from tests.hub.hub_repositories import Blob, Commit

SHARD, OURS = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


def test_only_what_we_brought_is_deleted_after_the_merge(hub, checkpoint, command):
    assert command("publish", "model", checkpoint, "--namespace", "lab").code == 0
    repository = hub.store.repositories["model", "lab/fair-model"]
    (checkpoint / "README.md").write_text("---\nlicense: apache-2.0\n---\n# Another\n")
    (checkpoint / OURS).write_bytes((checkpoint / "model.safetensors").read_bytes())
    again = ("publish", "model", checkpoint, "--namespace", "lab", "--version", "1.0.1")
    assert command(*again, "--create-pr").code == 0
    [request] = repository.pull_requests
    reference = f"refs/pr/{request.num}"
    _, commit = repository.at(reference)
    theirs = Commit({**commit.files, SHARD: Blob(b"theirs" * 10, False)}, repository.refs[reference], "a shard", "bob")
    repository.add(theirs, reference)
    repository.merge(request)

    (checkpoint / OURS).unlink()
    done = command(*again)
    assert done.code == 0, done.err
    assert SHARD in repository.files
    assert OURS not in repository.files
    assert SHARD in done.out
