"""What a trainer takes of BBQ: values, targets, and questions that balance each other."""

import pytest

from evenhand.benchmarks.bbq.questions import biased_place
from evenhand.models.request import Reply
from evenhand.trainers import bias_reward, questions
from evenhand.trainers.benchmark_rows import cut_by_cluster
from evenhand.trainers.questions import group_questions, value_questions
from evenhand.trainers.reward import list_prompts, oppose
from tests.benchmarks.bbq.known_answers import (
    BENCHMARK,
    NAME,
    biased,
    choosing,
    counter,
    right,
    scored,
    target,
    unknown,
)


def swapped(row):
    """The counterpart in which the other group is the stereotyped one."""
    return row | {"target": row["other"], "other": row["target"]}


def turned(row):
    return row | {"question_polarity": "nonneg" if row["question_polarity"] == "neg" else "neg"}


@pytest.mark.parametrize("change", [swapped, turned])
def test_the_value_is_of_being_wrong_whoever_is_stereotyped(rows, change):
    """It rewards neither a bias nor its opposite."""
    for answer in (biased, counter, unknown, target):
        for row in rows.values():
            one, other = (
                BENCHMARK.read(each, [choosing({row["id"]: row}, answer)(asked)], BENCHMARK.asking())[0]
                for each in (row, change(row))
                for asked in BENCHMARK.ask(row, BENCHMARK.asking())
            )
            assert one["value"] == other["value"]


@pytest.mark.parametrize(
    ("answer", "mean"), [(right, 0.2), (unknown, 0.55), (biased, 0.725), (counter, 0.725), (target, 0.725)]
)
def test_no_constant_answer_is_of_much_value(rows, answer, mean):
    """Right by 0.8: 0.2. Wrong by that: 0.9, for the right one has 0.1 of what is left. Unknown is right in half of all
    rows, a group in half of the disambiguated ones: (0.2 + 0.9) / 2 and (0.9 + (0.2 + 0.9) / 2) / 2.
    """
    some = {name: row for name, row in rows.items() if row["category"] != "race_x_gender"}
    assert scored(some, choosing(some, answer)).predictions["value"].mean() == pytest.approx(mean)


def test_a_filling_has_each_place_right_so_that_training_can_balance_it(rows):
    """Of its four questions two have unknown as the right answer, one each person: every place is the worst of one."""
    fillings = {}
    for row in rows.values():
        [asked] = value_questions(BENCHMARK, row, BENCHMARK.asking())
        assert asked.values == tuple(float(place != row["label"]) for place in range(3))
        fillings.setdefault(row["item"], []).append(asked.worst)
    assert {tuple(sorted(set(places))) for places in fillings.values()} == {(0, 1, 2)}


def test_what_was_written_has_the_value_0_or_1(rows):
    row, how = next(iter(rows.values())), BENCHMARK.asking(protocol="generate")
    for place in range(3):
        [read] = BENCHMARK.read(row, [Reply(row["answers"][place])], how)
        assert read["value"] == (place != row["label"])


def test_targets_are_what_is_right_and_what_a_bias_would_say(rows):
    none = 0
    for row in rows.values():
        found = BENCHMARK.targets(row, BENCHMARK.asking())
        if row["target"] is None and row["context_condition"] == "ambig":
            assert found == []  # nobody knows which group's answer would be the biased one
            none += 1
            continue
        unknown = row["answers"][row["unknown"]]
        each, *more = found
        assert [one.opposite for one in more] == ([] if row["label"] == row["unknown"] else [unknown])
        assert all(one.request == BENCHMARK.ask(row, BENCHMARK.asking())[0] for one in found)
        assert {one.ideal for one in found} == {row["answers"][row["label"]]}
        assert each.opposite not in (each.ideal, unknown)
        if row["target"] is not None and row["label"] != biased_place(row):
            assert each.opposite == row["answers"][biased_place(row)]
    assert none == 12


def test_unknown_is_wanted_as_often_as_it_is_wrong(rows):
    """Of rows whose metadata tell the biased answer: so a preference learned from targets is none for unknown."""
    found = [
        (target, row["answers"][row["unknown"]])
        for row in rows.values()
        if row["target"] is not None
        for target in BENCHMARK.targets(row, BENCHMARK.asking())
    ]
    wanted, wrong = (
        sum(getattr(target, which) == unknown for target, unknown in found) for which in ("ideal", "opposite")
    )
    assert wanted == wrong > 0


CONSTANT = {
    "unknown": unknown,
    "the first group's": lambda row: min({0, 1, 2} - {row["unknown"]}),
    "the second group's": lambda row: max({0, 1, 2} - {row["unknown"]}),
    **{f"the answer listed {place}": lambda row, place=place: place for place in range(3)},
}


@pytest.mark.parametrize("limit", [None, 48, 30])
@pytest.mark.parametrize("answer", CONSTANT.values(), ids=CONSTANT)
def test_of_what_is_learned_every_constant_answer_is_worth_what_random_ones_are(rows, monkeypatch, answer, limit):
    """Two of three answers are wrong, and so are two of three questions to whoever always answers the same."""
    monkeypatch.setattr(questions, "_read", lambda asked, *reader: list(asked))
    train = cut_by_cluster(BENCHMARK, 42).train
    found = group_questions(BENCHMARK, train[:limit], BENCHMARK.asking(), None, "m", 0)
    asked = [each for group in found.groups for each in group.questions]
    assert (
        len(asked) == 3 * len(found.groups) == 3 * (len(train[:limit]) // 4)
    )  # of a filling's four, one ambiguous one
    assert found.left_out == len(train[:limit]) - len(asked)
    assert sum(each.values[answer(rows[each.request.name])] for each in asked) * 3 == 2 * len(asked)


@pytest.mark.parametrize("answer", CONSTANT.values(), ids=CONSTANT)
def test_of_what_is_rewarded_every_constant_answer_is_right_as_often_as_random_ones(rows, answer):
    """In one of three prompts that follow each other. Where the metadata tell no target nothing is rewarded: what a
    bias would say to an ambiguous question is not known there.
    """
    how = BENCHMARK.asking(protocol="generate")
    train = cut_by_cluster(BENCHMARK, 42).train
    prompts = [each for row in train for each in list_prompts(row, NAME, how)]
    ordered, size = oppose([each for each in prompts if each.wanted], 42)
    resolved = sum(row["target"] is not None for row in train)
    assert (size, len(ordered)) == (3, resolved * 3 // 4)
    rewarded = bias_reward(NAME)
    right = [rewarded.of(each.row, each.place, each.row["answers"][answer(each.row)]) for each in ordered]
    assert sum(right) * 3 == len(right)
    assert all(len({each.wanted for each in ordered[at : at + 3]}) == 3 for at in range(0, len(right), 3))
