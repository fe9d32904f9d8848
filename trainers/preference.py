"""`evenhand train preference`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.paths import typed_path
from evenhand.trainers.benchmark_rows import (
    BenchmarkOptions,
    TrainingRows,
    asking,
    caution,
    check_method_alone,
    judged_of,
    learned_too,
    measure_of,
    measuring_command,
    text_benchmark,
    training_rows,
)
from evenhand.trainers.prepared import Prepared
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Recipe, fingerprint

SOURCE = "Rafailov et al., NeurIPS 2023, Direct Preference Optimization; TRL's DPOTrainer"
TARGETS = "targets"


@dataclass(frozen=True)
class PreferenceOptions(BenchmarkOptions):
    """beta is Rafailov et al.'s; batch, rank and so on as of all recipes."""

    pairs: tuple[str, ...] = option(
        (TARGETS,),
        "targets: the benchmark's ideal answers and their opposites; finished runs of it, where a request was answered "
        "with bias and without; or a file (prompt or messages, chosen, rejected)",
        metavar="targets|RUN|FILE",
    )
    beta: float = option(0.1, "how near the model stays to its base", above=0, metavar="X")  # Rafailov et al.
    learning_rate: float = option(5e-5, "at its highest", above=0, most=1, metavar="X")
    dropout: float = option(0.0, "of the adapter's inputs", least=0, most=0.99, metavar="P")  # TRL: none in DPO
    clip: float = option(1.0, "the gradient's norm", above=0, metavar="X")  # TRL's


class PreferenceTrainer(Recipe[PreferenceOptions]):
    """Direct preference optimization (DPO): of two answers to a request, the one with less bias becomes likelier."""

    name = "preference"
    title = "Direct preference optimization"
    source = SOURCE
    Options = PreferenceOptions

    def check(self, options: PreferenceOptions) -> None:
        super().check(options)
        check_method_alone(options, self.name)
        text_benchmark(options.benchmark)
        _check_pairs(options.pairs)

    def prepared(self, options: PreferenceOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.batches import read_of
        from evenhand.trainers.preferences import preferences, read_pairs
        from evenhand.trainers.reading import base_of

        checkpoint = base_of(options)
        on_progress("reading the pairs", 0, 0)
        rows = training_rows(options)
        found, origin = _found(options, rows)
        if not found.pairs:
            raise UsageError(f"--pairs {' '.join(options.pairs)}: nothing makes a pair ({_counted(found.counts)})")
        reader = TextReader.of(checkpoint)
        examples = read_pairs(found.pairs, reader, options.model, reader.end_of_answer())
        data = {
            "benchmark": options.benchmark,
            **rows.data,
            **origin,
            "pairs": len(examples),
            "counts": dict(found.counts),
            "tokens": sum(len(each.read) for each in read_of(examples)),
            "ids_sha256": fingerprint(f"{each.request.name}\n{each.chosen}\n{each.rejected}" for each in found.pairs),
        }
        method = preferences(options.beta)
        measure, judged = measure_of(rows, options, checkpoint), judged_of(options, checkpoint)
        datasets = () if "sha256" in origin else (text_benchmark(options.benchmark).card.dataset,)
        return Prepared(
            options, checkpoint, examples, measure, data, method,
            judged=judged, told=caution(options), datasets=datasets,
        )  # fmt: skip

    def lines(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        return (
            ("pairs, from", f"{data['pairs']:,}, {data['from']}"),
            ("counted", _counted(data["counts"])),
            ("cut", data["cut"]),
        )

    def over_steps(self, logs: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
        """Pairs of each step whose better answer became likelier, against the worse one, than it was in the base."""
        return {"better answer preferred, %": [100 * log["rewards/accuracies"] for log in logs]}

    def measured_by(self, record: Mapping[str, Any]) -> str:
        return measuring_command(record["recipe"])

    def learned_too(self, record: Mapping[str, Any]) -> bool | None:
        """Of a file's pairs nobody knows whose questions they are."""
        return None if "sha256" in record["data"] else learned_too(record["recipe"])


def _kind(pairs: Sequence[str]) -> str:
    """targets, file or runs. Raises UsageError for several of different kinds."""
    if TARGETS in pairs and len(pairs) > 1:
        raise UsageError(f"--pairs {' '.join(pairs)}: targets, or one file, or one run or more are accepted")
    if pairs == (TARGETS,):
        return TARGETS
    paths = [typed_path(each) for each in pairs]
    if len(paths) == 1 and (paths[0].suffix and not paths[0].is_dir()):
        return "file"
    return "runs"


def _check_pairs(pairs: Sequence[str]) -> None:
    """Raises UsageError for a file, or finished runs, that are not there; what they hold is read later."""
    kind = _kind(pairs)
    paths = [typed_path(each) for each in pairs if kind != TARGETS]
    if kind == "file":
        from evenhand.row_files.opening import opened
        from evenhand.row_files.rows import SUFFIXES

        with opened(paths[0], SUFFIXES, "pairs"):
            return
    if paths:
        from evenhand.flow.run_folder import RunFolder  # pandas takes long

        for path in paths:
            RunFolder.open(path)


def _found(options: PreferenceOptions, rows: TrainingRows) -> tuple[Any, dict[str, Any]]:
    """The pairs, and what training.json says of where they come from."""
    from evenhand.trainers.pairs import from_file, from_runs, from_targets

    kind = _kind(options.pairs)
    if kind == TARGETS:
        return from_targets(text_benchmark(options.benchmark), rows.train, asking(options)), {"from": TARGETS}
    paths: list[Path] = [typed_path(each) for each in options.pairs]
    if kind == "file":
        found, sha256 = from_file(paths[0])
        return found, {"from": paths[0].name, "sha256": sha256}
    from evenhand.flow.run_folder import RunFolder

    folders = [RunFolder.open(path) for path in paths]
    train = {str(row["id"]) for row in rows.train}
    return from_runs(folders, options.benchmark, train), {"from": ", ".join(path.name for path in paths)}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.items())
