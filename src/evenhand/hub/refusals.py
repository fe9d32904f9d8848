"""Refuse what is never published: other kinds of files (such as pickles), secrets, and paths of this machine."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from evenhand.errors import UsageError
from evenhand.hub.contents import Contents, content, matches
from evenhand.hub.secrets import HIDDEN, find_secret, secrets_of_environment

SHOWN = 5  # files in an error
NAMES = ("trainer_state*", "*token.txt", "credentials*")  # of text files
TEXTS = (
    "*.py", "*.md", "*.rst", "*.txt", "*.json", "*.jsonl", "*.csv", "*.tsv", "*.yaml", "*.yml", "*.toml", "*.svg",
    "*.html", "*.css", "*.js", "*.jinja", "*.ipynb", "*.bib", "*.cff", "*.tiktoken", "license*", "licence*",
    "copying*", "authors*", "readme", "notice*", "use_policy*", ".gitattributes", "py.typed",
)  # fmt: skip
WEIGHTS = ("model*.safetensors", "adapter_model*.safetensors")  # as transformers and peft name them
OTHERS = ("*.parquet", "*.png", "*.jpg", "*.jpeg", "*.gif", "*.webp", "*.gguf", "*.model")
KINDS = "text, tables, pictures and the usual tokenizers; weights as model….safetensors or adapter_model….safetensors"
VOCABULARIES = ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "added_tokens.json")  # may hold any string
_FOLDERS = "home|Users|root|tmp|data|mnt|media|scratch|srv|opt|var|nfs|lustre|work|workspace|Volumes|private"
_START, _END = r"(?<![\w./~%*}-])", r"[^\s\"'`<>)\]]*"
_PATH = (
    rf"{_START}/(?:{_FOLDERS})/[\w.@~-]{_END}"
    rf"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\{{1,2}}|/)Users(?:\\{{1,2}}|/){_END}"
)


def refuse(all_contents: Sequence[Contents], allowed: Collection[str] = ()) -> tuple[str, ...]:
    """Raise UsageError naming all files that may not be published.

    Args:
        allowed: paths of files that only seem to hold a secret or a path of this machine.

    Returns what was found in the allowed files.
    """
    if unknown := [path for path in allowed if not any(path in contents.files for contents in all_contents)]:
        raise UsageError(f"--allow {unknown[0]}: no such file; give a file's path in the repository")
    return tuple(note for contents in all_contents for note in _refuse(contents, allowed))


def _refuse(contents: Contents, allowed: Collection[str]) -> list[str]:
    refused, notes, advice = [], [], ""
    for path, file in sorted(contents.files.items()):
        if secret := find_secret(path) or _find_own_secret(path):
            refused.append(f"{path[: secret[1]]}{HIDDEN} holds {secret[0]} in its name")
            continue
        if problem := find_problem(path, file):
            refused.append(f"{path} {problem}")
            continue
        for finding in find_findings(path, file):
            if path in allowed:
                notes.append(f"{contents.name}: {path} {finding}; published because of --allow")
            else:
                refused.append(f"{path} {finding}")
                advice = advice or f". If {path} only seems to hold that, add --allow {path}"
    if refused:
        more = f"; and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
        raise UsageError(f"{contents.name} is not published: {'; '.join(refused[:SHOWN])}{more}. Remove it{advice}")
    return notes


def find_problem(path: str, file: Path | bytes) -> str | None:
    """Return why a file may not be published in any case; None where it may."""
    name = PurePosixPath(path.lower()).name
    if not path.isprintable():
        return "has a name with line breaks or other control characters"
    if matches(name, NAMES):
        return "is, by its name, a file of secrets or the state of a training"
    if matches(name, WEIGHTS):
        return None if _are_weights(file) else "is not a whole safetensors file"
    if not matches(name, TEXTS):
        return None if matches(name, OTHERS) else f"is not a kind of file that is published ({KINDS})"
    try:
        text = content(file).decode()
    except UnicodeDecodeError:
        return "is not text in UTF-8"
    if "\0" in text:
        return "is not text: it holds NUL characters"
    found = _find_own_secret(text)
    return f"holds {found[0]}" if found else None


def _find_own_secret(text: str) -> tuple[str, int] | None:
    found = ((variable, text.find(value)) for variable, value in secrets_of_environment())
    return next(((f"the value of the environment variable {name}", start) for name, start in found if start >= 0), None)


def _are_weights(file: Path | bytes) -> bool:
    import safetensors

    try:
        if isinstance(file, bytes):
            safetensors.deserialize(file)  # type: ignore[no-untyped-call]
        else:
            with safetensors.safe_open(file, framework="numpy"):
                pass
    except safetensors.SafetensorError:
        return False
    return True


def find_findings(path: str, file: Path | bytes) -> Iterator[str]:
    """Yield what looks like a secret or a path of this machine: "holds a token of the Hub (line 3)"."""
    name = PurePosixPath(path.lower()).name
    if not matches(name, TEXTS) or name in VOCABULARIES:
        return
    text = content(file).decode()
    if secret := find_secret(text):
        yield f"holds {secret[0]} (line {_line(text, secret[1])})"
    here = [str(folder) for folder in (Path.cwd(), Path.home()) if len(folder.parts) > 2]
    if found := re.search("|".join([_PATH, *(rf"{_START}{re.escape(folder)}\b{_END}" for folder in here)]), text):
        yield f"names a path of a machine: {found[0][:60]} (line {_line(text, found.start())})"


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
