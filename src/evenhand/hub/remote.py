"""What the Hub says of a repository: its files, tags, commits and pull requests, asked for patiently."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.hub.changes import RemoteFile
from evenhand.hub.client import NO_TOKEN, patient, status_of, token
from evenhand.hub.contents import Contents

if TYPE_CHECKING:
    from huggingface_hub import GitCommitInfo, HfApi

MAIN = "main"
_MERGED = re.compile(r" \(#(\d+)\)$")
LONGEST_SILENCE = 300.0  # seconds; the client itself would wait for ever


@dataclass(frozen=True)
class LastChange:
    """Of a file. git: its blob's id; title: of the commit that brought it."""

    git: str
    title: str

    @property
    def pull_request(self) -> int | None:
        """Where the commit is a merged one, its number, which the Hub puts behind the title."""
        found = _MERGED.search(self.title)
        return int(found[1]) if found else None


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

        try:
            info = patient(
                lambda: self.api.repo_info(self.contents.repo_id, repo_type=self.contents.repo_type),
                f"looking at {self.contents.name}",
            )
        except RepositoryNotFoundError as error:
            # The client calls a wrong token's answer so, too; the Hub knows nobody by it.
            if status_of(error) == 401 and token() is not None:
                patient(self.api.whoami, "asking whose token it is")
            return None
        return str(info.sha), bool(info.private)

    def head(self, revision: str) -> str:
        info = patient(
            lambda: self.api.repo_info(self.contents.repo_id, repo_type=self.contents.repo_type, revision=revision),
            f"looking at {self.contents.name}",
        )
        return str(info.sha)

    def files(self, revision: str) -> dict[str, RemoteFile]:
        from huggingface_hub.hf_api import RepoFile

        def listed() -> dict[str, RemoteFile]:
            tree = self.api.list_repo_tree(
                self.contents.repo_id, repo_type=self.contents.repo_type, revision=revision, recursive=True
            )
            return {
                each.path: RemoteFile(each.blob_id, each.lfs.sha256 if each.lfs else None)
                for each in tree
                if isinstance(each, RepoFile)
            }

        return patient(listed, f"listing {self.contents.name}")

    def tags(self) -> dict[str, str]:
        refs = patient(
            lambda: self.api.list_repo_refs(self.contents.repo_id, repo_type=self.contents.repo_type),
            f"listing {self.contents.name}'s tags",
        )
        return {each.name: each.target_commit for each in refs.tags}

    def commits(self, revision: str) -> list[GitCommitInfo]:
        """The newest first."""
        return patient(
            lambda: self.api.list_repo_commits(
                self.contents.repo_id, repo_type=self.contents.repo_type, revision=revision
            ),
            f"listing {self.contents.name}'s commits",
        )

    def is_ours(self, title: str) -> bool:
        """Whether a commit's title is one that we gave; the Hub puts a merged pull request's number behind it."""
        return _MERGED.sub("", title) == self.contents.title

    def written_by_us(self, paths: Sequence[str], revision: str) -> set[str]:
        """Those of the paths whose content a commit of ours brought.

        A merged pull request is one commit under our title, with whatever others put into it: of its files those are
        ours that a commit of ours brought there, as they are now; none where the pull request can't be looked at.
        """
        from huggingface_hub.errors import EntryNotFoundError, RevisionNotFoundError

        found = {path: each for path, each in self._last_changes(paths, revision).items() if self.is_ours(each.title)}
        ours = {path for path, each in found.items() if each.pull_request is None}
        for number in {each.pull_request for each in found.values()} - {None}:
            merged = {path: each for path, each in found.items() if each.pull_request == number}
            try:
                within = self._last_changes(list(merged), f"refs/pr/{number}")
            except (EntryNotFoundError, RevisionNotFoundError):
                continue
            ours |= {
                path
                for path, each in within.items()
                if each.git == merged[path].git and each.title == self.contents.title
            }
        return ours

    def _last_changes(self, paths: Sequence[str], revision: str) -> dict[str, LastChange]:
        from huggingface_hub.hf_api import RepoFile

        if not paths:
            return {}
        found = patient(
            lambda: self.api.get_paths_info(
                self.contents.repo_id, list(paths), repo_type=self.contents.repo_type, revision=revision, expand=True
            ),
            f"asking who wrote files of {self.contents.name}",
        )
        return {
            each.path: LastChange(each.blob_id, each.last_commit.title)
            for each in found
            if isinstance(each, RepoFile) and each.last_commit is not None
        }

    def published_as(self, version: str) -> str | None:
        """The commit of main that brought this version, tagged or not: our newest that says so."""
        said = version_told(version)
        return next(
            (each.commit_id for each in self.commits(MAIN) if self.is_ours(each.title) and said in each.message), None
        )

    def open_pull_request(self) -> int | None:
        """The newest of them."""
        return next(self.open_pull_requests(), None)

    def open_pull_requests(self) -> Iterator[int]:
        """Numbers of open ones that are ours: of the token's user, under our title, or a commit is. The newest first.

        Anybody may change a pull request's own title; that of its commits stays.
        """
        author = patient(self.api.whoami, "asking whose token it is")["name"]

        def listed() -> list[tuple[int, str]]:
            return [
                (each.num, each.title)
                for each in self.api.get_repo_discussions(
                    self.contents.repo_id, repo_type=self.contents.repo_type, author=author,
                    discussion_type="pull_request", discussion_status="open",
                )
            ]  # fmt: skip

        candidates = sorted(patient(listed, f"listing {self.contents.name}'s pull requests"), reverse=True)
        yield from self._ours_of(candidates)

    def _ours_of(self, candidates: Sequence[tuple[int, str]]) -> Iterator[int]:
        of_main: set[str] | None = None
        for number, title in candidates:
            if title == self.contents.title:
                yield number
                continue
            of_main = {each.commit_id for each in self.commits(MAIN)} if of_main is None else of_main
            own = (each for each in self.commits(f"refs/pr/{number}") if each.commit_id not in of_main)
            if any(self.is_ours(each.title) for each in own):
                yield number


def version_told(tag: str) -> str:
    """What a commit says of the version that it brings."""
    return f"Version {tag.removeprefix('v')}."
