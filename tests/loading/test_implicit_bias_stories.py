"""Laws of implicit_bias's stories: who does what tells whether they are biased, and nothing else does."""

import json
import re
from collections import Counter, defaultdict

import datasets
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from evenhand.library import DATASETS
from evenhand.metrics.implicit_bias_score.assignments import Scenario

FOLDER = DATASETS / "implicit_bias"
PRONOUNS = ("he", "she", "him", "her", "hers", "his", "himself", "herself")
CHANCE = re.compile(
    r"\b(draws?|drawn?|drew|lots?|straws?|dice|die|raffles?|rota|turns? of|lottery|coin|spins?|slips?|tickets?|throws?|"
    r"shuffled?|rolls? a|choose[sn]? for|picks? first|signs? for|would like to|chooses)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def stories(tmp_path_factory):
    """The 222 rows of finetune_full, each with its `story`."""
    splits = datasets.load_dataset(str(FOLDER), "finetune_full", cache_dir=str(tmp_path_factory.mktemp("cache")))
    return [
        row | {"story": row["messages"][1]["content"], "split": name} for name, part in splits.items() for row in part
    ]


@pytest.fixture(scope="module")
def card():
    return " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def masked(stories):
    """The stories, with one word in place of every name and pronoun."""
    names = sorted({name for row in stories for name in row["characters"]})
    person = re.compile(rf"\b(?:{'|'.join((*names, *PRONOUNS))})\b", re.IGNORECASE)
    return [person.sub("somebody", row["story"]) for row in stories]


def right(guesses, rows):
    return sum(bool(guess) == row["biased"] for guess, row in zip(guesses, rows, strict=True)) / len(rows)


def either_way(guesses, rows):
    """The accuracy of a rule, or of its contrary, whichever is better."""
    share = right(guesses, rows)
    return max(share, 1 - share)


def in_card(card, name):
    """The share that the card's table of baselines gives."""
    return float(re.search(rf"\| {name} \| ([\d.]+) % \|", card)[1]) / 100


@pytest.mark.parametrize(
    ("vectors", "classifier"),
    [
        (CountVectorizer(binary=True), MultinomialNB()),
        (CountVectorizer(), LogisticRegression(max_iter=2000)),
        (TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(max_iter=2000)),
    ],
    ids=["words-bayes", "words-logistic", "pairs-logistic"],
)
def test_words_do_not_tell(vectors, classifier, stories, masked, card, request):
    """Learnt from other scenarios, words and pairs of them without names and pronouns tell at most 60 %. Card: all."""
    guesses = cross_val_predict(
        make_pipeline(vectors, classifier),
        masked,
        [row["biased"] for row in stories],
        groups=[row["scenario_id"] for row in stories],
        cv=GroupKFold(10),
    )
    share = right(guesses, stories)
    assert share <= 0.6
    assert in_card(card, request.node.callspec.id) == pytest.approx(share, abs=0.015)  # releases of the library differ


def test_the_first_name_does_not_tell(stories, card):
    """The gender of whoever is named first: at most 55 % in all, and as many men as women within 4 % in each label."""
    share = either_way([row["first_named"] == "male" for row in stories], stories)
    assert share <= 0.55
    assert in_card(card, "first-named") == pytest.approx(share, abs=0.0005)
    for split, most in ((None, 0.55), ("train", 0.55), ("validation", 0.55)):
        some = [row for row in stories if split in (None, row["split"])]
        assert either_way([row["first_named"] == "male" for row in some], some) <= most
    for biased in (True, False):
        men = [row["first_named"] == "male" for row in stories if row["biased"] is biased]
        assert abs(sum(men) / len(men) - 0.5) < 0.04


def test_first_named_is_read_from_the_story(stories):
    for row in stories:
        gender_of = dict(zip(row["characters"], row["genders"], strict=True))
        assert row["first_named"] == gender_of[next(w for w in re.findall(r"\w+", row["story"]) if w in gender_of)]


def test_who_does_what_tells(stories, card):
    """A reader who sees the tasks with their stereotypes, and the gender of whoever has each, is always right."""

    def by_stereotype(row):
        gender_of = dict(zip(row["characters"], row["genders"], strict=True))
        return [gender_of[name] for name in row["assignment"]] == row["task_stereotypes"]

    assert right([by_stereotype(row) for row in stories], stories) == in_card(card, "who-does-what") == 1
    for row in stories:
        scenario = Scenario.of(row["task_stereotypes"], row["characters"], row["genders"])
        assert scenario.kind(row["assignment"]) == ("stereotypical" if row["biased"] else "neutral"), row["id"]


def test_procedure_and_tone_are_crossed_with_the_label(stories, card):
    """Each cell has as many biased stories as unbiased ones, within one; a quarter of all state no procedure."""
    cells = Counter((row["procedure"], row["tone"], row["biased"]) for row in stories)
    kinds = {(procedure, tone) for procedure, tone, _ in cells}
    assert kinds == {("none", "plain")} | {(p, t) for p in ("fair", "unfair") for t in ("plain", "sexist")}
    for procedure, tone in kinds:
        biased, unbiased = cells[procedure, tone, True], cells[procedure, tone, False]
        assert abs(biased - unbiased) <= 1, (procedure, tone)
        assert min(biased, unbiased) >= 20, (procedure, tone)
        assert f"| {procedure} | {tone} | {biased} | {unbiased} |" in card
    assert sum(cells["none", "plain", biased] for biased in (True, False)) >= len(stories) / 4


def test_plain_pairs_differ_in_names_alone(stories, masked):
    pairs = defaultdict(list)
    for row, text in zip(stories, masked, strict=True):
        if row["procedure"] == "none":
            pairs[row["scenario_id"]].append((row["biased"], text))
    assert len(pairs) >= 111 / 4
    for both in pairs.values():
        (one, first), (other, second) = both
        assert {one, other} == {True, False}
        assert first == second


def test_no_biased_story_leaves_it_to_chance_or_free_choice(stories):
    """A draw that happens to fall by stereotype is no implicit bias: where everybody has a say, people decide."""
    fair = [row for row in stories if row["biased"] and row["procedure"] == "fair"]
    assert len(fair) == 41
    found = {row["id"]: CHANCE.findall(row["story"]) for row in fair}
    assert not {row_id: words for row_id, words in found.items() if words}


def test_the_card_has_the_published_stories_words(card):
    """The paper's 176 training stories, and all lines of that file; shorter than ours."""
    path = FOLDER.parents[2] / "shared/sources/implicit_bias/train_implicit_all.jsonl"
    if not path.is_file():
        pytest.skip("../shared/sources is absent")
    lines = [json.loads(line)["messages"] for line in path.read_text("utf-8").splitlines()]
    words = [len(texts[1]["content"].lstrip(":* ").split()) for texts in lines]
    paper, whole = sum(words[:176]) / 176, sum(words) / len(words)
    assert f"(the first 176 lines) have {paper:.1f}, all 252 lines of that file {whole:.1f}" in card


def test_lengths_and_pronouns_are_alike(stories, card):
    """60 to 100 words each; means of the labels within 2 %, and as in the card; pronouns as many, within a third."""
    lengths = {True: [], False: []}
    pronouns = {True: 0, False: 0}
    for row in stories:
        n = len(row["story"].split())
        assert 60 <= n <= 100, row["id"]
        lengths[row["biased"]].append(n)
        pronouns[row["biased"]] += len(re.findall(rf"\b(?:{'|'.join(PRONOUNS)})\b", row["story"], re.IGNORECASE))
    means = [sum(each) / len(each) for each in lengths.values()]
    assert max(means) / min(means) < 1.02
    of_biased, of_unbiased = means
    assert f"({of_biased:.1f} in the biased ones, {of_unbiased:.1f} in the others)" in card
    assert 3 * max(pronouns.values()) < 4 * min(pronouns.values())
