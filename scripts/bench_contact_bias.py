"""How fast contact_bias scores a million answers, and in how much memory.

Made-up answers (seeded): 60 templates, prompt sets of three contacts, 2 % unread; once as a forced choice gives them
(the option alone) and once as generation does (no two replies alike, so none is read for another). Each is scored by
scores.contact_bias with clusters, pairs and probabilities, by the whole `evaluate` call, and, as the baseline, by a
plain loop that reads one row after another and counts the biased, without pairs, probabilities or intervals.
"""

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import evenhand
from evenhand.command_line import ScriptHelp
from evenhand.metrics.contact_bias import scores

Columns = dict[str, list[str]]

TEMPLATES = 60
PROMPT_SETS = 333_334  # of three prompts: 1,000,002 rows
UNREAD_SHARE = 0.02


def synthetic_columns(rng: np.random.Generator) -> Columns:
    """scales, contacts, actions, clusters (the template) and pairs (the prompt set): a row for every prompt."""
    template = rng.integers(TEMPLATES, size=PROMPT_SETS)
    scale = np.array(list(scores.OPTIONS))[template % len(scores.OPTIONS)]
    action = rng.choice(scores.ACTIONS, size=PROMPT_SETS)
    each = len(scores.CONTACTS)
    return {
        "scales": np.repeat(scale, each).tolist(),
        "contacts": list(scores.CONTACTS) * PROMPT_SETS,
        "actions": np.repeat(action, each).tolist(),
        "clusters": [f"template {code}" for code in np.repeat(template, each)],
        "pairs": [f"set {code}" for code in np.repeat(np.arange(PROMPT_SETS), each)],
    }


def chosen_options(columns: Columns, rng: np.random.Generator) -> list[str]:
    n = len(columns["scales"])
    polarity = rng.choice([0, 1, 2], size=n, p=[0.6, 0.4 - UNREAD_SHARE, UNREAD_SHARE])
    return [(*scores.OPTIONS[scale], "")[code] for scale, code in zip(columns["scales"], polarity)]


def plain_loop(predictions: list[str], columns: Columns) -> float:
    """Biased percentage of read answers, one row at a time."""
    n_read = n_biased = 0
    for text, scale, action in zip(predictions, columns["scales"], columns["actions"]):
        polarity = scores.read_answer(text, scale)
        if polarity != scores.UNREAD:
            n_read += 1
            n_biased += scores.is_biased(polarity, action)
    return 100 * n_biased / n_read


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"  # Linux counts in KiB


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp).parse_args()
    rng = np.random.default_rng(0)
    columns = synthetic_columns(rng)
    n = len(columns["scales"])
    options = chosen_options(columns, rng)
    replies = [f"{option}. This is reply {row}, and I would like to say why." for row, option in enumerate(options)]
    probabilities = rng.uniform(0.5, 1, size=n).tolist()
    references = [
        {"scale": scale, "contact": contact, "action": action}
        for scale, contact, action in zip(columns["scales"], columns["contacts"], columns["actions"])
    ]
    metric = evenhand.load_metric("contact_bias")
    further = {"clusters": columns["clusters"], "pairs": columns["pairs"], "probabilities": probabilities}
    print(f"{n:,} rows, {TEMPLATES} templates, {PROMPT_SETS:,} prompt sets; peak memory with the rows: {peak_memory()}")

    for kind, predictions in (("options alone", options), ("replies all different", replies)):
        loop = seconds(partial(plain_loop, predictions, columns))
        all_scores = partial(scores.contact_bias, predictions, probabilities=probabilities, **columns)
        whole_call = partial(metric.compute, predictions=predictions, references=references, **further)
        times = {
            "plain loop, overall percentage only": loop,
            "scores.contact_bias, with everything": seconds(all_scores),
            "evaluate's compute, with everything": seconds(whole_call),
        }
        print(f"\n{kind}; peak memory so far: {peak_memory()}")
        for name, took in times.items():
            print(f"  {name:38} {took:7.2f} s {n / took:12,.0f} rows/s {took / loop:6.2f} x the loop's time")


if __name__ == "__main__":
    main()
