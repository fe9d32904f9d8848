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
