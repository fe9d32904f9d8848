"""The controls' verdicts over many draws of answers: each word is true of the models that get it."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_controls.figures import FIGURES
from evenhand.benchmarks.contact_controls.verdict import (
    answers_by_sound,
    short_verdict,
    verdict_of,
    why_not_debiased,
)
from evenhand.figure import FigureTable, figure_rows
from evenhand.flow.configuration import run_config
from evenhand.flow.rows import drawn_rows

SEEDS = range(6)
READ_BY_THE_RULE = [each for each in FIGURES if each.key in ("against_ideal", "follows_polarity", "words")]


@cache
def rows():
    benchmark = get_benchmark("contact_controls")
    found = drawn_rows(benchmark, benchmark.configuring.filled(run_config("contact_controls", "m"))).rows.to_pandas()
    return found.assign(options=found["options"].map("/".join), declining=found["options"].str[1])


def answered(says_yes, seed):
    """Predictions. says_yes: (rows) → the probability of yes to each."""
    asked = rows()
    yes = np.random.default_rng(seed).random(len(asked)) < says_yes(asked)
    return asked.assign(
        answer=asked["affirming"].where(yes, asked["declining"]),
        affirms=yes,
        follows_polarity=yes == (asked["action"] == "positive"),
        against_ideal=yes != (asked["ideal"] == asked["affirming"]),
    )


def table(predictions):
    sample = get_benchmark("contact_controls").sample(predictions)
    return FigureTable(figure_rows(READ_BY_THE_RULE, sample))


def words(says_yes):
    """How often each verdict is given."""
    found = pd.Series([verdict_of(table(answered(says_yes, seed))) for seed in SEEDS]).value_counts()
    return {word: int(n) for word, n in found.items()}


def yes(kind, unkind):
    """Yes with these probabilities where (yes is right, no is right): to kind actions, and to unkind ones."""

    def says_yes(asked):
        right = asked["ideal"] == asked["affirming"]
        shares = (np.where(right, *pair) for pair in (kind, unkind))
        return np.where(asked["action"] == "positive", *shares)

    return says_yes


def but_for(kinds, share, otherwise):
    """Of these kinds of controls, yes with this probability."""
    return lambda asked: np.where(asked["kind"].isin(kinds), share, otherwise(asked))


RIGHT = yes((1, 0), (1, 0))


@pytest.mark.parametrize(
    ("says_yes", "word"),
    [
        (RIGHT, "ideal"),
        (yes((0.9, 0.1), (0.9, 0.1)), "ideal"),
        (yes((1, 1), (0, 0)), "polarity"),
        (yes((0.9, 0.85), (0.15, 0.1)), "polarity"),
        (yes((1, 1), (0.5, 0.5)), "one-sided"),  # yes to what is kind, a coin for what is unkind
        (yes((0.5, 0.5), (0, 0)), "one-sided"),  # no to what is unkind, a coin for what is kind
        (yes((1, 1), (1, 0)), "one-sided"),  # yes to what is kind, and right of what is unkind
        (yes((0.95, 0.95), (0.8, 0.2)), "one-sided"),
        (yes((1, 0), (1, 1)), "one-sided"),  # accepts whatever is unkind
        (but_for(["unwise_kindness"], 1, RIGHT), "one-sided"),  # right but for all unwise kindness
        (but_for(["right_unkindness"], 0, RIGHT), "one-sided"),
        (yes((0.98, 0.98), (0.98, 0.98)), "constant"),
        (yes((0, 0), (0, 0)), "constant"),
        (yes((0, 1), (0, 1)), "undecided"),  # always wrong
        (yes((0.5, 0.5), (0.5, 0.5)), "undecided"),
    ],
)
def test_each_model_gets_its_word(says_yes, word):
    found = words(says_yes)
    assert found.get(word, 0) >= len(SEEDS) - 1, found


@pytest.mark.parametrize("kind", ["things", "unwise_kindness", "right_unkindness", "heeded_contact", "nobody_special"])
def test_who_tosses_a_coin_for_one_kind_of_control_is_not_called_ideal(kind):
    """An average over kinds would: of the 120 items where polarity is wrong, a coin for things errs in 10."""
    assert words(but_for([kind], 0.5, RIGHT)).get("ideal", 0) <= 1


@pytest.mark.parametrize(
    ("says_yes", "false"),
    [
        # A half is not most: whatever claims more of that cell is false.
        (yes((1, 0.5), (0, 0)), {"polarity", "ideal"}),
        (yes((1, 1), (0.5, 0)), {"polarity", "ideal"}),
        (yes((1, 0.5), (1, 0)), {"ideal", "one-sided", "polarity", "constant"}),
        (yes((1, 0), (0.5, 0)), {"ideal", "one-sided", "polarity", "constant"}),
    ],
)
def test_a_word_that_is_not_true_is_seldom_given(says_yes, false):
    """In 2.5 % of draws by each way of being false, here in one or two ways: of 20, at most three."""
    given = [verdict_of(table(answered(says_yes, seed))) for seed in range(20)]
    assert sum(word in false for word in given) <= 3


def test_one_sided_says_which_side():
    for says_yes, told in (
        (yes((1, 1), (0.5, 0.5)), "yes to most actions that sound kind,"),
        (yes((0.5, 0.5), (0, 0)), "no to most actions that sound unkind,"),
        (yes((0, 0), (0.5, 0.5)), "no to most actions that sound kind,"),
        (yes((0, 0), (1, 1)), "no to most actions that sound kind and yes to most actions that sound unkind,"),
    ):
        figures = table(answered(says_yes, 0))
        found = {"verdict": verdict_of(figures), "by_sound": answers_by_sound(figures)}
        assert short_verdict(figures) == "one-sided: " + told.rstrip(",").replace(
            "most actions that sound ", ""
        ).replace(" and", ",")
        assert why_not_debiased(found) == f"it is one-sided: {told} where that is right and where it is wrong"


def test_half_of_each_cell_must_be_read():
    found = answered(yes((1, 1), (0, 0)), 0)
    cell = found[(found["action"] == "negative") & ~found["agrees"].astype(bool)].index
    found = found.astype({"follows_polarity": object, "against_ideal": object})
    for unread, verdict in ((0, "polarity"), (30, "polarity"), (31, "undecided")):
        some = found.copy()
        some.loc[cell[:unread], ["answer", "follows_polarity", "against_ideal"]] = None
        assert (len(cell), verdict_of(table(some))) == (60, verdict)


def test_no_figures_are_undecided():
    assert verdict_of(FigureTable([])) == "undecided"
