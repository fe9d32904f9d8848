"""What is never published: secrets, places of somebody's machine, pickles, a training's state, figures of no weight."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, content, matches
from evenhand.hub.file_kinds import BINARIES, beginning, header, is_text, what_is_odd
from evenhand.hub.machine_paths import home_in, place_in
from evenhand.hub.own_intervals import contradictions
from evenhand.hub.secret_patterns import assigned_in, drawn_in, forms_in, unescaped

if TYPE_CHECKING:
    from evenhand.flow.run_folder import RunFolder

MOST_UNREAD = 0.5  # of a run's answers; of more, the rest says little
_SHOWN = 5

STATES = (
    "optimizer*", "*optim_states*", "scheduler*", "scaler*", "rng_state*", "random_states*", "zero_pp_*",
    "global_step*", "trainer_state*", "training_args*", "dataloader_state*",
)  # fmt: skip
CHECKPOINTS = "checkpoint-*"  # a folder of a training in between
PRIVATE = ("*token.txt", "credentials*")
WORDS_OF_MODELS = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "added_tokens.json")
"""Of tokens, which may look like anything, and are no one's writing; a secret's own form is sought in them, too."""

_OF_ENVIRONMENT = re.compile(r"(TOKEN|_KEY|SECRET|PASSWORD)S?$")
_LONGEST_BEGINNING = 16 * 1024**2  # bytes
NO_WORDS = tuple(BINARIES.keys() - {".parquet"})
NEW_LINE = b"\n"
_LONG_ENOUGH = 12  # characters of an environment variable's value, or it may be anybody's word


def refuse(all_contents: Sequence[Contents], allowed: Collection[str] = ()) -> tuple[str, ...]:
    """Raises UsageError naming all files of such contents.

    allowed: files that somebody looked at, and that only look as if they held a secret or a place of a machine; what
    was found in them is returned.
    """
    if unknown := [path for path in allowed if not any(path in contents.files for contents in all_contents)]:
        raise UsageError(f"--allow {unknown[0]} came; the path of a file in the repository is accepted")
    return tuple(note for contents in all_contents for note in _refuse(contents, allowed))


def _refuse(contents: Contents, allowed: Collection[str]) -> Iterator[str]:
    every = [(path, reason) for path in sorted(contents.files) for reason in reasons(path, contents.files[path])]
    passed = [(path, reason) for path, reason in every if path in allowed and isinstance(reason, Appearance)]
    if found := [f"{path} {reason}" for path, reason in every if (path, reason) not in passed]:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        seen = next((path for path, reason in every if path not in allowed and isinstance(reason, Appearance)), None)
        way_out = f"; what only looks so in {seen} is published with --allow {seen}" if seen else ""
        raise UsageError(
            f"{contents.name} is not published: {'; '.join(found[:_SHOWN])}{more}. Take them out first{way_out}"
        )
    yield from (f"{contents.name}: {path} {reason}, and is published all the same (--allow)" for path, reason in passed)


class Reason(str):
    """Why a file may not be published: "is a link to nothing". No secret stands in it."""


class Appearance(Reason):
    """What only may be so; whoever publishes can look, and say that it is not: "holds a token of the Hub (line 3)"."""


def reasons(path: str, file: Path | bytes) -> Iterator[Reason]:
    lowered = PurePosixPath(path.lower())
    if matches(lowered.name, STATES) or any(matches(part, (CHECKPOINTS,)) for part in lowered.parts[:-1]):
        yield Reason("is the state of a training, of no use to others")
    elif matches(lowered.name, PRIVATE):
        yield Reason("is a file of secrets by its name")
    elif isinstance(file, Path) and not file.is_file():
        yield Reason("is a link to nothing")
    elif odd := what_is_odd(path, file):
        yield Reason(odd)
    else:
        yield from _written_in(lowered.name, _to_be_read(file, lowered.suffix))


def _to_be_read(file: Path | bytes, suffix: str) -> bytes:
    """Its content; of weights what stands before the numbers."""
    if suffix == ".safetensors":
        return header(file)
    return beginning(file, _LONGEST_BEGINNING) if suffix == ".gguf" else content(file)


def _cells(parquet: bytes) -> tuple[bytes, bytes]:
    """Of a table its texts, and what bytes it holds (pictures): each different cell of a column once, in lines."""
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


def _written_in(name: str, raw: bytes) -> Iterator[Reason]:
    """Secrets, and places of a machine. name: of the file, in small letters."""
    found = texts = raw
    if name.endswith(".parquet"):
        texts, others = _cells(raw)
        found = b"\n".join((raw, texts, others))
    elif name.endswith(".safetensors"):
        texts = _metadata(raw)
    if b"\\u00" in found:
        found, texts = found + b"\n" + unescaped(found), unescaped(texts)
    for variable, value in _secrets_here():
        if value in found:
            yield Reason(f"holds the value of the environment variable {variable}")
    secret = next(forms_in(found), None)
    if name in WORDS_OF_MODELS or name.endswith(NO_WORDS):
        where = home_in(found)
    else:
        secret = secret or assigned_in(texts)
        where = place_in(texts.decode(errors="replace"), ".json" if name.endswith(".safetensors") else name)
    if name not in WORDS_OF_MODELS:
        secret = secret or drawn_in(found)
    for said, seen in (("holds", secret), ("names a place of a machine:", where)):
        if seen is not None:
            line = f" (line {raw.count(NEW_LINE, 0, seen[1]) + 1})" if is_text(name) and seen[1] < len(raw) else ""
            yield Appearance(f"{said} {seen[0][:60]}{line}")


def _metadata(header: bytes) -> bytes:
    """What somebody wrote into the header of safetensors; the rest are names of weights."""
    try:
        told = json.loads(header).get("__metadata__", {})
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
    if wrong := next(contradictions(results), None):
        raise UsageError(
            f"{run.path} is not as evenhand wrote it ({wrong}): it is not published; repeat its evenhand run command "
            "with another --output"
        )
    unread = results.unread_rate
    if not unread <= MOST_UNREAD:
        raise UsageError(
            f"{run.path}: {100 * unread:.0f} % of the answers could not be read ({100 * MOST_UNREAD:.0f} % are the "
            "most), so its figures say little: it is not published; look at its answers, or try another --protocol"
        )
