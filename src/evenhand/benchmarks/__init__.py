"""One file or folder a benchmark, and the one mapping that names them all."""

from evenhand.benchmark import Benchmark
from evenhand.benchmarks.contact_hypothesis import ContactHypothesis
from evenhand.benchmarks.implicit_bias import ImplicitBias
from evenhand.benchmarks.implicit_bias.case_study import ImplicitBiasCaseStudy
from evenhand.benchmarks.implicit_bias.understanding import ImplicitBiasUnderstanding
from evenhand.benchmarks.labe import Labe
from evenhand.benchmarks.mllm_stereotypes import MllmStereotypes
from evenhand.errors import unknown_name

_ALL: tuple[Benchmark, ...] = (
    ContactHypothesis(),
    Labe(),
    ImplicitBias(),
    ImplicitBiasUnderstanding(),
    ImplicitBiasCaseStudy(),
    MllmStereotypes(),
)
BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}


def get_benchmark(name: str) -> Benchmark:
    """Raises UsageError for a name that is none."""
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, list(BENCHMARKS), "evenhand list shows all")
    return BENCHMARKS[name]
