"""Bringing a repository to its intended contents by one commit, or in a pull request, and tagging it.

A commit is not asked for twice blindly: where its answer is lost, the repository is looked at first. On a branch,
`parent_commit` would keep a second one out, too; nothing would keep out a second pull request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.client import Unreachable, explained, patient, status_of, token
from evenhand.hub.contents import SPACE_SDK, Contents, content, matches
from evenhand.hub.remote import MAIN, Changes, Remote, changes, left_over, version_message

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd

T = TypeVar("T")
CARD = "README.md"
OFFLINE = "HF_HUB_OFFLINE keeps everything off the network"


@dataclass(frozen=True)
class Plan:
    """What publishing will do, as it was seen.

    head: the commit that the changes are against; None: there is no repository. pull_request: the number of an open
    one of ours, gone on with. tag: to be set when the changes are there; None: none, or it is set. anonymous: seen
    without a token, and so without what is private, and without knowing whose an open pull request is. unasked: why
    the Hub could not be asked, so that nothing is known of what is there; only a dry run has such a plan.
    """

    contents: Contents
    create_pr: bool
    changes: Changes
    head: str | None
    pull_request: int | None
    tag: str | None
    tags: Mapping[str, str]
    anonymous: bool = False
    unasked: str = ""

    @property
    def revision(self) -> str:
        return MAIN if self.pull_request is None else f"refs/pr/{self.pull_request}"


@dataclass(frozen=True)
class Published:
    """commit: where the contents now are. pull_request: its number, where it was one."""

    url: str
    commit: str
    pull_request: int | None
    tag: str | None


def plan(contents: Contents, create_pr: bool = False, dry_run: bool = False) -> Plan:
    """What there is to do; nothing is changed. dry_run: nothing will be, so that no token is needed.

    Raises UsageError for what must not be published like that: a public repository that --private was asked for,
    files that changed while the version stayed, a pull request to what is not there, what one commit doesn't hold.
    """
    refuse_unreadable_metadata(contents)
    with explained(f"looking at {contents.name}"):
        remote = Remote.of(contents, needs_token=not dry_run)
        anonymous = token() is None
        found = remote.found()
        _refuse_unknown_base(remote)
        if found is None:
            if create_pr:
                unseen = ", or is private, which only a token tells" if anonymous else ""
                raise UsageError(
                    f"{contents.name} is not there{unseen}, so there's nothing to open a pull request on; mend its "
                    "name, or publish it first"
                )
            differing = changes(contents, {})
            _refuse_invalid_card(remote, differing)
            return Plan(contents, False, differing, None, None, contents.tag, {}, anonymous)
        head, private = found
        if contents.private and not private:
            raise UsageError(
                f"{contents.name} is public, and --private changes no repository that is there; leave it out"
            )
        number = remote.open_pull_request() if create_pr and not anonymous else None
        if number is not None:
            head = remote.head(f"refs/pr/{number}")
        tags = remote.tags()
        there = remote.files(head)
        differing = changes(contents, there, remote.written_by_us(left_over(contents, there), head))
        _refuse_changed_rows(remote, differing, tags, number)
        _refuse_invalid_card(remote, differing)
        tag = None if create_pr or contents.tag in tags else contents.tag
        return Plan(contents, create_pr, differing, head, number, tag, tags, anonymous)


def publish(planned: Plan) -> Published:
    """Does it. What was cut off is gone on with by the same call: large files that arrived are not sent again."""
    contents = planned.contents
    with explained(f"publishing {contents.name}"):
        remote = Remote.of(contents)
        if planned.head is None:
            patient(lambda: _create(remote), f"creating {contents.name}")
        if contents.private and not (remote.found() or ("", False))[1]:
            raise UsageError(f"{contents.name} is public: somebody made it so meanwhile; nothing was sent")
        number, commit = planned.pull_request, planned.head
        if planned.changes.all or commit is None:
            number, commit = _commit(remote, planned)
            _refuse_half(remote, planned, commit)
        if planned.tag is not None:
            remote.set_tag(planned.tag, commit)
        url = remote.url if number is None else f"{remote.url}/discussions/{number}"
        return Published(url, commit, number, planned.tag)


def _refuse_unknown_base(remote: Remote) -> None:
    """A local folder's name may look like an id, and would be a base that nobody else could load."""
    base = remote.contents.base
    if base is not None and not patient(lambda: remote.api.repo_exists(base), f"looking for {base}"):
        raise UsageError(
            f"{remote.contents.name}: its base model {base!r} is not on the Hub, or the token may not see it; name its "
            "id there with --base ID, and publish one of your own first"
        )


def _refuse_changed_rows(remote: Remote, differing: Changes, tags: Mapping[str, str], pull_request: int | None) -> None:
    """Of a version that was published, tagged or, where the tag was refused then, not."""
    contents = remote.contents
    touched = [path for path in differing.all if matches(path, contents.fixed)]
    if not touched or contents.tag is None:
        return
    which = f"{contents.name}: {', '.join(touched[:5])}{' …' if len(touched) > 5 else ''} differ from what"
    if contents.tag in tags:
        raise UsageError(f"{which} was published as {contents.tag}; raise the version, or undo what was changed")
    if pull_request is None and (commit := remote.published_as(contents.tag)) is not None:
        raise UsageError(
            f"{which} commit {commit[:7]} brought as {contents.tag}, whose tag could not be set then; raise the "
            "version, or undo what was changed"
        )


def _refuse_invalid_card(remote: Remote, differing: Changes) -> None:
    """By the Hub's own check, before anything is made there; the client asks for it only with the commit."""
    from huggingface_hub import get_session
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

    contents = remote.contents
    if CARD not in differing.sent:
        return
    asked = {"content": content(contents.files[CARD]).decode(), "repoType": contents.repo_type}

    def messages() -> list[str]:
        answer = get_session().post(f"{remote.api.endpoint}/api/validate-yaml", json=asked)
        if answer.status_code == 400:
            return [str(each.get("message")) for each in answer.json().get("errors", [])] or ["it doesn't say why"]
        hf_raise_for_status(answer)
        return []

    if said := patient(messages, f"checking the card of {contents.name}"):
        raise UsageError(f"{contents.name}: the Hub does not take the metadata of {CARD}: {'; '.join(said)}")


def _create(remote: Remote) -> None:
    contents = remote.contents
    sdk = SPACE_SDK if contents.repo_type == "space" else None
    remote.api.create_repo(
        contents.repo_id, repo_type=contents.repo_type, private=contents.private, exist_ok=True, space_sdk=sdk
    )


def _commit(remote: Remote, planned: Plan) -> tuple[int | None, str]:
    """Of the pull request, where it is one, and of the commit."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    contents = planned.contents
    opens = planned.create_pr and planned.pull_request is None
    head = planned.head or remote.head(MAIN)
    additions = [
        CommitOperationAdd(path, file if isinstance(file, bytes) else str(file))
        for path, file in ((path, contents.files[path]) for path in planned.changes.sent)
    ]
    remote.api.preupload_lfs_files(  # asked again by the client itself
        contents.repo_id, additions, repo_type=contents.repo_type, revision=planned.revision, create_pr=opens,
    )  # fmt: skip
    _refuse_hidden(contents, additions)
    deletions = [CommitOperationDelete(path, is_folder=False) for path in planned.changes.deleted]

    def commit() -> tuple[int | None, str]:
        try:
            return sent()
        except HfHubHTTPError as error:
            # Of a commit that was asked for again: the first one came after all.
            if status_of(error) == 412 and (found := heard()) is not None:
                return found
            raise

    def sent() -> tuple[int | None, str]:
        made = remote.api.create_commit(
            contents.repo_id, [*additions, *deletions], commit_message=contents.title,
            commit_description=version_message(contents.tag) if contents.tag else "", repo_type=contents.repo_type,
            revision=planned.revision, create_pr=opens, parent_commit=head,
        )  # fmt: skip
        return (made.pr_num if opens else planned.pull_request), made.oid

    def heard() -> tuple[int | None, str] | None:
        """What the Hub made of a commit whose answer was lost."""
        number = remote.open_pull_request() if opens else planned.pull_request
        if opens and number is None:
            return None
        revision = MAIN if number is None else f"refs/pr/{number}"
        now = remote.head(revision)
        if now != head and (
            remote.is_ours(remote.commits(revision)[0].title) or not _lacking(remote, planned, now).all
        ):
            return number, now
        if opens:
            raise EvenhandError(
                f"{contents.name}: pull request {number} was opened, and what was to be in it did not come; run the "
                "command again, which goes on with it"
            )
        return None

    return patient(commit, f"publishing {contents.name}", again=heard)


def _refuse_hidden(contents: Contents, additions: Sequence[CommitOperationAdd]) -> None:
    """Before anything is committed: the Hub said, asked how to send them, which files it would leave out."""
    hidden = [each.path_in_repo for each in additions if getattr(each, "_should_ignore", False)]
    if hidden:
        raise UsageError(
            f"{contents.name}: the repository's .gitignore hides {', '.join(hidden[:5])}{' …' if hidden[5:] else ''}, "
            "so nothing was committed; change .gitignore there, or take them out here"
        )


def _lacking(remote: Remote, planned: Plan, commit: str) -> Changes:
    return changes(remote.contents, remote.files(commit), planned.changes.deleted)


def _refuse_half(remote: Remote, planned: Plan, commit: str) -> None:
    """Raises EvenhandError where the commit doesn't hold all that was sent."""
    if paths := _lacking(remote, planned, commit).all:
        raise EvenhandError(
            f"{remote.contents.name}: commit {commit[:7]} is not what was sent: {', '.join(paths[:5])} differ; see "
            "whether the repository's .gitignore hides them, and run the command again"
        )


def refuse_unreadable_metadata(contents: Contents) -> None:
    """Raises UsageError where huggingface_hub's own classes can't read the card; nothing is asked of the Hub."""
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import DatasetCard, ModelCard, SpaceCard

    if CARD not in contents.files:
        return
    read_as = {"dataset": DatasetCard, "model": ModelCard, "space": SpaceCard}[contents.repo_type]
    try:
        read_as(content(contents.files[CARD]).decode())
    except (ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise UsageError(
            f"{contents.name}: huggingface_hub can't read the metadata of {CARD} ({said[:200]}); between the two lines "
            "--- a mapping in YAML is accepted, as 'license: apache-2.0'"
        ) from error


def try_the_hub(asked: Callable[[], T], dry_run: bool = True) -> tuple[T | None, str]:
    """What the Hub answers; or None, and why it could not be asked. Raises Unreachable where it is no dry run."""
    from huggingface_hub import constants

    if dry_run and constants.HF_HUB_OFFLINE:
        return None, OFFLINE
    try:
        return asked(), ""
    except Unreachable as error:
        if not dry_run:
            raise
        return None, str(error)


def dry_run_plans(all_contents: Sequence[Contents], create_pr: bool = False, unasked: str = "") -> list[Plan]:
    """Plans that are shown only; where the Hub can't be reached, of repositories that have no files.

    unasked: why the Hub was not to be reached before. Raises UsageError for what must not be published.
    """
    plans = []
    for contents in all_contents:
        seen: Plan | None = None
        if not unasked:
            seen, unasked = try_the_hub(partial(plan, contents, create_pr, dry_run=True))
        if seen is None:
            refuse_unreadable_metadata(contents)
            every = changes(contents, {})
            seen = Plan(contents, create_pr, every, None, None, contents.tag, {}, anonymous=True, unasked=unasked)
        plans.append(seen)
    return plans
