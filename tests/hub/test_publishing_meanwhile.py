"""What somebody else, or a second command of one's own, does on the Hub while a command publishes there."""


def publish(command, folder, *options):
    done = command("publish", "model", folder, "--namespace", "lab", *options)
    assert "Traceback" not in done.err
    return done


def test_what_is_private_is_not_sent_to_what_is_public(hub, command, checkpoint):
    """Whether the repository was made so, or opened, after the plan."""
    hub.fail("POST", "/create", lambda: hub.store.create("model", "lab/fair-model", "ann"))
    done = publish(command, checkpoint, "--private")
    repository = hub.store.repositories["model", "lab/fair-model"]
    assert (done.code, {*repository.files}, hub.store.large_files) == (2, {".gitattributes"}, {})
    assert "was made public in the meantime; nothing was sent" in done.err

    repository.private = True
    hub.fail("GET", "/tree/", lambda: setattr(repository, "private", False))
    done = publish(command, checkpoint, "--private")
    assert (done.code, {*repository.files}, hub.store.large_files) == (2, {".gitattributes"}, {})
