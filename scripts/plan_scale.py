"""Calculate how long whole runs would take on many GPUs; nothing is measured.

Tokens are what `evenhand run BENCHMARK --plan` says of the embedded model's tokenizer. Reading is bound by arithmetic:
2 operations for each parameter and token. Writing is bound by memory: each step reads the weights once, and the keys
and values of all texts that are written together. Each GPU reaches a share of its peak. docs/scale.md has the table.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from evenhand.command_line import ScriptHelp
from evenhand.report.markdown import markdown, write_part
from evenhand.report.tables import Cell, Table

MARK = "scripts/plan_scale.py"
GPUS = (1, 8, 64)


@dataclass(frozen=True)
class Gpu:
    """Dense bfloat16 operations and bytes a second, bytes of memory; shares of them that are reached."""

    operations: float = 989e12  # NVIDIA H100 SXM, its data sheet
    bandwidth: float = 3.35e12
    memory: float = 80e9
    computing: float = 0.4
    reading: float = 0.6
    filling: float = 0.9


@dataclass(frozen=True)
class Checkpoint:
    """In bfloat16. kept: bytes of keys and values a token. together: GPUs that share one copy of the weights."""

    name: str
    parameters: float
    kept: int
    together: int


@dataclass(frozen=True)
class Work:
    """read: tokens of prompts as they stand, distinct: with each prefix of a call once; written: at most.

    length: tokens of a prompt with its answer, whose keys and values are kept while it is written.
    """

    name: str
    read: int
    distinct: int
    written: int
    length: int


MODELS = (  # Llama 2's shapes: layers x 2 (keys, values) x heads x size of a head x 2 bytes
    Checkpoint("7B", 6.7e9, 32 * 2 * 32 * 128 * 2, 1),
    Checkpoint("70B", 69e9, 80 * 2 * 8 * 128 * 2, 4),
)
WORKS = (  # of the embedded model's tokenizer, by `evenhand run … --plan`
    Work("contact_hypothesis --all-rows: 324,000 prompts", 115_084_324, 9_705_388, 0, 360),
    Work("labe: 5,400 texts, 3 runs", 3 * 260_152, 3 * 260_152, 3 * 2_764_800, 560),
    Work("implicit_bias --protocol generate: 111 conversations, 5 runs", 31_303_880, 31_303_880, 4_330_000, 4_200),
)
MOST_TOGETHER = 256  # texts that one copy of the weights writes at once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--page", type=Path, default=Path("docs/scale.md"), help="the page that has the table")
    arguments = parser.parse_args()
    write_part(arguments.page, MARK, markdown(table(Gpu())))


def table(gpu: Gpu) -> Table:
    rows = [
        (work.name, model.name, *(format_hours(seconds(work, model, gpu, n)) for n in GPUS))
        for work in WORKS
        for model in MODELS
    ]
    columns = ("run", "model", *(f"{n} GPU{'s' * (n > 1)}" for n in GPUS))
    return Table("Hours, calculated", columns, tuple(tuple(map(Cell, row)) for row in rows))


def seconds(work: Work, model: Checkpoint, gpu: Gpu, n: int) -> float | None:
    """On n GPUs, by as many copies of the weights as they hold. None where they hold none."""
    copies = n // model.together
    weights = 2 * model.parameters
    room = gpu.memory * gpu.filling * model.together - weights
    if not copies or room <= 0:
        return None
    reading = 2 * model.parameters * work.distinct / (gpu.operations * gpu.computing * model.together)
    if not work.written:
        return reading / copies
    texts = min(MOST_TOGETHER, int(room / (model.kept * work.length)))
    step = (weights + texts * work.length * model.kept) / (gpu.bandwidth * gpu.reading * model.together)
    return (reading + step * work.written / texts) / copies


def format_hours(found: float | None) -> str:
    if found is None:
        return "too small"
    return f"{found / 3600:.2g}" if found >= 36 else "under 0.01"


if __name__ == "__main__":
    main()
