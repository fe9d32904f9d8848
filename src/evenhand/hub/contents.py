"""What a repository on the Hub is to hold."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.errors import UsageError
from evenhand.hub.secrets import without_secrets

Kind = Literal["dataset", "metric", "model", "leaderboard"]
REPO_TYPES: Mapping[Kind, str] = {"dataset": "dataset", "metric": "space", "model": "model", "leaderboard": "space"}
SPACE_SDK = "gradio"
ALLOW = "files by their paths in the repository that only look as if they held a secret or a place of a machine"


@dataclass(frozen=True)
class Contents:
    """A repository's intended files.

    files: path in the repository → a file here, or the bytes themselves. tag: such as "v1.2.0", of what has a version.
    owned: patterns of paths whose files evenhand writes: what the repository has of them and `files` has not is
    deleted where evenhand's own commit brought it; of other paths nothing is. fixed: patterns of files that may not
    change while the tag stays. base: of a model, the one on the Hub that it was tuned from. title: of the commit, by
    which an open pull request of ours is found again, and what we wrote: without a version.
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
    """Folder by folder, as in a shell: "data/*.csv" is no pattern of "data/more/a.csv"."""
    return any(_fits(path.split("/"), pattern.split("/")) for pattern in patterns)


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatch.fnmatchcase, parts, pattern))


def refuse_secret(name: str) -> None:
    """Raises UsageError for a token in the place of a name, without showing it."""
    if without_secrets(name) != name:
        raise UsageError(
            "what came as a name is a token or a key by its form, and is not shown here; a token is read from "
            "HF_TOKEN, and --namespace is a user or an organization"
        )


def repository_id(namespace: str, name: str, hint: str = "") -> str:
    """ "NAMESPACE/NAME". hint: what would help. Raises UsageError for what the Hub would not take."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    for part in (namespace, name):
        refuse_secret(part)
    repo_id = f"{namespace}/{name}"
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise UsageError(
            f"{repo_id!r} can't be a repository's id on the Hub; letters, digits, '-', '_' and '.' are accepted, in 96 "
            "characters at most, and --namespace is a user or an organization" + (f"; {hint}" if hint else "")
        ) from error
    return repo_id


def files_of(folder: Path, deep: bool = True) -> dict[str, Path]:
    """A folder's files by their path in it, without hidden ones and bytecode. deep: those in its folders, too."""
    found = {}
    for path in sorted(folder.rglob("*") if deep else folder.iterdir()):
        within = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in within.parts)
        if path.is_file() and not hidden and path.suffix != ".pyc":
            found[within.as_posix()] = path
    return found
