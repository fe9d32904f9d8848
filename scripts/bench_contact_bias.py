"""Measure how fast contact_bias scores a million answers, and in how much memory.

Simulated answers: 60 templates, prompt sets of three contacts, 2 % unread; once as a forced choice gives them (the
option alone) and once as generation does (no two replies are equal). Each is scored with clusters, pairs and
probabilities, by the whole `evaluate` call, and, as the rival, by a plain loop that computes one percentage.
"""

import argparse
from collections.abc import Iterator
from functools import partial

import numpy as np
from bench import Line, bench_parser, peak_memory, per_second, run_bench, time_rounds

import evenhand
from evenhand.metrics.contact_bias import scores

Columns = dict[str, list[str]]

TEMPLATES = 60
UNREAD_SHARE = 0.02


def simulate(sets: int, rng: np.random.Generator) -> tuple[list[str], Columns]:
    """The chosen options, and scales, contacts, actions, clusters (the template) and pairs (the prompt set)."""
    template = rng.integers(TEMPLATES, size=sets)
    scale = np.array(list(scores.OPTIONS))[template % len(scores.OPTIONS)]
    action = rng.choice(scores.ACTIONS, size=sets)
    each = len(scores.CONTACTS)
    columns = {
        "scales": np.repeat(scale, each).tolist(),
        "contacts": list(scores.CONTACTS) * sets,
        "actions": np.repeat(action, each).tolist(),
        "clusters": [f"template {code}" for code in np.repeat(template, each)],
        "pairs": [f"set {code}" for code in np.repeat(np.arange(sets), each)],
    }
    polarity = rng.choice([0, 1, 2], size=sets * each, p=[0.6, 0.4 - UNREAD_SHARE, UNREAD_SHARE])
    return [(*scores.OPTIONS[scale], "")[code] for scale, code in zip(columns["scales"], polarity)], columns


def score_in_a_loop(predictions: list[str], columns: Columns) -> float:
    """Biased percentage of read answers."""
    n_read = n_biased = 0
    for text, scale, action in zip(predictions, columns["scales"], columns["actions"]):
        polarity = scores.read_answer(text, scale)
        if polarity != scores.UNREAD:
            n_read += 1
            n_biased += scores.is_biased(polarity, action)
    return 100 * n_biased / n_read


def measure(options: argparse.Namespace) -> Iterator[Line]:
    rng = np.random.default_rng(0)
    chosen, columns = simulate(options.sets, rng)
    replies = [f"{option}. This is reply {row}, and I would like to say why." for row, option in enumerate(chosen)]
    probabilities = rng.uniform(0.5, 1, size=len(chosen)).tolist()
    references = [
        {"scale": scale, "contact": contact, "action": action}
        for scale, contact, action in zip(columns["scales"], columns["contacts"], columns["actions"])
    ]
    metric = evenhand.load_metric("contact_bias")
    further = {"clusters": columns["clusters"], "pairs": columns["pairs"], "probabilities": probabilities}
    for kind, predictions in (("options alone", chosen), ("replies all different", replies)):
        works = {
            f"contact_bias, {kind}: scores with intervals": partial(
                scores.contact_bias, predictions, probabilities=probabilities, **columns
            ),
            f"contact_bias, {kind}: evaluate": partial(
                metric.compute, predictions=predictions, references=references, **further
            ),
        }
        loop = time_rounds(partial(score_in_a_loop, predictions, columns), options.rounds)
        for what, work in works.items():
            speeds = [per_second(len(chosen), each) for each in (time_rounds(work, options.rounds), loop)]
            yield Line(what, "rows/s", speeds[0], "a plain loop, one percentage", speeds[1])
    yield Line("contact_bias, all of it", "MiB", (peak_memory(),), "")


def main() -> None:
    sets, rounds = (333_334, "prompt sets of three prompts: 1,000,002 rows"), (1, "rounds of timing")
    run_bench(bench_parser(__doc__, sets=sets, rounds=rounds), measure)


if __name__ == "__main__":
    main()
