"""Bringing a repository to its intended contents by one commit, or in a pull request, and tagging it.

A commit is not asked for twice blindly: where its answer is lost, the repository is looked at first. On a branch,
`parent_commit` would keep a second one out, too; nothing would keep out a second pull request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.card_metadata import CARD, refuse_unreadable_metadata
from evenhand.hub.changes import Changes, RemoteFile, changes
from evenhand.hub.client import NO_TOKEN, explained, patient, status_of
from evenhand.hub.contents import SPACE_SDK, Contents, content, matches
from evenhand.hub.limits import refuse_too_much

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MAIN = "main"
LONGEST_SILENCE = 300.0  # seconds; the client itself would wait for ever


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
        api = _api(contents, needs_token=not dry_run)
        anonymous = _token() is None
        found = _found(api, contents)
        _refuse_unknown_base(api, contents)
        if found is None:
            if create_pr:
                unseen = ", or is private, which only a token tells" if anonymous else ""
                raise UsageError(
                    f"{contents.name} is not there{unseen}, so there's nothing to open a pull request on; mend its "
                    "name, or publish it first"
                )
            differing = changes(contents, {})
            refuse_too_much(contents, differing.sent)
            _refuse_invalid_card(api, contents, differing)
            return Plan(contents, False, differing, None, None, contents.tag, {}, anonymous)
        head, private = found
        if contents.private and not private:
            raise UsageError(
                f"{contents.name} is public, and --private changes no repository that is there; leave it out"
            )
        number = _open_pull_request(api, contents) if create_pr and not anonymous else None
        if number is not None:
            head = _head(api, contents, f"refs/pr/{number}")
        tags = _tags(api, contents)
        there = _files(api, contents, head)
        differing = changes(contents, there)
        refuse_too_much(contents, differing.sent)
        _refuse_changed_rows(contents, differing, tags)
        _refuse_invalid_card(api, contents, differing)
        tag = None if create_pr or contents.tag in tags else contents.tag
        return Plan(contents, create_pr, differing, head, number, tag, tags, anonymous)


def publish(planned: Plan) -> Published:
    """Does it. What was cut off is gone on with by the same call: large files that arrived are not sent again."""
    contents = planned.contents
    with explained(f"publishing {contents.name}"):
        api = _api(contents)
        if planned.head is None:
            patient(lambda: _create(api, contents), f"creating {contents.name}")
        number, commit = planned.pull_request, planned.head
        if planned.changes or commit is None:
            number, commit = _commit(api, planned)
            _refuse_half(api, contents, commit)
        if planned.tag is not None:
            _tag(api, contents, planned.tag, commit)
        url = (
            api.endpoint + "/" + ("" if contents.repo_type == "model" else contents.repo_type + "s/") + contents.repo_id
        )
        return Published(url if number is None else f"{url}/discussions/{number}", commit, number, planned.tag)


def _token() -> str | None:
    from huggingface_hub import get_token

    return get_token()


def _api(contents: Contents, needs_token: bool = True) -> HfApi:
    from huggingface_hub import HfApi, get_session

    if needs_token and _token() is None:
        raise UsageError(f"{contents.name}: {NO_TOKEN}")
    get_session().timeout = LONGEST_SILENCE
    return HfApi(library_name="evenhand")


def _refuse_unknown_base(api: HfApi, contents: Contents) -> None:
    """A local folder's name may look like an id, and would be a base that nobody else could load."""
    base = contents.base
    if base is not None and not patient(lambda: api.repo_exists(base), f"looking for {base}"):
        raise UsageError(
            f"{contents.name}: its base model {base!r} is not on the Hub, or the token may not see it; name its id "
            "there with --base ID, and publish one of your own first"
        )


def _found(api: HfApi, contents: Contents) -> tuple[str, bool] | None:
    """The last commit of main, and whether the repository is private; None where there is none."""
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = patient(
            lambda: api.repo_info(contents.repo_id, repo_type=contents.repo_type), f"looking at {contents.name}"
        )
    except RepositoryNotFoundError as error:
        # The client calls a wrong token's answer so, too; the Hub knows nobody by it.
        if status_of(error) == 401 and _token() is not None:
            patient(api.whoami, "asking whose token it is")
        return None
    return str(info.sha), bool(info.private)


def _head(api: HfApi, contents: Contents, revision: str) -> str:
    info = patient(
        lambda: api.repo_info(contents.repo_id, repo_type=contents.repo_type, revision=revision),
        f"looking at {contents.name}",
    )
    return str(info.sha)


def _files(api: HfApi, contents: Contents, revision: str) -> dict[str, RemoteFile]:
    from huggingface_hub.hf_api import RepoFile

    def listed() -> dict[str, RemoteFile]:
        tree = api.list_repo_tree(contents.repo_id, repo_type=contents.repo_type, revision=revision, recursive=True)
        return {
            each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None)
            for each in tree
            if isinstance(each, RepoFile)
        }

    return patient(listed, f"listing {contents.name}")


def _tags(api: HfApi, contents: Contents) -> dict[str, str]:
    refs = patient(
        lambda: api.list_repo_refs(contents.repo_id, repo_type=contents.repo_type), f"listing {contents.name}'s tags"
    )
    return {each.name: each.target_commit for each in refs.tags}


def _open_pull_request(api: HfApi, contents: Contents) -> int | None:
    """The number of the newest open one that is ours: of the token's user, under the title that we give them."""
    author = patient(api.whoami, "asking whose token it is")["name"]

    def numbers() -> list[int]:
        return [
            each.num
            for each in api.get_repo_discussions(
                contents.repo_id, repo_type=contents.repo_type, author=author, discussion_type="pull_request",
                discussion_status="open",
            )
            if each.title == contents.title
        ]  # fmt: skip

    return max(patient(numbers, f"listing {contents.name}'s pull requests"), default=None)


def _refuse_changed_rows(contents: Contents, differing: Changes, tags: Mapping[str, str]) -> None:
    touched = [
        path for path in (*differing.added, *differing.changed, *differing.deleted) if matches(path, contents.fixed)
    ]
    if touched and contents.tag in tags:
        raise UsageError(
            f"{contents.name}: {', '.join(touched[:5])}{' …' if len(touched) > 5 else ''} differ from what was "
            f"published as {contents.tag}; raise the version, or undo what was changed"
        )


def _refuse_invalid_card(api: HfApi, contents: Contents, differing: Changes) -> None:
    """By the Hub's own check, before anything is made there; the client asks for it only with the commit."""
    from huggingface_hub import get_session
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

    if CARD not in differing.sent:
        return
    asked = {"content": content(contents.files[CARD]).decode(), "repoType": contents.repo_type}

    def messages() -> list[str]:
        answer = get_session().post(f"{api.endpoint}/api/validate-yaml", json=asked)
        if answer.status_code == 400:
            return [str(each.get("message")) for each in answer.json().get("errors", [])] or ["it doesn't say why"]
        hf_raise_for_status(answer)
        return []

    if said := patient(messages, f"checking the card of {contents.name}"):
        raise UsageError(f"{contents.name}: the Hub does not take the metadata of {CARD}: {'; '.join(said)}")


def _create(api: HfApi, contents: Contents) -> None:
    sdk = SPACE_SDK if contents.repo_type == "space" else None
    api.create_repo(
        contents.repo_id, repo_type=contents.repo_type, private=contents.private, exist_ok=True, space_sdk=sdk
    )


def _commit(api: HfApi, planned: Plan) -> tuple[int | None, str]:
    """Of the pull request, where it is one, and of the commit."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    contents = planned.contents
    opens = planned.create_pr and planned.pull_request is None
    head = planned.head or _head(api, contents, MAIN)
    additions = [
        CommitOperationAdd(path, file if isinstance(file, bytes) else str(file))
        for path, file in ((path, contents.files[path]) for path in planned.changes.sent)
    ]
    api.preupload_lfs_files(  # asked again by the client itself
        contents.repo_id, additions, repo_type=contents.repo_type, revision=planned.revision, create_pr=opens,
    )  # fmt: skip
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
        made = api.create_commit(
            contents.repo_id, [*additions, *deletions], commit_message=contents.title,
            commit_description=_description(planned), repo_type=contents.repo_type, revision=planned.revision,
            create_pr=opens, parent_commit=head,
        )  # fmt: skip
        return (made.pr_num if opens else planned.pull_request), made.oid

    def heard() -> tuple[int | None, str] | None:
        """What the Hub made of a commit whose answer was lost."""
        number = _open_pull_request(api, contents) if opens else planned.pull_request
        if opens and number is None:
            return None
        now = _head(api, contents, MAIN if number is None else f"refs/pr/{number}")
        return (number, now) if now != head and not changes(contents, _files(api, contents, now)) else None

    return patient(commit, f"publishing {contents.name}", again=heard)


def _description(planned: Plan) -> str:
    tag = planned.contents.tag
    return f"Version {tag.removeprefix('v')}." if tag else ""


def _refuse_half(api: HfApi, contents: Contents, commit: str) -> None:
    """Raises EvenhandError where the commit doesn't hold all that was sent, as where a .gitignore there hides files."""
    lacking = changes(contents, _files(api, contents, commit))
    if lacking:
        paths = (*lacking.added, *lacking.changed, *lacking.deleted)
        raise EvenhandError(
            f"{contents.name}: commit {commit[:7]} is not what was sent: {', '.join(paths[:5])} differ; see whether "
            "the repository's .gitignore hides them, and run the command again"
        )


def _tag(api: HfApi, contents: Contents, tag: str, commit: str) -> None:
    """After a lost answer the tag is there, and is ours."""
    patient(
        lambda: api.create_tag(contents.repo_id, repo_type=contents.repo_type, tag=tag, revision=commit, exist_ok=True),
        f"tagging {contents.name}",
    )
