"""Record golden numbers of the code as it is: python tests/golden/record.py OUT_FOLDER [CASE …]."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden import cases

WIDTH = 160


def write(folder: Path, name: str, found: dict[str, Any]) -> None:
    (folder / f"{name}.json").write_text(_text(found) + "\n", encoding="utf-8")


def _text(found: Any, indent: int = 0) -> str:
    """JSON with sorted keys, an entry a line; lists, and what fits into one, in one."""
    line = json.dumps(found, ensure_ascii=False, allow_nan=False, sort_keys=True)
    nested = isinstance(found, dict) and any(isinstance(each, dict) for each in found.values())
    if not isinstance(found, dict) or (not nested and len(line) + indent < WIDTH):
        return line
    pad = " " * (indent + 1)
    lines = [f"{pad}{json.dumps(key, ensure_ascii=False)}: {_text(found[key], indent + 1)}" for key in sorted(found)]
    return "{\n" + ",\n".join(lines) + f"\n{' ' * indent}}}"


def record(folder: Path, names: list[str]) -> None:
    from evenhand.report import plots

    plots._svg = lambda figure: "<svg></svg>"  # type: ignore[assignment]  # drawing takes longer than all the rest
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as temporary:
        root = Path(temporary)
        for case in cases.CASES:
            if names and case.name not in names:
                continue
            if case.lacks:
                print(f"{case.name} is left out: {case.lacks} absent")
                continue
            start = time.monotonic()
            write(folder, case.name, cases.golden(case, *cases.made(case, root), root))
            print(f"{case.name}: {time.monotonic() - start:.1f} s", flush=True)
        for name, of in (("profile", cases.profile), ("agree", cases.agree)):
            if not names or name in names:
                start = time.monotonic()
                write(folder, name, of(root))
                print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    record(Path(sys.argv[1]), sys.argv[2:])
