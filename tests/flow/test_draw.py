"""The stratified draw: proportions kept, seeded, and a smaller draw part of a larger one."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.benchmarks import get_benchmark
from evenhand.flow.draw import draw, draw_together
from evenhand.flow.rows import CROSSED
from evenhand.library import load_dataset

designs = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=2, max_size=60).map(
    lambda rows: pd.DataFrame(rows, columns=["first", "second"])
)


@settings(max_examples=100, deadline=None)
@given(design=designs, seed=st.integers(0, 5), data=st.data())
def test_a_draw_is_a_seeded_subset_in_order(design, seed, data):
    limit = data.draw(st.integers(1, len(design)))
    chosen = draw(design, limit, seed)
    assert chosen == sorted(set(chosen)) == draw(design, limit, seed)
    assert len(chosen) == limit
    assert set(chosen) <= set(draw(design, min(len(design), limit + 3), seed))


def test_everything_without_a_limit():
    assert draw(pd.DataFrame({"a": [1, 1, 2]}), None, seed=3) == [0, 1, 2]


@pytest.mark.parametrize("limit", [0, -1, 4])
def test_a_limit_out_of_range_is_refused(limit):
    with pytest.raises(ValueError, match="from 1 to 3"):
        draw(pd.DataFrame({"a": [1, 1, 2]}), limit, seed=0)


@pytest.fixture(scope="module")
def design():
    columns = [each for each in get_benchmark("contact_hypothesis").card.design if CROSSED not in each]
    return load_dataset("contact_hypothesis", "certainty", split="test").select_columns(columns).to_pandas()


@pytest.mark.parametrize("limit", [60, 200, 1000])
def test_margins_keep_their_shares(design, limit):
    """Every value of every design column of the real dataset is within two rows of its proportional share."""
    rows = design.iloc[draw(design, limit, seed=0)]
    for column in design:
        share = design[column].value_counts(normalize=True) * limit
        counts = rows[column].value_counts().reindex(share.index, fill_value=0)
        assert (counts - share).abs().max() <= 2, column


def test_seeds_differ(design):
    assert draw(design, 100, seed=0) != draw(design, 100, seed=1)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=30), st.data())
def test_sets_are_drawn_whole_and_as_many_as_fit(sets, data):
    """Sets of 1 to 4 rows: no more rows than asked for unless one set has more, and room for no further one of 4."""
    rows = [(stratum, number) for number, (stratum, size) in enumerate(sets) for _ in range(size)]
    table = pd.DataFrame(rows, columns=["stratum", "set"])
    limit = data.draw(st.integers(1, len(rows)))
    drawn = draw_together(table[["stratum"]], table[["set"]], limit, seed=0)
    chosen = table.loc[drawn, "set"]
    assert drawn == sorted(drawn)
    assert set(chosen.value_counts().items()) == {(number, sets[number][1]) for number in chosen}
    assert len(drawn) <= limit or chosen.nunique() == 1
    assert len(drawn) == len(rows) or len(drawn) + 4 > limit
