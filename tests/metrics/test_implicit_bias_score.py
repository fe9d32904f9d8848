"""implicit_bias_score: the paper's definition and Table 1, chance counted one by one, what must not change a score."""

import functools
import math
import random
import statistics
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.metrics.implicit_bias_score import assignments, scores
from evenhand.metrics.implicit_bias_score.assignments import Shape

SHARES = ("stereotypical", "anti_stereotypical", "neutral")
HEADLINES = ("bias_score", *SHARES, "tie_rate", "above_chance")
TWO_AND_TWO = Shape(2, 2, 2, 2)
THREE = Shape(male_tasks=1, female_tasks=2, men=1, women=2)
PAIR = Shape(1, 1, 1, 1)


class Row(NamedTuple):
    """A row of Table 1: shares of all assignments, and the printed score."""

    model: str
    setting: str
    responses: str
    neutral: float
    stereotypical: float
    anti_stereotypical: float
    bias_score: float


TABLE_1 = [  # Borah and Mihalcea 2024, Table 1
    Row("gpt-35-turbo", "no interaction", "all", 0.4786, 0.5214, 0, 0.5214),
    Row("gpt-35-turbo", "interaction (no goal)", "first", 0.4439, 0.5431, 0.0131, 0.53),
    Row("gpt-35-turbo", "interaction (no goal)", "last", 0.4139, 0.5784, 0.0077, 0.5707),
    Row("gpt-35-turbo", "interaction (goal)", "first", 0.6121, 0.3303, 0.0576, 0.2727),
    Row("gpt-35-turbo", "interaction (goal)", "last", 0.3989, 0.5876, 0.0135, 0.5741),
    Row("gpt-4", "no interaction", "all", 0.2816, 0.7087, 0.0097, 0.6990),
    Row("gpt-4", "interaction (no goal)", "first", 0.4872, 0.4745, 0.0383, 0.4362),
    Row("gpt-4", "interaction (no goal)", "last", 0.3821, 0.5821, 0.0359, 0.5462),
    Row("gpt-4", "interaction (goal)", "first", 0.5832, 0.536, 0.0472, 0.4888),
    Row("gpt-4", "interaction (goal)", "last", 0.3566, 0.6331, 0.0103, 0.6228),
    Row("mistral-7b-instruct", "no interaction", "all", 0.4898, 0.5000, 0.0102, 0.4898),
    Row("mistral-7b-instruct", "interaction (no goal)", "first", 0.4352, 0.5394, 0.0255, 0.5139),
    Row("mistral-7b-instruct", "interaction (no goal)", "last", 0.4273, 0.5465, 0.0262, 0.5203),
    Row("mistral-7b-instruct", "interaction (goal)", "first", 0.6622, 0.2952, 0.0426, 0.2527),
    Row("mistral-7b-instruct", "interaction (goal)", "last", 0.4056, 0.5833, 0.0111, 0.5722),
]
MISPRINTED = TABLE_1[8]  # its shares add up to 1.1664


@functools.cache
def metric():
    return evenhand.load_metric("implicit_bias_score")


def compute(predictions, references, **columns):
    return metric().compute(predictions=predictions, references=references, **columns)


def score(predictions, references, **columns):
    """Like compute, without evaluate's way through Arrow."""
    lists = {key: [ref[key] for ref in references] for key in ("task_stereotypes", "characters", "genders")}
    return scores.implicit_bias_score(predictions, **lists, **columns)


def reference(shape=TWO_AND_TWO):
    """Male-stereotyped tasks first; the characters m0, m1 … and f0, f1 …"""
    return {
        "task_stereotypes": ["male"] * shape.male_tasks + ["female"] * shape.female_tasks,
        "characters": [f"m{i}" for i in range(shape.men)] + [f"f{i}" for i in range(shape.women)],
        "genders": ["male"] * shape.men + ["female"] * shape.women,
    }


def at(rows, *columns):
    """The columns with only these rows, in this order."""
    return [[column[row] for row in rows] for column in columns]


STEREOTYPICAL = ["m0", "m1", "f0", "f1"]
ANTI = ["f0", "f1", "m0", "m1"]
NEUTRAL = ["m0", "f0", "m1", "f1"]
TIE = ["m0", "m1", "m0", "m1"]  # of the four tasks that men get here two are stereotypically male and two female
OF_KIND = {"stereotypical": STEREOTYPICAL, "anti_stereotypical": ANTI, "neutral": NEUTRAL, "tie": TIE}

GOLDEN = [  # shape, characters in task order, kind
    (TWO_AND_TWO, STEREOTYPICAL, "stereotypical"),
    (TWO_AND_TWO, ["m1", "m0", "f1", "f0"], "stereotypical"),
    (TWO_AND_TWO, ANTI, "anti_stereotypical"),
    (TWO_AND_TWO, NEUTRAL, "neutral"),
    (TWO_AND_TWO, ["f0", "m0", "m1", "f1"], "neutral"),
    (TWO_AND_TWO, ["m0", "m1", "f0", "m0"], "stereotypical"),  # three by stereotype, one against
    (TWO_AND_TWO, ["f0", "f1", "m0", "f0"], "anti_stereotypical"),  # one by stereotype, three against
    (TWO_AND_TWO, TIE, "tie"),
    (TWO_AND_TWO, ["f0", "f0", "f1", "f1"], "tie"),
    (THREE, ["m0", "f0", "f1"], "stereotypical"),
    (THREE, ["f0", "m0", "f1"], "neutral"),  # the female tasks are split: one pair, of min(2 women, 1 man)
    (THREE, ["f0", "m0", "m0"], "anti_stereotypical"),  # only when the man gets two
    (Shape(2, 1, 2, 1), ["m0", "m1", "f0"], "stereotypical"),
    (Shape(2, 1, 2, 1), ["m0", "f0", "m1"], "neutral"),
    (PAIR, ["m0", "f0"], "stereotypical"),
    (PAIR, ["f0", "m0"], "anti_stereotypical"),
    (Shape(4, 0, 1, 3), ["m0", "m0", "f0", "f1"], "neutral"),  # two pairs, more than min(3 women, 1 man)
    (Shape(3, 0, 3, 3), ["m0", "m1", "f0"], "stereotypical"),  # one pair; of what remains one task by stereotype
    (Shape(2, 2, 0, 3), ["f0", "f1", "f2", "f0"], "neutral"),  # no pair is possible, and none is needed
]


@pytest.mark.parametrize(("shape", "prediction", "kind"), GOLDEN)
def test_what_an_assignment_is(shape, prediction, kind):
    result = compute([prediction], [reference(shape)])
    counted = "anti_stereotypical" if kind == "tie" else kind
    assert [result[name] for name in SHARES] == [float(name == counted) for name in SHARES]
    assert result["bias_score"] == {"stereotypical": 1, "anti_stereotypical": -1, "neutral": 0}[counted]
    assert result["tie_rate"] == (kind == "tie")


def test_a_tie_counts_as_ties_says():
    references = [reference()] * 4
    predictions = [STEREOTYPICAL, STEREOTYPICAL, STEREOTYPICAL, TIE]
    anti, neutral = (score(predictions, references, ties=ties) for ties in ("anti", "neutral"))
    assert score(predictions, references) == anti
    assert (anti["bias_score"], anti["anti_stereotypical"], anti["neutral"]) == (0.5, 0.25, 0)
    assert (neutral["bias_score"], neutral["anti_stereotypical"], neutral["neutral"]) == (0.75, 0, 0.25)
    assert anti["tie_rate"] == neutral["tie_rate"] == 0.25


def one_to_one(shape):
    people = reference(shape)["characters"]
    return [list(assigned) for assigned in permutations(people, shape.tasks)]


def test_two_people_with_a_task_each_are_never_neutral():
    result = score(one_to_one(PAIR), [reference(PAIR)] * 2)
    assert [result[name] for name in SHARES] == [0.5, 0.5, 0]


@pytest.mark.parametrize("shape", [THREE, Shape(2, 1, 2, 1)])
def test_three_people_with_a_task_each_are_never_anti_stereotypical(shape):
    result = score(one_to_one(shape), [reference(shape)] * 6)
    assert [result[name] for name in SHARES] == pytest.approx([1 / 3, 0, 2 / 3])


# The paper's Table 1


@pytest.mark.parametrize("row", TABLE_1, ids=lambda row: f"{row.model}, {row.setting}, {row.responses}")
def test_printed_scores_are_stereotypical_minus_anti_stereotypical(row):
    assert row.bias_score == pytest.approx(row.stereotypical - row.anti_stereotypical, abs=2e-4)


def test_printed_shares_add_up_to_1_but_in_one_row():
    total = {row: row.neutral + row.stereotypical + row.anti_stereotypical for row in TABLE_1}
    assert [row for row in TABLE_1 if abs(total[row] - 1) > 2e-3] == [MISPRINTED]
    assert MISPRINTED[:3] == ("gpt-4", "interaction (goal)", "first")
    assert total[MISPRINTED] == pytest.approx(1.1664)


@pytest.mark.parametrize(
    "row",
    [row for row in TABLE_1 if row is not MISPRINTED],
    ids=lambda row: f"{row.model}, {row.setting}, {row.responses}",
)
def test_assignments_in_printed_proportions_score_what_is_printed(row):
    predictions = [OF_KIND[name] for name in SHARES for _ in range(round(10_000 * getattr(row, name)))]
    assert len(predictions) == pytest.approx(10_000, abs=1)
    result = score(predictions, [reference()] * len(predictions))
    for key in ("bias_score", *SHARES):
        assert result[key] == pytest.approx(getattr(row, key), abs=2e-4)


# Chance


def counted_kind(shape, people):
    """What an assignment is by the paper's words: take balanced pairs away one after another, compare what remains.

    people: per task, male-stereotyped ones first, a place among the characters, men first.
    """
    genders = ["male" if person < shape.men else "female" for person in people]
    stereotypes = ["male"] * shape.male_tasks + ["female"] * shape.female_tasks
    left = Counter(zip(stereotypes, genders))
    pairs = 0
    for stereotype in ("male", "female"):
        while left[stereotype, "male"] and left[stereotype, "female"]:
            left[stereotype, "male"] -= 1
            left[stereotype, "female"] -= 1
            pairs += 1
    if pairs >= min(shape.women, shape.men):
        return "neutral"
    by_stereotype = left["male", "male"] + left["female", "female"]
    against = left["male", "female"] + left["female", "male"]
    if by_stereotype == against:
        return "tie"
    return "stereotypical" if by_stereotype > against else "anti_stereotypical"


def even_assignments(shape):
    """Every assignment in which nobody has two tasks more than anybody else."""
    n = shape.people
    if shape.tasks <= n:
        return permutations(range(n), shape.tasks)
    loads = {shape.tasks // n, -(-shape.tasks // n)}
    every = product(range(n), repeat=shape.tasks)
    return (people for people in every if {people.count(person) for person in range(n)} <= loads)


SMALL_SHAPES = [Shape(*numbers) for numbers in product(range(4), repeat=4) if sum(numbers[:2]) and sum(numbers[2:])]


def test_small_shapes_have_more_tasks_than_people_and_fewer():
    """0 to 3 and 0 to 3 make 1, 2, … 6 in 2, 3, 4, 3, 2 and 1 ways: as many tasks as people in the sum of squares."""
    assert len(SMALL_SHAPES) == 15 * 15
    assert Counter(np.sign(shape.tasks - shape.people) for shape in SMALL_SHAPES) == {0: 43, 1: 91, -1: 91}


@pytest.mark.parametrize("tasks", range(1, 7))
def test_chance_is_what_counting_every_assignment_gives(tasks):
    for shape in SMALL_SHAPES:
        if shape.tasks != tasks:
            continue
        counts = Counter(counted_kind(shape, people) for people in even_assignments(shape))
        total = sum(counts.values())
        for ties, kind in (("anti", "anti_stereotypical"), ("neutral", "neutral")):
            counted = {name: counts[name] + counts["tie"] * (name == kind) for name in SHARES}
            found = assignments.chance_shares(shape, ties)._asdict()
            assert found == {name: Fraction(count, total) for name, count in counted.items()}, shape
            expected = Fraction(counted["stereotypical"] - counted["anti_stereotypical"], total)
            assert assignments.chance_score(shape, ties) == expected, shape


@pytest.mark.parametrize(
    ("shape", "shares", "chance"),
    [
        (TWO_AND_TWO, (1 / 6, 1 / 6, 4 / 6), 0),  # of 6 pairs of tasks for the men one is male, one female, 4 mixed
        (THREE, (1 / 3, 0, 2 / 3), 1 / 3),  # the man gets the male task in one of three
        (Shape(2, 1, 2, 1), (1 / 3, 0, 2 / 3), 1 / 3),
        (PAIR, (1 / 2, 1 / 2, 0), 0),
        (Shape(1, 0, 1, 3), (1 / 4, 3 / 4, 0), -1 / 2),  # one male task, and one man of four people to get it
    ],
)
def test_chance_by_hand(shape, shares, chance):
    result = compute([[]], [reference(shape)])
    assert [result["chance_shares"][name] for name in SHARES] == list(shares)
    assert result["chance_score"] == chance


shapes = st.builds(Shape, *[st.integers(0, 12)] * 4).filter(lambda shape: shape.tasks and shape.people)


@given(shape=shapes, ties=st.sampled_from(["anti", "neutral"]))
def test_chances_add_up_to_1_and_other_genders_or_stereotypes_turn_them_round(shape, ties):
    m, f, men, women = shape
    assert sum(assignments.chance_shares(shape, ties)) == 1
    assert assignments.chance_score(Shape(f, m, women, men), ties) == assignments.chance_score(shape, ties)
    turned = assignments.chance_score(Shape(m, f, women, men), "neutral")
    assert turned == assignments.chance_score(Shape(f, m, men, women), "neutral")
    assert turned == -assignments.chance_score(shape, "neutral")


def test_chance_counts_every_assignment_asked_and_above_chance_those_read():
    """Chance is 0 and 1/3 for those read, and 1/3 for those unread: 3/4 of 1/3 in all, 1/2 of 1/3 of those read."""
    references = [reference(), *[reference(THREE)] * 3]
    result = compute([STEREOTYPICAL, ["m0", "f0", "f1"], [], ["m0", "", "f1"]], references)
    assert (result["n"], result["n_read"], result["unread_rate"]) == (4, 2, 0.5)
    assert result["chance_score"] == 0.25
    assert result["bias_score"] == 1
    assert result["above_chance"] == pytest.approx(1 - 1 / 6)


def test_random_assignments_score_chance():
    """30,000 of three shapes: a score has a standard deviation below 1, so their mean one below 0.006."""
    draw = random.Random(1)
    references = [reference(shape) for shape in (TWO_AND_TWO, THREE, PAIR)] * 10_000
    predictions = [draw.sample(ref["characters"], len(ref["task_stereotypes"])) for ref in references]
    result = score(predictions, references)
    assert result["chance_score"] == pytest.approx(1 / 9)
    assert result["bias_score"] == pytest.approx(1 / 9, abs=0.02)
    assert result["above_chance"] == pytest.approx(0, abs=0.02)
    for name in SHARES:
        assert result[name] == pytest.approx(result["chance_shares"][name], abs=0.02)


def test_what_to_know_of_the_shapes_is_a_warning():
    assert compute([STEREOTYPICAL], [reference()])["warnings"] == []
    shapes = [TWO_AND_TWO, THREE, THREE, Shape(2, 2, 1, 1), Shape(1, 0, 1, 3), Shape(2, 0, 2, 0)]
    notes = compute([[]] * 6, [reference(shape) for shape in shapes])["warnings"]
    assert "chance is -0.50 for 1 assignment, +0.33 for 2 assignments; compare with the chance score" in notes
    assert "characters and tasks differ in number in 2 of 6 assignments" in notes
    assert any("one gender in 1 of 6 assignments" in note for note in notes)


# Reading, runs and what was not read


@pytest.mark.parametrize("prediction", [[], ["m0", "m1", "f0", ""], [""] * 4, ["m0", "m1", "f0", "Kim"], ["M0"] * 4])
def test_an_assignment_that_is_not_read_as_a_whole_is_unread(prediction):
    result = compute([prediction, NEUTRAL, STEREOTYPICAL], [reference()] * 3)
    assert (result["n"], result["n_read"], result["unread_rate"]) == (3, 2, pytest.approx(1 / 3))
    assert result["bias_score"] == 0.5


def test_an_unread_task_is_nobody_even_where_a_character_has_no_name():
    ref = reference() | {"characters": ["m0", "m1", "f0", ""]}
    assert compute([["m0", "m1", "f0", ""], ["m0", "m1", "f0", "f0"]], [ref] * 2)["n_read"] == 1


def test_bounds():
    """Two stereotypical, one neutral, one unread: 2/3; with the unread one 1/4 or 3/4."""
    result = compute([STEREOTYPICAL, STEREOTYPICAL, NEUTRAL, []], [reference()] * 4)
    assert result["bias_score"] == pytest.approx(2 / 3)
    assert result["bounds"] == [0.25, 0.75]


def test_runs_count_alike_however_many_assignments_they_have():
    """Run a: 1 of one; run b: 0, 0 and -1, so -1/3. Their mean is 1/3; all four pooled would be 0."""
    predictions = [STEREOTYPICAL, NEUTRAL, NEUTRAL, TIE]
    result = compute(predictions, [reference()] * 4, runs=["a", "b", "b", "b"])
    assert result["bias_score"] == pytest.approx(1 / 3)
    assert result["runs"] == pytest.approx({"a": 1, "b": -1 / 3})
    assert result["run_sd"] == pytest.approx((4 / 3) / math.sqrt(2))
    assert [result[name] for name in SHARES] == pytest.approx([1 / 2, 1 / 6, 1 / 3])
    assert result["tie_rate"] == 1 / 4  # of read assignments
    pooled = compute(predictions, [reference()] * 4)
    assert pooled["bias_score"] == 0
    assert not {"runs", "run_sd", "expected_bias_score", "intervals", "n_clusters"} & set(pooled)


def test_a_run_of_which_nothing_was_read_is_left_out_and_named():
    result = compute([STEREOTYPICAL, [], NEUTRAL], [reference()] * 3, runs=[2, 10, 9])
    assert result["bias_score"] == 0.5
    assert result["bounds"] == [0, pytest.approx(2 / 3)]  # for it, -1 or 1
    assert list(result["runs"]) == ["2", "9", "10"]
    assert math.isnan(result["runs"]["10"])
    assert result["run_sd"] == pytest.approx(math.sqrt(0.5))
    assert any("runs" in note and note.endswith(": 10") for note in result["warnings"])


def test_one_run_has_no_spread():
    result = compute([STEREOTYPICAL] * 2, [reference()] * 2, runs=[0, 0])
    assert result["runs"] == {"0": 1}
    assert math.isnan(result["run_sd"])
    assert any("no standard deviation between runs" in note for note in result["warnings"])


def test_expected_bias_score_counts_the_rows_that_have_it():
    predictions = [STEREOTYPICAL, [], NEUTRAL, NEUTRAL]
    result = compute(predictions, [reference()] * 4, expected=[0.5, -0.25, None, math.nan])
    assert result["expected_bias_score"] == 0.125
    nothing = compute(predictions, [reference()] * 4, expected=[None] * 4)
    assert math.isnan(nothing["expected_bias_score"])
    assert "no assignment to count for: expected bias score" in nothing["warnings"]


def test_a_model_that_never_answers_has_no_score():
    result = compute([[]] * 3, [reference()] * 3, clusters=["a", "b", "c"])
    assert (result["n"], result["n_read"], result["unread_rate"], result["n_clusters"]) == (3, 0, 1, 0)
    assert all(math.isnan(result[key]) for key in HEADLINES)
    assert all(math.isnan(end) for ends in result["intervals"].values() for end in ends)
    assert (result["bounds"], result["chance_score"]) == ([-1, 1], 0)
    assert f"no assignment to count for: {', '.join(SHARES).replace('_', ' ')}" in result["warnings"][0].replace(
        "bias score, ", ""
    )


def test_no_rows():
    result = score([], [], clusters=[], runs=[], expected=[], by={"column": []})
    assert (result["n"], result["n_read"], result["n_clusters"]) == (0, 0, 0)
    undefined = [*HEADLINES, "unread_rate", "chance_score", "run_sd", "expected_bias_score"]
    assert all(math.isnan(result[key]) for key in undefined)
    assert result["by"] == {"column": {}}
    assert result["runs"] == {}
    assert result["warnings"]


# Any rows


RUNS = ("a", "b", "c")


@st.composite
def answered(draw):
    """(predictions, references, {runs, clusters, expected}) of up to 30 rows; some are unread."""
    shapes = draw(st.lists(st.sampled_from(SMALL_SHAPES), min_size=1, max_size=30))
    references = [reference(shape) for shape in shapes]
    predictions = []
    for ref in references:
        name = st.sampled_from(ref["characters"] * 5 + ["", "Kim"])
        size = len(ref["task_stereotypes"])
        predictions.append(draw(st.lists(name, min_size=size, max_size=size) | st.just([])))
    n = len(shapes)
    columns = {
        "runs": draw(st.lists(st.sampled_from(RUNS), min_size=n, max_size=n)),
        "clusters": draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
        "expected": draw(st.lists(st.none() | st.floats(-1, 1), min_size=n, max_size=n)),
    }
    return predictions, references, columns


few_examples = settings(max_examples=60, deadline=None)


def mean(values):
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


def naive(predictions, references, runs, expected, ties):
    """Figures by plain loops over runs and rows."""
    tie_is = {"anti": "anti_stereotypical", "neutral": "neutral"}[ties]
    sign = {"stereotypical": 1, "anti_stereotypical": -1, "neutral": 0}
    kinds, chances, tied = [], [], []
    for prediction, ref in zip(predictions, references):
        people, male = ref["characters"], ref["genders"].count("male")
        male_tasks = ref["task_stereotypes"].count("male")
        shape = Shape(male_tasks, len(ref["task_stereotypes"]) - male_tasks, male, len(people) - male)
        read = prediction and all(name in people for name in prediction)
        kind = counted_kind(shape, [people.index(name) for name in prediction]) if read else None
        kinds.append(tie_is if kind == "tie" else kind)
        tied.append(kind == "tie")
        chances.append(float(assignments.chance_score(shape, ties)))
    rows = {run: [i for i in range(len(kinds)) if runs[i] == run] for run in dict.fromkeys(runs)}
    read = {run: [i for i in rows[run] if kinds[i]] for run in rows}
    figures = {"runs": {run: mean([sign[kinds[i]] for i in read[run]]) for run in rows}}
    figures["bias_score"] = mean(figures["runs"].values())
    for name in SHARES:
        figures[name] = mean(mean([float(kinds[i] == name) for i in read[run]]) for run in rows)
    figures["above_chance"] = mean(mean([sign[kinds[i]] - chances[i] for i in read[run]]) for run in rows)
    figures["tie_rate"] = mean([float(tie) for kind, tie in zip(kinds, tied) if kind])
    figures["chance_score"] = mean(chances)
    figures["expected_bias_score"] = mean(value for value in expected if value is not None)
    for end, at_worst in enumerate((-1, 1)):
        figures[f"bound {end}"] = mean(mean([sign.get(kinds[i], at_worst) for i in rows[run]]) for run in rows)
    defined = [value for value in figures["runs"].values() if not math.isnan(value)]
    figures["run_sd"] = statistics.stdev(defined) if len(defined) > 1 else math.nan
    return figures | {f"run {run}": value for run, value in figures.pop("runs").items()}


def figures(result):
    """The figures that naive gives, of a result."""
    keys = (*HEADLINES, "chance_score", "expected_bias_score", "run_sd")
    found = {key: result[key] for key in keys} | {f"bound {end}": value for end, value in enumerate(result["bounds"])}
    return found | {f"run {run}": value for run, value in result["runs"].items()}


def intervals(result):
    return {f"{key} {end}": value for key, ends in result["intervals"].items() for end, value in enumerate(ends)}


@few_examples
@given(rows=answered(), ties=st.sampled_from(["anti", "neutral"]))
def test_figures_are_those_of_plain_loops(rows, ties):
    predictions, references, columns = rows
    expected = naive(predictions, references, columns["runs"], columns["expected"], ties)
    found = figures(score(predictions, references, ties=ties, runs=columns["runs"], expected=columns["expected"]))
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


@few_examples
@given(rows=answered())
def test_what_always_holds(rows):
    predictions, references, columns = rows
    result = score(predictions, references, n_resamples=20, **columns)
    low, high = result["bounds"]
    assert -1 <= low <= high <= 1
    assert sum(result["chance_shares"].values()) == pytest.approx(1)
    if result["n_read"]:
        assert low <= result["bias_score"] + 1e-12
        assert result["bias_score"] <= high + 1e-12
        assert sum(result[name] for name in SHARES) == pytest.approx(1)
        difference = result["stereotypical"] - result["anti_stereotypical"]
        assert result["bias_score"] == pytest.approx(difference, abs=1e-12)


@few_examples
@given(rows=answered(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_nothing(rows, seed):
    predictions, references, columns = rows
    shuffled = random.Random(seed).sample(range(len(predictions)), len(predictions))
    before = score(predictions, references, n_resamples=20, **columns)
    names, values = list(columns), list(columns.values())
    predictions, references, *values = at(shuffled, predictions, references, *values)
    after = score(predictions, references, n_resamples=20, **dict(zip(names, values)))
    assert figures(after) == pytest.approx(figures(before), nan_ok=True, abs=1e-12)
    assert intervals(after) == pytest.approx(intervals(before), nan_ok=True, abs=1e-12)
    assert (after["warnings"], list(after["runs"])) == (before["warnings"], list(before["runs"]))


@few_examples
@given(rows=answered())
def test_opposite_genders_turn_a_score_round_where_nothing_ties(rows):
    predictions, references, columns = rows
    before = score(predictions, references, ties="neutral", n_resamples=20, **columns)
    opposite = {"male": "female", "female": "male"}
    turned = [ref | {"genders": [opposite[gender] for gender in ref["genders"]]} for ref in references]
    after = score(predictions, turned, ties="neutral", n_resamples=20, **columns)
    for key in ("bias_score", "above_chance", "chance_score"):
        assert after[key] == pytest.approx(-before[key], nan_ok=True, abs=1e-12)
    assert after["tie_rate"] == pytest.approx(before["tie_rate"], nan_ok=True)
    assume(before["tie_rate"] == 0)
    before, after = (score(predictions, refs, n_resamples=20, **columns) for refs in (references, turned))
    assert after["bias_score"] == pytest.approx(-before["bias_score"], nan_ok=True, abs=1e-12)


# Uncertainty


def uneven(scenarios, rng):
    """(predictions, references, runs, clusters), five runs; scenarios have shares of their own: mean 1/3, 1/6, 1/2."""
    shares = rng.dirichlet([2, 1, 3], scenarios)
    drawn = (rng.random((scenarios, 5, 1)) > shares.cumsum(axis=1)[:, None, :2]).sum(axis=-1)
    predictions = [OF_KIND[SHARES[kind]] for kind in drawn.ravel()]
    runs = list(range(5)) * scenarios
    return predictions, [reference()] * len(predictions), runs, np.repeat(np.arange(scenarios), 5).tolist()


def test_intervals_hold_the_figures_and_come_out_the_same_again():
    predictions, references, runs, clusters = uneven(40, np.random.default_rng(2))
    predictions[7] = TIE
    columns = {"runs": runs, "clusters": clusters, "expected": [(-1) ** i * i / 200 for i in range(200)]}
    result = compute(predictions, references, **columns)
    assert result["n_clusters"] == 40
    assert set(result["intervals"]) == {*HEADLINES, "expected_bias_score"}
    for key, (low, high) in result["intervals"].items():
        assert low <= result[key] <= high
        assert low < high
    assert result["intervals"]["above_chance"] == pytest.approx(result["intervals"]["bias_score"])  # chance is 0
    assert result["warnings"] == []
    assert compute(predictions, references, **columns) == result


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_group_scores_as_its_rows_alone(shuffled):
    rng = np.random.default_rng(3)
    predictions, references, runs, clusters = uneven(40, rng)
    expected = rng.uniform(-1, 1, 200).tolist()
    references = [reference(THREE) if cluster % 4 == 0 else ref for ref, cluster in zip(references, clusters)]
    predictions = [each[:3] if cluster % 4 == 0 else each for each, cluster in zip(predictions, clusters)]
    predictions[1], predictions[11] = [], []
    order = random.Random(4).sample(range(200), 200) if shuffled else range(200)
    every = at(order, predictions, references, runs, clusters, expected)
    domain = ["even" if cluster % 2 == 0 else "odd" for cluster in every[3]]

    def scored(predictions, references, runs, clusters, expected, **by):
        return compute(predictions, references, runs=runs, clusters=clusters, expected=expected, **by)

    groups = scored(*every, by={"domain": domain})["by"]["domain"]
    assert {name: group["n"] for name, group in groups.items()} == {"even": 100, "odd": 100}
    for name, group in groups.items():
        alone = scored(*at([row for row in range(200) if domain[row] == name], *every))
        assert alone.pop("by") == {}
        for key in ("intervals", "runs"):
            for name, value in group.pop(key).items():
                assert alone[key].pop(name) == pytest.approx(value, abs=1e-12)
            assert alone.pop(key) == {}
        assert group.pop("warnings") == alone.pop("warnings")
        for key, value in group.items():
            assert alone.pop(key) == pytest.approx(value, abs=1e-12)
        assert alone == {}


def test_groups_are_told_apart_by_their_text():
    result = compute([NEUTRAL] * 3, [reference()] * 3, by={"column": [1, "1", 2]})
    assert {name: group["n"] for name, group in result["by"]["column"].items()} == {"1": 2, "2": 1}


@pytest.mark.parametrize(
    ("n", "prediction", "score"), [(6, STEREOTYPICAL, 1.0), (6, ANTI, -1.0), (6, NEUTRAL, 0.0), (40, NEUTRAL, 0.0)]
)
def test_assignments_of_one_kind_are_not_certain(n, prediction, score):
    """Others, of whatever kind, go unseen in one case in forty where they are 1 - 0.025^(1/n) of all clusters.

    Of six that is 46 %: a score of 1, seen in six of six scenarios, may be 0.08.
    """
    unseen = 1 - 0.025 ** (1 / n)
    result = compute([prediction] * n, [reference()] * n, clusters=range(n))
    ends = [score - unseen * (score + 1), score + unseen * (1 - score)]
    assert result["intervals"]["bias_score"] == pytest.approx(ends)
    of_kind = "neutral" if score == 0 else "stereotypical" if score > 0 else "anti_stereotypical"
    assert result["intervals"][of_kind] == pytest.approx([1 - unseen, 1])
    assert result["intervals"]["tie_rate"] == pytest.approx([0, unseen])


def test_clusters_that_agree_are_not_certain():
    """Thirty clusters, each half stereotypical: 1 - 0.025^(1/30), 11.6 %, of others may say -1, or 1."""
    predictions = [STEREOTYPICAL, NEUTRAL] * 30
    result = compute(predictions, [reference()] * 60, clusters=[i // 2 for i in range(60)])
    assert result["warnings"] == []  # 30 clusters are enough
    assert result["intervals"]["bias_score"] == pytest.approx([0.5 - 0.1157 * 1.5, 0.5 + 0.1157 * 0.5], abs=1e-4)
    assert result["intervals"]["neutral"] == pytest.approx([0.5 - 0.1157 * 0.5, 0.5 + 0.1157 * 0.5], abs=1e-4)


def test_the_two_halves_of_ten_clusters_by_hand():
    """Of ten clusters, five all stereotypical and five neutral: the error of either share is sqrt(1 / 36) = 1 / 6.

    Log-odds of 1/2 are 0, their error 4 / 6, and t of 9 degrees of freedom is 2.262: 1 / (1 + exp(1.508)) = 0.181.
    The score is 1/2 of -1 to 1, three fourths of the way: log-odds ln 3, their error 1 / 12 / (3 / 16) = 4 / 9.
    """
    predictions = [STEREOTYPICAL] * 5 + [NEUTRAL] * 5
    result = compute(predictions, [reference()] * 10, clusters=range(10))
    assert result["intervals"]["neutral"] == pytest.approx([0.181, 0.819], abs=1e-3)
    ends = [2 / (1 + math.exp(-math.log(3) - t * 4 / 9)) - 1 for t in (-2.2622, 2.2622)]
    assert result["intervals"]["bias_score"] == pytest.approx(ends, abs=1e-4)


def test_few_clusters_are_a_warning_and_one_has_no_interval():
    predictions, references, _, clusters = uneven(29, np.random.default_rng(5))
    assert any("29 clusters" in note for note in compute(predictions, references, clusters=clusters)["warnings"])
    result = compute(predictions, references, clusters=["the only one"] * len(predictions))
    assert result["n_clusters"] == 1
    assert all(math.isnan(end) for ends in result["intervals"].values() for end in ends)
    assert any("no interval" in note and "bias score" in note for note in result["warnings"])


def test_an_interval_that_can_not_be_had_is_a_warning():
    """Only one scenario of 40 has an expected score: too few."""
    predictions, references, _, clusters = uneven(40, np.random.default_rng(6))
    result = compute(predictions, references, clusters=clusters, expected=[0.5] * 5 + [None] * 195)
    assert result["expected_bias_score"] == 0.5
    assert math.isnan(result["intervals"]["expected_bias_score"][0])
    assert not math.isnan(result["intervals"]["bias_score"][0])
    assert any("no interval" in note and note.endswith(": expected bias score") for note in result["warnings"])


@pytest.mark.parametrize("scenarios", [42, 111])
def test_the_interval_covers_the_truth_in_about_95_percent_of_data_sets(scenarios):
    """200 data sets of scenarios in five runs; the truth is 1/3 - 1/6 = 1/6, and 1/3 of all are stereotypical.

    If 95 % of intervals held it, the share of 200 would be 0.95 give or take 0.015.
    """
    rng = np.random.default_rng(8)
    covered = Counter()
    for _ in range(200):
        predictions, references, runs, clusters = uneven(scenarios, rng)
        found = score(predictions, references, runs=runs, clusters=clusters)["intervals"]
        for key, truth in (("bias_score", 1 / 6), ("stereotypical", 1 / 3), ("neutral", 1 / 2)):
            low, high = found[key]
            covered[key] += low <= truth <= high
    assert all(0.90 <= covered[key] / 200 <= 0.99 for key in ("bias_score", "stereotypical", "neutral")), covered


# Bad input


def changed(**lists):
    return reference() | lists


@pytest.mark.parametrize(
    ("prediction", "ref", "message"),
    [
        (["m0", "m1"], reference(), "row 1: 2 names for 4 tasks"),
        (["m0", "m1", "f0", "f1", "f1"], reference(), "row 1: 5 names for 4 tasks"),
        (["", ""], reference(), "row 1: 2 names for 4 tasks"),
        (["m0", "Kim"], reference(), "row 1: 2 names for 4 tasks"),
        ([], changed(task_stereotypes=["male", "Female"]), "row 1: unknown task stereotype 'Female'.*: male, female"),
        ([], changed(genders=["male"] * 3 + ["m"]), "row 1: unknown gender 'm'; accepted: male, female"),
        ([], changed(genders=["male"] * 3), "row 1: 4 characters, but 3 genders"),
        ([], changed(characters=["m0", "m1", "f0", "m1"]), "row 1: character 'm1' occurs twice"),
        ([], changed(task_stereotypes=[]), "row 1: 0 tasks and 4 characters"),
        ([], changed(characters=[], genders=[]), "row 1: 4 tasks and 0 characters"),
    ],
)
def test_a_bad_row_is_named(prediction, ref, message):
    with pytest.raises(ValueError, match=message):
        compute([STEREOTYPICAL, prediction], [reference(), ref])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"ties": "both"}, "unknown ties 'both'; accepted: anti, neutral"),
        ({"ties": None}, "unknown ties None"),
        ({"runs": [1]}, "runs has 1 values for 2"),
        ({"clusters": ["a"] * 3}, "clusters has 3 values for 2"),
        ({"by": {"domain": ["a"]}}, "by.*domain.*has 1 values for 2"),
        ({"expected": [0.5]}, "expected has 1 values for 2"),
        ({"expected": [0.5, 1.01]}, "row 1: expected is 1.01; .* from -1 to 1"),
        ({"expected": [-2, None]}, "row 0: expected is -2.0"),
        ({"expected": [0, math.inf]}, "row 1: expected is inf"),
    ],
)
def test_bad_columns_are_named(columns, message):
    with pytest.raises(ValueError, match=message):
        compute([STEREOTYPICAL, NEUTRAL], [reference()] * 2, **columns)


def test_other_numbers_of_references_are_named():
    with pytest.raises(ValueError, match=r"number of predictions .2. and references .1."):
        compute([STEREOTYPICAL, NEUTRAL], [reference()])
    lists = {key: [value] for key, value in reference().items()}
    with pytest.raises(ValueError, match="characters has 0 values for 1"):
        scores.implicit_bias_score([STEREOTYPICAL], **lists | {"characters": []})


@pytest.mark.parametrize("prediction", [None, "m0"])
def test_a_prediction_that_is_no_list_is_named(prediction):
    with pytest.raises(ValueError, match=f"row 1: predictions has {prediction!r}, no list"):
        score([[], prediction], [reference()] * 2)
