"""All that scripts/bench_*.py measure, in one table: evenhand beside its rivals, each pair measured in one run.

Sizes are small ones, for a quarter of an hour on two cores; a script by itself takes larger ones. Rivals that are not
installed are rows that say how to install them.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benching import Line, as_markdown, here, read

from evenhand.command_line import ScriptHelp

SIZES: dict[str, tuple[str, ...]] = {
    "bench_choice_scoring": ("--rows", "20", "--every", "6", "--rounds", "2"),
    "bench_interaction": ("--conversations", "4", "--others", "1", "--max-new-tokens", "16"),
    "bench_training": ("--steps", "3"),
    "bench_agency": ("--sentences", "1000", "--published-sentences", "40", "--rounds", "2"),
    "bench_contact_bias": ("--sets", "100000", "--rounds", "2"),
    "bench_association_score": ("--rows", "300000", "--rounds", "2"),
    "bench_caption_audit": ("--texts", "20000", "--rounds", "2"),
    "bench_runner": ("--rows", "4000"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--only", nargs="+", choices=SIZES, default=[*SIZES], metavar="NAME", help="of the scripts")
    parser.add_argument("--page", type=Path, metavar="FILE", help="where the table is written, too")
    arguments = parser.parse_args()
    lines: list[Line] = []
    failed, start = [], time.perf_counter()
    for name in arguments.only:
        print(f"== {name} {' '.join(SIZES[name])}", file=sys.stderr, flush=True)
        found = lines_of(name)
        failed += [] if found else [name]
        lines += found or [Line(name, "", (), "", (), "it failed; what it said stands above the table")]
        print(f"   {time.perf_counter() - start:.0f} s so far", file=sys.stderr, flush=True)
    page = f"{here()}\n\n{as_markdown(lines)}\n"
    print(page)
    if arguments.page:
        arguments.page.write_text(page, encoding="utf-8")
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def lines_of(name: str) -> list[Line]:
    """What a script measures in a process of its own, whose memory nobody else has; none where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.json"
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *SIZES[name], "--lines", str(path)]
        return [] if subprocess.run(command, stdout=sys.stderr).returncode else read(path)


if __name__ == "__main__":
    main()
