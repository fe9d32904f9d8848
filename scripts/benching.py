"""What the scripts bench_*.py share: lines of one table, evenhand beside a rival, and where they are measured."""

import argparse
import json
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from evenhand.report.markdown import markdown
from evenhand.report.tables import Cell, Table

Rounds = tuple[float, ...]
"""What each round of timing gave; empty: not measured."""

INSTRUCTIONS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""That decide how fast a processor multiplies, as /proc/cpuinfo names them."""


@dataclass(frozen=True)
class Line:
    """Ours beside a rival's in one run. More is better where the unit is of a second ("prompts/s"), else less ("MiB").

    rival: its name and version. remark: why it has no figure, or how far its results are from ours.
    """

    what: str
    unit: str
    ours: Rounds
    rival: str
    theirs: Rounds = ()
    remark: str = ""

    def best(self, rounds: Rounds) -> float:
        """Other work on the machine only ever slows a round down."""
        return max(rounds) if self._more else min(rounds)

    def worst(self, rounds: Rounds) -> float:
        return min(rounds) if self._more else max(rounds)

    @property
    def ratio(self) -> float | None:
        """How many times as fast, or as small, ours is: above 1 is better. None where either was not measured."""
        if not self.ours or not self.theirs:
            return None
        one, other = self.best(self.ours), self.best(self.theirs)
        return one / other if self._more else other / one

    @property
    def _more(self) -> bool:
        return self.unit.endswith("/s")


NOTE = "The best round, and the worst in brackets. Times as good: evenhand is better where that is above 1."


def table(lines: Iterable[Line]) -> Table:
    """A row a line, in Markdown's words once `markdown` has it."""
    columns = ("what", "unit", "evenhand", "rival", "the rival's", "times as good", "remark")
    rows = []
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        texts = (line.what, line.unit, told(line, line.ours), line.rival, told(line, line.theirs), ratio, line.remark)
        rows.append(tuple(map(Cell, texts)))
    return Table("evenhand beside rivals", columns, tuple(rows), NOTE)


def told(line: Line, rounds: Rounds) -> str:
    """'21.4 (19.8)': the best round and the worst; '' where there was none."""
    if not rounds:
        return ""
    best, worst = (short(each(rounds)) for each in (line.best, line.worst))
    return best if len(rounds) == 1 else f"{best} ({worst})"


def short(number: float) -> str:
    """Three digits; whole numbers in full."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def measured(parser: argparse.ArgumentParser, measure: Callable[[argparse.Namespace], Iterable[Line]]) -> None:
    """Reads the command line, measures, prints the table; as JSON, too, where scripts/bench.py asks for it."""
    parser.add_argument("--lines", type=Path, metavar="FILE", help="what was measured, as JSON, for scripts/bench.py")
    arguments = parser.parse_args()
    lines = [*measure(arguments)]
    print(f"\n{here()}\n\n{as_markdown(lines)}")
    if arguments.lines:
        write(lines, arguments.lines)


def as_markdown(lines: Iterable[Line]) -> str:
    return markdown(table(lines))


def write(lines: Iterable[Line], path: Path) -> None:
    path.write_text(json.dumps([asdict(line) for line in lines]), encoding="utf-8")


def read(path: Path) -> list[Line]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return [Line(**each | {name: tuple(each[name]) for name in ("ours", "theirs")}) for each in found]


def seconds(work: Callable[[], object], rounds: int = 1) -> Rounds:
    """Of each round, by the clock."""
    return tuple(_seconds(work) for _ in range(rounds))


def per_second(n: int, rounds: Rounds) -> Rounds:
    """Of n things, from seconds."""
    return tuple(n / each for each in rounds)


def peak_memory() -> float:
    """MiB at most so far, of this process. Linux counts in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def threads() -> int:
    """That every engine may use: the cores of this process, or fewer where OMP_NUM_THREADS says so."""
    return int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))


def here() -> str:
    """Versions, processor, threads and date: what figures depend on."""
    names = ("evenhand", "torch", "transformers")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    date = datetime.now(UTC).date()
    return f"{versions}, Python {platform.python_version()}; {processor()}, {threads()} threads; {date}"


def processor() -> str:
    """'AMD EPYC (avx2, avx512f, avx512_bf16)': its name and INSTRUCTIONS."""
    path = Path("/proc/cpuinfo")
    known = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line) if path.is_file() else {}
    facts = {key.strip(): value.strip() for key, value in known.items()}
    flags = [each for each in INSTRUCTIONS if each in facts.get("flags", "").split()]
    name = facts.get("model name", platform.processor() or platform.machine())
    return f"{name} ({', '.join(flags)})" if flags else name


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
