"""What the pipelines that generate data share: options, the run folder, outcomes and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenhand.flow.evaluation import OnProgress
from evenhand.flow.results import versions
from evenhand.flow.run_folder import RunFolder
from evenhand.flow.runner import Runner, Step, Tolerance
from evenhand.flow.store import Store
from evenhand.flow.template_date import keep_date, record_date
from evenhand.models.protocol import Model
from evenhand.models.registry import ACCEPTED, DType, load_model
from evenhand.models.request import Sampling
from evenhand.models.template_settings import TemplateSettings, template_date, template_options, without_unused
from evenhand.options import checked, option, pair
from evenhand.report.tables import Cell, Table, count

KEPT = "kept"  # the outcome of a reply that was read, passes all checks and repeats no other

Counts = Mapping[str, Mapping[str, int]]


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


@dataclass(frozen=True)
class Session:
    """A run that has begun: its folder, its model, and the runner that asks it."""

    folder: RunFolder
    model: Model
    runner: Runner

    def write_results(self, name: str, n: int, counts: Counts, **further: object) -> None:
        """Write results.json. n: number of rows kept."""
        config = self.folder.begun()
        record = {"benchmark": name, "config": config, "model": config["model"], "model_identity": self.model.identity}
        self.folder.write_record(record | {"n": n, "counts": counts} | further | {"versions": versions()})


@contextmanager
def begin(
    config: Generation, output: Path, steps: int, model: Model | None, on_progress: OnProgress | None
) -> Iterator[Session]:
    """Begin or resume a run in a folder.

    Args:
        steps: number of episodes.
        model: used instead of the configured one.
    """
    config = keep_date(checked(config), RunFolder(output))
    model = model or config.load()
    config = record_date(config, [model])
    progress = on_progress or (lambda rows, step: None)
    with RunFolder.begin(output, config) as folder, Store(folder.store, {"default": model.identity}) as store:
        progress(steps, Step())
        tolerance = Tolerance(config.max_failed, episodes=steps)
        yield Session(folder, model, Runner({"default": model}, store, lambda step: progress(steps, step), tolerance))


def count_outcomes(outcomes: Iterable[str]) -> dict[str, int]:
    """Count what was asked, what was kept, and what was left out by reason."""
    found = Counter(outcomes)
    return {"asked": found.total(), "kept": found.pop(KEPT, 0), **dict(found.most_common())}


def counts_table(counts: Counts, title: str) -> Table:
    lines = [(step, what, n) for step, found in counts.items() for what, n in found.items() if n]
    rows = tuple((Cell(step), Cell(what.replace("_", " ")), count(n)) for step, what, n in lines)
    return Table(title, ("step", "what", "n"), rows, "Counts of 0 are not shown.")
