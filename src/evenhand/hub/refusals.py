"""What is never published: secrets, places of somebody's machine, pickles, a training's state, figures of no weight."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, content, matches

if TYPE_CHECKING:
    from evenhand.flow.run_folder import RunFolder

MOST_UNREAD = 0.5  # of a run's answers; of more, the rest says little
_SHOWN = 5

PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.pickle", "*.ckpt", "*.joblib", "*.npy", "*.npz", "*.h5", "*.msgpack")
STATES = ("optimizer*", "scheduler*", "rng_state*", "trainer_state.json", "training_args.bin", "*/checkpoint-*/*")
PRIVATE = (".env", "*.pem", "*.key", "id_rsa*", "id_ed25519*", ".netrc", "*token.txt", "credentials*.json")
WORDS_OF_MODELS = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "added_tokens.json")
"""Of tokens, which may look like anything, and are no one's writing."""

_SECRETS = {
    "a token of the Hub": r"\bhf_[A-Za-z0-9]{30,}",
    "a key of OpenAI or Anthropic": r"\bsk-[A-Za-z0-9_-]{20,}",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "a key of AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a key of Google": r"\bAIza[A-Za-z0-9_-]{35}",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a password in an address": r"\bhttps?://[^\s/:@\"'<>]+:[^\s/@\"'<>]+@",
    "an authorization header": r"\b[Aa]uthorization[\"']?\s*[:=]\s*[\"']?(?:Bearer|Basic)\s+[A-Za-z0-9+/._=-]{12,}",
}
_SECRET = {what: re.compile(pattern.encode()) for what, pattern in _SECRETS.items()}
_OF_ENVIRONMENT = re.compile(r"(TOKEN|_KEY|SECRET|PASSWORD)S?$")
_LONG_ENOUGH = 12  # characters of an environment variable's value, or it may be anybody's word
# Homes, temporary and mounted folders: not "/usr/bin/env" of a script, nor the path of an address.
_PLACE = re.compile(
    rb"(?<![\w.:/~-])(?:/(?:home|Users|root|tmp|mnt|media|Volumes|scratch|private|workspace|var/folders)/[\w.-]+"
    rb"|file://[^\s\"']+|[A-Za-z]:\\{1,2}(?:Users|Documents)[^\s\"']*)"
)
_PICKLED = re.compile(rb"\x80[\x02-\x05][\x00-\xff]")


def refuse(contents: Contents) -> None:
    """Raises UsageError naming all files of such contents."""
    found = [f"{path} {why}" for path in sorted(contents.files) for why in reasons(path, contents.files[path])]
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise UsageError(f"{contents.name} is not published: {'; '.join(found[:_SHOWN])}{more}. Take them out first")


def reasons(path: str, file: Path | bytes) -> Iterator[str]:
    """Why a file may not be published: "holds a token of the Hub". No secret stands in what is said."""
    name = PurePosixPath(path).name
    if matches(name, STATES) or matches(path, STATES):
        yield "is the state of a training, of no use to others"
        return
    if matches(name, PRIVATE):
        yield "is a file of secrets by its name"
        return
    if isinstance(file, Path) and file.is_symlink() and not file.exists():
        yield "is a link to nothing"
        return
    if matches(name.lower(), PICKLES) or _is_pickle(file):
        yield "is a pickle, which runs code where it is loaded; save safetensors"
        return
    if _is_binary(name) or name in WORDS_OF_MODELS:
        return
    text = content(file)
    for what, pattern in _SECRET.items():
        if pattern.search(text):
            yield f"holds {what}"
    for variable, value in _secrets_here():
        if value in text:
            yield f"holds the value of the environment variable {variable}"
    if place := _PLACE.search(text) or _own_place(text):
        yield f"names a place of a machine ({place.group().decode(errors='replace')[:60]})"


def _is_binary(name: str) -> bool:
    return name.endswith((".safetensors", ".parquet", ".png", ".jpg", ".gguf", ".model"))


def _is_pickle(file: Path | bytes) -> bool:
    """By its first bytes, or, of an archive, by what torch.save puts into it."""
    if isinstance(file, bytes):
        start = file[:4]
    else:
        with file.open("rb") as opened:
            start = opened.read(4)
    if start.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(BytesIO(file) if isinstance(file, bytes) else file) as archive:
                return any(name.endswith("data.pkl") for name in archive.namelist())
        except zipfile.BadZipFile:
            return False
    return _PICKLED.match(start) is not None


def _secrets_here() -> Iterator[tuple[str, bytes]]:
    """Values of this process's environment that are secrets by their names, and the Hub's token where it is kept."""
    from huggingface_hub import get_token

    values = {name: value for name, value in os.environ.items() if _OF_ENVIRONMENT.search(name.upper())}
    for name, value in {**values, "HF_TOKEN": get_token() or ""}.items():
        if len(value) >= _LONG_ENOUGH and not os.path.exists(value):
            yield name, value.encode()


def _own_place(text: bytes) -> re.Match[bytes] | None:
    """The home or the working folder of whoever publishes, wherever it lies."""
    for place in (Path.home(), Path.cwd()):
        if len(place.parts) > 2:
            found = re.search(rb"(?<![\w.:/-])" + re.escape(str(place).encode()), text)
            if found:
                return found
    return None


def refuse_weak_results(run: RunFolder) -> None:
    """Raises UsageError for a run whose figures are not for others: a rehearsal, a part of the rows, mostly unread."""
    run.publishable()
    results = run.read_results()
    limit = results.config.get("limit")
    if limit is not None:
        raise UsageError(f"{run.path} is limited to {limit} rows (--limit): it is not published; run it on all rows")
    unread = results.metrics.get("unread_rate")
    if isinstance(unread, (int, float)) and not unread <= MOST_UNREAD:
        raise UsageError(
            f"{run.path}: {100 * unread:.0f} % of the answers could not be read ({100 * MOST_UNREAD:.0f} % are the "
            "most), so its figures say little: it is not published; look at its answers, or try another --protocol"
        )
