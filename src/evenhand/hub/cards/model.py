"""A checkpoint's card: the one that its trainer writes, with the results of runs of it and of its base."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.benchmarks import get_benchmark
from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.cards.templating import render
from evenhand.hub.results_checks import is_packaged, name_other_rows, refuse_weak_results
from evenhand.models.fingerprint import fingerprint
from evenhand.report.comparison import Comparison, compare
from evenhand.report.findings import WEIGHTS, Run, settings
from evenhand.trainers.card import NOT_DEBIASED, Evidence, card, public_name
from evenhand.training_record import RECORD, base_of, base_version, training_record

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

    from evenhand.benchmark import Benchmark
    from evenhand.flow.results import Results
    from evenhand.report.findings import Controls

MERGED = "merged"
DIGITS = 5  # after the decimal point, of a figure in model-index


@dataclass(frozen=True)
class Measured:
    """One benchmark, run on the base and on the checkpoint. targeted: whether the training was for it."""

    before: Run
    after: Run
    comparison: Comparison
    targeted: bool

    @property
    def benchmark(self) -> Benchmark[Any]:
        return get_benchmark(self.after.results.benchmark)

    @property
    def title(self) -> str:
        return ", ".join((self.benchmark.card.title, *self.after.results.config["configs"]))

    @property
    def other_rows(self) -> str | None:
        """What was asked instead of all rows of a packaged dataset; None: these were."""
        published = "the published rows, and not those of a dataset of evenhand"
        return name_other_rows(self.after.results) or (None if is_packaged(self.after.results) else published)

    @property
    def controls(self) -> Controls | None:
        """Of a benchmark that distinguishes less bias from a habit."""
        return self.benchmark.publishing.controls(self.before, self.after)

    @property
    def sentences(self) -> list[str]:
        """What a reader should know; of the comparison's sentences all but the first, which names folders."""
        asked = [f"Both asked {self.other_rows}; so these figures are not in model-index."] if self.other_rows else []
        first, second = (_read_dtype(each.results) for each in (self.before, self.after))
        computed = [f"A was computed in {first}, B in {second}."] if first != second else []
        return [*asked, *computed, *self.comparison.sentences[1:]]


def model_card(folder: Path, runs: Sequence[Path] = (), base: str | None = None, repo_id: str | None = None) -> str:
    """Return README.md of a checkpoint that a trainer left.

    Args:
        runs: finished runs of the checkpoint, and for each one of its base in the same settings.
        base: the base's id on the Hub, if it was tuned from a local folder.
        repo_id: on the Hub, if known.

    Raises UsageError for a folder without training.json, for runs of other models or of files that changed since,
    without their counterpart, and for those whose figures are not published (rehearsals, a part of the rows, mostly
    unread).
    """
    record = training_record(str(folder))
    if not record:
        raise UsageError(f"{folder} has no {RECORD}, which evenhand train leaves: write its README.md yourself")
    pairs = _pair_runs(folder, record, runs)
    controls = {each.after.results.benchmark: found for each in pairs if (found := each.controls)}
    section = render("measured.md.jinja", pairs=pairs, controlled=controls, not_debiased=NOT_DEBIASED.format)
    evidence = Evidence(
        sections=[section] if pairs else [],
        results=[result for each in pairs for result in _index_results(each, repo_id)],
        controlled=bool(controls),
    )
    named = base or public_name(base_of(record) or "an unknown model")
    return card(record, named, [each.name for each in folder.iterdir()], evidence, repo_id)


def _pair_runs(folder: Path, record: dict[str, Any], paths: Sequence[Path]) -> list[Measured]:
    """Return each run of the checkpoint with the one of its base; the benchmark that was trained on first."""
    runs = [_read_run(path, folder, record) for path in paths]
    pairs: list[Measured] = []
    for after in (run for run in runs if run.letter == "B"):
        same = [run for run in runs if run.letter == "A" and settings(run.results) == settings(after.results)]
        if len(same) != 1:
            what = f"{len(same) or 'no'} run{'s' if same[1:] else ''} of the base in the same settings"
            raise UsageError(f"{after.path} ({after.results.benchmark}) has {what} among --runs; give one of each")
        targeted = after.results.benchmark in record.get("measured_by", "").split()
        pairs.append(Measured(same[0], after, compare(same[0].path, after.path), targeted))
    used = [each.path for pair in pairs for each in (pair.before, pair.after)]
    if left := [run.path for run in runs if run.path not in used]:
        raise UsageError(f"{left[0]} is a run of the base; also give the one of {folder} in the same settings")
    return sorted(pairs, key=lambda each: not each.targeted)


def _read_run(path: Path, folder: Path, record: dict[str, Any]) -> Run:
    """Return a run of the base as A, of the checkpoint as B. Raises UsageError for others."""
    opened = RunFolder.open(path)
    refuse_weak_results(opened)
    results = opened.read_results()
    if mitigation := results.config.get("mitigation"):
        raise UsageError(f"{path} is a run with --mitigation {mitigation}: the card compares models as they are")
    folders = [each for each in (folder, folder / MERGED) if each.is_dir()]
    letter = "B" if any(fingerprint(each) in results.model_identity for each in folders) else "A"
    if letter == "A":
        _check_is_base(path, results, folder, record)
    return Run(letter, path, results, opened.read_predictions())


def _check_is_base(path: Path, results: Results, folder: Path, record: dict[str, Any]) -> None:
    if results.model and Path(results.model).resolve() in (folder.resolve(), (folder / MERGED).resolve()):
        raise UsageError(f"{path} measured other files than {folder} holds now; run it again")
    base, name = record.get("base") or {}, " ".join(results.model_name.split())
    if results.model != base.get("model") and results.model_identity != base.get("identity"):
        raise UsageError(f"{path} is a run of {name}, neither of {folder} nor of its base {base.get('model')}")
    tuned, ran = base_version(record), base_version({"base": {"identity": results.model_identity}})
    if tuned is not None and ran != tuned:
        versions = f"at {ran or 'no known commit'}, and {folder} was tuned from {tuned}"
        raise UsageError(f"{path} is a run of {name} {versions}; run the base as it was (--revision)")


def _read_dtype(results: Results) -> str:
    """Return the dtype of the weights; it is unknown for a server's."""
    found = WEIGHTS.search(results.model_identity)
    return found[2] if found else "no known dtype"


def _index_results(pair: Measured, repo_id: str | None) -> Iterator[EvalResult]:
    """Yield the checkpoint's headline figures for `model-index`, on the rows that its base answered readably, too.

    None where other rows than the named dataset's were asked: a reader would take them for figures of it.
    """
    from huggingface_hub import EvalResult

    card, configs = pair.benchmark.card, pair.after.results.config["configs"]
    for name, difference in pair.comparison.differences.items() if pair.other_rows is None else ():
        if not math.isnan(difference.second):
            yield EvalResult(
                task_type="text-generation",
                task_name=card.title,
                dataset_type=f"{repo_id.split('/')[0]}/{card.dataset}" if repo_id else str(card.dataset),
                dataset_name=str(card.dataset),
                dataset_config=configs[0] if len(configs) == 1 else None,
                dataset_split=card.split,
                metric_type=card.metric or card.name,
                metric_name=name,
                metric_value=round(difference.second, DIGITS),
            )
