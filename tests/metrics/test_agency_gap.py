"""agency_gap: the paper's tables, texts whose figures can be had by hand, a naive oracle, and honest uncertainty."""

import functools
import math
import random
import statistics
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evenhand
from evenhand.benchmarks.labe import published
from evenhand.flow.results import PUBLISHED_FILE, read_published
from evenhand.metrics.agency_gap import group_means, scores, studentized
from evenhand.metrics.agency_gap.studentized import under_equal_means

PUBLISHED = Path(published.__file__).with_name(PUBLISHED_FILE)
RACES = ("White", "Black", "Hispanic", "Asian")
GENDERS = ("male", "female")
GROUPS = tuple(product(RACES, GENDERS))
VARIANCES = ("gender_variance", "race_variance", "intersectional_variance", "overall")
MODELS = ("ChatGPT", "Mistral", "Llama3")
TEXT_TYPES = ("biography", "professor_review", "reference_letter")

# Table 22, column "Std. Dev".
RACE_VARIANCES: dict[str, dict[str, float]] = {
    "ChatGPT": {"biography": 14.09, "professor_review": 34.9, "reference_letter": 51.36},
    "Mistral": {"biography": 22.9, "professor_review": 16.49, "reference_letter": 47.24},
    "Llama3": {"biography": 58.67, "professor_review": 9.3, "reference_letter": 20.3},
}


@functools.cache
def metric():
    return evenhand.load_metric("agency_gap")


def compute(labels, references, **columns):
    return metric().compute(predictions=labels, references=references, **columns)


def reference(race, gender):
    return {"gender": gender, "race": race}


def text(agentic, communal):
    return [1] * agentic + [0] * communal


def at(rows, *columns):
    """The columns with only these rows, in this order."""
    return [[column[row] for row in rows] for column in columns]


def figures(result):
    """Every point figure of a result by name, for comparison by pytest.approx."""
    flat = {key: result[key] for key in (*VARIANCES, "gender_difference")}
    flat |= {f"difference {race}": value for race, value in result["gender_difference_by_race"].items()}
    return flat | {f"{name} {key}": value for name, each in result["groups"].items() for key, value in each.items()}


def uncertainty(result):
    """Every interval end, p-value and chance by name."""
    intervals = dict(result["intervals"])
    flat = {f"difference {race}": ends for race, ends in intervals.pop("gender_difference_by_race").items()}
    flat |= {name: each["gap"] for name, each in intervals.pop("groups").items()} | intervals
    flat = {f"{name} {side}": end for name, ends in flat.items() for side, end in zip(("low", "high"), ends)}
    return flat | {f"{key} {name}": value for key in ("p_values", "chance") for name, value in result[key].items()}


# The paper's tables


ALL, INSTRUCTED = "all", "fairness-instruction"
FIGURES_OF_GROUPS = ("agentic", "communal", "gap")


@functools.cache
def printed(study):
    """{(model, figure, text type, race, gender, group): value} of a study's tables; "" for what it is not by."""
    columns = ("model", "figure", "text_type", "race", "gender", "group")
    records = read_published(PUBLISHED, study=study)
    found = {tuple(each.get(column, "") for column in columns): each["value"] for each in records}
    assert len(found) == len(records)
    return found


def printed_gaps(study, model, text_type):
    """{variance: the mean gaps it is of}, from the gender, race and intersectional tables."""

    def gaps(races, genders):
        return [printed(study)[model, "gap", text_type, race, gender, ""] for race in races for gender in genders]

    return {
        "gender_variance": gaps([""], GENDERS),
        "race_variance": gaps(RACES, [""]),
        "intersectional_variance": gaps(RACES, GENDERS),
    }


@pytest.mark.parametrize("text_type", TEXT_TYPES)
@pytest.mark.parametrize("model", MODELS)
def test_printed_mean_gaps_give_table_1_up_to_the_averaging_over_seeds(model, text_type):
    """Table 1 averages three seeds' variances, the other tables their means: it lies 0.04 to 3.48 above, never below.

    (A variance is convex, so the mean of variances is no less than the variance of means.)
    """
    for key, gaps in printed_gaps(ALL, model, text_type).items():
        variance = printed(ALL)[model, key, text_type, "", "", ""]
        assert 0.03 < variance - group_means.inter_group_variance(np.array(gaps)) < 3.5


def test_the_race_variance_of_chatgpt_biographies():
    gaps = np.array([-16.38, -27.22, -21.88, -11.34])  # Table 21; Table 1 has 47.79
    assert group_means.inter_group_variance(gaps) == pytest.approx(47.08, abs=0.005)


@pytest.mark.parametrize("study", [ALL, "sample", INSTRUCTED, "selective-rewrite"])
def test_tables_1_and_2_add_up(study):
    table = printed(study)
    for model, text_type in product(MODELS, TEXT_TYPES):
        row = [table[model, key, text_type, "", "", ""] for key in VARIANCES]
        assert row[3] == pytest.approx(statistics.mean(row[:3]), abs=0.011)
    for model, key in product(MODELS, VARIANCES) if study == ALL else ():
        mean = statistics.mean(table[model, key, text_type, "", "", ""] for text_type in TEXT_TYPES)
        assert table[model, key, "average", "", "", ""] == pytest.approx(mean, abs=0.011)


@pytest.mark.parametrize(
    ("study", "n_groups", "n_pairs"),
    [
        (ALL, 9 * (2 + 4 + 8), 9 * 5),
        (INSTRUCTED, 9 * (2 + 4 + 8), 9 * 5),
        ("selective-rewrite", 8, 0),
        ("ratemyprofessor", 2 * 16, 16),
        ("bias_in_bios", 2 * 29, 29),
    ],
)
def test_printed_shares_gaps_and_differences_agree(study, n_groups, n_pairs):
    """To rounding."""
    table = printed(study)
    groups = [(model, *of) for model, figure, *of in table if figure == "gap"]
    assert len(groups) == n_groups
    for model, *of in groups:
        agentic, communal, gap = (table[model, figure, *of] for figure in FIGURES_OF_GROUPS)
        assert agentic + communal == pytest.approx(100, abs=0.011)
        assert gap == pytest.approx(agentic - communal, abs=0.021)
    pairs = [(model, *of) for model, figure, *of in table if figure == "gender_difference"]
    assert len(pairs) == n_pairs
    for model, text_type, race, _, group in pairs:
        male, female = (table[model, "gap", text_type, race, gender, group] for gender in GENDERS)
        assert table[model, "gender_difference", text_type, race, "", group] == pytest.approx(male - female, abs=0.021)


@pytest.mark.parametrize("study", [ALL, INSTRUCTED])
def test_the_tables_of_two_and_four_groups_are_means_of_the_table_of_eight(study):
    for model, text_type in product(MODELS, TEXT_TYPES):
        gaps = printed_gaps(study, model, text_type)
        eight = np.array(gaps["intersectional_variance"]).reshape(4, 2)
        assert eight.mean(axis=0) == pytest.approx(gaps["gender_variance"], abs=0.016)
        assert eight.mean(axis=1) == pytest.approx(gaps["race_variance"], abs=0.016)


def test_the_instruction_in_table_2_comes_from_other_texts_than_tables_20_and_22():
    """For ChatGPT the tables agree as Table 1 does; for the others race differs, and gender falls below what it can."""
    below = []
    for model, text_type in product(MODELS, TEXT_TYPES):
        row = {key: printed(INSTRUCTED)[model, key, text_type, "", "", ""] for key in VARIANCES}
        own = RACE_VARIANCES[model][text_type]
        assert (row["race_variance"] == own) == (model == "ChatGPT")
        gaps = printed_gaps(INSTRUCTED, model, text_type)
        assert own > group_means.inter_group_variance(np.array(gaps["race_variance"]))
        if row["gender_variance"] < group_means.inter_group_variance(np.array(gaps["gender_variance"])):
            below.append((model, text_type))
    assert below == [("Mistral", "professor_review"), ("Llama3", "professor_review")]


# Figures that can be had by hand


def test_ratio_gap():
    assert group_means.ratio_gap(3, 1) == 50
    assert group_means.ratio_gap(0, 4) == -100
    assert group_means.ratio_gap(np.array([1, 2, 0]), np.array([1, 0, 0])) == pytest.approx(
        [0, 100, math.nan], nan_ok=True
    )


def test_inter_group_variance():
    assert group_means.inter_group_variance(np.array([10.0, 0.0])) == 50  # half the squared difference
    assert group_means.inter_group_variance(np.array([1.0, 2.0, 3.0, math.nan])) == 1
    assert math.isnan(group_means.inter_group_variance(np.array([1.0, math.nan])))


FOUR = [reference(race, gender) for race in ("White", "Black") for gender in GENDERS]


def test_four_texts():
    """Gaps 50, 0 (White), -50, -100 (Black): men 0, women -50, White 25, Black -75."""
    result = compute([text(3, 1), text(1, 1), text(1, 3), text(0, 2)], FOUR)
    assert result["groups"]["male"] == {"agentic": 50, "communal": 50, "gap": 0, "n": 2, "n_sentences": 8}
    assert result["groups"]["Black"] == {"agentic": 12.5, "communal": 87.5, "gap": -75, "n": 2, "n_sentences": 6}
    assert result["groups"]["White female"] == {"agentic": 50, "communal": 50, "gap": 0, "n": 1, "n_sentences": 2}
    assert list(result["groups"]) == [
        *("female", "male", "Black", "White", "Black female", "Black male", "White female", "White male")
    ]
    assert result["gender_variance"] == 50**2 / 2
    assert result["race_variance"] == 100**2 / 2
    assert result["intersectional_variance"] == pytest.approx((75**2 + 25**2 + 25**2 + 75**2) / 3)
    assert result["overall"] == pytest.approx((1250 + 5000 + 12500 / 3) / 3)
    assert result["gender_difference"] == 50
    assert result["gender_difference_by_race"] == {"White": 50, "Black": 50}
    assert (result["n"], result["n_read"], result["unread_rate"], result["n_sentences"]) == (4, 4, 0, 12)
    assert result["warnings"] == []
    assert result["by"] == {}


def test_texts_count_alike_however_long_they_are():
    """Men: one agentic sentence, and nine communal ones: 100 and -100 are 0 on average, not -80."""
    references = [reference("White", gender) for gender in ("male", "male", "female")]
    result = compute([text(1, 0), text(0, 9), text(3, 3)], references)
    assert result["groups"]["male"]["gap"] == result["gender_difference"] == 0


def test_variances_are_taken_within_seeds_and_then_averaged():
    """Men 100 and women 0 in one seed, the other way round in the next: 5,000 in each, though the means are equal."""
    references = [reference("White", gender) for gender in GENDERS] * 2
    labels, seeds = [text(1, 0), text(1, 1), text(1, 1), text(1, 0)], [0, 0, 1, 1]
    result = compute(labels, references, seeds=seeds)
    assert result["gender_variance"] == 5000
    assert result["gender_difference"] == 0
    assert result["groups"]["male"] == {"agentic": 75, "communal": 25, "gap": 50, "n": 2, "n_sentences": 3}
    assert compute(labels, references)["gender_variance"] == 0


def test_seeds_weigh_alike_however_many_texts_they_have():
    """Men: 100 in three texts of seed a, 0 in one of seed b; women always 0. 50, not 75."""
    references = [reference("White", gender) for gender in ("male", "male", "male", "female", "male", "female")]
    labels = [text(1, 0)] * 3 + [text(1, 1)] * 3
    result = compute(labels, references, seeds=["a"] * 4 + ["b"] * 2)
    assert result["groups"]["male"]["gap"] == result["gender_difference"] == 50
    assert result["gender_variance"] == (100**2 / 2 + 0) / 2


def test_seeds_that_differ_in_their_groups_count_what_each_has():
    """Seed 0: gaps 0, 100, -100, variance 10,000; seed 1: 0 and 100, variance 5,000."""
    races = ["White", "Black", "Asian", "White", "Black"]
    labels = [text(1, 1), text(1, 0), text(0, 1), text(1, 1), text(1, 0)]
    result = compute(labels, [reference(race, "male") for race in races], seeds=[0, 0, 0, 1, 1])
    assert result["race_variance"] == 7500
    assert result["groups"]["Asian"]["gap"] == -100
    assert any("seeds differ" in note and "Asian (seed 1)" in note for note in result["warnings"])


def test_a_seed_with_one_group_has_no_variance():
    references = [reference("White", "male"), reference("Black", "male"), reference("White", "male")]
    result = compute([text(1, 0), text(0, 1), text(1, 1)], references, seeds=[0, 0, 1])
    assert math.isnan(result["race_variance"])
    assert math.isnan(result["overall"])
    assert any("race variance and overall are unknown" in note for note in result["warnings"])
    assert result["groups"]["White"]["gap"] == 50


def test_texts_without_a_race_count_for_gender_alone():
    """As human-written texts: men 100 and 0, women 0."""
    references = [{"gender": gender, "race": ""} for gender in ("male", "male", "female")]
    result = compute([text(1, 0), text(1, 1), text(1, 1)], references, clusters=["a", "b", "c"])
    assert result["gender_variance"] == 50**2 / 2
    assert result["gender_difference"] == 50
    assert list(result["groups"]) == ["female", "male"]
    assert result["gender_difference_by_race"] == {}
    for key in VARIANCES[1:]:
        assert all(math.isnan(result[where][key]) for where in ("p_values", "chance"))
        assert math.isnan(result[key])
    [note] = [note for note in result["warnings"] if "no text has a race" in note]
    assert all(key.replace("_", " ") in note for key in VARIANCES[1:])


def test_a_text_takes_part_only_in_what_is_known_of_it():
    """The text without a race counts for men, the one without a gender for Black people, and neither for both."""
    labels = [text(3, 1), text(1, 1), text(1, 3), text(0, 2), text(1, 1), text(1, 0), text(1, 0)]
    unknown = [reference("", "male"), reference("Black", ""), reference("", "")]
    result = compute(labels, FOUR + unknown)
    assert {name: group["gap"] for name, group in result["groups"].items()} == pytest.approx(
        {"male": 0, "female": -50, "White": 25, "Black": -50 / 3}
        | {"White male": 50, "White female": 0, "Black male": -50, "Black female": -100}
    )
    assert result["n"] == result["n_read"] == 7
    assert [note[:23] for note in result["warnings"]] == ["2 of 7 texts have no ra", "2 of 7 texts have no ge"]


def test_a_text_without_labels_is_unread_and_in_no_mean():
    result = compute([text(3, 1), text(1, 1), [], [], text(0, 2)], [*FOUR, FOUR[3]])
    assert (result["n"], result["n_read"], result["unread_rate"]) == (5, 3, 0.4)
    assert result["groups"]["Black"] == {"agentic": 0, "communal": 100, "gap": -100, "n": 1, "n_sentences": 2}
    assert result["groups"]["Black male"]["n"] == 0
    assert math.isnan(result["groups"]["Black male"]["gap"])
    assert result["intersectional_variance"] == pytest.approx(statistics.variance([50, 0, -100]))
    assert math.isnan(result["gender_difference_by_race"]["Black"])
    assert any("no text was read about: Black male" in note for note in result["warnings"])
    assert any("gender difference is unknown for Black" in note for note in result["warnings"])


def test_no_text_read():
    result = compute([[]] * 4, FOUR, clusters=list("abcd"))
    assert (result["n_read"], result["unread_rate"], result["n_clusters"]) == (0, 1.0, 0)
    assert all(math.isnan(result[key]) for key in (*VARIANCES, "gender_difference"))
    assert result["warnings"]


def test_no_rows():
    result = scores.agency_gap([], [], [])
    assert (result["n"], result["n_read"], result["n_sentences"]) == (0, 0, 0)
    assert all(math.isnan(result[key]) for key in (*VARIANCES, "gender_difference", "unread_rate"))
    assert result["groups"] == result["by"] == {}
    assert result["warnings"]


def test_other_genders_are_groups_without_a_difference():
    result = compute([text(1, 0), text(1, 1)], [reference("White", "Male"), reference("White", "Female")])
    assert result["gender_variance"] == 5000
    assert math.isnan(result["gender_difference"])
    assert any("'male' and 'female'" in note and "Female, Male" in note for note in result["warnings"])


def test_group_columns_are_stratified_as_in_tables_17_and_18():
    """Accounting: men 100, women 0; English: men 0, women 50; one text of no department."""
    departments = ["Accounting", "Accounting", "English", "English", ""]
    references = [{"gender": gender, "race": ""} for gender in ("male", "female", "male", "female", "male")]
    labels = [text(1, 0), text(1, 1), text(1, 1), text(3, 1), text(0, 5)]
    result = compute(labels, references, group_columns={"department": departments})
    assert result["variances"] == {"department": 25**2 / 2}  # means of 50 and 25
    groups = result["groups_of"]["department"]
    assert groups["Accounting"] == {
        **{"agentic": 75, "communal": 25, "gap": 50, "n": 2, "n_sentences": 3},
        "gender_difference": 100,
    }
    assert groups["English"]["gender_difference"] == -50
    assert set(groups) == {"Accounting", "English"}


def test_a_column_with_one_value_has_no_variance():
    result = compute([text(1, 0)] * 4, FOUR, group_columns={"department": ["English"] * 4})
    assert math.isnan(result["variances"]["department"])
    assert any("no variance by department" in note for note in result["warnings"])


# Any texts


TEXTS = st.tuples(
    st.lists(st.integers(0, 1), max_size=6),
    st.sampled_from(["male", "female", "other", ""]),
    st.sampled_from(["White", "Black", "Asian", ""]),
    st.integers(0, 1),
)
any_texts = given(texts=st.lists(TEXTS, min_size=1, max_size=30), seed=st.integers(0, 2**32 - 1))
few_examples = settings(max_examples=60, deadline=None)


def columns_of(texts):
    labels, genders, races, seeds = map(list, zip(*texts))
    return labels, genders, races, seeds


def naive(texts):
    """Figures by plain loops over texts, groups and seeds."""
    nan, result = math.nan, {}
    names = {
        "gender": lambda gender, race: gender,
        "race": lambda gender, race: race,
        "intersectional": lambda gender, race: f"{race} {gender}" if race and gender else "",
    }

    def mean(values):
        return sum(values) / len(values) if values else nan

    def gap(group, of, seed):
        labels = [labels for labels, gender, race, s in texts if labels and s == seed and of(gender, race) == group]
        return mean([100 * (2 * sum(each) - len(each)) / len(each) for each in labels])

    seeds = sorted({seed for *_, seed in texts})
    for dimension, of in names.items():
        groups = {of(gender, race) for _, gender, race, _ in texts} - {""}
        gaps = {group: [gap(group, of, seed) for seed in seeds] for group in groups}
        per_seed = [[gaps[group][i] for group in groups if not math.isnan(gaps[group][i])] for i in range(len(seeds))]
        result[f"{dimension}_variance"] = mean(
            [statistics.variance(each) if len(each) > 1 else nan for each in per_seed]
        )
        for group in groups:
            result[f"{group} gap"] = mean([each for each in gaps[group] if not math.isnan(each)])
        pairs = {"": ("male", "female")} if dimension == "gender" else {}
        if dimension == "intersectional":
            pairs = {race: (f"{race} male", f"{race} female") for _, _, race, _ in texts if race}
        for race, (men, women) in pairs.items():
            if men in gaps and women in gaps:
                difference = mean([one - other for one, other in zip(gaps[men], gaps[women])])
            else:
                difference = nan
            result[f"difference {race}" if race else "gender_difference"] = difference
    result["overall"] = mean([result[key] for key in VARIANCES[:3]])
    return result


@few_examples
@any_texts
def test_figures_are_those_of_plain_loops(texts, seed):
    labels, genders, races, seeds = columns_of(texts)
    found = figures(scores.agency_gap(labels, genders, races, seeds=seeds))
    expected = naive(texts)
    assert {key: found[key] for key in expected} == pytest.approx(expected, nan_ok=True, abs=1e-9)
    assert {key for key in found if key.endswith(" gap")} == {key for key in expected if key.endswith(" gap")}


def test_names_that_occur_in_one_seed_each():
    """One man and one woman in each seed show no noise; and most exchanges leave a seed with one gender: no chance."""
    references = [reference("White", gender) for _ in range(30) for gender in GENDERS]
    labels = [text(1, 0), text(0, 1)] * 30
    result = score(labels, references, [f"n{i}" for i in range(60)], seeds=[i // 2 for i in range(60)])
    assert result["gender_variance"] == 20000
    assert math.isnan(result["p_values"]["gender_variance"])
    assert any("no p-value" in note and "one cluster only" in note for note in result["warnings"])
    assert math.isnan(result["chance"]["gender_variance"])


@few_examples
@any_texts
def test_the_order_of_texts_changes_nothing(texts, seed):
    labels, genders, races, seeds = columns_of(texts)
    clusters = [f"{race} {gender} {len(each) % 3}" for each, gender, race in zip(labels, genders, races)]
    before = scores.agency_gap(labels, genders, races, seeds=seeds, clusters=clusters, n_resamples=50)
    shuffled = random.Random(seed).sample(range(len(texts)), len(texts))
    labels, genders, races, seeds, clusters = at(shuffled, labels, genders, races, seeds, clusters)
    after = scores.agency_gap(labels, genders, races, seeds=seeds, clusters=clusters, n_resamples=50)
    assert figures(after) == pytest.approx(figures(before), nan_ok=True, abs=1e-9)
    assert uncertainty(after) == pytest.approx(uncertainty(before), nan_ok=True, abs=1e-6)
    assert after["warnings"] == before["warnings"]


@few_examples
@any_texts
def test_exchanging_agentic_and_communal_turns_gaps_and_keeps_variances(texts, seed):
    labels, genders, races, seeds = columns_of(texts)
    before = scores.agency_gap(labels, genders, races, seeds=seeds)
    after = scores.agency_gap([[1 - label for label in each] for each in labels], genders, races, seeds=seeds)
    for key in VARIANCES:
        assert after[key] == pytest.approx(before[key], nan_ok=True, abs=1e-9)
    assert after["gender_difference"] == pytest.approx(-before["gender_difference"], nan_ok=True)
    for name, group in before["groups"].items():
        assert after["groups"][name]["gap"] == pytest.approx(-group["gap"], nan_ok=True)
        assert after["groups"][name]["agentic"] == pytest.approx(group["communal"], nan_ok=True)


# Uncertainty


def labe(gaps, names=5, texts=15, between_names=3, between_texts=30, seed=0):
    """Columns like LABE's professor reviews: gaps of each group, plus noise of names and texts, in 12 sentences each.

    Returns labels, references, names; the expected mean gap of group i is exactly gaps[i].
    """
    draw = np.random.default_rng(seed)
    shape = (len(GROUPS), names, texts)
    means = np.asarray(gaps, dtype=float)[:, None, None] + draw.normal(0, between_names, shape[:2])[..., None]
    agentic = draw.binomial(12, np.clip(0.5 + (means + draw.normal(0, between_texts, shape)) / 200, 0, 1))
    cells = list(product(range(len(GROUPS)), range(names), range(texts)))
    references = [reference(*GROUPS[group]) for group, _, _ in cells]
    clusters = [f"{' '.join(GROUPS[group])} {name}" for group, name, _ in cells]
    return [text(int(agentic[cell]), 12 - int(agentic[cell])) for cell in cells], references, clusters


def score(labels, references, clusters, **columns):
    """The metric without evaluate's own checks, where many data sets are scored."""
    genders, races = ([each[key] for each in references] for key in ("gender", "race"))
    return scores.agency_gap(labels, genders, races, clusters=clusters, **columns)


def test_a_model_that_always_writes_alike_scores_0():
    """Names have 1 to 11 texts of two agentic sentences in three: figures that differ by rounding are equal.

    Nothing shows how other names would differ, so that variances have no interval, and that is said.
    """
    _, references, clusters = labe([0] * 8)
    references, clusters = at([i for i in range(600) if i % 15 <= i // 15 % 11], references, clusters)
    result = compute([text(2, 1)] * len(references), references, clusters=clusters)
    assert [result[key] for key in VARIANCES] == pytest.approx([0] * 4, abs=1e-9)
    assert result["p_values"] == dict.fromkeys((*VARIANCES, "gender_difference"), 1.0)
    assert result["chance"] == pytest.approx(dict.fromkeys(VARIANCES, 0), abs=1e-9)
    for key in VARIANCES:
        assert all(map(math.isnan, result["intervals"][key]))
    assert any(
        note.endswith(f"how others would: {', '.join(VARIANCES)}".replace("_", " ")) for note in result["warnings"]
    )


def test_a_model_that_treats_all_groups_alike_scores_about_chance():
    """Chance is the noise of a group's mean: of five names, of 75 texts, and of 12 sentences in each.

    A gap of m, in percent, has the variance (100² - m²) / 12 from its sentences, and m² is 3² + 30² on average. Races
    are means of two groups and genders of four.
    """
    result = [score(*labe([0] * 8, seed=seed)) for seed in range(20)]
    for key in VARIANCES:
        scored, chance = (statistics.mean(each) for each in zip(*((r[key], r["chance"][key]) for r in result)))
        assert scored == pytest.approx(chance, rel=0.35)
    noise = 3**2 / 5 + (30**2 + (100**2 - 3**2 - 30**2) / 12) / 75
    assert statistics.mean(r["chance"]["intersectional_variance"] for r in result) == pytest.approx(noise, rel=0.1)
    assert statistics.mean(r["chance"]["race_variance"] for r in result) == pytest.approx(noise / 2, rel=0.1)
    assert statistics.mean(r["chance"]["gender_variance"] for r in result) == pytest.approx(noise / 4, rel=0.1)


def test_a_model_that_treats_one_group_differently_is_found():
    """Black women 30 points below: men above women by 7.5, the Black mean 15 below, 12.5 % of groups 30 below."""
    gaps = [-30 if group == ("Black", "female") else 0 for group in GROUPS]
    result = score(*labe(gaps, texts=60))
    assert all(p < 0.03 for p in result["p_values"].values())
    assert result["gender_difference_by_race"]["Black"] == pytest.approx(30, abs=15)
    for key in VARIANCES:
        assert result["chance"][key] < result[key]
        assert result["intervals"][key][0] > 0


def small(gaps, labels):
    """One text a name: gaps of 100, 0 or -100, and the (race, gender) of each name."""
    texts = {100: text(1, 0), 0: text(1, 1), -100: text(0, 1)}
    names = [f"n{i}" for i in range(len(gaps))]
    return score([texts[gap] for gap in gaps], [reference(*label) for label in labels], names)


def test_permutations_against_all_that_there_are():
    """Men 100, 100 and women 0, 0: of six ways to call two of four men, two give 5,000, the others 0."""
    result = small([100, 100, 0, 0], [("White", "male")] * 2 + [("White", "female")] * 2)
    assert result["gender_variance"] == 5000
    assert result["chance"]["gender_variance"] == pytest.approx(5000 / 3, rel=0.15)
    assert result["p_values"]["gender_variance"] == pytest.approx(1 / 3, abs=0.05)
    assert result["p_values"]["gender_difference"] == pytest.approx(1 / 3, abs=0.05)


def test_gender_labels_are_exchanged_within_races_and_race_labels_within_genders():
    """White names have 100 and Black ones -100, men and women alike: exchanging genders within a race changes nothing.

    Race: of 4 White and 4 Black names two of either gender; the observed 20,000 is had when all four places of both
    genders are as observed or all are turned: (2 of 6 ways for each gender), both the same way: 2 / 36.
    """
    labels = [(race, gender) for race in ("White", "Black") for gender in GENDERS for _ in range(2)]
    result = small([100] * 4 + [-100] * 4, labels)
    assert result["gender_variance"] == result["chance"]["gender_variance"] == 0
    assert result["p_values"]["gender_variance"] == 1
    assert result["race_variance"] == 20000
    assert result["p_values"]["race_variance"] == pytest.approx(2 / 36, abs=0.03)


def test_both_labels_are_exchanged_over_all_names_for_the_other_variances():
    """The same texts. Of 70 ways to give the four 100s to eight names, 6 give them to two whole groups, as observed."""
    labels = [(race, gender) for race in ("White", "Black") for gender in GENDERS for _ in range(2)]
    result = small([100] * 4 + [-100] * 4, labels)
    assert result["p_values"]["intersectional_variance"] == pytest.approx(6 / 70, abs=0.03)
    # In 4 of these 6 the two groups share a race or a gender, whose variance is then 20,000 and not 0.
    assert result["p_values"]["overall"] == pytest.approx(4 / 70, abs=0.03)


def test_names_of_unknown_race_exchange_genders_among_themselves():
    """Two men 100 and two women 0 without a race; White men and women 0: as if the race's names were not there."""
    labels = [("", "male")] * 2 + [("", "female")] * 2 + [("White", "male")] * 2 + [("White", "female")] * 2
    result = small([100, 100, 0, 0, 0, 0, 0, 0], labels)
    assert result["gender_variance"] == 50**2 / 2
    assert result["p_values"]["gender_variance"] == pytest.approx(1 / 3, abs=0.05)


def test_labels_that_can_not_be_exchanged_give_no_p_value():
    """All men are White and all women Black: within a race there is nobody to exchange a gender with."""
    result = small([100, 0, 0, 0], [("White", "male")] * 2 + [("Black", "female")] * 2)
    assert result["gender_variance"] == 50**2 / 2
    assert math.isnan(result["p_values"]["gender_variance"])
    assert math.isnan(result["chance"]["race_variance"])
    assert not math.isnan(result["p_values"]["intersectional_variance"])
    assert any("no p-value" in note and "gender variance, race variance" in note for note in result["warnings"])


def test_the_p_value_of_a_fair_model_is_small_as_rarely_as_it_says():
    """Of 200 data sets without bias, 10 % +- 2.1 % have p <= 0.1."""
    p_values = [score(*labe([0] * 8, texts=4, seed=seed), n_resamples=99)["p_values"] for seed in range(200)]
    for key in (*VARIANCES, "gender_difference"):
        assert 0.04 <= statistics.mean(each[key] <= 0.1 for each in p_values) <= 0.16


def reviews(seed, sizes=(517, 112)):
    """A fourth of RateMyProfessor's texts of men and of women; women's have three sentences, men's twelve. No bias."""
    draw = np.random.default_rng(seed)
    genders = [gender for gender, n in zip(GENDERS, sizes) for _ in range(n)]
    sentences = [3 if gender == "female" else 12 for gender in genders]
    labels = [draw.integers(0, 2, n).tolist() for n in sentences]
    return labels, [{"gender": gender, "race": ""} for gender in genders], [str(i) for i in range(len(genders))]


def test_a_small_and_noisy_group_is_no_effect():
    """Of 60 data sets 3 +- 1.7; comparing variances themselves rejects a fifth."""
    results = [score(*reviews(seed), n_resamples=99) for seed in range(60)]
    for key in ("gender_variance", "gender_difference"):
        assert sum(each["p_values"][key] <= 0.05 for each in results) <= 8
    held = [each["intervals"]["gender_difference"] for each in results]
    assert sum(low <= 0 <= high for low, high in held) >= 52
    plain = [each["gender_variance"] / each["chance"]["gender_variance"] > 1.96**2 for each in results]
    assert statistics.mean(plain) > 0.13  # the noise that permuted labels suppose is not that of women's texts


def test_groups_of_unequal_noise_keep_the_level():
    """Of 60 data sets of 8 groups of five names, of which women's texts are cut to three sentences, 3 +- 1.7."""
    rejected = dict.fromkeys((*VARIANCES, "gender_difference"), 0)
    for seed in range(60):
        labels, references, clusters = labe([0] * 8, texts=4, seed=seed)
        noisy = [each[:3] if other["gender"] == "female" else each for each, other in zip(shuffled(labels), references)]
        p_values = score(noisy, references, clusters, n_resamples=99)["p_values"]
        rejected = {key: n + (p_values[key] <= 0.05) for key, n in rejected.items()}
    assert max(rejected.values()) <= 8, rejected


def test_one_noisy_group_is_no_effect_of_race():
    """Asian women have a text of six sentences a name, others one of 96: four times as noisy, four names a group.

    Of 150 data sets 7.5 +- 2.7; permutations alone, which carry no noise along, reject 13.
    """
    rng, rejected = np.random.default_rng(0), 0
    groups = [group for group in GROUPS for _ in range(4)]
    for _ in range(150):
        labels = [rng.integers(0, 2, 6 if group == ("Asian", "female") else 96).tolist() for group in groups]
        found = score(labels, [reference(*group) for group in groups], [str(i) for i in range(32)], n_resamples=99)
        rejected += found["p_values"]["race_variance"] <= 0.05
    assert rejected <= 10


def drawn_names(noise, counts, seeds=1):
    """Clusters of two strata, `counts` texts each, whose texts' gaps have standard deviations `noise`; own means."""
    draw = np.random.default_rng(0)
    rows = [
        np.concatenate([n * mean + math.sqrt(n) * draw.normal(0, sd) * np.ones(seeds), n * np.ones(seeds)])
        for mean, sd in zip((40, -40), noise)
        for n in counts
    ]
    size = len(counts)
    return SimpleNamespace(sums=np.array(rows), starts=np.array([0, size]), sizes=np.array([size, size]))


def test_groups_of_one_mean_keep_their_own_noise():
    """Means of 40 and -40, of texts that vary by 10 and 30: alike they are both that of all, and vary as before."""
    sample = drawn_names((10, 30), [1, 2, 3] * 20)

    def means(sums):
        totals, counts = np.split(sums, 2, axis=-1)
        halves = (slice(0, 60), slice(60, 120))
        return np.stack([totals[:, each].sum(axis=1) / counts[:, each].sum(axis=1) for each in halves], axis=1)[..., 0]

    figures = under_equal_means(means, sample, np.zeros(120), 2000)
    mean = sample.sums[:, 0].sum() / 240
    assert figures.mean(axis=0) == pytest.approx([mean, mean], abs=0.3)
    noise = [10 / math.sqrt(120), 30 / math.sqrt(120)]
    assert figures.std(axis=0) == pytest.approx(noise, rel=0.25)  # 60 clusters tell a deviation to 9 percent
    apart = under_equal_means(means, sample, np.repeat([0, 1], 60), 2000)  # as men and women, where races are compared
    assert apart.mean(axis=0) == pytest.approx(means(sample.sums[None])[0], abs=0.3)


def test_names_that_have_no_noise_are_drawn_without():
    sample = drawn_names((0, 0), [1, 4, 2], seeds=2)
    sums = under_equal_means(lambda sums: sums, sample, np.zeros(6), 5)
    assert sums[:, :, :2] == pytest.approx(np.zeros((5, 6, 2)), abs=1e-6)
    assert (sums[:, :, 2:] == sample.sums[:, 2:]).all()


def test_labels_that_change_places_do_not_decide_alone_where_groups_differ_in_noise(monkeypatch):
    """p is the larger one of both ways."""
    labels, references, clusters = labe([0] * 8, texts=4, seed=3)
    found = score(labels, references, clusters, n_resamples=99)["p_values"]
    for drawn in (math.inf, -math.inf):  # as large as any observed figure, and never so

        def draws(statistic, sample, blocks, n, figure=drawn):
            return np.full_like(statistic(np.broadcast_to(sample.sums, (n, *sample.sums.shape))), figure)

        monkeypatch.setattr(studentized, "under_equal_means", draws)
        others = score(labels, references, clusters, n_resamples=99)["p_values"]
        for key in (*VARIANCES, "gender_difference"):
            assert others[key] == 1 if drawn > 0 else others[key] <= found[key]


def shuffled(labels):
    """Each text's sentences in another order."""
    return [random.Random(i).sample(each, len(each)) for i, each in enumerate(labels)]


def test_texts_that_happen_to_be_alike_are_not_certain():
    """Two men of 100 and two women of 99: with so few, a group's own spread of 0 must not be the last word."""
    labels = [[1] * 200] * 2 + [[1] * 199 + [0]] * 2
    result = score(
        labels, [reference("White", gender) for gender in ("male", "male", "female", "female")], list("abcd")
    )
    assert result["p_values"]["gender_variance"] == pytest.approx(1 / 3, abs=0.05)


# Gaps of the eight groups: gender, race and intersectional variances of 20.2, 27 and 36, 27.7 on average.
MODERATE = np.array([6, 2, -4, -8, 2, -6, 8, 0]) * 6 / math.sqrt(32)


def truth(gaps):
    """The figures of groups whose mean gaps are exactly these."""
    men, women, races = np.mean(gaps[0::2]), np.mean(gaps[1::2]), np.reshape(gaps, (4, 2)).mean(axis=1)
    variances = [statistics.variance(each) for each in ([men, women], races.tolist(), list(gaps))]
    return dict(zip(VARIANCES, [*variances, statistics.mean(variances)])) | {"gender_difference": men - women}


@pytest.mark.parametrize(("gaps", "most"), [(MODERATE, 0.98), ([0.0] * 8, 1.0)], ids=["biased", "fair"])
def test_intervals_hold_the_truth_in_about_95_percent_of_data_sets(gaps, most):
    """200 data sets: a standard deviation of 1.6 %. Percentile intervals of the intersectional variance: 60 and 0 %."""
    results = [score(*labe(gaps, seed=seed), n_resamples=399)["intervals"] for seed in range(200)]
    for key, value in truth(np.array(gaps)).items():
        covered = np.mean([low - 1e-9 <= value <= high for low, high in (each[key] for each in results)])
        assert 0.89 <= covered <= most
    held = [each["groups"]["Asian female"]["gap"] for each in results]
    assert 0.86 <= np.mean([low <= gaps[7] <= high for low, high in held]) <= 0.98


def test_96_matched_texts_hold_the_truth_and_find_a_bias_that_is_none_as_rarely_as_they_may():
    """A text of each of twelve descriptor combinations in each group, by five names of it: 40 data sets (sd 3.4 %)."""
    rng, held, found = np.random.default_rng(0), dict.fromkeys((*VARIANCES, "gap"), 0), dict.fromkeys(VARIANCES, 0)
    for seed in range(40):
        name = rng.integers(0, 5, 12)
        kept = [group * 60 + place * 12 + k for group in range(8) for k, place in enumerate(name)]
        moderate, fair = (
            score(*at(kept, *labe(gaps, texts=12, seed=seed)), n_resamples=199) for gaps in (MODERATE, [0] * 8)
        )
        ends = moderate["intervals"] | {"gap": moderate["intervals"]["groups"]["Asian female"]["gap"]}
        for key, value in (truth(MODERATE) | {"gap": MODERATE[7]}).items():
            if key in held:
                held[key] += ends[key][0] <= value <= ends[key][1]
        found = {key: n + (fair["p_values"][key] <= 0.05) for key, n in found.items()}
    assert all(n >= 33 for n in held.values()), held
    assert all(n <= 6 for n in found.values()), found


def test_intervals_hold_the_figures_and_come_out_the_same_again():
    columns = labe(MODERATE)
    result = compute(*columns[:2], clusters=columns[2])
    assert result["n_clusters"] == 40
    assert result["warnings"] == []
    ends = result["intervals"]
    assert ends["gender_difference_by_race"].keys() == result["gender_difference_by_race"].keys()
    assert ends["groups"].keys() == result["groups"].keys()
    pairs = [(ends[key], result[key]) for key in (*VARIANCES, "gender_difference")]
    pairs += [(ends["groups"][name]["gap"], group["gap"]) for name, group in result["groups"].items()]
    pairs += [(ends["gender_difference_by_race"][race], result["gender_difference_by_race"][race]) for race in RACES]
    assert all(low < value < high for (low, high), value in pairs)
    assert compute(*columns[:2], clusters=columns[2]) == result


def test_names_that_agree_are_not_certain():
    """Every text of a group is the same, so that drawing other names of the group changes nothing: variances have none.

    White men have three names and the others five, so that 18 are men's: 1 - 0.025^(1/18), 18.5 %, may be otherwise.
    """
    _, references, clusters = labe([0] * 8, texts=2)
    kept = [i for i, name in enumerate(clusters) if name not in ("White male 3", "White male 4")]
    references, clusters = at(kept, references, clusters)
    labels = [text(GROUPS.index((each["race"], each["gender"])), 7) for each in references]
    result = compute(labels, references, clusters=clusters)
    assert all(math.isnan(end) for key in VARIANCES for end in result["intervals"][key])
    men, unseen = result["groups"]["male"]["gap"], 1 - 0.025 ** (1 / 18)
    ends = [men - unseen * (men + 100), men + unseen * (100 - men)]
    assert result["intervals"]["groups"]["male"]["gap"] == pytest.approx(ends)
    low, high = result["intervals"]["gender_difference"]
    assert low < result["gender_difference"] - unseen * (men + 100)  # women's may be otherwise, too
    assert high > result["gender_difference"] + unseen * (100 - men)


def names_of_one_group(rng, counts):
    """Texts of six sentences, agentic or communal by chance, of names with so many texts: labels, references, names."""
    names = [str(name) for name, n in enumerate(counts) for _ in range(n)]
    return [rng.integers(0, 2, 6).tolist() for _ in names], [reference("White", "male")] * len(names), names


def test_the_interval_of_names_with_unequal_numbers_of_texts():
    """Names of 2, 1 and 1 texts: gaps 10, 10; 0; -10. Their sums depart from the mean, 2.5, by 15, -2.5 and -12.5.

    The mean leaves each 1 - 2/4, 3/4 and 3/4 of its variance: (15² / (1/2) + (2.5² + 12.5²) / (3/4)) / 4² is the square
    of the error. With a = 2, 4/3, 4/3 and the departures' covariances S of texts that vary by 1 the degrees of freedom
    are (2 + 1 + 1)² / sum of a a' S²: S is 1, 3/4, 3/4 for a name, -1/2, -1/2, -1/4 for two, so 16 / (80 / 9) = 1.8.
    """
    labels = [text(11, 9), text(11, 9), text(10, 10), text(9, 11)]
    result = score(labels, [reference("White", "male")] * 4, list("aabc"))
    error = math.sqrt((15**2 * 2 + (2.5**2 + 12.5**2) * 4 / 3) / 16)
    expected = [2.5 + sign * stats.t.ppf(0.975, 1.8) * error for sign in (-1, 1)]
    assert result["intervals"]["groups"]["White male"]["gap"] == pytest.approx(expected)


def test_one_name_with_most_texts_does_not_make_an_interval_too_narrow():
    """Names of 8, 1, 1, 1 and 1 texts, 300 data sets: with n / (n - 1) and n - 1 degrees of freedom 90 % are held."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        result = score(*names_of_one_group(rng, (8, 1, 1, 1, 1)), n_resamples=1)
        low, high = result["intervals"]["groups"]["White male"]["gap"]
        held.append(low <= 0 <= high)
    assert statistics.mean(held) >= 0.94


def test_a_name_that_is_alone_in_a_seed_shows_no_noise():
    """Three names with a seed each: no interval, and a warning says so. Before it was a point."""
    labels, references, names = names_of_one_group(np.random.default_rng(0), (2, 2, 2))
    result = score(labels, references, names, seeds=names)
    assert math.isnan(result["intervals"]["groups"]["White male"]["gap"][0])
    assert any("no interval" in note and "groups White male gap" in note for note in result["warnings"])


def test_the_interval_of_a_difference_is_as_wide_as_students():
    """t of 32 degrees of freedom: 40 names less 8 groups. The mean of men is that of four races of five names each."""
    ratios = []
    for seed in range(20):
        labels, references, clusters = labe(MODERATE, seed=seed)
        low, high = score(labels, references, clusters)["intervals"]["gender_difference"]
        shares = np.array([sum(each) for each in labels]).reshape(len(GROUPS), 5, 15).mean(axis=2) / 12
        error = math.sqrt((200 * shares).var(axis=1, ddof=1).sum() / 5) / 4
        ratios.append((high - low) / (2 * 2.037 * error))
    assert statistics.mean(ratios) == pytest.approx(1, abs=0.03)


def test_more_texts_of_the_same_names_do_not_narrow_intervals_beyond_the_names():
    """Each text ten times over: the same means, the same intervals."""
    labels, references, clusters = labe(MODERATE)
    once, tenfold = score(labels, references, clusters), score(labels * 10, references * 10, clusters * 10)
    assert uncertainty(tenfold) == pytest.approx(uncertainty(once))


def test_few_names_are_a_warning():
    result = score(*labe(MODERATE, names=3))
    assert any("only 24 clusters" in note for note in result["warnings"])
    assert score(*labe(MODERATE, names=4))["warnings"] == []


@pytest.mark.parametrize("names", ["0", "01"])
def test_a_group_with_one_or_two_names_has_no_interval(names):
    """Nor has a figure that rests on it; those that don't keep theirs."""
    labels, references, clusters = labe(MODERATE)
    kept = [i for i, name in enumerate(clusters) if not name.startswith("Asian male") or name[-1] in names]
    result = score(*at(kept, labels, references, clusters))
    ends = result["intervals"]
    for key in (*VARIANCES, "gender_difference"):
        assert math.isnan(ends[key][0])
        assert not math.isnan(result[key])
    assert math.isnan(ends["groups"]["Asian"]["gap"][0])
    assert math.isnan(ends["gender_difference_by_race"]["Asian"][0])
    assert not math.isnan(ends["groups"]["female"]["gap"][0])
    assert not math.isnan(ends["gender_difference_by_race"]["White"][0])
    [note] = [note for note in result["warnings"] if "no interval" in note]
    assert "gender variance, race variance, intersectional variance, overall and 5 more" in note


def test_seeds_of_one_name_are_drawn_together():
    """Two seeds with the same labels are no more evidence than one."""
    labels, references, clusters = labe(MODERATE)
    seeds = [0] * len(labels) + [1] * len(labels)
    once, twice = score(labels, references, clusters), score(labels * 2, references * 2, clusters * 2, seeds=seeds)
    assert uncertainty(twice) == pytest.approx(uncertainty(once))


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_value_scores_as_its_rows_alone(shuffled):
    labels, references, clusters = labe(MODERATE)
    seeds, kinds = [i % 2 for i in range(600)], [("a", "b", "b")[i % 3] for i in range(600)]
    columns = (labels, references, clusters, seeds, kinds)
    if shuffled:
        columns = at(random.Random(3).sample(range(600), 600), *columns)
    labels, references, clusters, seeds, kinds = columns
    by = {"kind": kinds, "race": [each["race"] for each in references]}
    whole = score(labels, references, clusters, seeds=seeds, by=by, group_columns={"kind": kinds})
    assert {column: set(values) for column, values in whole["by"].items()} == {"kind": {"a", "b"}, "race": set(RACES)}
    for column, values in whole["by"].items():
        for value, result in values.items():
            rows = [row for row in range(600) if by[column][row] == value]
            labels, references, clusters, seeds, kinds = at(rows, *columns)
            alone = score(labels, references, clusters, seeds=seeds, group_columns={"kind": kinds})
            assert alone.pop("by") == {}
            assert repr(result) == repr(alone)  # NaN is equal to NaN here


def test_values_are_told_apart_by_their_text():
    result = compute([text(1, 0)] * 4, FOUR, by={"column": [1, "1", 2, None]})
    assert {value: group["n"] for value, group in result["by"]["column"].items()} == {"": 1, "1": 2, "2": 1}


def test_labels_arrive_as_any_sequence_of_zeros_and_ones():
    ragged = [[1, 0, 1], (True, False), np.array([0, 0]), np.array([1.0])]
    genders, races = ([each[key] for each in FOUR] for key in ("gender", "race"))
    plain = [[1, 0, 1], [1, 0], [0, 0], [1]]
    assert scores.agency_gap(ragged, genders, races) == scores.agency_gap(plain, genders, races)


TWO = FOUR[:2]


@pytest.mark.parametrize(
    ("labels", "references", "columns", "message"),
    [
        ([[1], [1, 2]], TWO, {}, "unknown label 2 in row 1; accepted: 1 .agentic., 0 .communal."),
        ([[-1], [1]], TWO, {}, "unknown label -1 in row 0"),
        ([[0.9, 0.8], [1]], TWO, {}, "unknown label 0.9 in row 0"),
        ([[1], [math.nan]], TWO, {}, "unknown label nan in row 1"),
        ([[1], ["1"]], TWO, {}, "unknown label '1' in row 1"),
        ([[1], [[1]]], TWO, {}, r"unknown label \[1\] in row 1"),
        ([[1], "10"], TWO, {}, "row 1 is '10', no list of labels"),
        ([[1], [None]], TWO, {}, "unknown label None in row 1"),
        ([None, [1]], TWO, {}, "row 0 is None, no list of labels"),
        ([[1], [1]], TWO[:1], {}, "number of predictions .2. and references .1."),
        ([[1], [1]], TWO, {"seeds": [0]}, "seeds has 1 values for 2"),
        ([[1], [1]], TWO, {"clusters": ["a"]}, "clusters has 1 values for 2"),
        ([[1], [1]], TWO, {"by": {"age": [20]}}, "by.'age'. has 1 values for 2"),
        ([[1], [1]], TWO, {"group_columns": {"age": [20]}}, "group_columns.'age'. has 1 values for 2"),
        (
            [[1], [1]],
            TWO,
            {"clusters": ["Sam", "Sam"]},
            "cluster 'Sam' .*'male'.*'female'.*determine the group.*text ids",
        ),
        (
            [[1], [1]],
            [reference("White", "male"), reference("", "male")],
            {"clusters": ["Sam", "Sam"]},
            "cluster 'Sam'",
        ),
        ([[1], [1]], TWO, {"clusters": ["Sam", ""]}, "clusters has no value in row 1.*own id"),
        ([[1], [1]], TWO, {"clusters": ["Sam", None]}, "clusters has no value in row 1"),
        ([[1], [1]], [reference("male", "x"), reference("White", "male")], {}, "two groups are called 'male'"),
        ([[1], [1]], [reference("a b", "c"), reference("a", "b c")], {}, "two groups are called 'a b c'"),
    ],
)
def test_bad_input_is_named(labels, references, columns, message):
    with pytest.raises(ValueError, match=message):
        compute(labels, references, **columns)


def test_what_equals_0_or_1_is_a_label():
    """As a classifier's library hands them over: nothing is rounded."""
    expected = compute([[1, 0], [1, 1, 0]], TWO)["groups"]
    for kind in (bool, float, np.int64, np.float32, np.bool_):
        assert compute([[kind(1), kind(0)], [kind(1), kind(1), kind(0)]], TWO)["groups"] == expected
    assert compute([np.array([1, 0]), np.array([True, True, False])], TWO)["groups"] == expected


def test_no_interval_of_a_gap_leaves_the_scale():
    """Three names whose texts are all agentic, or none: two of one kind and one of the other."""
    labels = [text(1, 0)] * 3 + [text(1, 0), text(0, 1), text(1, 0)]
    references = [reference("", "male")] * 3 + [reference("", "female")] * 3
    result = score(labels, references, list("abcdef"))
    assert result["intervals"]["groups"]["female"]["gap"] == [-100, 100]
    low, high = result["intervals"]["gender_difference"]
    assert -200 <= low < high <= 200


def test_groups_whose_names_are_all_alike_are_not_certain():
    """Six men's texts all agentic, six women's all communal: 1 - 0.025^(1/6), 45.9 % of others, may go unseen.

    So men's gap of 100 may be 100 - 0.459 * 200 = 8.1, and the difference of 200 is sqrt(2) * 91.9 = 129.9 less.
    """
    result = scores.agency_gap([[1]] * 6 + [[0]] * 6, ["male"] * 6 + ["female"] * 6, [""] * 12, clusters=range(12))
    assert result["gender_difference"] == 200
    found = result["intervals"]
    assert found["groups"]["male"]["gap"] == pytest.approx([8.15, 100], abs=0.01)
    assert found["groups"]["female"]["gap"] == pytest.approx([-100, -8.15], abs=0.01)
    assert found["gender_difference"] == pytest.approx([200 - 129.90, 200], abs=0.01)
    assert math.isnan(found["gender_variance"][0])
    assert any(
        note.startswith("no interval, for no cluster departs from its group's mean") and "gender variance" in note
        for note in result["warnings"]
    )


def test_one_group_of_names_all_alike_widens_the_difference():
    """Men's six names as above; women's gaps are 100 and -100 by turns, with an error of 200 * sqrt(0.3 / 6) = 44.7.

    t of 5 degrees is 2.571: 115, more than the ends allow for women alone; below, sqrt(91.9² + 115²) = 147.2.
    """
    labels = [[1]] * 6 + [[1], [0]] * 3
    result = scores.agency_gap(labels, ["male"] * 6 + ["female"] * 6, [""] * 12, clusters=range(12))
    assert result["gender_difference"] == 100
    low, high = result["intervals"]["gender_difference"]
    assert low == pytest.approx(100 - math.hypot(91.85, 114.98), abs=0.05)
    assert high == 200
    assert not math.isnan(result["intervals"]["gender_variance"][0])
