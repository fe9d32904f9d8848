"""How fast association_score scores a million choices, and in how much memory.

Made-up choices (seeded) between two faces: 10 instances, asked about the same pairs, 2 % unread; for gender and for
pairs of races. Each is scored by scores.association_score without and with clusters (the pair) and positions, by the
whole `evaluate` call, and, as the baseline, by a plain loop that counts one row after another, for the score alone.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from benching import Line, measured, peak_memory, per_second, seconds

import evenhand
from evenhand.command_line import ScriptHelp, whole
from evenhand.metrics.association_score import scores

Columns = dict[str, list[Any]]

INSTANCES = 10
UNREAD_SHARE = 0.02


def synthetic_columns(attribute: str, rows: int, rng: np.random.Generator) -> tuple[list[str], Columns]:
    """(the groups chosen, all other columns): every pair of faces is asked about for every instance."""
    pairs = [list(pair) for pair in combinations(scores.GROUPS[attribute], 2)]
    faces = rows // INSTANCES
    offered = [pairs[code] for code in rng.integers(len(pairs), size=faces)]
    candidates = [pair for pair in offered for _ in range(INSTANCES)]
    place = rng.integers(2, size=len(candidates)).tolist()
    unread = (rng.random(len(candidates)) < UNREAD_SHARE).tolist()
    predictions = ["" if lost else pair[side] for pair, side, lost in zip(candidates, place, unread)]
    return predictions, {
        "attributes": [attribute] * len(candidates),
        "scenarios": ["occupation"] * len(candidates),
        "instances": [f"occupation {code}" for code in range(INSTANCES)] * faces,
        "candidates": candidates,
        "clusters": [f"pair {code}" for code in range(faces) for _ in range(INSTANCES)],
        "positions": [("left", "right")[side] for side in place],
    }


def plain_loop(predictions: list[str], columns: Columns) -> float:
    """association_score, one row at a time; every answer is among its candidates or empty."""
    groups = scores.GROUPS[columns["attributes"][0]]
    chosen: dict[str, Counter[str]] = {}
    answered = 0
    for prediction, instance in zip(predictions, columns["instances"]):
        if prediction:
            chosen.setdefault(instance, Counter())[prediction] += 1
            answered += 1
    uneven = 0.0
    for counts in chosen.values():
        uneven += sum(abs(counts[group] / counts.total() - 1 / len(groups)) for group in groups)
    return answered / len(predictions) * uneven / len(chosen) / len(groups)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--rows", type=whole(), default=1_000_000, help="to score")
    parser.add_argument("--rounds", type=whole(), default=1, help="of timing")
    measured(parser, measure)


def measure(given: argparse.Namespace) -> Iterator[Line]:
    rng = np.random.default_rng(0)
    metric = evenhand.load_metric("association_score")
    for attribute in scores.GROUPS:
        predictions, columns = synthetic_columns(attribute, given.rows, rng)
        n = len(predictions)
        alone = {key: values for key, values in columns.items() if key not in ("clusters", "positions")}
        further = {key: columns[key] for key in ("clusters", "positions")}
        references = [
            {"attribute": attribute, "scenario": "occupation", "instance": instance, "candidates": candidates}
            for instance, candidates in zip(columns["instances"], columns["candidates"])
        ]
        print(
            f"\n{attribute}: {n:,} rows, {n // INSTANCES:,} pairs; peak memory with the rows: {peak_memory():,.0f} MiB"
        )
        loop = seconds(partial(plain_loop, predictions, columns), given.rounds)
        whole_call = partial(metric.compute, predictions=predictions, references=references, **further)
        times = {
            "plain loop, the score only": loop,
            "scores.association_score, points": seconds(partial(scores.association_score, predictions, **alone)),
            "the same with intervals and positions": seconds(partial(scores.association_score, predictions, **columns)),
            "evaluate's compute, with everything": seconds(whole_call, given.rounds),
        }
        for name, took in times.items():
            best = min(took)
            print(f"  {name:38} {best:7.2f} s {n / best:12,.0f} rows/s {best / min(loop):6.2f} x the loop's time")
        *_, whole_times = times.values()
        what, rival = f"association_score with intervals, {attribute}", "a plain loop that counts the score"
        yield Line(what, "rows/s", per_second(n, whole_times), rival, per_second(n, loop))
        print(f"  peak memory: {peak_memory():,.0f} MiB")


if __name__ == "__main__":
    main()
