"""What somebody did on the Hub since a plan was made: a second command of one's own, or somebody else."""

from __future__ import annotations

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.client import patient, status_of
from evenhand.hub.remote import MAIN, Remote


def refuse_others_repository(remote: Remote, new: bool) -> None:
    """Of one that somebody made since the plan was: it may be public, or hold what the plan knows nothing of.

    new: none was there. Ours then has one commit, the Hub's own first. Raises EvenhandError.
    """
    contents = remote.contents
    found = remote.found()
    if contents.private and found is not None and not found[1]:
        raise UsageError(f"{contents.name} is public: somebody made it so meanwhile; nothing was sent")
    if new and len(remote.commits(MAIN)) > 1:
        raise EvenhandError(
            f"somebody published {contents.name} meanwhile, and nothing was sent; run the command again, which shows "
            "what it would change there"
        )


def refuse_second_pull_request(remote: Remote, ours: int | None = None) -> None:
    """Two commands at the same time may each find none and open one; the later one is closed again.

    ours: the number of the one that was opened; None: none was yet. Raises EvenhandError where there is an earlier one.
    """
    earlier = [number for number in remote.open_pull_requests() if ours is None or number < ours]
    if not earlier:
        return
    contents, first = remote.contents, min(earlier)
    if ours is not None:
        patient(
            lambda: remote.api.change_discussion_status(
                contents.repo_id, ours, "closed", repo_type=contents.repo_type, comment=f"As #{first}."
            ),
            f"closing pull request {ours}",
        )
    raise EvenhandError(
        f"{contents.name}: pull request {first} of yours was opened meanwhile"
        + (f", and {ours} was closed again" if ours is not None else "")
        + "; run the command again, which goes on with it"
    )


def set_tag(remote: Remote, tag: str, commit: str) -> None:
    """After a lost answer the tag is there, and is ours. Raises EvenhandError for one that somebody set elsewhere."""
    from huggingface_hub.errors import HfHubHTTPError

    contents = remote.contents

    def asked() -> None:
        try:
            remote.api.create_tag(contents.repo_id, repo_type=contents.repo_type, tag=tag, revision=commit)
        except HfHubHTTPError as error:
            if status_of(error) != 409:
                raise
            there = remote.tags().get(tag, "")
            if there != commit:
                raise EvenhandError(
                    f"{contents.name}: somebody set {tag} meanwhile, at commit {there[:7]}; what was sent now is "
                    f"commit {commit[:7]}, which has no tag; raise the version, and publish again"
                ) from error

    patient(asked, f"tagging {contents.name}")
