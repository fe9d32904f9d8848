"""Rows of ours in BBQ's published form, and models whose answers to them are known."""

import math
import random
from types import SimpleNamespace

import pandas as pd

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.bbq.questions import biased_place, counter_biased_place
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import run_config
from evenhand.models.request import Reply

NAME = "bbq"
BENCHMARK = get_benchmark(NAME)
FILES = {"age": "Age", "ses": "SES", "race_x_gender": "Race_x_gender"}
TAGS = {  # (stereotyped, other), the groups that are stereotyped
    "age": (("old", "nonOld"), ["old"]),
    "ses": (("lowSES", "highSES"), ["low SES"]),
    "race_x_gender": (("F-Black", "M-White"), ["Black"]),
}
TEMPLATES, FILLINGS = 6, 2  # of each category: 6 × 2 × 4 = 48 rows


def entries(category):
    """Every filling has its four rows; the order of the answers differs between fillings, as it does in BBQ.

    Each second filling of race_x_gender tells of two people of the stereotyped race: it has no target.
    """
    (target, other), stereotyped = TAGS[category]
    number = 0
    for template in range(1, TEMPLATES + 1):
        for filling in range(FILLINGS):
            against = "M-Black" if category == "race_x_gender" and filling else other
            people = [[f"{each} number {number}", each] for each in (target, against)]
            options = [*people, ["Not known", "unknown"]]
            random.Random(f"{category}{number}").shuffle(options)
            places = {tag: place for place, (_, tag) in enumerate(options)}
            for condition in ("ambig", "disambig"):
                for polarity in ("neg", "nonneg"):
                    # the answer that is given is the biased one in every second filling
                    asked_for = target if (polarity == "neg") == (filling == template % 2) else against
                    context = f"{people[0][0]} met {people[1][0]} at stop {template}-{filling}."
                    told = {"ambig": "", "disambig": f" Of these the {asked_for} one {polarity} it."}[condition]
                    yield {
                        "example_id": number,
                        "question_index": str(template),
                        "question_polarity": polarity,
                        "context_condition": condition,
                        "category": category,
                        "answer_info": {f"ans{place}": each for place, each in enumerate(options)},
                        "additional_metadata": {"stereotyped_groups": stereotyped},
                        "context": context + told,
                        "question": f"Who {'lost' if polarity == 'neg' else 'kept'} the ticket?",
                        **{f"ans{place}": text for place, (text, _) in enumerate(options)},
                        "label": places["unknown" if condition == "ambig" else asked_for],
                    }
                    number += 1


def unknown(row):
    return row["unknown"]


def biased(row):
    """Of a row without a target: either group's."""
    place = biased_place(row)
    return (row["unknown"] + 1) % 3 if place is None else place


def counter(row):
    place = counter_biased_place(row)
    return (row["unknown"] + 1) % 3 if place is None else place


def target(row):
    return row["target"] if row["target"] is not None else (row["unknown"] + 1) % 3


def right(row):
    return row["label"]


def choosing(rows, answer, sure=0.8):
    """reply(request) that finds the answer at place answer(row) so likely, whatever the order in which they stand."""

    def reply(request):
        chosen = answer(rows[request.name.partition("/rotation")[0]])
        log_probs = (math.log(sure if place == chosen else (1 - sure) / 2) for place in range(3))
        return Reply("", "choice", tuple((each,) for each in log_probs))

    return reply


def scored(rows, reply, **options):
    """Predictions, figures and warnings of reply(request), without a run."""
    config = BENCHMARK.configuring.filled(run_config(NAME, "m", **options))
    how = config.asking()
    read = [BENCHMARK.read(row, [reply(request) for request in BENCHMARK.ask(row, how)], how) for row in rows.values()]
    sample = BENCHMARK.sample(pd.DataFrame([each for row in read for each in row]))
    figures = FigureTable(figure_rows(BENCHMARK.figures, sample))
    warnings = BENCHMARK.warnings(sample.rows, figures, config)
    return SimpleNamespace(predictions=sample.rows, figures=figures, warnings=warnings)


def by_context(table, figure):
    """{kind of context: value}"""
    return {row.groups["context_condition"]: row.value for row in table.rows(figure, "context_condition")}


def coded(warnings, code):
    return [each for each in warnings if each.code == code]
