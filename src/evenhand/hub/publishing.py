"""Bring a repository of the Hub to its intended contents by one commit, or in a pull request, and tag it.

`create_commit` of huggingface_hub leaves out files that did not change, so it may be called again where its answer was
lost. With `create_pr=True` each call would open another pull request: an open one is looked for before each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import yaml  # type: ignore[import-untyped]
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_session, repocard
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.sha import git_hash

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.client import NO_TOKEN, Unreachable, explained, patient, token
from evenhand.hub.contents import CARD, Contents, content, matches

T = TypeVar("T")
MAIN = "main"
TIMEOUT = 300.0  # seconds; the client has none
CARDS = {"dataset": repocard.DatasetCard, "model": repocard.ModelCard, "space": repocard.SpaceCard}
_MERGED = re.compile(r" \(#\d+\)$")  # at the end of the title of a merged pull request's commit


@dataclass(frozen=True)
class Plan:
    """What publishing will do; paths are sorted.

    Attributes:
        kept: files there that evenhand would write, but did not bring.
        head: the commit that the changes are relative to; None: there is no repository.
        pull_request: the number of your open one.
        tag: to be set with the changes; None: none, or it is set.
        unasked: why the Hub could not be asked, in a dry run.
    """

    contents: Contents
    create_pr: bool
    added: Sequence[str]
    changed: Sequence[str] = ()
    deleted: Sequence[str] = ()
    same: Sequence[str] = ()
    kept: Sequence[str] = ()
    head: str | None = None
    pull_request: int | None = None
    tag: str | None = None
    unasked: str = ""

    @property
    def changes(self) -> list[str]:
        return [*self.added, *self.changed, *self.deleted]


@dataclass(frozen=True)
class Remote:
    """The repository that the contents are for."""

    contents: Contents
    api: HfApi

    @classmethod
    def connect(cls, contents: Contents) -> Remote:
        get_session().timeout = TIMEOUT
        return cls(contents, HfApi(library_name="evenhand"))

    def call(self, method: Callable[..., T], **arguments: Any) -> T:
        """Call a method of the API for this repository, and retry temporary errors."""
        call = partial(method, self.contents.repo_id, repo_type=self.contents.repo_type, **arguments)
        return patient(call, f"asking for {self.contents.name}")

    def call_all(self, method: Callable[..., Iterable[T]], **arguments: Any) -> list[T]:
        """Return all that a method of the API yields for this repository."""
        return self.call(lambda *given, **named: [*method(*given, **named)], **arguments)

    def find(self) -> tuple[str, bool] | None:
        """Return the last commit of main and whether the repository is private; None where there is none."""
        try:
            info = self.call(self.api.repo_info)
        except RepositoryNotFoundError:
            if token() is not None:  # the Hub answers a wrong token like this, too
                patient(self.api.whoami, "asking whose token it is")
            return None
        return str(info.sha), bool(info.private)

    def files(self, revision: str) -> dict[str, RepoFile]:
        tree = self.call_all(self.api.list_repo_tree, revision=revision, recursive=True)
        return {each.path: each for each in tree if isinstance(each, RepoFile)}

    def brought_by_evenhand(self, paths: Sequence[str], revision: str) -> list[str]:
        """Return the paths whose last commit has our title, merged or not."""
        found = self.call(self.api.get_paths_info, paths=list(paths), revision=revision, expand=True) if paths else []
        commits = {each.path: getattr(each, "last_commit", None) for each in found}
        titles = {path: _MERGED.sub("", commit.title) for path, commit in commits.items() if commit}
        return [path for path in paths if titles.get(path) == self.contents.title]

    def open_pull_request(self) -> int | None:
        """Return the number of the newest open one of the token's user under our title."""
        author = patient(self.api.whoami, "asking whose token it is")["name"]
        kinds = {"discussion_type": "pull_request", "discussion_status": "open"}
        found = self.call_all(self.api.get_repo_discussions, author=author, **kinds)
        return max((each.num for each in found if each.title == self.contents.title), default=None)


def plan(contents: Contents, create_pr: bool = False, dry_run: bool = False) -> Plan:
    """Compare the contents with the repository; nothing is changed.

    dry_run: no token is needed; if the Hub can't be reached, the plan is as if there were no repository.

    Raises UsageError for what must not be published: private contents into a public repository, files that changed
    while the version stayed, a pull request to a repository that is not there, a card that the Hub does not take.
    """
    _check_card(contents)
    try:
        with explained(f"looking at {contents.name}"):
            if token() is None and not dry_run:
                raise UsageError(f"{contents.name}: {NO_TOKEN}")
            planned = _plan(Remote.connect(contents), create_pr)
            if CARD in planned.changes:
                _check_card(contents, ask=True)
            return planned
    except Unreachable as error:
        if not dry_run:
            raise
        return Plan(contents, create_pr, sorted(contents.files), tag=contents.tag, unasked=str(error))


def _plan(remote: Remote, create_pr: bool) -> Plan:
    contents, name = remote.contents, remote.contents.name
    found = remote.find()
    base = contents.base
    if base is not None and not patient(lambda: remote.api.repo_exists(base), f"looking for {base}"):
        raise UsageError(f"{name}: its base model {base!r} is not on the Hub, or not visible to you; name it by --base")
    if found is None:
        if create_pr:
            raise UsageError(f"{name} is not there, or not visible to you; correct its name, or publish it first")
        return Plan(contents, create_pr, sorted(contents.files), tag=contents.tag)
    head, private = found
    if contents.private and not private:
        raise UsageError(f"{name} is public, and --private makes only a new repository private; remove it")
    number = remote.open_pull_request() if create_pr and token() is not None else None
    if number is not None:
        head = str(remote.call(remote.api.repo_info, revision=f"refs/pr/{number}").sha)
    tags = [each.name for each in remote.call(remote.api.list_repo_refs).tags]
    there = remote.files(head)
    same = [path for path in sorted(contents.files) if path in there and _is_same(contents.files[path], there[path])]
    left_over = sorted(path for path in there if path not in contents.files and matches(path, contents.owned))
    deleted = remote.brought_by_evenhand(left_over, head)
    planned = Plan(
        contents,
        create_pr,
        added=[path for path in sorted(contents.files) if path not in there],
        changed=[path for path in sorted(contents.files) if path in there and path not in same],
        deleted=deleted,
        same=same,
        kept=[path for path in left_over if path not in deleted],
        head=head,
        pull_request=number,
        tag=None if create_pr or contents.tag in tags else contents.tag,
    )
    touched = [path for path in planned.changes if matches(path, contents.fixed)]
    if touched and contents.tag in tags:
        raise UsageError(f"{name}: {_first(touched)} differ from what {contents.tag} holds; raise the version")
    return planned


def _is_same(file: Path | bytes, there: RepoFile) -> bool:
    if there.lfs is None:
        return git_hash(content(file)) == there.blob_id
    return CommitOperationAdd(there.path, file).upload_info.sha256.hex() == there.lfs.sha256


def _first(paths: Sequence[str]) -> str:
    return ", ".join(paths[:5]) + (" …" if len(paths) > 5 else "")


def publish(planned: Plan) -> str:
    """Carry out the plan, and return a line that says where the contents are now.

    If it was cut off, the same call continues: large files that arrived are not sent again.
    """
    contents = planned.contents
    with explained(f"publishing {contents.name}"):
        remote = Remote.connect(contents)
        if planned.head is None:
            sdk = "gradio" if contents.repo_type == "space" else None
            remote.call(remote.api.create_repo, private=contents.private, exist_ok=True, space_sdk=sdk)
        head, private = remote.find() or ("", False)
        if contents.private and not private:
            raise UsageError(f"{contents.name} was made public in the meantime; nothing was sent")
        number, commit = planned.pull_request, planned.head or head
        if planned.changes:
            number, commit = patient(partial(_commit, remote, planned, commit), f"publishing {contents.name}")
            if lacking := sorted({*contents.files} - {*remote.files(commit)}):
                advice = "if the repository's .gitignore hides them, change it there and rerun"
                raise EvenhandError(f"{contents.name}: commit {commit[:7]} lacks {_first(lacking)}; {advice}")
        if planned.tag is not None:
            remote.call(remote.api.create_tag, tag=planned.tag, revision=commit, exist_ok=True)
    kind = "" if contents.repo_type == "model" else f"{contents.repo_type}s/"
    url = f"{remote.api.endpoint}/{kind}{contents.repo_id}"
    if number is not None:
        return f"Pull request: {url}/discussions/{number} (commit {commit[:7]})"
    return f"Published: {url} (commit {commit[:7]}{f', tagged {planned.tag}' if planned.tag else ''})"


def _commit(remote: Remote, planned: Plan, head: str) -> tuple[int | None, str]:
    """Return the number of the pull request, if there is one, and the commit's id."""
    contents = planned.contents
    number = remote.open_pull_request() if planned.create_pr else None
    added = [CommitOperationAdd(path, contents.files[path]) for path in (*planned.added, *planned.changed)]
    made = remote.api.create_commit(
        contents.repo_id,
        [*added, *(CommitOperationDelete(path, is_folder=False) for path in planned.deleted)],
        commit_message=contents.title,
        commit_description=f"Version {contents.tag.removeprefix('v')}." if contents.tag else "",
        repo_type=contents.repo_type,
        revision=MAIN if number is None else f"refs/pr/{number}",
        create_pr=planned.create_pr and number is None,
        parent_commit=head if number == planned.pull_request else None,
    )
    return (made.pr_num or number if planned.create_pr else None), made.oid


def _check_card(contents: Contents, ask: bool = False) -> None:
    """Raise UsageError where huggingface_hub's own class can't read the card's metadata.

    ask: also where the Hub does not take them, before anything is made there.
    """
    if CARD not in contents.files:
        return
    try:
        card = CARDS[contents.repo_type](content(contents.files[CARD]).decode())
        if ask:
            patient(partial(card.validate, contents.repo_type), f"checking the card of {contents.name}")
    except (ValueError, TypeError, KeyError, AttributeError, yaml.YAMLError) as error:
        who, why = "the Hub" if ask else "huggingface_hub", " ".join(str(error).split())[:500]
        raise UsageError(f"{contents.name}: {who} does not take the metadata of {CARD}: {why}") from error
