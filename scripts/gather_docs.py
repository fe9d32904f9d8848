"""Gather the pages of the site: docs/, and what lies outside it and is linked to, such as RESULTS.md and cards.

In the folder that it fills they lie as in the repository, with docs/ as the root, and links are as they are there. make
docs then builds the site, strictly: a link that leads nowhere ends it.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
from pathlib import Path

from evenhand.command_line import ScriptHelp, path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?P<before>\]\()(?P<to>[^)\s#:]+)(?P<after>(?:#[^)\s]*)?\))")  # relative: no ":" in it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--output", type=path, default=Path("build/docs"), metavar="DIR", help="emptied first")
    gather(ROOT, parser.parse_args().output)


def gather(root: Path, output: Path) -> None:
    """Fill the folder `output` with what `root`'s docs/ holds and links to."""
    shutil.rmtree(output, ignore_errors=True)
    waiting = sorted(each.relative_to(root).as_posix() for each in (root / "docs").rglob("*") if each.is_file())
    seen = set(waiting)
    while waiting:
        place = waiting.pop()
        target = output / on_site(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not place.endswith(".md"):
            shutil.copyfile(root / place, target)
            continue
        text = (root / place).read_text(encoding="utf-8")
        target.write_text(LINK.sub(lambda link, here=place: _moved(link, here), text), encoding="utf-8")  # type: ignore[misc]
        for link in LINK.finditer(text):
            there = _there(link, place)
            if there not in seen and (root / there).is_file():
                seen.add(there)
                waiting.append(there)


def on_site(place: str) -> str:
    """A file's place in the repository → its place on the site."""
    return place.removeprefix("docs/")


def _there(link: re.Match[str], here: str) -> str:
    """Where a link leads, from the repository's root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), link["to"]))


def _moved(link: re.Match[str], here: str) -> str:
    target = posixpath.relpath(on_site(_there(link, here)), posixpath.dirname(on_site(here)) or ".")
    return f"{link['before']}{target}{link['after']}"


if __name__ == "__main__":
    main()
