"""What a repository on the Hub is to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from evenhand.errors import UsageError
from evenhand.hub.secrets import mask_secrets

Kind = Literal["dataset", "metric", "model", "leaderboard"]
REPO_TYPES: Mapping[Kind, str] = {"dataset": "dataset", "metric": "space", "model": "model", "leaderboard": "space"}
CARD = "README.md"
ALLOW = "files, by their paths in the repository, that only seem to hold a secret or a path of this machine"


@dataclass(frozen=True)
class Contents:
    """A repository's intended files.

    Args:
        files: path in the repository to a local file, or to the bytes themselves.
        title: of the commit and the pull request; an open pull request is found again by it.
        tag: such as "v1.2.0", for what has a version.
        owned: patterns of paths that evenhand writes: files there that are not in `files` are deleted, if the last
            commit that changed them was evenhand's.
        fixed: patterns of files that may not change while the tag stays.
        base: of a model, the id of the base model on the Hub.
    """

    kind: Kind
    repo_id: str
    files: Mapping[str, Path | bytes]
    title: str
    tag: str | None = None
    private: bool = False
    owned: Sequence[str] = ()
    fixed: Sequence[str] = ()
    base: str | None = None

    @property
    def repo_type(self) -> str:
        return REPO_TYPES[self.kind]

    @property
    def name(self) -> str:
        """ "dataset lab/labe", for messages."""
        return f"{self.kind} {self.repo_id}"


def content(file: Path | bytes) -> bytes:
    return file if isinstance(file, bytes) else file.read_bytes()


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Match folder by folder, as a shell does: "data/*.csv" does not match "data/more/a.csv"."""
    parts = path.split("/")
    split_patterns = (pattern.split("/") for pattern in patterns)
    return any(len(parts) == len(each) and all(map(fnmatchcase, parts, each)) for each in split_patterns)


def check_repository_id(repo_id: str, hint: str = "") -> str:
    """Return the id, NAMESPACE/NAME. Raises UsageError for an id that the Hub would not take, and for a token."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    if mask_secrets(repo_id) != repo_id:
        raise UsageError("a token or key was given as a name; tokens are read from HF_TOKEN, not from the command line")
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        expected = f"It must be NAMESPACE/NAME: letters, digits, '-', '_' and '.', at most 96 characters. {hint}"
        raise UsageError(f"{repo_id[:100]!r} can't be a repository's id on the Hub. {expected}".strip()) from error
    return repo_id


def repository_id(namespace: str, name: str, hint: str = "") -> str:
    """Return "NAMESPACE/NAME". Raises UsageError for what the Hub would not take."""
    return check_repository_id(f"{namespace}/{name}", hint)


def files_of(folder: Path, deep: bool = True) -> dict[str, Path]:
    """List a folder's files by their path in it, without hidden files and bytecode.

    Args:
        folder: links to files outside of it are followed into the Hub's cache alone, which keeps files in `blobs/`.
        deep: with subfolders.

    Raises:
        UsageError: a file is a link to another place outside of the folder.
    """
    found = {}
    for path in sorted(folder.rglob("*") if deep else folder.iterdir()):
        within = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in within.parts)
        if path.is_file() and not hidden and path.suffix != ".pyc":
            _refuse_outside(path, folder)
            found[within.as_posix()] = path
    return found


def _refuse_outside(path: Path, folder: Path) -> None:
    from huggingface_hub import constants

    target = path.resolve()
    # A file of the cache is at models--ORG--NAME/blobs/HASH; snapshots/COMMIT/ of the same repository links to it.
    snapshots = folder.resolve().parent
    caches = [
        Path(constants.HF_HUB_CACHE).resolve(),
        *([snapshots.parents[1]] if snapshots.name == "snapshots" else ()),
    ]
    is_cached = target.parent.name == "blobs" and target.parent.parent.parent in caches
    if not (is_cached or target.is_relative_to(folder.resolve())):
        raise UsageError(f"{path} is a link to a file outside of {folder}; put a copy in its place, or remove it")
