"""A repository of the Hub: its files, tags, commits and pull requests, and what contents change in it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvenhandError, UsageError
from evenhand.hub.client import NO_TOKEN, patient, status_of, token
from evenhand.hub.contents import Contents, matches

if TYPE_CHECKING:
    from huggingface_hub import GitCommitInfo, HfApi

MAIN = "main"
LONGEST_SILENCE = 300.0  # seconds; the client itself would wait for ever
_MERGED = re.compile(r" \(#(\d+)\)$")  # behind the title of a merged pull request's commit
_BLOCK = 1024**2


@dataclass(frozen=True)
class RemoteFile:
    """git: SHA-1 of git's blob, of a large file its pointer's. sha256: of a large file's content, else None."""

    git: str
    sha256: str | None

    def holds(self, here: Path | bytes) -> bool:
        """Whether the content here is this file's."""
        if self.sha256 is not None:
            return _digest(here, hashlib.sha256()) == self.sha256
        size = len(here) if isinstance(here, bytes) else here.stat().st_size
        return _digest(here, hashlib.sha1(b"blob %d\0" % size)) == self.git


def _digest(here: Path | bytes, digest: hashlib._Hash) -> str:
    if isinstance(here, bytes):
        digest.update(here)
        return digest.hexdigest()
    with here.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True)
class Changes:
    """Paths in the repository, sorted. other: what is there and no business of ours."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    same: tuple[str, ...]
    other: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.added, *self.changed, *self.deleted)

    @property
    def sent(self) -> tuple[str, ...]:
        return tuple(sorted((*self.added, *self.changed)))


def left_over(contents: Contents, there: Mapping[str, RemoteFile]) -> tuple[str, ...]:
    """What the repository has, and the contents have not, among the paths that evenhand writes; sorted."""
    return tuple(sorted(path for path in there if path not in contents.files and matches(path, contents.owned)))


def changes(contents: Contents, there: Mapping[str, RemoteFile], ours: Collection[str] = ()) -> Changes:
    """What the contents change in a repository.

    Args:
        there: its files by path; empty where there is no repository.
        ours: of what is left over, what evenhand itself brought, and so may delete.
    """
    wanted = sorted(contents.files)
    known = [path for path in wanted if path in there]
    same = {path for path in known if there[path].holds(contents.files[path])}
    deleted = tuple(path for path in left_over(contents, there) if path in ours)
    return Changes(
        added=tuple(path for path in wanted if path not in there),
        changed=tuple(path for path in known if path not in same),
        deleted=deleted,
        same=tuple(path for path in known if path in same),
        other=tuple(sorted(path for path in there if path not in contents.files and path not in deleted)),
    )


@dataclass(frozen=True)
class Remote:
    """The repository that the contents are for."""

    api: HfApi
    contents: Contents

    @classmethod
    def of(cls, contents: Contents, needs_token: bool = True) -> Remote:
        from huggingface_hub import HfApi, get_session

        if token() is None and needs_token:
            raise UsageError(f"{contents.name}: {NO_TOKEN}")
        get_session().timeout = LONGEST_SILENCE
        return cls(HfApi(library_name="evenhand"), contents)

    @property
    def url(self) -> str:
        kind = self.contents.repo_type
        return f"{self.api.endpoint}/{'' if kind == 'model' else kind + 's/'}{self.contents.repo_id}"

    def found(self) -> tuple[str, bool] | None:
        """The last commit of main, and whether the repository is private; None where there is none."""
        from huggingface_hub.errors import RepositoryNotFoundError

        id_, kind = self.contents.repo_id, self.contents.repo_type
        try:
            info = patient(lambda: self.api.repo_info(id_, repo_type=kind), f"looking at {self.contents.name}")
        except RepositoryNotFoundError as error:
            # The client calls a wrong token's answer so, too; the Hub knows no user by it.
            if status_of(error) == 401 and token() is not None:
                patient(self.api.whoami, "asking whose token it is")
            return None
        return str(info.sha), bool(info.private)

    def head(self, revision: str) -> str:
        id_, kind = self.contents.repo_id, self.contents.repo_type
        what = f"looking at {self.contents.name}"
        return str(patient(lambda: self.api.repo_info(id_, repo_type=kind, revision=revision), what).sha)

    def files(self, revision: str) -> dict[str, RemoteFile]:
        from huggingface_hub.hf_api import RepoFile

        id_, kind = self.contents.repo_id, self.contents.repo_type

        def listed() -> dict[str, RemoteFile]:
            tree = self.api.list_repo_tree(id_, repo_type=kind, revision=revision, recursive=True)
            return {
                each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None)
                for each in tree
                if isinstance(each, RepoFile)
            }

        return patient(listed, f"listing {self.contents.name}")

    def tags(self) -> dict[str, str]:
        id_, kind = self.contents.repo_id, self.contents.repo_type
        what = f"listing {self.contents.name}'s tags"
        refs = patient(lambda: self.api.list_repo_refs(id_, repo_type=kind), what)
        return {each.name: each.target_commit for each in refs.tags}

    def commits(self, revision: str) -> list[GitCommitInfo]:
        """The newest first."""
        id_, kind = self.contents.repo_id, self.contents.repo_type
        what = f"listing {self.contents.name}'s commits"
        return patient(lambda: self.api.list_repo_commits(id_, repo_type=kind, revision=revision), what)

    def is_ours(self, title: str) -> bool:
        """Whether a commit's title is one that we gave, merged or not."""
        return _MERGED.sub("", title) == self.contents.title

    def written_by_us(self, paths: Sequence[str], revision: str) -> set[str]:
        """The paths whose content a commit of ours brought.

        A merged pull request is one commit under our title, with whatever others put into it: of its files those are
        ours that a commit of ours brought there; none where the pull request can't be looked at.
        """
        from huggingface_hub.errors import EntryNotFoundError, RevisionNotFoundError

        ours: set[str] = set()
        merged: dict[str, list[str]] = {}
        for path, title in self._last_titles(paths, revision).items():
            if title == self.contents.title:
                ours.add(path)
            elif self.is_ours(title) and (number := _MERGED.search(title)):
                merged.setdefault(number[1], []).append(path)
        for request, held in merged.items():
            try:
                titles = self._last_titles(held, f"refs/pr/{request}")
            except (EntryNotFoundError, RevisionNotFoundError):
                continue
            ours |= {path for path, title in titles.items() if title == self.contents.title}
        return ours

    def _last_titles(self, paths: Sequence[str], revision: str) -> dict[str, str]:
        """{path: title of the commit that last changed it}"""
        from huggingface_hub.hf_api import RepoFile

        id_, kind = self.contents.repo_id, self.contents.repo_type
        if not paths:
            return {}
        found = patient(
            lambda: self.api.get_paths_info(id_, list(paths), repo_type=kind, revision=revision, expand=True),
            f"asking who wrote files of {self.contents.name}",
        )
        return {each.path: each.last_commit.title for each in found if isinstance(each, RepoFile) and each.last_commit}

    def published_as(self, version: str) -> str | None:
        """The commit of main that brought this version, tagged or not: our newest that says so."""
        said = version_message(version)
        return next(
            (each.commit_id for each in self.commits(MAIN) if self.is_ours(each.title) and said in each.message), None
        )

    def open_pull_request(self) -> int | None:
        """The newest open one that is ours: of the token's user, under our title, or a commit is.

        Anybody may change a pull request's own title; that of its commits stays.
        """
        id_, kind = self.contents.repo_id, self.contents.repo_type
        author = patient(self.api.whoami, "asking whose token it is")["name"]

        def listed() -> list[tuple[int, str]]:
            found = self.api.get_repo_discussions(
                id_, repo_type=kind, author=author, discussion_type="pull_request", discussion_status="open"
            )
            return [(each.num, each.title) for each in found]

        of_main: set[str] | None = None
        for number, title in sorted(patient(listed, f"listing {self.contents.name}'s pull requests"), reverse=True):
            if title == self.contents.title:
                return number
            of_main = {each.commit_id for each in self.commits(MAIN)} if of_main is None else of_main
            own = (each for each in self.commits(f"refs/pr/{number}") if each.commit_id not in of_main)
            if any(self.is_ours(each.title) for each in own):
                return number
        return None

    def set_tag(self, tag: str, commit: str) -> None:
        """After a lost answer the tag is there, and is ours. Raises EvenhandError for one that is elsewhere."""
        from huggingface_hub.errors import HfHubHTTPError

        id_, kind = self.contents.repo_id, self.contents.repo_type

        def asked() -> None:
            try:
                self.api.create_tag(id_, repo_type=kind, tag=tag, revision=commit)
            except HfHubHTTPError as error:
                if status_of(error) != 409:
                    raise
                if (there := self.tags().get(tag, "")) != commit:
                    raise EvenhandError(
                        f"{self.contents.name}: somebody set {tag} meanwhile, at commit {there[:7]}; what was sent now "
                        f"is commit {commit[:7]}, which has no tag; raise the version, and publish again"
                    ) from error

        patient(asked, f"tagging {self.contents.name}")


def version_message(tag: str) -> str:
    """What a commit says of the version that it brings."""
    return f"Version {tag.removeprefix('v')}."
