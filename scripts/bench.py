"""Run the scripts bench_*.py and print one table: evenhand beside its rivals, each pair measured in one run.

Sizes are small, for a quarter of an hour on two cores; called directly, a script takes larger ones. Rivals that are not
installed are rows that say how to install them. The scripts import from here what they share.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from evenhand.command_line import ScriptHelp, whole
from evenhand.report.markdown import markdown
from evenhand.report.tables import Cell, Table

SIZES: dict[str, tuple[str, ...]] = {
    "bench_choice_scoring": ("--rows", "20", "--every", "6", "--rounds", "2"),
    "bench_interaction": ("--conversations", "4", "--others", "1", "--max-new-tokens", "16"),
    "bench_training": ("--steps", "3"),
    "bench_agency": ("--sentences", "1000", "--published-sentences", "40", "--rounds", "2"),
    "bench_runner": ("--rows", "4000"),
}
PYTHON = {"bench_choice_scoring": Path(__file__).parents[1] / ".venv-bench" / "bin" / "python"}  # where it exists
NOTE = "The best round, and the worst in brackets. Times as good: evenhand is better where that is above 1."
INSTRUCTIONS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Those that decide how fast a processor multiplies, by their names in /proc/cpuinfo."""

Rounds = tuple[float, ...]
"""A figure of each round of timing; empty: not measured."""


@dataclass(frozen=True)
class Line:
    """A figure of evenhand and of a rival, from one run.

    Attributes:
        unit: more is better where it is of a second ("prompts/s"), else less ("MiB").
        rival: its name and version.
        remark: why the rival has no figure, or how far its results are from evenhand's.
    """

    what: str
    unit: str
    ours: Rounds
    rival: str
    theirs: Rounds = ()
    remark: str = ""

    def sort(self, rounds: Rounds) -> list[float]:
        """Best round first: other work on the machine only ever slows a round down."""
        return sorted(rounds, reverse=self.unit.endswith("/s"))

    @property
    def ratio(self) -> float | None:
        """How many times as fast, or as small, evenhand is. None where either was not measured."""
        if not self.ours or not self.theirs:
            return None
        ours, theirs = self.sort(self.ours)[0], self.sort(self.theirs)[0]
        return ours / theirs if self.unit.endswith("/s") else theirs / ours

    def show(self, rounds: Rounds) -> str:
        """'21.4 (19.8)': the best round and the worst; '' where there was none."""
        shown = [f"{each:,.0f}" if each >= 100 else f"{each:.3g}" for each in self.sort(rounds)]
        return f"{shown[0]} ({shown[-1]})" if len(shown) > 1 else "".join(shown)


def make_page(lines: Iterable[Line]) -> str:
    """The table in Markdown, below the machine that it was measured on."""
    columns = ("what", "unit", "evenhand", "rival", "the rival's", "times as good", "remark")
    rows = []
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        figures = (line.show(line.ours), line.rival, line.show(line.theirs))
        rows.append(tuple(map(Cell, (line.what, line.unit, *figures, ratio, line.remark))))
    table = Table("evenhand beside rivals", columns, tuple(rows), NOTE)
    return f"{describe_machine()}\n\n{markdown(table)}\n"


def bench_parser(description: str | None, **numbers: tuple[int, str]) -> argparse.ArgumentParser:
    """A parser with --lines and whole numbers. numbers: default and help of each option."""
    parser = argparse.ArgumentParser(description=description, formatter_class=ScriptHelp)
    parser.add_argument("--lines", type=Path, metavar="FILE", help="write the lines as JSON, for scripts/bench.py")
    for name, (default, text) in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=whole(), default=default, metavar="N", help=text)
    return parser


def run_bench(parser: argparse.ArgumentParser, measure: Callable[[argparse.Namespace], Iterable[Line]]) -> None:
    """Read the command line, measure, and print the table; write it as JSON where bench.py asks for it."""
    options = parser.parse_args()
    lines = [*measure(options)]
    print(make_page(lines))
    if options.lines:
        options.lines.write_text(json.dumps([asdict(line) for line in lines]), encoding="utf-8")


def time_rounds(work: Callable[[], object], rounds: int = 1) -> Rounds:
    """Seconds of each round."""

    def time_once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return tuple(time_once() for _ in range(rounds))


def per_second(n: float, seconds: Rounds) -> Rounds:
    return tuple(n / each for each in seconds)


def peak_memory() -> float:
    """This process's, in MiB. Linux counts in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def threads() -> int:
    """How many every engine may use: this process's cores, or fewer where OMP_NUM_THREADS says so."""
    return int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))


def describe_machine() -> str:
    """Versions, processor with its INSTRUCTIONS, threads and date."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("evenhand", "torch", "transformers"))
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.is_file() else []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = ", ".join(each for each in INSTRUCTIONS if each in facts.get("flags", "").split())
    processor = facts.get("model name", platform.processor() or platform.machine()) + (f" ({flags})" if flags else "")
    date = datetime.now(UTC).date()
    return f"{versions}, Python {platform.python_version()}; {processor}, {threads()} threads; {date}"


def run_script(name: str) -> list[Line]:
    """A script's lines, from a process whose memory is its own; a line that says so where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.json"
        python = str(PYTHON[name]) if name in PYTHON and PYTHON[name].exists() else sys.executable
        command = [python, str(Path(__file__).with_name(f"{name}.py")), *SIZES[name], "--lines", str(path)]
        if subprocess.run(command, stdout=sys.stderr).returncode:
            return [Line(name, "", (), "", (), "failed; its error is above the table")]
        found = json.loads(path.read_text(encoding="utf-8"))
    return [Line(**line | {name: tuple(line[name]) for name in ("ours", "theirs")}) for line in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--only", nargs="+", choices=SIZES, default=[*SIZES], metavar="NAME", help="scripts to run")
    parser.add_argument("--page", type=Path, metavar="FILE", help="file that the table is also written to")
    options = parser.parse_args()
    lines: list[Line] = []
    for name in options.only:
        print(f"== {name} {' '.join(SIZES[name])}", file=sys.stderr, flush=True)
        lines += run_script(name)
    page = make_page(lines)
    print(page)
    if options.page:
        options.page.write_text(page, encoding="utf-8")
    if failed := [line.what for line in lines if not line.unit]:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
