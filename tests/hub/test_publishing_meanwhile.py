"""What somebody else, or a second command of one's own, does on the Hub while a command publishes there."""

from tests.hub.hub_repositories import Blob, Commit


def publish(command, folder, *options):
    done = command("publish", "model", folder, "--namespace", "lab", *options)
    assert "Traceback" not in done.err
    return done


def change(hub, title="by hand", ref="main", **files):
    """A commit of somebody's."""
    repository = hub.store.repositories["model", "lab/fair-model"]
    head, before = repository.at(ref)
    held = {name.replace("_", "."): Blob(content, False) for name, content in files.items()}
    return repository.add(Commit({**before.files, **held}, head, title, "ann"), ref)


def test_a_first_publication_does_not_write_over_another(hub, command, checkpoint):
    """No repository was there when the plan was made; then somebody published other weights, and tagged them."""

    def others():
        repository = hub.store.create("model", "lab/fair-model", "ann")
        repository.refs["v1.0.0"] = change(hub, model_safetensors=b"others")
        repository.tags.add("v1.0.0")

    hub.fail("POST", "/create", others)
    done = publish(command, checkpoint)
    repository = hub.store.repositories["model", "lab/fair-model"]
    assert (done.code, repository.files["model.safetensors"]) == (1, b"others")
    assert len(repository.commits) == 2
    assert "somebody published model lab/fair-model meanwhile, and nothing was sent" in done.err
    again = publish(command, checkpoint)
    assert again.code == 2
    assert "differ from what was published as v1.0.0; raise the version" in again.err


def test_what_is_private_is_not_sent_to_what_is_public(hub, command, checkpoint):
    """Whether the repository was made so, or opened, after the plan."""
    hub.fail("POST", "/create", lambda: hub.store.create("model", "lab/fair-model", "ann"))
    done = publish(command, checkpoint, "--private")
    repository = hub.store.repositories["model", "lab/fair-model"]
    assert (done.code, {*repository.files}, hub.store.large_files) == (2, {".gitattributes"}, {})
    assert "is public: somebody made it so meanwhile; nothing was sent" in done.err

    repository.private = True
    hub.fail("GET", "/tree/", lambda: setattr(repository, "private", False))
    done = publish(command, checkpoint, "--private")
    assert (done.code, {*repository.files}, hub.store.large_files) == (2, {".gitattributes"}, {})


def test_a_tag_of_somebody_else_is_not_taken_for_ours(hub, command, checkpoint):
    def others():
        repository = hub.store.repositories["model", "lab/fair-model"]
        repository.refs["v1.0.0"] = next(iter(repository.commits))
        repository.tags.add("v1.0.0")

    hub.fail("POST", "/tag/", others)
    done = publish(command, checkpoint)
    assert done.code == 1
    assert "somebody set v1.0.0 meanwhile, at commit " in done.err
    assert "which has no tag; raise the version" in done.err


def test_two_commands_at_once_leave_one_pull_request(hub, command, checkpoint):
    """The other one is opened before ours, or in the moment in which ours is."""
    assert publish(command, checkpoint).code == 0
    repository = hub.store.repositories["model", "lab/fair-model"]
    title = repository.at("main")[1].title
    (checkpoint / "README.md").write_text("---\nlicense: mit\n---\n# B\n")

    def others():
        repository.open_pull_request(title, "ann", repository.refs["main"])

    for asked in ("/preupload/", "/commit/"):
        hub.fail("POST", asked, others)
        done = publish(command, checkpoint, "--create-pr")
        first = len(repository.pull_requests) - (asked == "/commit/")
        assert done.code == 1
        assert f"pull request {first} of yours was opened meanwhile" in done.err
        assert ("was closed again" in done.err) == (asked == "/commit/")
        assert [each.num for each in repository.pull_requests if each.status == "open"] == [first]
        repository.pull_requests[first - 1].status = "closed"
    hub.fail("POST", "/preupload/", others)
    assert publish(command, checkpoint, "--create-pr").code == 1
    assert publish(command, checkpoint, "--create-pr").code == 0
    assert [each.num for each in repository.pull_requests if each.status == "open"] == [4]
    assert repository.at("refs/pr/4")[1].files["README.md"].content.endswith(b"# B\n")
