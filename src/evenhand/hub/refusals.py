"""What is never published: secrets, places of somebody's machine, pickles, a training's state, figures of no weight."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub import pickles
from evenhand.hub.contents import Contents, content, matches
from evenhand.hub.machine_paths import home_in, place_in
from evenhand.hub.own_intervals import contradictions
from evenhand.hub.secret_patterns import assigned_in, forms_in, unescaped

if TYPE_CHECKING:
    from evenhand.flow.run_folder import RunFolder

MOST_UNREAD = 0.5  # of a run's answers; of more, the rest says little
_SHOWN = 5

STATES = (
    "optimizer*", "*optim_states*", "scheduler*", "scaler*", "rng_state*", "random_states*", "zero_pp_*",
    "global_step*", "trainer_state*", "training_args*", "dataloader_state*",
)  # fmt: skip
CHECKPOINTS = "checkpoint-*"  # a folder of a training in between
PRIVATE = (
    ".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", ".netrc", "_netrc", "*token.txt", "credentials*", ".git-credentials", "stored_tokens", ".htpasswd",
)  # fmt: skip
WORDS_OF_MODELS = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "added_tokens.json")
"""Of tokens, which may look like anything, and are no one's writing; a secret's own form is sought in them, too."""

_OF_ENVIRONMENT = re.compile(r"(TOKEN|_KEY|SECRET|PASSWORD)S?$")
_LONG_ENOUGH = 12  # characters of an environment variable's value, or it may be anybody's word
_WEIGHTS = (".safetensors", ".gguf")  # numbers, before which stands a header
_LONGEST_HEADER = 16 * 1024**2  # bytes
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico")
_BINARY = (*_WEIGHTS, *_PICTURES, ".parquet", ".arrow", ".model", ".pdf", ".woff2")


def refuse(contents: Contents) -> None:
    """Raises UsageError naming all files of such contents."""
    found = [f"{path} {why}" for path in sorted(contents.files) for why in reasons(path, contents.files[path])]
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(f"{contents.name} is not published: {'; '.join(found[:_SHOWN])}{more}. Take them out first")


def reasons(path: str, file: Path | bytes) -> Iterator[str]:
    """Why a file may not be published: "holds a token of the Hub". No secret stands in what is said."""
    lowered = PurePosixPath(path.lower())
    if matches(lowered.name, STATES) or any(matches(part, (CHECKPOINTS,)) for part in lowered.parts[:-1]):
        yield "is the state of a training, of no use to others"
        return
    if matches(lowered.name, PRIVATE):
        yield "is a file of secrets by its name"
        return
    if isinstance(file, Path) and not file.is_file():
        yield "is a link to nothing"
        return
    start, size = _start(file)
    if matches(lowered.name, pickles.NAMES) or pickles.is_pickle(path, start, size):
        yield "is a pickle, or may hold one, which runs code where it is loaded; save safetensors"
        return
    if matches(lowered.name, pickles.ARCHIVES) or pickles.is_archive(path, start, size):
        yield "is an archive, which may hold anything; put its files there as they are"
        return
    yield from _written_in(lowered.name, _to_be_read(path, file))


def _start(file: Path | bytes) -> tuple[bytes, int]:
    """The first bytes, and how many there are."""
    if isinstance(file, bytes):
        return file[: pickles.START], len(file)
    with file.open("rb") as opened:
        return opened.read(pickles.START), file.stat().st_size


def _to_be_read(path: str, file: Path | bytes) -> bytes:
    """Its content; of weights the header."""
    name = path.lower()
    if name.endswith(_WEIGHTS):
        start, size = _start(file)
        header = 8 + int.from_bytes(start[:8], "little") if pickles.is_safetensors(path, start, size) else size
        length = min(header, _LONGEST_HEADER)
        if isinstance(file, bytes):
            return file[:length]
        with file.open("rb") as opened:
            return opened.read(length)
    return content(file)


def _table(parquet: bytes) -> tuple[bytes, bytes]:
    """Of a table all buffers of its columns, unpacked; and its texts, each different one once, in lines."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(parquet))
    except (OSError, ValueError, pa.ArrowException):
        return b"", b""  # its bytes as they are will have to do
    buffers: list[bytes] = []
    texts: list[bytes] = []
    for chunk in (chunk for column in table.columns for chunk in column.chunks):
        plain = chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk
        buffers += [buffer.to_pybytes() for buffer in plain.buffers() if buffer is not None]
        texts += _texts(plain)
    return b"\n".join(buffers), b"\n".join(texts)


def _texts(array: Any) -> Iterator[bytes]:
    """Of an Arrow array, also those in its lists and structures."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        yield from (each.encode() for each in array.unique().to_pylist() if each)
    elif pa.types.is_struct(array.type):
        for each in array.flatten():
            yield from _texts(each)
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        yield from _texts(array.flatten())


def _written_in(name: str, raw: bytes) -> Iterator[str]:
    """Secrets, and places of a machine. name: of the file, in small letters."""
    found = raw.replace(b"\0", b"") if b"\0" in raw and not name.endswith(_BINARY) else raw  # UTF-16 has them between
    texts = b""
    if name.endswith(".parquet"):
        buffers, texts = _table(raw)
        found = raw + b"\n" + buffers
    if b"\\u00" in found:
        found, texts = found + b"\n" + unescaped(found), unescaped(texts)
    of_form = list(forms_in(found))
    yield from (f"holds {what}" for what in of_form)
    for variable, value in _secrets_here():
        if value in found:
            yield f"holds the value of the environment variable {variable}"
    if name.endswith(".safetensors"):
        found = _metadata(raw)
    elif name.endswith(".parquet"):
        found = texts
    elif name in WORDS_OF_MODELS or name.endswith(_BINARY):
        if home := home_in(found):
            yield f"names a place of a machine ({home[:60]})"
        return
    if not of_form and assigned_in(found):  # or it would be said twice of one
        yield "assigns a password, a key or a token"
    if place := place_in(found.decode(errors="replace"), ".json" if name.endswith(".safetensors") else name):
        yield f"names a place of a machine ({place[:60]})"


def _metadata(header: bytes) -> bytes:
    """What somebody wrote into the header of safetensors; the rest are names of weights."""
    try:
        told = json.loads(header[8:]).get("__metadata__", {})
    except (ValueError, AttributeError, RecursionError):
        return b""
    return json.dumps(told, ensure_ascii=False).encode()


def _secrets_here() -> Iterator[tuple[str, bytes]]:
    """Values of this process's environment that are secrets by their names, and the Hub's token where it is kept."""
    from huggingface_hub import get_token

    values = {name: value for name, value in os.environ.items() if _OF_ENVIRONMENT.search(name.upper())}
    for name, value in {**values, "HF_TOKEN": get_token() or ""}.items():
        if len(value) >= _LONG_ENOUGH and not os.path.exists(value):
            yield name, value.encode()


def refuse_weak_results(run: RunFolder) -> None:
    """Raises UsageError for a run whose figures are not for others: a rehearsal, a part of the rows, mostly unread,
    or figures that contradict each other.
    """
    run.publishable()
    results = run.read_results()
    limit = results.config.get("limit")
    if limit is not None:
        raise UsageError(f"{run.path} is limited to {limit} rows (--limit): it is not published; run it on all rows")
    if (sample := results.option("sample")) is not None:
        raise UsageError(
            f"{run.path} asked a sample of {sample} in place of all rows (--sample): it is not published; run it on "
            "all rows"
        )
    if part := next((each for each in results.differs if each.startswith("only ")), None):
        raise UsageError(f"{run.path} asked {part}: it is not published; run it on all rows")
    if wrong := next(contradictions(results.metrics), None):
        raise UsageError(
            f"{run.path} is not as evenhand wrote it ({wrong}): it is not published; repeat its evenhand run command "
            "with another --output"
        )
    unread = results.metrics.get("unread_rate")
    if isinstance(unread, (int, float)) and not unread <= MOST_UNREAD:
        raise UsageError(
            f"{run.path}: {100 * unread:.0f} % of the answers could not be read ({100 * MOST_UNREAD:.0f} % are the "
            "most), so its figures say little: it is not published; look at its answers, or try another --protocol"
        )
