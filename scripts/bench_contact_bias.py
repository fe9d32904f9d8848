"""How fast contact_bias scores a million answers, and in how much memory.

Made-up answers (seeded): 60 templates, prompt sets of three contacts, 2 % unread; once as a forced choice gives them
(the option alone) and once as generation does (no two replies alike, so none is read for another). Each is scored by
scores.contact_bias with clusters, pairs and probabilities, by the whole `evaluate` call, and, as the baseline, by a
plain loop that reads one row after another and counts the biased, without pairs, probabilities or intervals.
"""

import argparse
from collections.abc import Iterator
from functools import partial

import numpy as np
from benching import Line, measured, peak_memory, per_second, seconds

import evenhand
from evenhand.command_line import ScriptHelp, whole
from evenhand.metrics.contact_bias import scores

Columns = dict[str, list[str]]

TEMPLATES = 60
UNREAD_SHARE = 0.02


def synthetic_columns(sets: int, rng: np.random.Generator) -> Columns:
    """scales, contacts, actions, clusters (the template) and pairs (the prompt set): a row for every prompt."""
    template = rng.integers(TEMPLATES, size=sets)
    scale = np.array(list(scores.OPTIONS))[template % len(scores.OPTIONS)]
    action = rng.choice(scores.ACTIONS, size=sets)
    each = len(scores.CONTACTS)
    return {
        "scales": np.repeat(scale, each).tolist(),
        "contacts": list(scores.CONTACTS) * sets,
        "actions": np.repeat(action, each).tolist(),
        "clusters": [f"template {code}" for code in np.repeat(template, each)],
        "pairs": [f"set {code}" for code in np.repeat(np.arange(sets), each)],
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=ScriptHelp)
    parser.add_argument("--sets", type=whole(), default=333_334, help="of three prompts: 1,000,002 rows")
    parser.add_argument("--rounds", type=whole(), default=1, help="of timing")
    measured(parser, measure)


def measure(given: argparse.Namespace) -> Iterator[Line]:
    rng = np.random.default_rng(0)
    columns = synthetic_columns(given.sets, rng)
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
    print(f"{n:,} rows, {TEMPLATES} templates, {given.sets:,} prompt sets; memory so far: {peak_memory():,.0f} MiB")

    for kind, predictions in (("options alone", options), ("replies all different", replies)):
        loop = seconds(partial(plain_loop, predictions, columns), given.rounds)
        all_scores = partial(scores.contact_bias, predictions, probabilities=probabilities, **columns)
        whole_call = partial(metric.compute, predictions=predictions, references=references, **further)
        times = {
            "plain loop, overall percentage only": loop,
            "scores.contact_bias, with everything": seconds(all_scores, given.rounds),
            "evaluate's compute, with everything": seconds(whole_call, given.rounds),
        }
        print(f"\n{kind}; peak memory so far: {peak_memory():,.0f} MiB")
        for name, took in times.items():
            best = min(took)
            print(f"  {name:38} {best:7.2f} s {n / best:12,.0f} rows/s {best / min(loop):6.2f} x the loop's time")
        *_, whole_times = times.values()
        what, rival = f"contact_bias with intervals, {kind}", "a plain loop that counts one percentage"
        yield Line(what, "rows/s", per_second(n, whole_times), rival, per_second(n, loop))


if __name__ == "__main__":
    main()
