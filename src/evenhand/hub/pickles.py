"""Pickles, which run code where they are loaded, and archives, in which one may lie: by name, and by what they hold."""

from __future__ import annotations

import pickletools
import re
import warnings
from pathlib import PurePosixPath

NAMES = (
    "*.bin", "*.pt", "*.pt2", "*.pth", "*.pkl", "*.pickle", "*.dill", "*.cloudpickle", "*.ckpt", "*.joblib", "*.sav",
    "*.npy", "*.npz", "*.h5", "*.hdf5", "*.keras", "*.msgpack", "*.nemo", "*.mar", "*.ot",
)  # fmt: skip
ARCHIVES = ("*.zip", "*.tar", "*.gz", "*.tgz", "*.bz2", "*.xz", "*.zst", "*.7z", "*.rar", "*.whl", "*.jar")
START = 8192  # bytes that are looked at
_MAGIC = re.compile(rb"\x80[\x02-\x05]")  # of protocols 2 to 5
_ARCHIVED = (
    b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"Rar!",
)  # fmt: skip
_TAR = slice(257, 262)  # where "ustar" stands
_CALLS = {"GLOBAL", "INST", "STACK_GLOBAL", "REDUCE", "OBJ", "NEWOBJ"}


def is_archive(path: str, start: bytes, size: int) -> bool:
    """start: the first START bytes of a file of that size. What torch.save writes is one, too."""
    return not is_safetensors(path, start, size) and (start.startswith(_ARCHIVED) or start[_TAR] == b"ustar")


def is_pickle(path: str, start: bytes, size: int) -> bool:
    """start: the first START bytes of a file of that size."""
    if is_safetensors(path, start, size):
        return False
    return _MAGIC.match(start) is not None or _is_written_in_letters(start, len(start) == size)


def is_safetensors(path: str, start: bytes, size: int) -> bool:
    """By its header: the header's length in 8 bytes, which may be those that a pickle begins with, and then JSON."""
    length = int.from_bytes(start[:8], "little")
    return PurePosixPath(path.lower()).suffix == ".safetensors" and start[8:9] == b"{" and 2 <= length <= size - 8


def _is_written_in_letters(start: bytes, whole: bool) -> bool:
    """Of protocols 0 and 1, which have no beginning of their own: all of it, or a part that ends, are a pickle's."""
    names, end = set(), -1
    try:
        with warnings.catch_warnings(action="ignore"):  # of what is no pickle, the parser says that, too
            for opcode, _, position in pickletools.genops(start):
                names.add(opcode.name)
                end = position or 0
    except (ValueError, IndexError, AttributeError, UnicodeError, OverflowError):
        return False
    reaches_the_end = whole and len(names) > 2 and not start[end + 1 :].strip()
    return reaches_the_end or ("REDUCE" in names and bool(names & _CALLS - {"REDUCE"}))
