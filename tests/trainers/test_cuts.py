"""What train and test may share in each of the paper's settings."""

import itertools

import pytest
from datasets import Dataset

from evenhand.benchmarks.contact_hypothesis import cuts
from evenhand.benchmarks.contact_hypothesis.cuts import MAIN, NEW, ONE_SCALE, SETTINGS, cut

SCENARIOS = ("education", "workplace", "sports")
PRINCIPLES = ("equal_group_status", "common_goals", "virtual_contact")
AXES = ("ability", "age", "religion", "nonce")


def rows(config):
    """As the dataset has them, but few: a positive and a negative situation of each scenario and principle."""
    cells = itertools.product(SCENARIOS, PRINCIPLES, ("positive", "negative"), AXES, range(5))
    return Dataset.from_list(
        [
            {
                "id": f"{config}/{scenario}/{principle}/{action}/{axis}{n}",
                "scale": config.removeprefix("new_"),
                "situation": f"{'new ' * config.startswith('new')}{scenario}-{principle}-{action}",
                "scenario": scenario, "principle": principle, "action": action, "axis": axis,
                "descriptor": f"{axis}{n}",
            }
            for scenario, principle, action, axis, n in cells
        ]
    )  # fmt: skip


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, n in (("N_TRAIN", 200), ("N_VALIDATION", 50), ("N_TEST", 300)):
        monkeypatch.setattr(cuts, name, n)


def values(some, column):
    return {row[column] for row in some}


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_row_is_in_two_uses_and_none_is_empty(setting):
    made = cut(setting, rows, seed=42)
    uses = [values(use, "id") for use in (made.train, made.validation, made.test)]
    assert all(uses)
    assert sum(map(len, uses)) == len(set().union(*uses)) == len(made.train) + len(made.validation) + len(made.test)
    assert values(made.train, "action") == values(made.test, "action") == {"positive", "negative"}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_seed_decides_the_cut(setting):
    assert cut(setting, rows, seed=1) == cut(setting, rows, seed=1)
    assert values(cut(setting, rows, seed=1).train, "id") != values(cut(setting, rows, seed=2).train, "id")


def test_settings_1_and_2_draw_the_papers_numbers_from_the_main_half():
    first, second = cut("1", rows, seed=42), cut("2", rows, seed=42)
    assert [len(each) for each in (first.train, first.validation, first.test)] == [200, 50, 300]
    assert values(first.train, "scale") == values(first.test, "scale") == set(MAIN)
    assert len(second.test) == sum(len(rows(config)) for config in NEW)
    assert not values(second.train, "situation") & values(second.test, "situation")


@pytest.mark.parametrize("setting", ONE_SCALE)
def test_settings_3_train_on_one_scale_and_test_on_both_others_whole(setting):
    made = cut(setting, rows, seed=42)
    assert values(made.train, "scale") == values(made.validation, "scale") == {ONE_SCALE[setting]}
    assert values(made.test, "scale") == set(MAIN) - {ONE_SCALE[setting]}
    assert len(made.test) == 2 * len(rows("certainty"))


@pytest.mark.parametrize(
    ("setting", "column", "trained"),
    [
        ("4", "scenario", {"education", "workplace"}),
        ("5", "principle", {"equal_group_status", "common_goals"}),
        ("6", "axis", {"ability", "age"}),
    ],
)
def test_settings_4_to_6_train_on_a_draw_of_some_dimensions_and_test_on_all_of_the_others(setting, column, trained):
    made = cut(setting, rows, seed=42)
    assert [len(made.train), len(made.validation)] == [200, 50]
    assert len(made.test) == sum(row[column] not in trained for config in MAIN for row in rows(config))
    assert values(made.train, column) == values(made.validation, column) == trained
    assert not values(made.test, column) & trained


def test_disjoint_shares_neither_situations_nor_descriptors():
    made = cut("disjoint", rows, seed=42)
    for column in ("situation", "descriptor"):
        uses = [values(use, column) for use in (made.train, made.validation, made.test)]
        assert sum(map(len, uses)) == len(set().union(*uses))
    for use in (made.train, made.validation, made.test):
        assert values(use, "axis") == set(AXES)
        assert values(use, "action") == {"positive", "negative"}


def test_the_trained_dimensions_are_the_datasets():
    """Settings 4 to 6 name values that the dataset has, and leave some for the test."""
    from evenhand.library import load_dataset

    real = load_dataset("contact_hypothesis", "certainty", split="test")
    for column, trained in cuts.TRAINED_ON.values():
        assert set(trained) < set(real.unique(column))
