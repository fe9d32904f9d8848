"""Columns as codes."""

import math

import numpy as np
import pytest

from evenhand.statistics.columns import coded, distinct, paired


def test_values_are_told_apart_by_their_text_and_names_are_sorted():
    codes, names = coded(["b", 1, "1", None, math.nan, "a"], "runs", 6)
    assert names == ["1", "None", "a", "b"]
    assert codes.tolist() == [3, 0, 0, 1, 1, 2]
    codes, names = coded(["a", None, ""], "gender", 3, missing="")
    assert (codes.tolist(), names) == ([1, 0, 0], ["", "a"])


def test_short_names_first():
    assert coded([10, 2], "runs", 2)[1] == ["10", "2"]
    codes, names = coded([10, 2], "runs", 2, short_first=True)
    assert (codes.tolist(), names) == ([1, 0], ["2", "10"])


def test_no_rows():
    codes, names = coded([], "runs", 0)
    assert (codes.tolist(), names) == ([], [])


def test_another_length_is_named():
    with pytest.raises(ValueError, match="clusters has 1 values for 2 predictions"):
        coded(["a"], "clusters", 2)


def test_lists_of_lists_are_told_apart():
    codes, found = distinct(((("a", "b"), 1), (("a",), 1), (("a", "b"), 1)), 3)
    assert codes.tolist() == [0, 1, 0]
    assert found == [(("a", "b"), 1), (("a",), 1)]


def test_pairs_of_codes():
    """-1, which is a missing value, is as good as any."""
    codes, pairs = paired(np.array([2, -1, 2, 0]), np.array([0, 3, 0, 1]))
    assert (codes.tolist(), pairs) == ([0, 1, 0, 2], [(2, 0), (-1, 3), (0, 1)])
    assert paired(np.array([], dtype=np.int64), np.array([], dtype=np.int64))[1] == []
