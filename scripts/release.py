"""Check what a release needs; nothing is published.

Versions agree, CHANGELOG has an entry of this one, and the wheel works in an empty environment. Exits with 1 where
anything is missing. Cards and the sizes of files are checked by the tests.
"""

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
LARGEST_WHEEL = 30_000_000  # bytes
COMMANDS = ("--version", "list", "run contact_hypothesis --model stub:random --limit 6 --output {folder}/run")


def read_version(root: Path) -> str:
    """The package's; "" where there is none."""
    text = (root / "src" / "evenhand" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r"^__version__ = \"(\d+\.\d+\.\d+)\"$", text, re.MULTILINE)
    return found[1] if found else ""


def check_versions(root: Path) -> Iterator[str]:
    """The package has one, no tag has it, and pre-commit's ruff is the one of constraints.txt."""
    version = read_version(root)
    if not version:
        yield 'src/evenhand/__init__.py has no line __version__ = "1.2.3"'
    elif subprocess.run(["git", "tag", "--list", f"v{version}"], cwd=root, capture_output=True, text=True).stdout:
        yield f"v{version} is already tagged; raise __version__ in src/evenhand/__init__.py"
    ruff = re.search(r"^ruff==(\S+)$", (root / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    if ruff and hooks[0]["rev"] != f"v{ruff[1]}":
        yield f".pre-commit-config.yaml has ruff {hooks[0]['rev']}, constraints.txt v{ruff[1]}; make them equal"


def check_changelog(root: Path) -> Iterator[str]:
    """Its first entry is of this version, released, and has items."""
    version = read_version(root)
    _, *entries = re.split(r"^## ", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    heading, _, text = (entries or [""])[0].partition("\n")
    if heading.split(" ")[0] != version:
        yield f'its first entry is {heading or "none"}, not {version}; add "## {version}"'
    elif "unreleased" in heading:
        yield f"{version} is called unreleased; write the date instead"
    elif "- " not in text:
        yield f"the entry of {version} is empty"


def check_wheel(root: Path) -> Iterator[str]:
    """It is built, is small, installs in an empty environment, and its commands work there."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        programs = folder / "empty" / "bin"
        constraints = ["--constraint", str(root / "constraints.txt")]
        try:
            run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", temporary, str(root)], folder)
            [built] = folder.glob("*.whl")
            if (size := built.stat().st_size) > LARGEST_WHEEL:
                yield f"{built.name} has {size / 1e6:.1f} MB, more than {LARGEST_WHEEL / 1e6:g}"
            run([sys.executable, "-m", "venv", str(folder / "empty")], folder)
            run([str(programs / "pip"), "install", "--quiet", *constraints, str(built)], folder)
            for command in COMMANDS:
                run([str(programs / "evenhand"), *command.format(folder=folder).split()], folder)
        except subprocess.CalledProcessError as error:
            last = ((error.stderr or error.stdout).strip().splitlines() or ["no message"])[-1]
            yield f"{' '.join(error.cmd)} failed: {last}"


def run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--quick", action="store_true", help="without the wheel, which takes minutes")
    parser.add_argument("--root", type=path, default=ROOT, metavar="DIR", help="of the repository")
    options = parser.parse_args()
    checks = {
        "versions agree": check_versions,
        "CHANGELOG has an entry of this version": check_changelog,
    }
    if not options.quick:
        checks["the wheel works in an empty environment"] = check_wheel
    failed = False
    for name, check in checks.items():
        problems = list(check(options.root))
        failed |= bool(problems)
        print(
            f"{'NO ' if problems else 'yes'}  {name}",
            *(f"     {problem}" for problem in problems),
            sep="\n",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
