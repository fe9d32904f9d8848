"""`evenhand train preference`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError
from evenhand.options import option
from evenhand.paths import typed_path
from evenhand.trainers.benchmark_rows import BenchmarkOptions, BenchmarkRecipe, TrainingRows, text_benchmark
from evenhand.trainers.progress import OnProgress
from evenhand.trainers.recipe import Prepared, fingerprint

if TYPE_CHECKING:
    from evenhand.trainers.pairs import Pairs

TARGETS = "targets"


@dataclass(frozen=True)
class PreferenceOptions(BenchmarkOptions):
    """Options of preference; beta is Rafailov et al.'s."""

    pairs: tuple[str, ...] = option(
        (TARGETS,),
        "targets: the benchmark's ideal answers and their opposites; finished runs of it that answered a request with "
        "bias and without; or a file with prompt or messages, chosen, rejected",
        metavar="targets|RUN|FILE",
    )
    beta: float = option(0.1, "strength of the pull towards the base", above=0, metavar="X")  # Rafailov et al.
    learning_rate: float = option(5e-5, "peak learning rate", above=0, most=1, metavar="X")
    dropout: float = option(0.0, "dropout of the adapter's inputs", least=0, most=0.99, metavar="P")  # TRL: none in DPO
    clip: float = option(1.0, "maximum norm of the gradient", above=0, metavar="X")  # TRL's


class PreferenceTrainer(BenchmarkRecipe[PreferenceOptions]):
    """Direct preference optimization (DPO): of two answers to a request, the one with less bias becomes likelier."""

    name = "preference"
    title = "Direct preference optimization"
    source = "Rafailov et al., NeurIPS 2023, Direct Preference Optimization; TRL's DPOTrainer"
    Options = PreferenceOptions

    def check(self, options: PreferenceOptions) -> None:
        super().check(options)
        self.check_padded(options)
        text_benchmark(options.benchmark)
        kind, paths = _sort_pairs(options.pairs)
        if kind == "file":
            from evenhand.row_files.opening import opened
            from evenhand.row_files.rows import SUFFIXES

            with opened(paths[0], SUFFIXES, "pairs"):
                return
        if kind == "runs":
            from evenhand.flow.run_folder import RunFolder  # imports pandas

            for path in paths:
                RunFolder.open(path)

    def prepare(self, options: PreferenceOptions, on_progress: OnProgress) -> Prepared:
        from evenhand.models.text_reader import TextReader
        from evenhand.trainers.dpo import make_dpo, read_pairs
        from evenhand.trainers.examples import load_base

        checkpoint = load_base(options)
        on_progress("reading the pairs", 0, 0)
        rows = options.training_rows()
        found, origin = _find_pairs(options, rows)
        if not found.pairs:
            raise UsageError(f"--pairs {' '.join(options.pairs)}: nothing makes a pair ({_count(found.counts)})")
        reader = TextReader.of(checkpoint)
        examples = read_pairs(found.pairs, reader, options.model, reader.end_of_answer())
        data = {
            "benchmark": options.benchmark,
            **rows.data,
            **origin,
            "pairs": len(examples),
            "counts": dict(found.counts),
            "ids_sha256": fingerprint(f"{each.request.name}\n{each.chosen}\n{each.rejected}" for each in found.pairs),
        }
        return Prepared(
            options,
            checkpoint,
            examples,
            data=data,
            method=lambda setup, examples: make_dpo(setup, examples, options.beta),
            datasets=() if "sha256" in origin else (text_benchmark(options.benchmark).card.dataset,),
            **self.measurements(options, rows, checkpoint),
        )

    def summarize(self, record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        data = record["data"]
        pairs = f"{data['pairs']:,}, {data['from']}"
        return (("pairs, from", pairs), ("counted", _count(data["counts"])), ("cut", data["cut"]))

    def over_steps(self, log: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
        """Return the share of each step's pairs whose better answer gained on the worse one, compared with the base."""
        return {"better answer preferred, %": [100 * each["rewards/accuracies"] for each in log]}

    def asks_trained_rows(self, record: Mapping[str, Any]) -> bool | None:
        return None if "sha256" in record["data"] else super().asks_trained_rows(record)


def _sort_pairs(pairs: Sequence[str]) -> tuple[str, list[Path]]:
    """Return the kind of --pairs (targets, file or runs) and its paths."""
    if pairs == (TARGETS,):
        return TARGETS, []
    if TARGETS in pairs:
        raise UsageError(f"--pairs must be targets, or one file, or one run or more, got {' '.join(pairs)}")
    paths = [typed_path(each) for each in pairs]
    return "file" if len(paths) == 1 and paths[0].suffix and not paths[0].is_dir() else "runs", paths


def _find_pairs(options: PreferenceOptions, rows: TrainingRows) -> tuple[Pairs, dict[str, Any]]:
    """Return the pairs, and what training.json says of their origin."""
    from evenhand.trainers.pairs import from_file, from_runs, from_targets

    kind, paths = _sort_pairs(options.pairs)
    if kind == TARGETS:
        return from_targets(text_benchmark(options.benchmark), rows.train, options.asking()), {"from": TARGETS}
    if kind == "file":
        found, sha256 = from_file(paths[0])
        return found, {"from": paths[0].name, "sha256": sha256}
    from evenhand.flow.run_folder import RunFolder

    train = {str(row["id"]) for row in rows.train}
    found = from_runs([RunFolder.open(path) for path in paths], options.benchmark, train)
    return found, {"from": ", ".join(path.name for path in paths)}


def _count(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.items())
