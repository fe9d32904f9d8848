"""What a hub keeps: repositories with commits, branches, tags, pull requests, and large files by their sha256.

In memory, and no more of git than its ids: a commit is a whole mapping of paths to blobs. `Refused` is an answer that
is an error, with the status, code and words of the real Hub where they were seen in its client's source or tests.
"""

from __future__ import annotations

import datetime
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LARGE = (".parquet", ".safetensors", ".bin", ".pt", ".pkl", ".gguf", ".npz", ".arrow", ".zip", ".png")
"""Endings that a new repository's .gitattributes send to large-file storage; and whatever is over 10 MB."""
GIT_ATTRIBUTES = "".join(f"*{ending} filter=lfs diff=lfs merge=lfs -text\n" for ending in LARGE).encode()
TYPES = ("model", "dataset", "space")


class Refused(Exception):
    """An answer that is an error. code: of the header X-Error-Code."""

    def __init__(self, status: int, message: str, code: str | None = None):
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass(frozen=True)
class Blob:
    """One file. large: it is kept by its sha256, and git has a pointer in its place."""

    content: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def git_id(self) -> str:
        kept = pointer(self.sha256, len(self.content)) if self.large else self.content
        return hashlib.sha1(b"blob %d\0" % len(kept) + kept).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.large else self.git_id


@dataclass(frozen=True)
class Commit:
    files: Mapping[str, Blob]
    parent: str | None
    title: str
    author: str
    description: str = ""
    date: str = field(default_factory=lambda: now())


@dataclass
class PullRequest:
    """num is the place in the repository's list, plus one."""

    title: str
    author: str
    num: int
    base: str
    description: str = ""
    status: str = "open"  # open, draft, closed, merged
    created: str = field(default_factory=lambda: now())


@dataclass
class Repository:
    """refs: "main", tags and "refs/pr/N", each a commit's id."""

    type: str
    id: str
    private: bool = False
    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    pull_requests: list[PullRequest] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        return self.id.partition("/")[0]

    @property
    def files(self) -> Mapping[str, bytes]:
        """Of main, for tests to look at."""
        return {path: blob.content for path, blob in self.at("main")[1].files.items()}

    def at(self, revision: str) -> tuple[str, Commit]:
        """The commit of a branch, a tag, a pull request or (the beginning of) a commit's id."""
        oid = self.refs.get(revision.removeprefix("refs/heads/").removeprefix("refs/tags/"))
        found = [oid] if oid else [each for each in self.commits if len(revision) >= 7 and each.startswith(revision)]
        if not found:
            raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return found[0], self.commits[found[0]]

    def add(self, commit: Commit, ref: str) -> str:
        """The new commit's id, to which the branch or pull request then points."""
        said = repr((sorted((path, blob.git_id) for path, blob in commit.files.items()), commit.parent, commit.title))
        oid = hashlib.sha1((said + secrets.token_hex(8)).encode()).hexdigest()
        self.commits[oid] = commit
        self.refs[ref] = oid
        return oid

    def open_pull_request(self, title: str, author: str, base: str, description: str = "") -> PullRequest:
        request = PullRequest(title, author, len(self.pull_requests) + 1, base, description)
        self.pull_requests.append(request)
        self.refs[f"refs/pr/{request.num}"] = base
        return request

    def merge(self, request: PullRequest) -> None:
        """As a person does on the website: main takes what the pull request changed against its base."""
        _, commit = self.at(f"refs/pr/{request.num}")
        base, main = self.commits[request.base].files, dict(self.at("main")[1].files)
        for path in {*base, *commit.files}:
            if base.get(path) != commit.files.get(path):
                main.pop(path, None)
                if path in commit.files:
                    main[path] = commit.files[path]
        self.add(Commit(main, self.refs["main"], f"{request.title} (#{request.num})", request.author), "main")
        request.status = "merged"


@dataclass
class Store:
    """users: token → name. organizations: name → members. readers: tokens that may read alone."""

    users: dict[str, str] = field(default_factory=dict)
    organizations: dict[str, set[str]] = field(default_factory=dict)
    readers: set[str] = field(default_factory=set)
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    large_files: dict[str, bytes] = field(default_factory=dict)

    def may_write(self, token: str | None, namespace: str) -> bool:
        user = self.users.get(token or "")
        return user is not None and token not in self.readers and (
            user == namespace or user in self.organizations.get(namespace, ())
        )  # fmt: skip

    def create(self, type: str, id: str, author: str, private: bool = False, sdk: str | None = None) -> Repository:
        """With one commit, as the Hub makes them: .gitattributes."""
        if (type, id) in self.repositories:
            raise Refused(409, f"You already created this {type} repo: {id}")
        repository = self.repositories[type, id] = Repository(type, id, private, sdk)
        first = Commit({".gitattributes": Blob(GIT_ATTRIBUTES, False)}, None, "initial commit", author)
        repository.add(first, "main")
        return repository

    def put(self, type: str, id: str, folder: Path) -> str:
        """A commit of the folder's files to a repository, made where there is none; the commit's id."""
        repository = self.repositories.get((type, id)) or self.create(type, id, id.partition("/")[0])
        head, before = repository.at("main")
        files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        held = {name: Blob(path.read_bytes(), name.endswith(LARGE)) for name, path in files.items()}
        self.large_files |= {each.sha256: each.content for each in held.values() if each.large}
        return repository.add(Commit({**before.files, **held}, head, "files", repository.namespace), "main")

    def get(self, type: str, id: str, token: str | None) -> Repository:
        """A private repository is not there for those who may not see it."""
        repository = self.repositories.get((type, id))
        user = self.users.get(token or "")
        seen = repository is not None and (
            not repository.private or user == repository.namespace
            or user in self.organizations.get(repository.namespace, ())
        )  # fmt: skip
        if repository is None or not seen:
            raise Refused(404 if user else 401, "Repository not found", "RepoNotFound")
        return repository


def pointer(sha256: str, size: int) -> bytes:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
