"""A checkpoint's card: the one that its trainer writes, with what runs of it and of its base say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.hub.cards.templating import rendered
from evenhand.hub.results_checks import in_place_of_all, packaged, refuse_weak_results
from evenhand.report.findings import WEIGHTS
from evenhand.training_record import RECORD, base_of, base_version, training_record

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

    from evenhand.flow.results import Results
    from evenhand.report.comparison import Comparison
    from evenhand.report.findings import Controls, Run

MERGED = "merged"
DIGITS = 5  # after the point, of a figure in model-index


@dataclass(frozen=True)
class Measured:
    """One benchmark, before and after. targeted: whether it is the one that the training was for."""

    runs: tuple[Run, Run]
    comparison: Comparison
    targeted: bool

    @property
    def before(self) -> Results:
        return self.runs[0].results

    @property
    def after(self) -> Results:
        return self.runs[1].results

    @property
    def title(self) -> str:
        from evenhand.benchmarks import get_benchmark

        configs = ", ".join(self.after.config["configs"])
        return get_benchmark(self.after.benchmark).card.title + (f", {configs}" if configs else "")

    @property
    def others(self) -> str | None:
        """What was asked in place of the rows that a dataset of evenhand holds; None where it was these, and all."""
        if (part := in_place_of_all(self.after)) is not None:
            return part
        return None if packaged(self.after) else "the published rows, and not those of a dataset of evenhand"

    @property
    def controls(self) -> Controls | None:
        """Of a benchmark that tells less bias from a habit."""
        from evenhand.benchmarks import get_benchmark

        return get_benchmark(self.after.benchmark).publishing.controls(*self.runs)

    @property
    def table(self) -> str:
        from evenhand.report.markdown import markdown

        return markdown(self.comparison.headline)

    @property
    def more(self) -> list[str]:
        from evenhand.report.markdown import markdown

        return [markdown(table) for table in self.comparison.more]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All but the first, which names folders; what else a reader should know before."""
        asked = (f"Both asked {self.others}; so these figures are not in model-index.",) if self.others else ()
        first, second = (_dtype(each) for each in (self.before, self.after))
        computed = (f"A was computed in {first}, B in {second}.",) if first != second else ()
        return (*asked, *computed, *self.comparison.sentences[1:])

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.comparison.warnings


def model_card(folder: Path, runs: Sequence[Path] = (), base: str | None = None, repo_id: str | None = None) -> str:
    """README.md of a checkpoint that a trainer left.

    runs: finished runs of the checkpoint, and one of its base in the same settings for each. base: its id on the Hub,
    where it was tuned from a local folder. repo_id: on the Hub, where it is known. Raises UsageError for a folder
    without training.json, for runs of other models or of other files than are there now, without their counterpart,
    and for those whose figures are not published (rehearsals, a part of the rows, mostly unread).
    """
    from evenhand.trainers.card import Evidence, card, public_name

    record = training_record(str(folder))
    if not record:
        raise UsageError(f"{folder} has no {RECORD}, which evenhand train leaves: write its README.md yourself")
    measured = _measured(folder, record, runs)
    controlled = {each.after.benchmark: found for each in measured if (found := each.controls)}
    evidence = Evidence(
        sections=[_told(measured, controlled)] if measured else [],
        results=[result for each in measured for result in _results(each, repo_id)],
        controlled=bool(controlled),
    )
    named = base or public_name(base_of(record) or "an unknown model")
    return card(record, named, [each.name for each in folder.iterdir()], evidence, repo_id)


def _told(measured: Sequence[Measured], controlled: Mapping[str, Controls]) -> str:
    """controlled: by the name of the benchmark."""
    from evenhand.trainers.card import NOT_DEBIASED

    return rendered("measured.md.jinja", pairs=measured, controlled=controlled, not_debiased=NOT_DEBIASED.format)


def _measured(folder: Path, record: dict[str, Any], runs: Sequence[Path]) -> list[Measured]:
    """Pairs of runs, those of the benchmark that was trained on first."""
    from evenhand.flow.run_folder import RunFolder
    from evenhand.models.fingerprint import fingerprint
    from evenhand.report.comparison import compare
    from evenhand.report.findings import Run, settings

    marks = [fingerprint(each) for each in (folder, folder / MERGED) if each.is_dir()]
    before: list[Run] = []
    after: list[Run] = []
    for path in runs:
        opened = RunFolder.open(path)
        refuse_weak_results(opened)
        results = opened.read_results()
        if mitigation := results.config.get("mitigation"):
            raise UsageError(f"{path} is a run with --mitigation {mitigation}: the card compares models as they are")
        ours = any(mark in results.model_identity for mark in marks)
        if not ours:
            _refuse_other(path, results, folder, record)
        (after if ours else before).append(Run("AB"[ours], path, results, opened.read_predictions()))
    found = []
    for run in after:
        alike = [each for each in before if settings(each.results) == settings(run.results)]
        if len(alike) != 1:
            which = "no run" if not alike else f"{len(alike)} runs"
            raise UsageError(
                f"{run.path} ({run.results.benchmark}) has {which} of the base in the same settings beside it; give "
                "one of each"
            )
        targeted = run.results.benchmark in record.get("measured_by", "").split()
        found.append(Measured((alike[0], run), compare(alike[0].path, run.path), targeted))
    used = [each.runs[0].path for each in found]
    for run in before:
        if run.path not in used:
            raise UsageError(f"{run.path} is a run of the base, and none of {folder} in the same settings came with it")
    return sorted(found, key=lambda each: not each.targeted)


def _refuse_other(path: Path, results: Results, folder: Path, record: dict[str, Any]) -> None:
    """Raises UsageError unless it is a run of the base."""
    if results.model and Path(results.model).resolve() in (folder.resolve(), (folder / MERGED).resolve()):
        raise UsageError(f"{path} measured other files than {folder} holds now; run it again")
    base = record.get("base") or {}
    if results.model != base.get("model") and results.model_identity != base.get("identity"):
        raise UsageError(
            f"{path} is a run of {results.model_name}, neither of {folder} nor of its base {base.get('model')}"
        )
    tuned, ran = base_version(record), _version(results.model_identity)
    if tuned is not None and ran != tuned:
        raise UsageError(
            f"{path} is a run of {results.model_name} at {ran or 'no known commit'}, and {folder} was tuned from "
            f"{tuned}; run the base as it was (--revision says which commit of the Hub's)"
        )


def _version(identity: str) -> str | None:
    return base_version({"base": {"identity": identity}})


def _dtype(results: Results) -> str:
    """In which its weights were; "no known dtype" of a server's."""
    found = WEIGHTS.search(results.model_identity)
    return found[2] if found else "no known dtype"


def _results(pair: Measured, repo_id: str | None) -> Iterator[EvalResult]:
    """For `model-index`: this model's headline figures, on the rows that its base answered readably, too.

    None of other rows than the named dataset's: a reader would take them for figures of it.
    """
    from huggingface_hub import EvalResult

    from evenhand.benchmarks import get_benchmark

    if pair.others is not None:
        return
    card = get_benchmark(pair.after.benchmark).card
    namespace = f"{repo_id.split('/')[0]}/" if repo_id else ""
    configs = pair.after.config["configs"]
    for name, difference in pair.comparison.differences.items():
        if math.isnan(difference.second):
            continue
        yield EvalResult(
            task_type="text-generation",
            task_name=card.title,
            dataset_type=f"{namespace}{card.dataset}",
            dataset_name=card.dataset,
            dataset_config=configs[0] if len(configs) == 1 else None,
            dataset_split=card.split,
            metric_type=card.metric or card.name,
            metric_name=name,
            metric_value=round(difference.second, DIGITS),
        )
