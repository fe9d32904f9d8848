"""The kinds of files that a repository may hold, each looked at whether it is what its name says.

Whatever is not named here is refused: pickles, archives, programs, databases and keys need no list of their own.
"""

from __future__ import annotations

import io
import json
import pickletools
import re
import warnings
import zipfile
from pathlib import Path, PurePosixPath

from evenhand.hub.contents import matches

TEXTS = (
    ".py", ".md", ".rst", ".txt", ".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml", ".toml", ".svg", ".html", ".css",
    ".js", ".jinja", ".ipynb", ".bib", ".cff", ".tiktoken",
)  # fmt: skip
NAMED_TEXTS = (
    "license*", "licence*", "copying*", "authors*", "readme", "notice*", "use_policy*", ".gitattributes", "py.typed",
)  # fmt: skip
WEIGHTS = ("model*.safetensors", "adapter_model*.safetensors")  # as transformers and peft name them
BINARIES = {  # how they begin, and end
    ".parquet": (b"PAR1", b"PAR1"),
    ".png": (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
    ".jpg": (b"\xff\xd8\xff", b""),  # editors append to it
    ".jpeg": (b"\xff\xd8\xff", b""),
    ".gif": (b"GIF8", b";"),
    ".webp": (b"RIFF", b""),
    ".gguf": (b"GGUF", b""),
    ".model": (b"\n", b""),  # of sentencepiece, whose first field is a piece
}
ACCEPTED = "text, tables, pictures and tokenizers as usual, weights as model….safetensors or adapter_model….safetensors"
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
_STATE = re.compile(rb"exp_avg|momentum_buffer|optimizer")  # tensors of a training, and of no model
_LONGEST_HEADER = 100 * 1000**2  # bytes, as safetensors takes


def is_text(path: str) -> bool:
    name = PurePosixPath(path.lower())
    return name.suffix in TEXTS or (matches(name.name, NAMED_TEXTS) and name.suffix not in BINARIES)


def what_is_odd(path: str, file: Path | bytes) -> str | None:
    """ "is not what its name says: …"; None where nothing is."""
    name = PurePosixPath(path.lower())
    if is_text(path):
        odd = _odd_text(file if isinstance(file, bytes) else file.read_bytes())
    elif matches(name.name, WEIGHTS):
        odd = _odd_weights(file)
    elif name.suffix in BINARIES:
        begins, ends = BINARIES[name.suffix]
        first, last, _ = _ends(file, len(begins), len(ends))
        odd = None if (first, last) == (begins, ends) else f"it does not begin and end as {name.suffix} does"
    else:
        return f"is no kind of file that is published ({ACCEPTED})"
    if odd is None and zipfile.is_zipfile(io.BytesIO(file) if isinstance(file, bytes) else file):
        odd = "it is an archive, too"
    return odd and f"is not what its name says: {odd}"


def header(weights: Path | bytes) -> bytes:
    """Of safetensors: JSON, whose length stands in 8 bytes before it. Nothing where there is none."""
    first, _, size = _ends(weights, 8, 0)
    length = int.from_bytes(first, "little")
    return _ends(weights, 8 + length, 0)[0][8:] if length <= min(size - 8, _LONGEST_HEADER) else b""


def beginning(file: Path | bytes, length: int) -> bytes:
    return _ends(file, length, 0)[0]


def _ends(file: Path | bytes, first: int, last: int) -> tuple[bytes, bytes, int]:
    """So many bytes of its beginning and of its end, and how many there are."""
    with io.BytesIO(file) if isinstance(file, bytes) else file.open("rb") as opened:
        start = opened.read(first)
        size = opened.seek(0, io.SEEK_END)
        opened.seek(max(size - last, 0))
        return start, opened.read(last), size


def _odd_text(content: bytes) -> str | None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "it is no text in UTF-8"
    if _CONTROLS.search(content):
        return "it holds control bytes, which no text has"
    return "it is a pickle written in letters" if _is_pickle(content) else None


def _is_pickle(text: bytes) -> bool:
    """Of protocol 0, which has no beginning of its own: all of it, or a part that calls, are as a pickle is read."""
    names, end = set(), 0
    try:
        with warnings.catch_warnings(action="ignore"):  # of what is no pickle, the parser says that, too
            for opcode, _, place in pickletools.genops(text):
                names.add(opcode.name)
                end = place or 0
    except (ValueError, IndexError, AttributeError, UnicodeError, OverflowError):
        pass
    return (len(names) > 2 and not text[end + 1 :].strip() and "STOP" in names) or {"GLOBAL", "REDUCE"} <= names


def _odd_weights(file: Path | bytes) -> str | None:
    """What safetensors itself asks of its header: tensors whose places fill the file."""
    written = header(file)
    try:
        told = json.loads(written)
        end = max((each["data_offsets"][1] for name, each in told.items() if name != "__metadata__"), default=0)
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return "it has no header of safetensors"
    if 8 + len(written) + end != _ends(file, 0, 0)[2]:
        return "its tensors end where the file does not"
    state = next((name for name in told if _STATE.search(name.encode())), None)
    return state and f"its tensor {state[:60]} is the state of a training"
