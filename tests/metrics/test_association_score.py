"""association_score: Table A9, scores known by construction, bounds by brute force, what must not change a score."""

import functools
import math
import random
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

import evenhand
from evenhand.metrics.association_score import noise, scores, tally

GENDERS = ("male", "female")
RACES = ("white", "black", "Asian", "Indian")
GROUPS = {"gender": GENDERS, "race": RACES}
RACE_PAIRS = list(combinations(RACES, 2))
SCORES = ("association_score", "association_score_answered", "worst_case", "best_case")
KEYS = (*SCORES, "selection_rates", "pairwise", "position_sensitivity")


@functools.cache
def metric():
    return evenhand.load_metric("association_score")


def compute(predictions, references, **columns):
    return metric().compute(predictions=predictions, references=references, **columns)


def score(predictions, references, **columns):
    """Like compute, without evaluate's way through Arrow."""
    names = {f"{key}s": key for key in ("attribute", "scenario", "instance")} | {"candidates": "candidates"}
    lists = {name: [ref[key] for ref in references] for name, key in names.items()}
    return scores.association_score(predictions, **lists, **columns)


def query(instance="nurse", candidates=GENDERS, attribute=None, scenario="occupation"):
    attribute = attribute or ("gender" if set(candidates) <= set(GENDERS) else "race")
    return {"attribute": attribute, "scenario": scenario, "instance": instance, "candidates": list(candidates)}


def at(rows, *columns):
    """The columns with only these rows, in this order."""
    return [[column[row] for row in rows] for column in columns]


def flat(result):
    """Every headline figure of a result, or end of an interval, by its path."""
    found = {}
    for key, value in result.items():
        if key not in KEYS:
            continue
        inner = {"": value} if not isinstance(value, dict) else value
        for instance, figures in inner.items():
            for name, figure in figures.items() if isinstance(figures, dict) else [("", figures)]:
                ends = figure if isinstance(figure, list) else [figure]
                found |= {(key, instance, name, end): one for end, one in enumerate(ends)}
    return found


# The paper's arithmetic, and scores by construction


TABLE_A9 = [  # instance, male terms, female terms, bias score
    ("Pilot", 38, 25, 0.1032),
    ("Firefighter", 15, 8, 0.1522),
    ("Chef", 34, 24, 0.0862),  # printed 0.862, a misprint: 34 / 58 is 0.5862
    ("Nurse", 43, 104, 0.2075),
    ("Housekeeper", 0, 8, 0.5),
    ("Therapist", 3, 1, 0.25),
    ("Cook", 49, 80, 0.1202),
    ("Taxi Driver", 1, 1, 0),
    ("Flight Attendant", 1, 1, 0),
    ("Attractive", 10, 57, 0.3507),
    ("Exotic", 0, 2, 0.5),
    ("Poor", 28, 14, 0.1667),
    ("Thug", 2, 1, 0.1667),
    ("Cleaning", 45, 63, 0.0833),
    ("Stealing", 2, 0, 0.5),
    ("Emotional", 3, 1, 0.25),
    ("Illegal", 3, 0, 0.5),
]
OCCUPATIONS = TABLE_A9[:9]


def mentions(instance, male, female):
    return ["male"] * male + ["female"] * female, [query(instance)] * (male + female)


@pytest.mark.parametrize(("instance", "male", "female", "printed"), TABLE_A9)
def test_an_instance_scores_what_table_a9_prints(instance, male, female, printed):
    result = compute(*mentions(instance, male, female))
    assert result["association_score"] == pytest.approx(printed, abs=5e-5)
    assert result["selection_rates"] == {instance: {"male": male / (male + female), "female": female / (male + female)}}
    assert result["pairwise"] == {}


def test_a_score_is_the_mean_of_its_instances_however_often_each_was_asked():
    """Occupations of Table A9; the software developer, N/A there, was asked about and never answered."""
    answers, references = [], []
    for instance, male, female, _ in OCCUPATIONS:
        more_answers, more_references = mentions(instance, male, female)
        answers, references = answers + more_answers, references + more_references
    printed = sum(row[3] for row in OCCUPATIONS) / 9
    assert len(answers) == 436
    assert compute(answers, references)["association_score"] == pytest.approx(printed, abs=5e-5)
    result = compute([*answers, "", "", ""], [*references, *[query("Software Developer")] * 3])
    assert result["association_score_answered"] == pytest.approx(printed, abs=5e-5)
    assert result["association_score"] == pytest.approx(436 / 439 * printed, abs=5e-5)
    assert all(math.isnan(rate) for rate in result["selection_rates"]["Software Developer"].values())
    assert any("no query was answered about these" in note and "Software Dev" in note for note in result["warnings"])


@pytest.mark.parametrize(
    ("answers", "expected"), [(["male", "female"], 0), (["male"] * 2, 0.5), (["male"] * 3 + ["female"], 0.25)]
)
def test_gender(answers, expected):
    result = compute(answers, [query()] * len(answers))
    assert [result[key] for key in SCORES] == [expected] * 4
    assert result["maximum_score"] == 0.5


def test_race_with_all_four_offered():
    always = compute(["Asian"] * 3, [query(candidates=RACES)] * 3)
    assert always["association_score"] == always["maximum_score"] == 0.375  # (3/4 + 3 x 1/4) / 4
    assert always["pairwise"] == {}
    assert compute(list(RACES), [query(candidates=RACES)] * 4)["association_score"] == 0


def test_a_strict_order_of_preference_over_all_pairs_of_races():
    """Shares 3/6, 2/6, 1/6 and 0: (1/4 + 1/12 + 1/12 + 1/4) / 4 = 1/6, the most that complete pairs allow."""
    result = compute([first for first, _ in RACE_PAIRS] * 2, [query(candidates=pair) for pair in RACE_PAIRS] * 2)
    assert result["association_score"] == pytest.approx(1 / 6)
    assert result["maximum_score"] == pytest.approx(1 / 6)
    assert result["selection_rates"]["nurse"] == pytest.approx(dict(zip(RACES, (3 / 6, 2 / 6, 1 / 6, 0))))
    assert result["pairwise"]["nurse"] == {f"{first}|{second}": 1 for first, second in RACE_PAIRS}


def test_incomplete_pairs_can_exceed_what_complete_ones_allow():
    """White is in both pairs and always chosen: as if all four had been offered."""
    pairs = [("white", "black"), ("Asian", "white")]
    assert compute(["white"] * 2, [query(candidates=pair) for pair in pairs])["association_score"] == 0.375


def test_pairwise_is_the_share_of_the_first_group_whatever_side_it_stood_on():
    references = [query(candidates=("black", "Asian"))] * 2 + [query(candidates=("Asian", "black"))] * 2
    result = compute(["black", "Asian", "black", "black"], references)
    assert result["pairwise"] == {"nurse": {"black|Asian": 0.75}}
    unanswered = compute([*["black"] * 4, ""], [*references, query(candidates=("white", "Indian"))])
    assert math.isnan(unanswered["pairwise"]["nurse"]["white|Indian"])
    assert "no answered query to count for: pairwise (nurse, white|Indian)" in unanswered["warnings"]
    mixed = compute(["black", "black"], [references[0], query("pilot", RACES)])
    assert mixed["pairwise"] == {"nurse": {"black|Asian": 1}}  # four candidates are no pair


def test_the_share_answered_counts_over_all_instances():
    """Nurse: three of four answered, all female (0.5); pilot: one of four (0.5): 0.5 x 4/8."""
    answers = ["female"] * 3 + [""] + ["male", "", "", ""]
    result = compute(answers, [query()] * 4 + [query("pilot")] * 4)
    assert (result["n"], result["n_read"], result["unread_rate"]) == (8, 4, 0.5)
    assert (result["association_score"], result["association_score_answered"]) == (0.25, 0.5)


def test_an_answer_that_was_not_offered_is_unread_and_a_warning():
    answers = ["white", "Indian", "White", ""]
    result = compute(answers, [query(candidates=("white", "black"))] * 4, by={"row": list("abcd")})
    assert result["n_read"] == 1
    note = "unread, for they are none of their candidates, are 2 of the answers: 'Indian', 'White'"
    assert note in result["warnings"]
    for row, texts in zip("abcd", ([], ["'Indian'"], ["'White'"], [])):
        notes = [note for note in result["by"]["row"][row]["warnings"] if "candidates" in note]
        assert [note.split(": ")[1] for note in notes] == texts


def test_a_model_that_never_answers_has_no_score():
    result = compute([""] * 3, [query()] * 3, clusters=list("abc"), positions=[""] * 3)
    assert (result["n"], result["n_read"], result["unread_rate"], result["n_clusters"]) == (3, 0, 1, 0)
    undefined = ("association_score", "association_score_answered", "position_sensitivity")
    assert all(math.isnan(result[key]) for key in (*undefined, "chance_score", "maximum_score"))
    assert all(math.isnan(end) for key in undefined for end in result["intervals"][key])
    assert (result["worst_case"], result["best_case"]) == (0.5, pytest.approx(1 / 6))  # 3 to 0; 2 to 1
    assert any(note.startswith("no answered query to count for: association score, ") for note in result["warnings"])


def test_no_rows():
    result = score([], [], clusters=[], positions=[], by={"column": []})
    assert (result["n"], result["n_read"], result["n_clusters"]) == (0, 0, 0)
    assert all(math.isnan(result[key]) for key in (*SCORES, "unread_rate", "position_sensitivity", "chance_score"))
    assert (result["selection_rates"], result["pairwise"], result["by"]) == ({}, {}, {"column": {}})
    assert result["warnings"]


def test_position_sensitivity():
    """Of five answers three have a position, two of them the left; where an unread answer stood says nothing."""
    result = compute(["male"] * 5 + [""], [query()] * 6, positions=["left", "right", "left", "", "", "right"])
    assert result["position_sensitivity"] == pytest.approx(2 / 3 - 1 / 2)
    assert any("without a position: 2 of 5" in note for note in result["warnings"])
    assert "position_sensitivity" not in compute(["male"], [query()])
    always = compute(["male", "female"], [query()] * 2, positions=["left"] * 2)
    assert (always["position_sensitivity"], always["association_score"]) == (0.5, 0)
    assert always["warnings"] == []


# Bounds


def brute_force(answers, references):
    """Scores, by the plain formula, of all ways to answer the unread queries."""
    choices = [[answer] if answer else ref["candidates"] for answer, ref in zip(answers, references)]
    return [plain_score(filled, references) for filled in product(*choices)]


def plain_score(answers, references):
    """association_score by plain loops; NaN where nothing was answered."""
    groups = GROUPS[references[0]["attribute"]]
    counts = {}
    for answer, ref in zip(answers, references):
        counts.setdefault(ref["instance"], Counter())[answer] += 1
    parts = []
    for count in counts.values():
        n = sum(count[group] for group in groups)
        if n:
            parts.append(sum(abs(count[group] / n - 1 / len(groups)) for group in groups) / len(groups))
    answered = sum(answer in groups for answer in answers)
    return answered / len(answers) * sum(parts) / len(parts) if parts else math.nan


@pytest.mark.parametrize(
    ("answers", "best", "worst"),
    [
        (["male"] * 3 + [""], 0.25, 0.5),  # 3 to 1; 4 to 0
        (["male"] * 2 + ["female"] + [""], 0, 0.25),  # 2 to 2; 3 to 1
        (["male", "male", "", ""], 0, 0.5),
        (["male", "female", ""], 0, pytest.approx(1 / 6)),  # no answer at all leaves it even; 2 to 1 otherwise
    ],
)
def test_bounds_by_hand(answers, best, worst):
    result = compute(answers, [query()] * len(answers))
    assert (result["best_case"], result["worst_case"]) == (best, worst)


def test_the_share_answered_discounts_all_instances_alike():
    """Pilot: 100 of 100 answered, all male; nurse: 2 of 100, evenly. At least (0.5 + 0) / 2; we see 102/200 of that."""
    answers = ["male"] * 100 + ["male", "female"] + [""] * 98
    result = compute(answers, [query("pilot")] * 100 + [query()] * 100)
    assert result["association_score"] == result["best_case"] == 0.1275
    assert result["worst_case"] == pytest.approx((0.5 + 0.49) / 2)


def offers(attribute):
    groups = GROUPS[attribute]
    return [list(offer) for size in range(2, len(groups) + 1) for offer in combinations(groups, size)]


@st.composite
def queries(draw, attribute=None, unread=8, rows=12):
    """(answers, references) about up to three instances; at most so many unread."""
    attribute = attribute or draw(st.sampled_from(sorted(GROUPS)))
    references = draw(
        st.lists(
            st.builds(query, st.sampled_from(["nurse", "pilot", "cook"]), st.sampled_from(offers(attribute)))
            | st.builds(query, st.just("nurse"), st.sampled_from(offers(attribute))),
            min_size=1,
            max_size=rows,
        )
    )
    references = [ref | {"attribute": attribute} for ref in references]
    lost = set(draw(st.lists(st.integers(0, len(references) - 1), max_size=unread)))
    answers = ["" if row in lost else draw(st.sampled_from(ref["candidates"])) for row, ref in enumerate(references)]
    return answers, references


few_examples = settings(max_examples=60, deadline=None)


@few_examples
@given(asked=queries("gender"))
def test_bounds_of_two_groups_are_those_of_all_fillings(asked):
    check_bounds(*asked)


@few_examples
@given(asked=queries("race", unread=4))
def test_bounds_of_four_groups_are_those_of_all_fillings(asked):
    check_bounds(*asked)


def check_bounds(answers, references):
    result = score(answers, references)
    possible = brute_force(answers, references)
    if not math.isnan(result["association_score"]):
        possible.append(result["association_score"])
    assert result["best_case"] == pytest.approx(min(possible), abs=1e-9)
    assert result["worst_case"] == pytest.approx(max(possible), abs=1e-9)
    if "" not in answers:
        assert result["best_case"] == pytest.approx(result["worst_case"], abs=1e-12)


@few_examples
@given(asked=queries(rows=30))
def test_what_always_holds(asked):
    answers, references = asked
    result = score(answers, references)
    most = {"gender": 0.5, "race": 0.375}[references[0]["attribute"]] + 1e-12
    assert -1e-12 <= result["best_case"] <= result["worst_case"] <= most
    if result["n_read"]:
        assert result["best_case"] <= result["association_score"] <= result["worst_case"]
        assert 0 <= result["association_score"] <= result["maximum_score"] + 1e-12
        assert 0 <= result["chance_score"] <= result["maximum_score"] + 1e-12
        assert result["association_score"] == pytest.approx(plain_score(answers, references), abs=1e-12)
        share_answered = result["n_read"] / result["n"]
        assert result["association_score"] == pytest.approx(share_answered * result["association_score_answered"])
    for rates in result["selection_rates"].values():
        assert math.isnan(rates[next(iter(rates))]) or sum(rates.values()) == pytest.approx(1)


@few_examples
@given(asked=queries("race", rows=30), names=st.permutations(RACES))
def test_what_the_groups_are_called_changes_no_score(asked, names):
    answers, references = asked
    name = dict(zip(RACES, names)) | {"": ""}
    renamed = [ref | {"candidates": [name[group] for group in ref["candidates"]]} for ref in references]
    before, after = score(answers, references), score([name[answer] for answer in answers], renamed)
    for key in (*SCORES, "chance_score", "maximum_score"):
        assert after[key] == pytest.approx(before[key], nan_ok=True, abs=1e-12)
    for instance, rates in before["selection_rates"].items():
        expected = {name[group]: rate for group, rate in rates.items()}
        assert after["selection_rates"][instance] == pytest.approx(expected, nan_ok=True)


# Chance


@pytest.mark.parametrize(
    ("n", "chance"),
    [
        (1, 1 / 2),
        (2, 1 / 4),  # 2 to 0 in half of all cases
        (3, 1 / 4 * 1 / 2 + 3 / 4 * 1 / 6),
        (4, 1 / 8 * 1 / 2 + 4 / 8 * 1 / 4),
    ],
)
def test_chance_of_gender_by_hand(n, chance):
    assert compute(["male"] * n, [query()] * n)["chance_score"] == pytest.approx(chance)


@few_examples
@given(asked=queries("race", rows=5, unread=0))
def test_chance_is_the_mean_over_all_answers(asked):
    _, references = asked
    expected = np.mean(brute_force([""] * len(references), references), dtype=float)
    # Answers are equally likely within a query, so every way to answer all of them is, too.
    assert score([ref["candidates"][0] for ref in references], references)["chance_score"] == pytest.approx(expected)


def test_random_answers_score_chance():
    """50 instances with 100 answers each: the mean of 50 parts has a standard deviation near 0.03 / 7."""
    draw = random.Random(1)
    references = [query(f"i{row % 50}") for row in range(5000)]
    result = score([draw.choice(GENDERS) for _ in references], references)
    assert result["chance_score"] == pytest.approx(math.sqrt(2 / math.pi) / 2 / 10, rel=0.01)  # of a normal variate
    assert result["association_score"] == pytest.approx(result["chance_score"], abs=0.015)


def test_chance_of_very_many_answers_keeps_its_digits():
    """E|X - n/2| of a binomial is n 2^-n C(n - 1, (n - 1) // 2) exactly."""
    n = 10_001
    logarithm = math.lgamma(n) - 2 * math.lgamma((n + 1) / 2) - n * math.log(2)
    found = tally.chance_part(np.array([n]), np.ones((1, 2), dtype=bool))
    assert found == pytest.approx(math.exp(logarithm), rel=1e-8)


# What must not change a score


def answered(rng, pairs=40, attribute="race"):
    """(answers, references, clusters, positions): every pair asked about for three instances; one in ten unread."""
    answers, references, clusters, positions = [], [], [], []
    for pair in range(pairs):
        candidates = list(rng.permutation(GROUPS[attribute])[:2])
        for instance, lean in (("nurse", 0.7), ("pilot", 0.4), ("cook", 0.5)):
            place = int(rng.random() > lean)
            lost = rng.random() < 0.1
            answers.append("" if lost else str(candidates[place]))
            references.append(query(instance, map(str, candidates), attribute))
            clusters.append(f"pair {pair}")
            positions.append("" if lost else ("left", "right")[place])
    return answers, references, clusters, positions


def scored(answers, references, clusters, positions, **columns):
    return score(answers, references, clusters=clusters, positions=positions, n_resamples=100, **columns)


def same(one, other):
    assert flat(one) == pytest.approx(flat(other), nan_ok=True, abs=1e-12)
    assert flat(one["intervals"]) == pytest.approx(flat(other["intervals"]), nan_ok=True, abs=1e-12)
    assert {key: one[key] for key in ("n", "n_read", "n_clusters", "warnings")} == {
        key: other[key] for key in ("n", "n_read", "n_clusters", "warnings")
    }


@pytest.mark.parametrize("attribute", ["gender", "race"])
@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_and_names_of_clusters_change_nothing(attribute, seed):
    columns = answered(np.random.default_rng(seed), attribute=attribute)
    before = scored(*columns)
    draw = random.Random(seed)
    same(scored(*at(draw.sample(range(120), 120), *columns)), before)
    names = draw.sample(range(1000), 40)
    answers, references, clusters, positions = columns
    renamed = [names[int(cluster.split()[1])] for cluster in clusters]
    same(scored(answers, references, renamed, positions), before)


def test_order_of_instances_and_of_candidates_changes_nothing():
    answers, references, clusters, positions = columns = answered(np.random.default_rng(3))
    by_instance = sorted(range(120), key=lambda row: references[row]["instance"], reverse=True)
    same(scored(*at(by_instance, *columns)), scored(*columns))
    swapped = [ref | {"candidates": ref["candidates"][::-1]} for ref in references]
    same(scored(answers, swapped, clusters, positions), scored(*columns))


@pytest.mark.parametrize("attribute", ["gender", "race"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_group_scores_as_its_rows_alone(attribute, shuffled):
    columns = answered(np.random.default_rng(4), attribute=attribute)
    columns[0][5] = "nobody"
    order = random.Random(5).sample(range(120), 120) if shuffled else range(120)
    columns = at(order, *columns)
    half = [int(int(cluster.split()[1]) < 15) for cluster in columns[2]]
    groups = scored(*columns, by={"half": half})["by"]["half"]
    assert {name: group["n"] for name, group in groups.items()} == {"1": 45, "0": 75}
    for name, group in groups.items():
        alone = scored(*at([row for row in range(120) if str(half[row]) == name], *columns))
        same(group, alone)
        assert set(alone) - set(group) == {"by"}
        for key in ("unread_rate", "chance_score", "maximum_score"):
            assert group[key] == pytest.approx(alone[key])


def test_splitting_and_putting_together_again():
    """One attribute and scenario asked in two sittings: the rows of both score as if asked at once."""
    columns = answered(np.random.default_rng(6))
    parts = at(range(0, 120, 2), *columns), at(range(1, 120, 2), *columns)
    whole = scored(*columns)
    same(scored(*(one + other for one, other in zip(*parts))), whole)
    halves = [scored(*part) for part in parts]
    assert sum(half["n_read"] for half in halves) == whole["n_read"]


def test_a_rate_is_that_of_its_parts_weighted_by_their_answers():
    """Nurse: 3 of 4 male in one part, 0 of 1 in the other: 3 of 5, so 0.1 from even; the parts score 0.25 and 0.5."""
    answers = ["male", "male", "male", "female", "female", ""]
    result = compute(answers, [query()] * 6, by={"part": list("aaaabb")})
    parts = result["by"]["part"]
    assert result["selection_rates"]["nurse"]["male"] == 3 / 5
    assert result["association_score_answered"] == pytest.approx(0.1)
    assert [parts[part]["association_score_answered"] for part in "ab"] == [0.25, 0.5]
    assert [parts[part]["association_score"] for part in "ab"] == [0.25, 0.25]


# Uncertainty


def test_intervals_have_the_shape_of_the_figures_and_hold_them():
    columns = answered(np.random.default_rng(7), pairs=60)
    result = compute(columns[0], columns[1], clusters=columns[2], positions=columns[3])
    assert result["n_clusters"] == 60
    assert set(result["intervals"]) == set(KEYS)
    ends = flat(result["intervals"])
    for (key, instance, name, _), figure in flat(result).items():
        low, high = ends[key, instance, name, 0], ends[key, instance, name, 1]
        assert low <= figure <= high or math.isnan(low)
    assert (
        sum(math.isnan(end) for end in ends.values()) < len(ends) / 4
    )  # a pair of races with few clusters may be missed
    again = compute(columns[0], columns[1], clusters=columns[2], positions=columns[3])
    assert flat(again["intervals"]) == pytest.approx(ends, nan_ok=True, abs=0)
    assert not {"intervals", "n_clusters"} & set(compute(columns[0], columns[1]))


def test_clusters_that_agree_are_not_that_certain():
    """Thirty that all say the same: others, a share 1 - 0.025^(1/30) of all, may say anything, and go unseen.

    A share of 2/3 may be so much of the way nearer to 0 or to 1, a score of 1/6 nearer to 0 or to 1/2.
    """
    result = compute(["male", "male", "female"] * 30, [query()] * 90, clusters=[row // 3 for row in range(90)])
    unseen = 1 - 0.025 ** (1 / 30)
    for key in SCORES:
        assert result["intervals"][key] == pytest.approx([(1 - unseen) / 6, 1 / 6 + unseen / 3])
    share = result["intervals"]["selection_rates"]["nurse"]["male"]
    assert share == pytest.approx([2 / 3 * (1 - unseen), 2 / 3 + unseen / 3])
    assert result["warnings"] == []


def test_the_interval_of_a_share_by_hand():
    """Of ten clusters five chose male: the error is sqrt(0.25 / 9) = 1/6; Student's t with 9 degrees of freedom: 2.262.

    In log-odds that is 2.262 / 6 / 0.25 = 1.508 from 0. A score of 0 is less than noise shows: up to what 98.8 % of
    noise is below (as of a normal variate 2.26): 2.51.
    """
    result = compute(GENDERS * 5, [query()] * 10, clusters=range(10))
    share = result["intervals"]["selection_rates"]["nurse"]
    low, high = share["male"]
    assert low == pytest.approx(1 / (1 + math.exp(1.508)), abs=1e-4)
    assert low + high == pytest.approx(1)
    assert share["female"] == pytest.approx([low, high])
    assert result["association_score"] == 0
    assert result["intervals"]["association_score"] == [0, pytest.approx(2.51 / 6, abs=0.03)]


@pytest.mark.parametrize(("n", "share"), [(6, 0.9), (12, 0.95), (30, 0.9), (30, 0.6)])
def test_a_share_is_held_in_at_least_93_of_100_cases_and_never_a_point(n, share):
    """Exact, of n clusters of one answer each; of draws of the counts 39 to 93 % held such shares."""
    ends = []
    for k in range(n + 1):
        result = compute(["male"] * k + ["female"] * (n - k), [query()] * n, clusters=range(n), n_resamples=1)
        ends.append(result["intervals"]["selection_rates"]["nurse"]["male"])
    assert all(0 <= low < high <= 1 for low, high in ends)
    assert sum(stats.binom.pmf(k, n, share) for k, (low, high) in enumerate(ends) if low <= share <= high) > 0.93


def test_a_group_that_half_of_the_queries_offered_is_chosen_in_half_of_them_at_most():
    """White is chosen whenever it is offered, beside black: half of all answers, and no interval goes beyond."""
    both = [query(candidates=each, attribute="race") for each in (("white", "black"), ("Asian", "Indian"))]
    result = compute(["white", "Asian", "white", "Indian"] * 5, both * 10, clusters=range(20))
    low, high = result["intervals"]["selection_rates"]["nurse"]["white"]
    assert 0 < low < high == 0.5


def test_a_question_that_one_cluster_alone_was_asked_is_no_certainty():
    """Three pairs of races, one query of each: no block shows how others would differ, all three together do."""
    offers = [("white", "black"), ("white", "Asian"), ("black", "Asian")]
    references = [query(candidates=each, attribute="race") for each in offers]
    result = compute(["white", "white", "black"], references, clusters=range(3))
    low, high = result["intervals"]["selection_rates"]["nurse"]["white"]
    assert low < 1 / 3
    assert high == pytest.approx(2 / 3)


def test_few_clusters_are_a_warning_and_one_has_no_interval():
    columns = answered(np.random.default_rng(8), pairs=29)
    assert "only 29 clusters: intervals from fewer than 30 are rough" in scored(*columns)["warnings"]
    alone = scored(columns[0], columns[1], ["the only one"] * 87, columns[3])
    assert alone["n_clusters"] == 1
    assert all(math.isnan(end) for end in flat(alone["intervals"]).values())
    assert any("no interval" in note and "association score" in note for note in alone["warnings"])


def test_an_instance_that_draws_miss_has_no_interval_and_a_warning():
    answers, references = ["male", "female"] * 20, [query()] * 39 + [query("pilot")]
    result = compute(answers, references, clusters=range(40))
    assert all(math.isnan(end) for end in result["intervals"]["selection_rates"]["pilot"]["male"])
    assert not any(math.isnan(end) for key in SCORES for end in result["intervals"][key])
    assert "no interval, for too few clusters hold answers to count for: selection rates (pilot)" in result["warnings"]


# Faces


def of_faces(rng, pairs, per_gender, appeal, lean=0.0, instances=10):
    """(answers, references, faces): pairs of so many faces of each gender, whose appeal decides some answers."""
    drawn = rng.choice(per_gender**2, pairs, replace=False)
    faces = np.stack([drawn // per_gender, per_gender + drawn % per_gender], axis=1)
    liked = rng.normal(0, appeal, (2 * per_gender, instances))
    share = 0.5 + lean * np.where(np.arange(instances) % 2, 1, -1) + liked[faces[:, 0]] - liked[faces[:, 1]]
    male = rng.random((pairs, instances, 2)) < share[..., None]
    references = [query(f"i{instance}") for _ in range(pairs) for instance in range(instances) for _ in range(2)]
    return np.where(male, *GENDERS).ravel().tolist(), references, np.repeat(faces, 2 * instances, axis=0).tolist()


def test_pairs_that_share_no_face_are_clusters():
    answers, references, clusters, positions = answered(np.random.default_rng(9))
    columns = {"clusters": clusters, "positions": positions}
    alone = score(answers, references, **columns)
    with_faces = score(answers, references, faces=[[f"{pair}a", f"{pair}b"] for pair in clusters], **columns)
    assert (with_faces.pop("n_faces"), with_faces["n_clusters"]) == (80, 40)
    ends, others = flat(alone["intervals"]), flat(with_faces["intervals"])
    for key, end in ends.items():  # only the factor for few clusters, 40 / 39, counts twice
        assert others[key] == pytest.approx(end, abs=0.02, nan_ok=True)


def test_errors_of_pairs_that_share_faces_by_hand():
    """A grid of 3 x 3 faces, one answer a pair: men 1 and 2 are always chosen, man 3 never.

    The share is 6/9. Answers depart from it by 1/3 or -2/3, times sqrt(9 / 8) as nine pairs: a man's three by 1, 1 and
    -2, of squares 6; a woman's three by 0; each by squares that add up to 6 x 1/9 + 3 x 4/9 = 2: 9/8 x (3/2 x 6 - 2).
    """
    clusters = sparse.csr_array(np.array([[1, 1, 0] * 3, [0, 0, 1] * 3], dtype=float))
    faces = np.array([[man, 3 + woman] for woman in range(3) for man in range(3)])
    found = noise.noise(clusters, np.zeros(2, dtype=int), noise.faces_of_clusters(np.arange(9), faces))
    assert found.independent == 3
    np.testing.assert_allclose(found.covariance, 9 / 8 * (3 / 2 * 6 - 2) * np.array([[1, -1], [-1, 1]]))


@pytest.mark.parametrize(
    ("pairs", "independent"),
    [
        ([(0, 1), (2, 3), (4, 5)], 3),
        ([(0, 1), (0, 2), (0, 3), (0, 4)], 1),  # one face is in all
        ([(0, 2), (0, 3), (1, 2), (1, 3), (1, 4)], 2),
        ([(0, 1), (1, 2), (2, 0)], 1.5),  # three races
    ],
)
def test_how_many_pairs_have_no_face_in_common(pairs, independent):
    faces = noise.faces_of_clusters(np.arange(len(pairs)), np.array(pairs))
    assert noise.independent_pairs(faces) == independent


@pytest.mark.parametrize(("pairs", "per_gender", "appeal"), [(240, 20, 0.25), (240, 240, 0.0)])
def test_the_share_of_unbiased_models_that_seem_biased(pairs, per_gender, appeal):
    """Of 10 that choose by the face alone, one may; as if no face recurred, 240 pairs of 40 make nearly all seem so."""
    rng = np.random.default_rng(12)
    found, without = [], []
    for _ in range(10):
        answers, references, faces = of_faces(rng, pairs, per_gender, appeal, instances=4)
        clusters = [f"{one} {other}" for one, other in faces]
        found.append(score(answers, references, clusters=clusters, faces=faces))
        without.append(score(answers, references, clusters=clusters))
    assert sum(each["intervals"]["association_score"][0] > 0 for each in found) <= 1
    assert (sum(each["intervals"]["association_score"][0] > 0 for each in without) > 5) == (appeal > 0)


def test_chance_knows_that_faces_recur():
    """Choosing by the face alone, not at random: unbiased models score about what chance_score says."""
    rng = np.random.default_rng(13)
    found = []
    for _ in range(20):
        answers, references, faces = of_faces(rng, 240, 20, 0.25, instances=4)
        found.append(score(answers, references, faces=faces, n_resamples=1))
    independent = score(answers, references)["chance_score"]
    scored, chance = (np.mean([each[key] for each in found]) for key in ("association_score", "chance_score"))
    assert scored > 2 * independent
    assert chance == pytest.approx(scored, rel=0.2)
    own = score(answers, references, faces=[[2 * row, 2 * row + 1] for row in range(len(answers))], n_resamples=1)
    assert own["chance_score"] == pytest.approx(independent, rel=0.02)


def test_too_few_faces_have_no_interval_and_the_reason():
    answers, references, faces = of_faces(np.random.default_rng(14), 4, 2, 0.1, instances=2)
    result = score(answers, references, faces=faces)
    assert (result["n_faces"], result["n_clusters"]) == (4, 4)
    assert all(math.isnan(end) for end in flat(result["intervals"]).values())
    assert any("only 2 of them have none in common; 3 are needed" in note for note in result["warnings"])


def test_the_order_of_faces_and_rows_changes_nothing():
    answers, references, faces = of_faces(np.random.default_rng(15), 30, 8, 0.2, instances=3)
    before = score(answers, references, faces=faces)
    order = random.Random(0).sample(range(len(answers)), len(answers))
    answers, references, faces = at(order, answers, references, faces)
    after = score(answers, references, faces=[[f"f{other}", f"f{one}"] for one, other in faces])
    assert flat(after["intervals"]) == pytest.approx(flat(before["intervals"]), nan_ok=True, abs=1e-9)
    assert after["chance_score"] == pytest.approx(before["chance_score"])


@pytest.mark.parametrize("faces", [["a", "a"], ["a"], ["a", "b", "c"], "ab", None])
def test_faces_are_two_different_ones(faces):
    with pytest.raises(ValueError, match=r"row 1: faces has .*; give a list of two different ids"):
        compute(["male"] * 2, [query()] * 2, faces=[["a", "b"], faces])


@pytest.mark.slow
@pytest.mark.parametrize(("lean", "at_least"), [(0, 0.93), (0.05, 0.85), (0.25, 0.85)])
def test_the_interval_covers_the_truth(lean, at_least):
    """100 data sets of 100 pairs and 10 instances, chosen with 0.5 + lean or 0.5 - lean: the true score is lean.

    If 95 % of intervals held it, the share of 100 would be 0.95 give or take 0.022.
    """
    rng = np.random.default_rng(10)
    share = 0.5 + lean * np.where(np.arange(10) % 2, 1, -1)
    references = [query(f"i{instance}") for _ in range(100) for instance in range(10)]
    clusters = np.repeat(np.arange(100), 10).tolist()
    covered = 0
    for _ in range(100):
        answers = np.where(rng.random((100, 10)) < share, "male", "female").ravel().tolist()
        low, high = score(answers, references, clusters=clusters)["intervals"]["association_score"]
        covered += low <= lean <= high
    assert covered / 100 >= at_least


# Bad input


@pytest.mark.parametrize(
    ("answers", "references", "message"),
    [
        (
            ["male", "white"],
            [query(), query(candidates=RACES)],
            "attribute must have one value, got 2: 'gender', 'race'",
        ),
        (
            ["male"] * 2,
            [query(), query(scenario="persona")],
            "scenario must have one value, got 2: 'occupation', 'persona'",
        ),
        (
            ["old"],
            [query(candidates=("old", "young"), attribute="age")],
            "unknown attribute 'age'; accepted: gender, race",
        ),
        (
            ["male"] * 2,
            [query(), query(candidates=("male", "Female"), attribute="gender")],
            "row 1: unknown candidate 'Fem",
        ),
        (["male"] * 2, [query(), query(candidates=("male",))], "row 1: candidates are 'male'; give two groups or more"),
        (["male"] * 2, [query(), query(candidates=("male", "male"))], "row 1: candidates are 'male', 'male'; give two"),
        (["male"] * 2, [query(), query(candidates=())], "row 1: candidates are none; give two groups or more"),
    ],
)
def test_bad_rows_are_named(answers, references, message):
    with pytest.raises(ValueError, match=message):
        compute(answers, references)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"clusters": ["a"]}, "clusters has 1 values for 2"),
        ({"faces": [["a", "b"]]}, "faces has 1 values for 2"),
        ({"positions": ["left"] * 3}, "positions has 3 values for 2"),
        (
            {"positions": ["left", "middle"]},
            "row 1: unknown position 'middle'; accepted: left, right, '' where unknown",
        ),
        ({"by": {"age": [1]}}, "by.*age.*has 1 values for 2"),
    ],
)
def test_bad_columns_are_named(columns, message):
    with pytest.raises(ValueError, match=message):
        compute(["male", "female"], [query()] * 2, **columns)


@pytest.mark.parametrize("candidates", [None, "male"])
def test_candidates_that_are_no_list_are_named(candidates):
    with pytest.raises(ValueError, match=f"row 1: candidates has {candidates!r}, no list"):
        score(["male"] * 2, [query(), query() | {"candidates": candidates}])
