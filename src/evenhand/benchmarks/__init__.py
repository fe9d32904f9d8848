"""One file a benchmark, and the one mapping that names them all."""

from evenhand.benchmark import Benchmark
from evenhand.benchmarks.contact_hypothesis import ContactHypothesis
from evenhand.benchmarks.labe import Labe
from evenhand.errors import unknown_name

BENCHMARKS: dict[str, Benchmark] = {benchmark.name: benchmark for benchmark in (ContactHypothesis(), Labe())}


def get_benchmark(name: str) -> Benchmark:
    """Raises UsageError for a name that is none."""
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, list(BENCHMARKS), "evenhand list shows all")
    return BENCHMARKS[name]
