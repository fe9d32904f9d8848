"""Which of the models that were run are variants of one base model: they are no independent evidence."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from evenhand.flow.results import Results

WEIGHTS = re.compile(r"@(\S+) (?:\S+ )?(float32|bfloat16|float16)$")
"""How the identity of what is loaded ends: its weights (an adapter's are "its own+its base's") and their dtype."""


@dataclass(frozen=True)
class Bases:
    """of: {model: the name of its base, which is that of the first of its models}."""

    of: Mapping[str, str]

    def means(self, scores: Mapping[str, float], models: Iterable[str]) -> dict[str, float]:
        """{base: the mean score of these models of it}."""
        by_base: dict[str, list[float]] = {}
        for model in models:
            by_base.setdefault(self.of[model], []).append(scores[model])
        return {base: fmean(each) for base, each in by_base.items()}

    def said(self, counted: Container[str]) -> list[str]:
        """A sentence for each base of several models among those counted."""
        return [
            f"{len(models)} models have one base and count as one, by the mean of their scores: {', '.join(models)}"
            for base in dict.fromkeys(self.of.values())
            if len(models := [model for model, other in self.of.items() if other == base and model in counted]) > 1
        ]


def one_base(runs: Iterable[tuple[str, frozenset[str]]]) -> Bases:
    """Of (model, marks of its base): models with a mark in common, directly or by a third one, have one base."""
    groups: list[tuple[list[str], frozenset[str]]] = []  # models, their marks
    for model, marks in runs:
        alike = [group for group in groups if group[1] & marks or model in group[0]]
        models = [each for group in alike for each in group[0]]
        together = (list(dict.fromkeys([*models, model])), marks.union(*(group[1] for group in alike)))
        groups = [group for group in groups if group not in alike] + [together]
    return Bases({model: models[0] for models, _ in groups for model in models})


def marks_of_base(results: Results) -> frozenset[str]:
    """By what a run tells its base: its own name, the name that its options give, its base's weights.

    dtype, revision, mitigation and options of the backend make a variant. What was merged into a base, or how a
    server's model was made, no run tells: such a model is a base of its own.
    """
    return frozenset(_marks(results))


def _marks(results: Results) -> Iterator[str]:
    yield f"name {results.model_name}"
    for key, value in results.option("model_options") or ():
        if key == "base":
            yield f"name {value}"
    held = WEIGHTS.search(results.model_identity)
    weights = held.group(1).rpartition("+")[2] if held else "unknown"
    if weights != "unknown":
        yield f"weights {weights}"
