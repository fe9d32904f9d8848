"""What a release needs, checked one by one; nothing is published.

python scripts/release.py [--quick] [--root DIR]

Versions agree, CHANGELOG tells of this one, the wheel works in an empty environment, each dataset and metric has its
card, nothing has grown too large, and in a browser pages do what they should and axe-core finds no fault. Ends with 1
where anything is missing.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from evenhand.command_line import ScriptHelp, path

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"^__version__ = \"(\d+\.\d+\.\d+)\"$", re.MULTILINE)
ENTRY = re.compile(r"^## (\S+)(.*)$", re.MULTILINE)
PINNED = re.compile(r"^ruff==(\S+)$", re.MULTILINE)
OF_DATASET = re.compile(r"Version\(\"(\d+\.\d+\.\d+)\"\)")
LARGEST_FILE, LARGEST_WHEEL = 5_000_000, 30_000_000  # bytes
TRIED = ("--version", "list", "run contact_hypothesis --model stub:random --limit 6 --output {folder}/run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--quick", action="store_true", help="without the wheel and the browser, which take minutes")
    parser.add_argument("--root", type=path, default=ROOT, metavar="DIR", help="of the repository")
    arguments = parser.parse_args()
    checks = {
        "versions agree": versions(arguments.root),
        "CHANGELOG tells of this version": changelog(arguments.root),
        "each dataset and metric has its card": cards(arguments.root),
        f"no file is larger than {LARGEST_FILE / 1e6:g} MB": sizes(arguments.root),
    }
    if not arguments.quick:
        checks["the wheel works in an empty environment"] = wheel(arguments.root)
        checks["pages work in a browser, and axe-core finds no fault (make test-browser)"] = browser(arguments.root)
    missing = 0
    for name, problems in checks.items():
        found = list(problems)
        missing += len(found)
        print(f"{'NO ' if found else 'yes'}  {name}", flush=True)
        for problem in found:
            print(f"     {problem}")
    sys.exit(1 if missing else 0)


def version_of(root: Path) -> str:
    """The package's; "" where there is none."""
    found = VERSION.search((root / "src" / "evenhand" / "__init__.py").read_text(encoding="utf-8"))
    return found[1] if found else ""


def versions(root: Path) -> Iterator[str]:
    """The package's is one, no tag has it, and pre-commit's ruff is the one that was tested."""
    version = version_of(root)
    if not version:
        yield 'src/evenhand/__init__.py has no line __version__ = "1.2.3"'
        return
    tags = subprocess.run(["git", "tag", "--list", f"v{version}"], cwd=root, capture_output=True, text=True).stdout
    if tags.strip():
        yield f"v{version} is tagged already; raise __version__ in src/evenhand/__init__.py"
    ruff = PINNED.search((root / "constraints.txt").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    if ruff and hooks[0]["rev"] != f"v{ruff[1]}":
        yield f".pre-commit-config.yaml has ruff {hooks[0]['rev']}, constraints.txt v{ruff[1]}; make them one"


def changelog(root: Path) -> Iterator[str]:
    """Its first entry is of this version, released, and says something."""
    text, version = (root / "CHANGELOG.md").read_text(encoding="utf-8"), version_of(root)
    first = ENTRY.search(text)
    if first is None or first[1] != version:
        yield f'its first entry is {first[1] if first else "none"}, not {version}; add "## {version}"'
        return
    if "unreleased" in first[2]:
        yield f"{version} is called unreleased there; write the date in its place"
    following = ENTRY.search(text, first.end())
    if "- " not in text[first.end() : following.start() if following else None]:
        yield f"nothing is told of {version}"


def cards(root: Path) -> Iterator[str]:
    """Front matter that is a mapping with a licence, text below it, and of datasets the version of the rows."""
    for folder in sorted([*(root / "datasets").glob("*/"), *(root / "metrics").glob("*/")]):
        place, card = folder.relative_to(root), folder / "README.md"
        if not any(folder.glob("*.py")):
            continue
        if not card.is_file():
            yield f"{place} has no README.md"
            continue
        parts = card.read_text(encoding="utf-8").split("---\n", 2)
        try:
            head = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else None
        except yaml.YAMLError:
            head = None
        if not isinstance(head, dict) or "license" not in head or not parts[2].strip():
            yield f"{place}/README.md does not begin with front matter that has a license, and text below it"
            continue
        script = folder / "loading_script.py"
        rows = OF_DATASET.search(script.read_text(encoding="utf-8")) if script.is_file() else None
        if rows and rows[1] not in ("1.0.0", *re.findall(r"\d+\.\d+\.\d+", parts[2])):  # of the first nothing is new
            yield f"{place}/README.md says nothing of version {rows[1]}, which its loading script has"


def sizes(root: Path) -> Iterator[str]:
    """Of the files that git has; all files where there is no git."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True)
    names = listed.stdout.split("\0") if listed.returncode == 0 and listed.stdout else []
    files = [root / name for name in names if name] or [each for each in root.rglob("*") if each.is_file()]
    for file in files:
        if file.is_file() and (size := file.stat().st_size) > LARGEST_FILE:
            yield f"{file.relative_to(root)} has {size / 1e6:.1f} MB"


def wheel(root: Path) -> Iterator[str]:
    """It is built, is small, installs with what it needs where nothing is, and its commands work there."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if told := _failed(
            [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", temporary, str(root)], folder
        ):
            yield f"it can't be built: {told}"
            return
        [built] = folder.glob("*.whl")
        if (size := built.stat().st_size) > LARGEST_WHEEL:
            yield f"{built.name} has {size / 1e6:.1f} MB, more than {LARGEST_WHEEL / 1e6:g}"
        subprocess.run([sys.executable, "-m", "venv", str(folder / "empty")], check=True)
        programs = folder / "empty" / "bin"
        constraints = ["--constraint", str(root / "constraints.txt")]
        if told := _failed([str(programs / "pip"), "install", "--quiet", *constraints, str(built)], folder):
            yield f"it can't be installed: {told}"
            return
        for command in TRIED:
            words = command.format(folder=folder).split()
            if told := _failed([str(programs / "evenhand"), *words], folder):
                yield f"evenhand {command} fails: {told}"


def browser(root: Path) -> Iterator[str]:
    """make test-browser passes, and skips nothing that looks at a page: what nobody looked for is not found either."""
    ran = subprocess.run(["make", "test-browser"], cwd=root, capture_output=True, text=True)
    said = ran.stdout.splitlines()
    if ran.returncode:
        yield f"it fails: {next((line for line in reversed([*said, *ran.stderr.splitlines()]) if line.strip()), '')}"
    yield from (f"{line.strip()}" for line in said if line.startswith("SKIPPED") and "gradio" not in line)


def _failed(command: list[str], folder: Path) -> str:
    """The last line of what it said; "" where it worked."""
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return "" if ran.returncode == 0 else ((ran.stderr or ran.stdout).strip().splitlines() or ["it said nothing"])[-1]


if __name__ == "__main__":
    main()
