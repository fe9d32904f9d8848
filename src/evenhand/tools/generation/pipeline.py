"""Shared by the pipelines that generate data with a model: options, outcomes, counts by reason, results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from evenhand.flow.evaluation import OnProgress
from evenhand.flow.results import versions
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Runner, Step, Tolerance
from evenhand.flow.store import Store
from evenhand.models.protocol import Model
from evenhand.models.registry import ACCEPTED, DType, load_model
from evenhand.models.request import FAILURES, Reply, Sampling
from evenhand.models.template_settings import TemplateSettings, template_date, template_options, without_unused
from evenhand.options import option, pair
from evenhand.report.tables import Cell, Table, count

KEPT = "kept"  # the outcome of a reply that was read, passes all checks and repeats no other
NO_REPLIES = tuple(reason.replace("_", " ") for reason in sorted(FAILURES))  # outcomes of failed requests

Counts = Mapping[str, Mapping[str, int]]
Reason = TypeVar("Reason")


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Options of every pipeline. temperature None: the model's own sampling."""

    model: str = option("embedded", ACCEPTED, metavar="MODEL")
    model_options: tuple[tuple[str, str], ...] = option(
        (), "options of the model's backend, as api_key_env=NAME", metavar="KEY=VALUE", parse=pair, flag="model-option"
    )
    template_options: tuple[tuple[str, str], ...] = template_options()
    date: str | None = template_date()
    revision: str | None = option(None, "branch, tag or commit of a Hub model", metavar="REV")
    seed: int = option(0, "random seed", least=0, metavar="S")
    temperature: float | None = option(
        None, "sampling temperature, 0 is greedy; by default the model's own sampling", least=0, metavar="T"
    )
    top_p: float = option(1.0, "nucleus sampling threshold", above=0, most=1, metavar="P")
    max_new_tokens: int = option(512, "longest reply, in tokens", least=1, metavar="N")
    dtype: DType = option("auto", "auto: bfloat16 where the hardware has it")
    batch_size: int = option(16, "prompts in a forward pass, or concurrent requests", least=1, incidental=True)
    max_failed: float = option(
        0.01, "share of requests that may fail after all retries", least=0, most=1, metavar="SHARE", incidental=True
    )

    def sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_p, max_new_tokens=self.max_new_tokens)

    def load(self) -> Model:
        """Raises ModelError for a model that can't be loaded."""
        loading = {"dtype": self.dtype, "batch_size": self.batch_size, "revision": self.revision}
        template = TemplateSettings.of(self)
        return load_model(self.model, **loading, options=dict(self.model_options), template=template)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        return without_unused(asdict(self))


def no_reply(reply: Reply) -> str | None:
    """Return the outcome of a request that failed; None for one that was answered."""
    return reply.finish_reason.replace("_", " ") if reply.failed else None


def first_failed(checks: Mapping[Reason, Callable[[], object]]) -> Reason | None:
    """Return the name of the first check that fails (is true); None where all pass."""
    return next((reason for reason, fails in checks.items() if fails()), None)


def make_runner(config: Generation, model: Model, store: Store, steps: int, on_progress: OnProgress | None) -> Runner:
    """Make a runner that reports progress. steps: number of episodes in all."""
    progress = on_progress or (lambda rows, step: None)
    progress(steps, Step())
    tolerance = Tolerance(config.max_failed, episodes=steps)
    return Runner({"default": model}, store, lambda step: progress(steps, step), tolerance)


def count_reasons(outcomes: Iterable[str], reasons: Mapping[str, Sequence[str]]) -> dict[str, dict[str, int]]:
    """Count outcomes by step and reason."""
    found = Counter(outcomes)
    return {step: {reason: found[reason] for reason in names} for step, names in reasons.items()}


def counts_table(counts: Counts, title: str) -> Table:
    lines = [(step, what, n) for step, found in counts.items() for what, n in found.items() if n]
    rows = tuple((Cell(step.replace("_", " ")), Cell(what.replace("_", " ")), count(n)) for step, what, n in lines)
    return Table(title, ("step", "what", "n"), rows, "Counts of 0 are not shown.")


def write_results(
    folder: RunFolder,
    name: str,
    config: Generation,
    model: Model,
    n: int,
    counts: Counts,
    **further: object,
) -> None:
    """Write results.json. n: what was kept."""
    record = {"benchmark": name, "config": folder.begun(), "model": config.model, "model_identity": model.identity}
    folder.write_record(record | {"n": n, "counts": counts} | further | {"versions": versions()})
