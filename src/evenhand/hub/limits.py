"""How much the Hub takes at once, looked at before anything is sent.

One commit: huggingface_hub 2.4 on `create_commit` ("limited to 25k LFS files and a 1GB payload for regular files") and
on `upload_file` ("up to 50 GB"). One repository: the Hub's page "Repository limitations and recommendations".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents

MOST_LARGE_FILES, MOST_BYTES = 25_000, 10**9  # of one commit: large files, and all others together
LARGEST_FILE = 50 * 10**9  # bytes
MOST_FILES, MOST_ENTRIES = 100_000, 10_000  # of a repository, and of one folder in it
# The Hub says which files it calls large when it is asked how to send them; this is what it says without being asked.
OVER = 10 * 10**6  # bytes
LARGE = (".safetensors", ".parquet", ".arrow", ".gguf", ".model", ".bin", ".gz", ".zip", ".tar")


def refuse_too_much(contents: Contents, sent: Sequence[str]) -> None:
    """Raises UsageError for what doesn't fit. sent: the paths that a commit would add or change."""
    sizes = {
        path: len(file) if isinstance(file, bytes) else file.stat().st_size for path, file in contents.files.items()
    }
    found = [*_of_commit({path: sizes[path] for path in sent}), *_of_repository(sizes)]
    if found:
        raise UsageError(
            f"{contents.name} is too large for one commit: {'; '.join(found)}. Nothing was sent. Put its rows or "
            "weights into fewer files, or send the folder in several commits by the Hub's own `hf upload`"
        )


def _of_commit(sizes: Mapping[str, int]) -> Iterator[str]:
    large = [path for path, size in sizes.items() if size > OVER or path.endswith(LARGE)]
    small = sum(sizes.values()) - sum(sizes[path] for path in large)
    if len(large) > MOST_LARGE_FILES:
        yield f"{len(large):,} large files are to be sent, and {MOST_LARGE_FILES:,} are the most"
    if small > MOST_BYTES:
        yield f"its small files have {small / 1e9:.1f} GB together, and {MOST_BYTES / 1e9:.0f} GB are the most"
    for path, size in sizes.items():
        if size > LARGEST_FILE:
            yield f"{path} has {size / 1e9:.0f} GB, and {LARGEST_FILE / 1e9:.0f} GB are the most of one file"


def _of_repository(paths: Collection[str]) -> Iterator[str]:
    if len(paths) > MOST_FILES:
        yield f"it has {len(paths):,} files, and a repository takes {MOST_FILES:,}"
    for folder, entries in _entries(paths).items():
        if entries > MOST_ENTRIES:
            yield f"its folder {folder} has {entries:,} entries, and {MOST_ENTRIES:,} are the most"


def _entries(paths: Collection[str]) -> Counter[str]:
    """{folder: how many files and folders lie in it}; "." is the repository itself."""
    places = {place for path in map(PurePosixPath, paths) for place in (path, *path.parents)} - {PurePosixPath(".")}
    return Counter(str(place.parent) for place in places)
