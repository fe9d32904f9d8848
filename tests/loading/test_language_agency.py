"""Laws of language_agency: pairs of agentic and communal sentences, their splits, neutral ones, the published LAC."""

import hashlib
import re
import shutil
import sys
from collections import Counter

import datasets
import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import evenhand
from evenhand.errors import EvenhandError
from evenhand.library import DATASETS, config_names, dataset_builder_class

FOLDER = DATASETS / "language_agency"
SCRIPT = sys.modules[dataset_builder_class("language_agency").__module__]

SPLITS = ["train", "validation", "test"]
SHARED = ("relation", "field", "register", "gender")
FEATURES = datasets.Features(
    {column: datasets.Value("string") for column in ("id", "text", "label", "pair", *SHARED)}
    | {"label": datasets.ClassLabel(names=["communal", "agentic"])}
)
NEUTRAL_FEATURES = datasets.Features(
    {column: datasets.Value("string") for column in ("id", "text", "kind", "field", "register", "gender")}
)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# A capital inside a sentence, or after a title or an initial; a possessive's ending is no part of the name.
NAME = re.compile(r"(?:(?<=[\w,;] )|(?<=\b(?:Dr|Mr|Ms)\. )|(?<=\bProf\. )|(?<=\b[A-Z]\. ))[A-Z][\w-]+")
NO_PERSONS_NAME = re.compile(  # what a sentence may add to the other of its pair: a day, a month, a feast, a place …
    r"(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|March|June|August|Christmas|Brazil|Paris|Tabriz|English|French|Roman"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The committed splits, read as anybody would read the folder."""
    return datasets.load_dataset(str(FOLDER), cache_dir=str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def frame(built):
    """All rows with their split, and the label by name."""
    frames = [rows.to_pandas().assign(split=split) for split, rows in built.items()]
    return pd.concat(frames, ignore_index=True).replace({"label": dict(enumerate(SCRIPT.LABELS))})


@pytest.fixture(scope="module")
def pairs(frame):
    """One row a pair: its columns, and its two texts by label."""
    texts = frame.pivot(index="pair", columns="label", values="text")
    return texts.join(frame.drop_duplicates("pair").set_index("pair")[["split", *SHARED]])


@pytest.fixture(scope="module")
def neutral(tmp_path_factory):
    """The sentences of the configuration `neutral`."""
    rows = datasets.load_dataset(str(FOLDER), "neutral", cache_dir=str(tmp_path_factory.mktemp("neutral")))
    assert list(rows) == ["test"]
    assert rows["test"].features == NEUTRAL_FEATURES
    return rows["test"].to_pandas()


@pytest.fixture
def mirror(tmp_path, monkeypatch, datasets_cache):
    """A folder as EVENHAND_SOURCES, with an empty place for LAC."""
    folder = tmp_path / "mirror"
    (folder / "labe").mkdir(parents=True)
    monkeypatch.setenv("EVENHAND_SOURCES", str(folder))
    return folder / "labe"


def load_official():
    return evenhand.load_dataset("language_agency", source="official")


def words(text):
    return set(WORD.findall(text.lower()))


def test_config_and_columns(built):
    """Pairs are the default; three splits with exactly the columns; communal is 0 and agentic 1, as in LAC."""
    assert config_names("language_agency") == ["evenhand", "neutral"]
    assert list(built) == SPLITS
    assert all(rows.features == FEATURES for rows in built.values())
    assert FEATURES["label"].str2int(["communal", "agentic"]) == [0, 1]


def test_pairs_are_whole(frame, built):
    """At least 800 sentences; a pair is one agentic and one communal sentence of one split, with what both share."""
    assert len(frame) >= 800
    assert frame["id"].is_unique
    assert (frame["id"] == frame["pair"] + "/" + frame["label"]).all()
    shared = frame.groupby("pair").agg(list)
    assert set(shared["label"].map(tuple)) == {("agentic", "communal")}
    assert shared[["split", *SHARED]].map(lambda values: len(set(values)) == 1).all(axis=None)
    for split, rows in built.items():
        labels = Counter(rows["label"])
        assert labels[0] == labels[1] == len(rows) / 2, split


def test_labels_are_those_of_the_source(frame):
    """The sentence written as agentic carries that label, and the communal one its own."""
    written = {
        (f"{entry['pair']}/{label}", entry[label], label)
        for entry in SCRIPT.read_jsonl(FOLDER / SCRIPT.PAIRS)
        for label in ("agentic", "communal")
    }
    assert set(frame[["id", "text", "label"]].itertuples(index=False, name=None)) == written


def test_no_text_twice(frame):
    """No two sentences are the same, whatever their case and punctuation."""
    bare = frame["text"].map(lambda text: " ".join(re.findall(r"\w+", text.lower())))
    assert bare[bare.duplicated(keep=False)].tolist() == []


def test_texts_are_clean(frame):
    """One line, no space at an end or doubled, none empty; the labels' own words are in none."""
    assert frame["text"].map(lambda text: text == " ".join(text.split()) != "").all()
    assert not frame["text"].str.contains(r"\b(?:agentic|communal)", case=False).any()


def test_splits_are_80_10_10(pairs):
    """Of the pairs, one in ten each for validation and test, to within one pair."""
    counts = pairs["split"].value_counts()
    assert abs(counts["validation"] - len(pairs) / 10) < 1
    assert abs(counts["test"] - len(pairs) / 10) < 1
    assert counts.sum() == len(pairs)


@pytest.mark.parametrize("split", SPLITS)
def test_splits_spread_genders_and_fields(split, pairs):
    """A gender has its share of each split to within two pairs; no field takes more than a tenth of a split.

    Every register is in every split, and every field has pairs to train on.
    """
    part = pairs[pairs["split"] == split]
    expected = pairs["gender"].value_counts() * len(part) / len(pairs)
    assert (part["gender"].value_counts() - expected).abs().max() <= 2
    assert part["field"].value_counts(normalize=True).max() <= 0.1
    assert set(part["register"]) == {"biography", "letter", "profile", "review"}
    assert split != "train" or set(part["field"]) == set(pairs["field"])


def test_split_rule():
    """Of 20 pairs that are alike, two go to each of validation and test, whatever their order."""
    shared = {"relation": "paraphrase", "gender": "female", "field": "law"}
    made = [{"pair": f"a-{number:03}", **shared} for number in range(20)]
    drawn = SCRIPT.split_of_pairs(made)
    assert Counter(drawn.values()) == {"train": 16, "validation": 2, "test": 2}
    assert SCRIPT.split_of_pairs(made[::-1]) == drawn


def test_genders_are_balanced(frame):
    """A third each female, male and neutral within each label, to within 3 points."""
    shares = frame.groupby("label")["gender"].value_counts(normalize=True).unstack()
    assert set(shares.columns) == {"female", "male", "neutral"}
    assert (shares - 1 / 3).abs().max(axis=None) < 0.03


def test_gender_is_that_of_the_pronouns(frame, neutral):
    """Sentences marked neutral have no "she" or "he"; no woman's has a man's pronouns alone, nor a man's a woman's."""
    said = pd.concat([frame, neutral])
    her, his = (said["text"].str.contains(words, case=False) for words in (r"\b(?:she|hers?)\b", r"\b(?:he|his|him)\b"))
    assert said[(said["gender"] == "neutral") & (her | his)]["id"].tolist() == []
    assert said[(said["gender"] == "female") & his & ~her]["id"].tolist() == []
    assert said[(said["gender"] == "male") & her & ~his]["id"].tolist() == []


def test_lengths_vary(frame):
    """On either side at least 15 % of sentences have fewer than 12 words, and 15 % more than 26.

    The sides' mean lengths are within 10 % of one another, so that length doesn't give the label away.
    """
    lengths = frame["text"].map(lambda text: len(WORD.findall(text)))
    for label, of_label in lengths.groupby(frame["label"]):
        assert (of_label < 12).mean() >= 0.15, label
        assert (of_label > 26).mean() >= 0.15, label
    means = lengths.groupby(frame["label"]).mean()
    assert means.max() / means.min() < 1.1


def test_no_word_gives_the_label_away(frame):
    """Of the sentences that a word stands in, where they are 12 or more, at most 85 % have one label."""
    counts = {
        label: Counter(word for text in texts for word in words(text))
        for label, texts in frame.groupby("label")["text"]
    }
    telling = {}
    for word in counts["agentic"] | counts["communal"]:
        agentic, communal = counts["agentic"][word], counts["communal"][word]
        if agentic + communal >= 12 and max(agentic, communal) > 0.85 * (agentic + communal):
            telling[word] = (agentic, communal)
    assert telling == {}


def test_words_alone_tell_few_paraphrases(pairs):
    """Of paraphrases, 400 pairs at least, naive Bayes over words tells fewer than 80 % of held-out sentences right.

    Each pair is held out once and the others are learned from, so that no draw of folds decides. This is MultinomialNB
    on binary counts of words (alpha 1): to hold a pair out is to take its words from the counts of all.
    """
    kept = pairs[pairs["relation"] == "paraphrase"]
    assert set(pairs["relation"]) == {"paraphrase", "contrast"}
    assert len(kept) >= 400
    counts = CountVectorizer(binary=True, token_pattern=r"\b\w+\b").fit([*kept["agentic"], *kept["communal"]])
    sides = [counts.transform(kept[label]).toarray() for label in ("agentic", "communal")]
    smoothed = [side.sum(axis=0) - side + 1 for side in sides]  # pair × word, of all pairs but this one
    agentic, communal = (np.log(side / side.sum(axis=1, keepdims=True)) for side in smoothed)
    told_agentic = [(side * (agentic - communal)).sum(axis=1) > 0 for side in sides]
    assert 0.5 < np.mean([told_agentic[0], ~told_agentic[1]]) < 0.8


def test_sentences_without_one_label(neutral, frame):
    """100 of each kind, no text twice nor among the pairs', genders and lengths spread, never the labels' own words."""
    assert neutral["kind"].value_counts().to_dict() == {"neutral": 100, "mixed": 100}
    assert neutral["id"].is_unique
    assert (neutral["id"].str[0] == neutral["kind"].str[0]).all()
    assert not set(neutral["text"]) & set(frame["text"])
    assert neutral["text"].is_unique
    assert neutral["text"].map(lambda text: text == " ".join(text.split()) != "").all()
    assert not neutral["text"].str.contains(r"\b(?:agentic|communal)", case=False).any()
    shares = neutral.groupby("kind")["gender"].value_counts(normalize=True).unstack()
    assert (shares[["female", "male", "neutral"]] - 1 / 3).abs().max(axis=None) < 0.03
    assert set(neutral["register"]) == set(frame["register"])
    assert set(neutral["field"]) <= set(frame["field"])


def test_neutral_sentences_are_not_lacs(datasets_cache):
    with pytest.raises(ValueError, match="neutral is of source 'evenhand', not 'official'"):
        evenhand.load_dataset("language_agency", "neutral", source="official")


def test_names_stand_on_both_sides(pairs):
    """A person's name in one sentence of a pair is in the other too."""
    names = {name for texts in (pairs["agentic"], pairs["communal"]) for text in texts for name in NAME.findall(text)}
    names = {name for name in names if not NO_PERSONS_NAME.fullmatch(name)}
    assert len(names) > 100
    for pair, texts in pairs.iterrows():
        agentic, communal = (names & set(re.findall(r"[\w-]+", texts[label])) for label in ("agentic", "communal"))
        assert agentic == communal, pair


def test_card_shows_pairs_that_are_there(pairs):
    """The examples of the card are pairs of the dataset, word for word."""
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `(\w-\d+)` \| (.+) \| (.+) \|$", card, re.MULTILINE)
    assert len(shown) >= 3
    for pair, agentic, communal in shown:
        assert (agentic, communal) == tuple(pairs.loc[pair, ["agentic", "communal"]])


def test_parquet_is_what_the_script_generates(built, tmp_path):
    """The committed parquet equals what the loading script generates, row for row."""
    neutral = datasets.load_dataset(str(FOLDER), "neutral", cache_dir=str(tmp_path / "read"))
    for config, committed in {"evenhand": built, "neutral": neutral}.items():
        builder_class = dataset_builder_class("language_agency")
        builder = builder_class(cache_dir=str(tmp_path), config_name=config, base_path=str(FOLDER))
        builder.download_and_prepare()
        generated = builder.as_dataset()
        assert list(generated) == list(committed)
        for split, rows in committed.items():
            assert generated[split].features == rows.features
            assert generated[split].data.table.combine_chunks().equals(rows.data.table.combine_chunks())


def test_library_loads_the_packaged_rows(built, datasets_cache):
    """evenhand.load_dataset gives the same rows, all splits or one."""
    assert {split: rows.to_list() for split, rows in evenhand.load_dataset("language_agency").items()} == {
        split: rows.to_list() for split, rows in built.items()
    }
    assert evenhand.load_dataset("language_agency", split="test").to_list() == built["test"].to_list()


def test_official_lac(official_sources):
    """Table 9: 2,979 and 372 sentences, 1,523 and 192 of them agentic; the test split's file is absent, so it warns."""
    with pytest.warns(UserWarning, match=r"lacks labe/test\.csv \(from https://raw\.githubusercontent\.com/.*left out"):
        splits = load_official()
    assert {split: (len(rows), sum(rows["label"])) for split, rows in splits.items()} == {
        "train": (2979, 1523),
        "validation": (372, 192),
    }
    for split, rows in splits.items():
        published = pd.read_csv(official_sources / "labe" / f"{split}.csv")
        assert rows.features == FEATURES
        assert rows["text"][:] == published["text"].tolist()
        assert rows["label"][:] == published["label"].tolist()
        assert rows["id"][:] == [f"lac-{split}-{number}" for number in range(len(published))]
        assert {value for column in SCRIPT.OF_A_PAIR for value in rows[column]} == {""}


def test_mirror_without_any_file_is_an_error(mirror):
    """A mirror that lacks all three files stops the build; the error lists them with their homes."""
    with pytest.raises(EvenhandError) as error:
        load_official()
    assert re.findall(
        r"(labe/\w+\.csv) \(from (?:\S+)/(\w+)/lac_dataset_construction/lac_dataset/\w+\.csv\)", str(error.value)
    ) == [(f"labe/{split}.csv", "e8cc42d86df007fd05e3ae0c27c127b7a0a6165c") for split in SPLITS]
    assert str(mirror.parent) in str(error.value)


def test_another_checksum_is_an_error(official_sources, mirror):
    """One changed byte stops the build; the error names the file and both checksums."""
    content = bytearray((official_sources / "labe" / "validation.csv").read_bytes())
    content[100] ^= 1
    (mirror / "validation.csv").write_bytes(content)
    expected = "b72ea51c5f723db24c25013ca22c9155eb4a3a0622ebcffb706436bbb11e8f5e"
    with pytest.warns(UserWarning, match="lacks labe/"), pytest.raises(ValueError, match=expected) as error:
        load_official()
    assert str(mirror / "validation.csv") in str(error.value)
    assert hashlib.sha256(content).hexdigest() in str(error.value)


def test_a_split_that_was_absent_is_loaded_once_its_file_is_there(official_sources, mirror):
    """What was built from a partial mirror is not taken for the whole later."""
    for files in (["validation"], ["train", "validation"]):
        for split in files:
            shutil.copy(official_sources / "labe" / f"{split}.csv", mirror)
        with pytest.warns(UserWarning, match=r"lacks labe/(train|test)\.csv"):
            assert list(load_official()) == files
