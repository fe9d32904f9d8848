"""One folder a benchmark, and the one mapping that names them all; other packages add theirs as entry points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from evenhand.errors import EvenhandError
from evenhand.plugins import Registry

if TYPE_CHECKING:
    from evenhand.benchmark import Benchmark

BENCHMARKS = Registry(
    "benchmark",
    "evenhand.benchmarks",
    {
        "contact_hypothesis": "evenhand.benchmarks.contact_hypothesis.benchmark:ContactHypothesis",
        "contact_controls": "evenhand.benchmarks.contact_controls.benchmark:ContactControls",
        "bbq": "evenhand.benchmarks.bbq.benchmark:Bbq",
        "utility": "evenhand.benchmarks.utility.benchmark:Utility",
        "labe": "evenhand.benchmarks.labe.benchmark:Labe",
        "implicit_bias": "evenhand.benchmarks.implicit_bias.benchmark:ImplicitBias",
        "implicit_bias_understanding": "evenhand.benchmarks.implicit_bias.understanding.benchmark:Understanding",
        "implicit_bias_case_study": "evenhand.benchmarks.implicit_bias.case_study.benchmark:CaseStudy",
        "mllm_stereotypes": "evenhand.benchmarks.mllm_stereotypes.benchmark:MllmStereotypes",
    },
)


def get_benchmark(name: str) -> Benchmark[Any]:
    """The benchmark of that name, the same each time.

    Raises UsageError for a name that is none, EvenhandError for one of another package that can't be had.
    """
    benchmark = cast("Benchmark[Any]", BENCHMARKS.make(name))
    keys = [figure.key for figure in benchmark.figures]
    if getattr(benchmark, "card", None) is None or len(set(keys)) < len(keys):
        what = "has no card" if getattr(benchmark, "card", None) is None else f"has two figures of one key: {keys}"
        raise EvenhandError(f"the benchmark {name!r} of another package {what}: fix that package")
    if benchmark.card.name != name:
        raise EvenhandError(
            f"the benchmark {name!r} of another package calls itself {benchmark.card.name!r} on its card; both names "
            "must be one: fix that package's entry point"
        )
    return benchmark
