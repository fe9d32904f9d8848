"""What is never published: other kinds of files, secrets, places of somebody's machine, a training's state."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, content, matches
from evenhand.hub.secrets import assigned_in, forms_in, secrets_of_environment

SHOWN = 5  # files in an error
STATES = (
    "optimizer*", "*optim_states*", "scheduler*", "scaler*", "rng_state*", "random_states*", "zero_pp_*",
    "global_step*", "trainer_state*", "training_args*", "dataloader_state*",
)  # fmt: skip
CHECKPOINTS = "checkpoint-*"  # a folder of a training in between
PRIVATE = ("*token.txt", "credentials*")
# Whatever is not named here is refused: pickles, archives, programs, databases and keys need no list of their own.
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
    ".jpg": (b"\xff\xd8\xff", b""),
    ".jpeg": (b"\xff\xd8\xff", b""),
    ".gif": (b"GIF8", b";"),
    ".webp": (b"RIFF", b""),
    ".gguf": (b"GGUF", b""),
    ".model": (b"\n", b""),  # of sentencepiece, whose first field is a piece
}
ACCEPTED = "text, tables, pictures and tokenizers as usual, weights as model….safetensors or adapter_model….safetensors"
WORDS_OF_MODELS = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "added_tokens.json")
"""Of tokens, which may look like anything: only secrets of a known form and homes are sought in them."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
_LONGEST_HEADER, _LONGEST_BEGINNING = 100 * 1000**2, 16 * 1024**2  # bytes: of safetensors, of gguf
_HOMES = rb"(?:/home|/Users|[A-Za-z]:\\{1,2}Users)[/\\]{1,2}[\w.-]+[/\\]{1,2}[\w.-]+"
_FOLDERS = rb"home|Users|root|tmp|data|mnt|media|scratch|srv|opt|var|nfs|lustre|work|workspace|Volumes|private"
_PLACES = re.compile(
    rb"(?<![\w./~%*}-])/(?:" + _FOLDERS + rb")/[\w.@~-][^\s\"'`<>)\]]*"
    rb"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,2}|/)[\w.$~-]{2,}(?:\\{1,2}|/)[\w.$~-][^\s\"'`<>)\]]*"
    rb"|file://[^\s\"'`<>]+"
)


class Reason(str):
    """Why a file may not be published: "is a link to nothing". No secret stands in it."""


class Appearance(Reason):
    """What may only look so, as whoever publishes can see and say: "holds a token of the Hub (line 3)"."""


def refuse(all_contents: Sequence[Contents], allowed: Collection[str] = ()) -> tuple[str, ...]:
    """Raises UsageError naming all files that may not be published.

    Args:
        allowed: files that somebody looked at, and that only look as if they held a secret or a place of a machine.

    Returns what was found in the allowed ones.
    """
    if unknown := [path for path in allowed if not any(path in contents.files for contents in all_contents)]:
        raise UsageError(f"--allow {unknown[0]} came; the path of a file in the repository is accepted")
    return tuple(note for contents in all_contents for note in _refuse(contents, allowed))


def _refuse(contents: Contents, allowed: Collection[str]) -> Iterator[str]:
    every = [(path, reason) for path in sorted(contents.files) for reason in reasons(path, contents.files[path])]
    passed = [(path, reason) for path, reason in every if path in allowed and isinstance(reason, Appearance)]
    if found := [f"{path} {reason}" for path, reason in every if (path, reason) not in passed]:
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        seen = next((path for path, reason in every if path not in allowed and isinstance(reason, Appearance)), None)
        way_out = f"; what only looks so in {seen} is published with --allow {seen}" if seen else ""
        raise UsageError(
            f"{contents.name} is not published: {'; '.join(found[:SHOWN])}{more}. Take them out first{way_out}"
        )
    yield from (f"{contents.name}: {path} {reason}, and is published all the same (--allow)" for path, reason in passed)


def reasons(path: str, file: Path | bytes) -> Iterator[Reason]:
    """Why a file may not be published."""
    name = PurePosixPath(path.lower())
    if matches(name.name, STATES) or any(matches(part, (CHECKPOINTS,)) for part in name.parts[:-1]):
        yield Reason("is the state of a training, of no use to others")
    elif matches(name.name, PRIVATE):
        yield Reason("is a file of secrets by its name")
    elif isinstance(file, Path) and not file.is_file():
        yield Reason("is a link to nothing")
    elif odd := _odd_kind(name, file):
        yield Reason(odd)
    else:
        yield from _written_in(name, file)


def _odd_kind(name: PurePosixPath, file: Path | bytes) -> str | None:
    """What is wrong with the kind of a file, or with a file that is not of the kind that its name says."""
    odd = None
    if _is_text(name):
        odd = _odd_text(content(file))
    elif matches(name.name, WEIGHTS):
        odd = _odd_weights(file)
    elif name.suffix in BINARIES:
        begins, ends = BINARIES[name.suffix]
        first, last, _ = _ends(file, len(begins), len(ends))
        odd = None if (first, last) == (begins, ends) else f"it does not begin and end as {name.suffix} does"
    else:
        return f"is no kind of file that is published ({ACCEPTED})"
    return odd and f"is not what its name says: {odd}"


def _is_text(name: PurePosixPath) -> bool:
    return name.suffix in TEXTS or (matches(name.name, NAMED_TEXTS) and name.suffix not in BINARIES)


def _odd_text(text: bytes) -> str | None:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return "it is no text in UTF-8"
    return "it holds control bytes, which no text has" if _CONTROLS.search(text) else None


def _odd_weights(file: Path | bytes) -> str | None:
    """What safetensors asks of its header: tensors whose places fill the file."""
    header = _header(file)
    try:
        tensors = json.loads(header)
        end = max((each["data_offsets"][1] for name, each in tensors.items() if name != "__metadata__"), default=0)
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return "it has no header of safetensors"
    return None if 8 + len(header) + end == _ends(file, 0, 0)[2] else "its tensors end where the file does not"


def _header(weights: Path | bytes) -> bytes:
    """Of safetensors: JSON, whose length stands in 8 bytes before it. Empty where there is none."""
    first, _, size = _ends(weights, 8, 0)
    length = int.from_bytes(first, "little")
    return _ends(weights, 8 + length, 0)[0][8:] if length <= min(size - 8, _LONGEST_HEADER) else b""


def _ends(file: Path | bytes, first: int, last: int) -> tuple[bytes, bytes, int]:
    """So many bytes of its beginning and of its end, and how many there are."""
    with io.BytesIO(file) if isinstance(file, bytes) else file.open("rb") as opened:
        start = opened.read(first)
        size = opened.seek(0, io.SEEK_END)
        opened.seek(max(size - last, 0))
        return start, opened.read(last), size


def _written_in(name: PurePosixPath, file: Path | bytes) -> Iterator[Reason]:
    """Secrets, and places of a machine."""
    raw, texts = _to_be_read(name, file)
    for variable, value in secrets_of_environment():
        if value in raw:
            yield Reason(f"holds the value of the environment variable {variable}")
    secret = next(forms_in(raw), None)
    if name.name in WORDS_OF_MODELS or texts is None:
        where = re.search(_HOMES, raw)
    else:
        secret = secret or assigned_in(texts)
        where = _PLACES.search(texts) or _own_place(texts)
    found = [("holds", *secret)] if secret else []
    if where:
        found.append(("names a place of a machine:", where[0].decode(errors="replace"), where.start()))
    for said, what, place in found:
        line = raw.count(b"\n", 0, place) + 1
        yield Appearance(f"{said} {what[:60]}" + (f" (line {line})" if _is_text(name) else ""))


def _to_be_read(name: PurePosixPath, file: Path | bytes) -> tuple[bytes, bytes | None]:
    """The bytes in which secrets are sought, and its texts; None of what holds no text that anybody wrote."""
    if name.suffix == ".safetensors":
        header = _header(file)
        metadata = json.loads(header).get("__metadata__", {})
        return header, json.dumps(metadata, ensure_ascii=False).encode()
    if name.suffix == ".parquet":
        whole = content(file)
        texts, others = _cells(whole)
        return b"\n".join((whole, texts, others)), texts
    if name.suffix == ".gguf":
        return _ends(file, _LONGEST_BEGINNING, 0)[0], None
    return content(file), content(file) if _is_text(name) else None


def _cells(parquet: bytes) -> tuple[bytes, bytes]:
    """The texts of a table, and what bytes it holds (pictures): each different cell of a column once, in lines."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        columns = pq.read_table(pa.BufferReader(parquet)).columns
    except (OSError, ValueError, pa.ArrowException):
        return b"", b""  # the file's bytes as they are will have to do
    cells = [each for column in columns for chunk in column.chunks for each in _of_array(chunk) if each]
    texts = b"\n".join(each.encode() for each in cells if isinstance(each, str))
    return texts, b"\n".join(each for each in cells if isinstance(each, bytes))


def _of_array(array: Any) -> Iterator[str | bytes]:
    """Texts and bytes of an Arrow array, also those in its lists and structures."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if pa.types.is_nested(array.type):
        inner = array.flatten()
        for each in inner if isinstance(inner, list) else [inner]:
            yield from _of_array(each)
    elif array.type in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        yield from array.unique().to_pylist()


def _own_place(text: bytes) -> re.Match[bytes] | None:
    """The home or the working folder of whoever publishes, wherever it lies."""
    own = [re.escape(str(place).encode()) for place in (Path.home(), Path.cwd()) if len(place.parts) > 2]
    return re.search(rb"(?<![\w.:/-])(?:" + b"|".join(own) + rb")[^\s\"'`<>)\]]*", text) if own else None
