"""What a repository's intended contents change in it, by the ids that the Hub keeps of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.hub.contents import Contents, matches

_BLOCK = 1024**2


@dataclass(frozen=True)
class RemoteFile:
    """git: SHA-1 of git's blob, of a large file its pointer's. sha256: of a large file's content, else None."""

    git: str
    sha256: str | None


@dataclass(frozen=True)
class Changes:
    """Paths in the repository, sorted. other: what is there and no business of ours."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    same: tuple[str, ...]
    other: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)

    @property
    def sent(self) -> tuple[str, ...]:
        return tuple(sorted((*self.added, *self.changed)))


def left_over(contents: Contents, there: Mapping[str, RemoteFile]) -> tuple[str, ...]:
    """What the repository has, and the contents have not, among the paths that evenhand writes; sorted."""
    return tuple(sorted(path for path in there if path not in contents.files and matches(path, contents.owned)))


def changes(contents: Contents, there: Mapping[str, RemoteFile], ours: Collection[str] = ()) -> Changes:
    """there: the repository's files by path; none of one that is not there yet. ours: of what is left over, what
    evenhand itself brought, and so may delete.
    """
    wanted = sorted(contents.files)
    known = [path for path in wanted if path in there]
    same = {path for path in known if is_same(contents.files[path], there[path])}
    deleted = tuple(path for path in left_over(contents, there) if path in ours)
    others = sorted(path for path in there if path not in contents.files and path not in deleted)
    return Changes(
        added=tuple(path for path in wanted if path not in there),
        changed=tuple(path for path in known if path not in same),
        deleted=deleted,
        same=tuple(path for path in known if path in same),
        other=tuple(others),
    )


def is_same(here: Path | bytes, there: RemoteFile) -> bool:
    """Whether the content here is the file there."""
    if there.sha256 is not None:
        return _digest(here, hashlib.sha256()) == there.sha256
    size = len(here) if isinstance(here, bytes) else here.stat().st_size
    return _digest(here, hashlib.sha1(b"blob %d\0" % size)) == there.git


def _digest(here: Path | bytes, digest: hashlib._Hash) -> str:
    if isinstance(here, bytes):
        digest.update(here)
        return digest.hexdigest()
    with here.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
