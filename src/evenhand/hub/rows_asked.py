"""Which rows a run asked: the benchmark's own, all of them, as a dataset of evenhand holds them, or others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.library import dataset_names

if TYPE_CHECKING:
    from evenhand.flow.results import Results


def packaged(results: Results) -> bool:
    """Whether they are those of a dataset that evenhand ships, which has versions and can be published."""
    return results.config.get("source") == "evenhand" and dataset_of(results) in dataset_names()


def dataset_of(results: Results) -> str:
    """Its name; the benchmark's, where that brings its rows itself."""
    from evenhand.benchmarks import get_benchmark

    card = get_benchmark(results.benchmark).card
    return card.dataset or card.name


def in_place_of_all(results: Results) -> str | None:
    """What was asked in place of all of the benchmark's own rows; None where nothing was."""
    if results.rows_sha256 is not None:
        return "the rows of a file"
    if held_out := results.option("held_out"):
        return f"what a training held out (--held-out {held_out})"
    return "prompts of a file (--own-prompts)" if results.option("own_prompts") else None
