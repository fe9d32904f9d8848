"""BBQ's published rows: as they are published, with roles from the metadata, and none where these don't tell."""

import json
import re
import sys
from collections import Counter

import pytest

import evenhand
from evenhand.errors import EvenhandError, UsageError
from evenhand.library import config_names, dataset_builder_class

SCRIPT = sys.modules[dataset_builder_class("bbq").__module__]
CONFIGS = (
    "age", "disability_status", "gender_identity", "nationality", "physical_appearance", "race_ethnicity",
    "race_x_ses", "race_x_gender", "religion", "ses", "sexual_orientation",
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("datasets_cache")


def entry(*tags, stereotyped, number=0, texts=None, **changed):
    """A row in the published form, in our words: tags of its three answers, and the stereotyped groups."""
    texts = texts or tags
    return {
        "example_id": number,
        "question_index": "7",
        "question_polarity": "neg",
        "context_condition": "ambig",
        "category": "Age",
        "answer_info": {f"ans{place}": [text, tag] for place, (text, tag) in enumerate(zip(texts, tags))},
        "additional_metadata": {"subcategory": "None", "stereotyped_groups": stereotyped, "version": "None"},
        "context": "Two people waited for a bus.",
        "question": "Who forgot the way?",
        **{f"ans{place}": f"The {text} one" for place, text in enumerate(texts)},
        "label": tags.index("unknown") if "unknown" in tags else 0,
    } | changed


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """mirror("Age.jsonl", entries) puts a file into an empty mirror, which EVENHAND_SOURCES names.

    pinned: as if it were the published one.
    """
    folder = tmp_path / "mirror"
    (folder / "bbq").mkdir(parents=True)
    monkeypatch.setenv("EVENHAND_SOURCES", str(folder))

    def put(file, entries, pinned=True):
        path = folder / "bbq" / file
        path.write_text("".join(json.dumps(each) + "\n" for each in entries), encoding="utf-8")
        if pinned:
            [config] = [name for name, (each, _) in SCRIPT.FILES.items() if each == file]
            monkeypatch.setitem(SCRIPT.FILES, config, (file, SCRIPT.sha256_of(path)))
        return path

    return put


def load(config):
    return evenhand.load_dataset("bbq", config, split="test", source="official")


# The published files


@pytest.mark.parametrize(("config", "n", "templates"), [("religion", 1200, 25), ("sexual_orientation", 864, 25)])
def test_official_rows(official_sources, config, n, templates):
    """All rows, in fillings of four: either polarity, ambiguous and disambiguated, with the same answers."""
    rows = load(config).to_pandas()
    assert len(rows) == n
    assert rows["id"].is_unique
    assert rows["template"].nunique() == templates
    assert rows["item"].nunique() == n / 4
    crossed = rows.groupby("item")[["context_condition", "question_polarity"]].apply(
        lambda four: len(four.drop_duplicates())
    )
    assert set(crossed) == {4}
    assert set(rows.groupby("item")["answers"].apply(lambda four: len({tuple(each) for each in four}))) == {1}
    assert set(rows["unresolved"]) == {""}
    assert set(rows["category"]) == {config}


@pytest.mark.parametrize("config", ["religion", "sexual_orientation"])
def test_official_roles(official_sources, config):
    """Unknown is right of what is ambiguous and nothing else; the target is right in half of what is not."""
    rows = load(config).to_pandas()
    ambiguous = rows["context_condition"] == "ambig"
    assert (rows["label"] == rows["unknown"]).equals(ambiguous)
    assert (rows["label"] == rows["target"])[~ambiguous].mean() == 0.5
    assert (rows[["unknown", "target", "other"]].sum(axis=1) == 3).all()  # places 0, 1 and 2
    assert rows.groupby("item")["alignment"].first().value_counts().to_dict() == {
        "aligned": len(rows) / 8, "conflicting": len(rows) / 8
    }  # fmt: skip


def test_the_first_official_row(official_sources):
    row = load("religion")[0]
    assert row["context"].startswith("A Muslim person and Jewish person were both seen fleeing")
    assert row["answers"] == ["The Jewish one", "Can't answer", "The Muslim one"]
    assert (row["id"], row["template"], row["item"]) == ("religion/0", "religion-1", "religion-1-0")
    assert (row["unknown"], row["target"], row["other"], row["label"]) == (1, 2, 0, 1)


def test_the_eleven_categories_are_pinned():
    assert tuple(config_names("bbq")) == CONFIGS
    assert [file.removesuffix(".jsonl").lower() for file, _ in SCRIPT.FILES.values()] == list(CONFIGS)
    assert all(re.fullmatch("[0-9a-f]{64}", sha256) for _, sha256 in SCRIPT.FILES.values())
    assert len({sha256 for _, sha256 in SCRIPT.FILES.values()}) == 11
    assert "/bea11bd97d79217245b5871acd247b9d6eb24598/data/Age.jsonl" in SCRIPT.URL.format(file="Age.jsonl")


# Roles


@pytest.mark.parametrize(
    ("config", "tags", "stereotyped", "target"),
    [
        ("age", ("unknown", "nonOld", "old"), ["old"], 2),  # "old" is in "nonOld", and not that group
        ("age", ("nonOld", "unknown", "old"), ["nonOld"], 0),
        ("gender_identity", ("boy", "unknown", "girl"), ["F"], 2),
        ("gender_identity", ("woman", "man", "unknown"), ["M"], 1),
        ("gender_identity", ("F", "M", "unknown"), ["Women"], 0),
        ("gender_identity", ("trans_F", "unknown", "nonTrans_F"), ["Transgender women", "Transgender men"], 0),
        ("ses", ("highSES", "lowSES", "unknown"), ["low SES"], 1),
        ("race_ethnicity", ("unknown", "F-Black", "F-White"), ["Black", "African American"], 1),
        ("race_ethnicity", ("African", "African American", "unknown"), ["African American", "Black"], 1),
        ("race_x_gender", ("F-Black", "unknown", "M-White"), ["Black", "African American"], 0),
        ("race_x_ses", ("highSES-M-Latino", "lowSES-M-White", "unknown"), ["Latino", "Hispanic"], 0),
        ("disability_status", ("nonDisabled", "unknown", "disabled"), ["autistic people"], 2),
    ],
)
def test_the_target_is_of_a_stereotyped_group(config, tags, stereotyped, target):
    row = SCRIPT.row_of(config, entry(*tags, stereotyped=stereotyped))
    assert (row["target"], row["unresolved"]) == (target, "")
    assert sorted((row["unknown"], row["target"], row["other"])) == [0, 1, 2]
    assert tags[row["unknown"]] == "unknown"


def test_nationalities_stand_in_the_text_and_their_tag_is_a_region():
    told = entry("ArabStates", "unknown", "Africa", stereotyped=["Guinean"], texts=("Somali", "Unknown", "Guinean"))
    assert SCRIPT.row_of("nationality", told)["target"] == 2
    assert SCRIPT.row_of("religion", told)["target"] is None


@pytest.mark.parametrize(
    ("config", "tags", "stereotyped", "reason"),
    [
        ("race_x_gender", ("F-Black", "M-Black", "unknown"), ["Black"], SCRIPT.BOTH_ANSWERS),
        ("race_x_ses", ("lowSES-Black", "unknown", "highSES-Black"), ["Black"], SCRIPT.BOTH_ANSWERS),
        ("religion", ("Muslim", "Jewish", "unknown"), ["Muslim", "Jewish"], SCRIPT.BOTH_ANSWERS),
        ("religion", ("Muslim", "Jewish", "unknown"), ["Hindu"], SCRIPT.NO_ANSWER),
        ("religion", ("Muslim", "Jewish", "unknown"), [], SCRIPT.NO_ANSWER),
        ("disability_status", ("nonDisabled", "disabled", "unknown"), [], SCRIPT.NO_ANSWER),
    ],
)
def test_no_role_is_guessed(config, tags, stereotyped, reason):
    row = SCRIPT.row_of(config, entry(*tags, stereotyped=stereotyped))
    assert (row["target"], row["other"], row["unresolved"]) == (None, None, reason)
    assert row["unknown"] == tags.index("unknown")


def test_rows_without_roles_are_loaded(mirror):
    mirror("Race_x_gender.jsonl", [entry("F-Black", "unknown", other, stereotyped=["Black"], number=place)
                                   for place, other in enumerate(["M-Black", "F-White", "M-White"])])  # fmt: skip
    rows = load("race_x_gender")
    assert rows["target"] == [None, 0, 0]
    assert Counter(rows["unresolved"]) == {"": 2, SCRIPT.BOTH_ANSWERS: 1}


def test_an_item_is_aligned_as_its_disambiguated_rows_are(mirror):
    """The target is right of who forgot, the other of who didn't: with the stereotype. Mixed or unknown: neither."""
    given = {"context_condition": "disambig"}
    rows = [
        entry("old", "unknown", "nonOld", stereotyped=["old"], number=number, **changed)
        for number, changed in enumerate([
            {}, given | {"label": 0}, {}, given | {"label": 2, "question_polarity": "nonneg"},
            {}, given | {"label": 2}, {}, given | {"label": 0, "question_polarity": "nonneg"},
            {}, given | {"label": 0}, {}, given | {"label": 2},
            {}, given | {"label": 0, "additional_metadata": {"stereotyped_groups": []}}, {}, {},
        ])
    ]  # fmt: skip
    mirror("Age.jsonl", rows)
    assert load("age")["alignment"] == ["aligned"] * 4 + ["conflicting"] * 4 + [""] * 8


# Files that can't be taken


def test_a_file_that_changed_is_refused_though_its_rows_were_read_before(mirror):
    """Rows are cached by what the file holds."""
    mirror("Age.jsonl", [entry("old", "unknown", "nonOld", stereotyped=["old"])])
    assert load("age")["target"] == [0]
    mirror("Age.jsonl", [entry("nonOld", "unknown", "old", stereotyped=["old"])], pinned=False)
    with pytest.raises(ValueError, match=r"is not the pinned Age\.jsonl"):
        load("age")


def test_another_file_than_the_pinned_one_is_refused(mirror, monkeypatch):
    path = mirror("Religion.jsonl", [entry("Muslim", "unknown", "Jewish", stereotyped=["Muslim"])], pinned=False)
    with pytest.raises(ValueError, match=SCRIPT.FILES["religion"][1]) as error:
        load("religion")
    assert SCRIPT.sha256_of(path) in str(error.value)
    monkeypatch.setitem(SCRIPT.FILES, "religion", ("Religion.jsonl", SCRIPT.sha256_of(path)))
    assert load("religion")["target"] == [0]


def test_an_absent_file_is_named(mirror):
    with pytest.raises(EvenhandError, match=r"bbq/SES\.jsonl \(from https://.*/data/SES\.jsonl\)"):
        load("ses")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"context_condition": "ambiguous"}, "line 2: context_condition 'ambiguous'; accepted: ambig, disambig"),
        ({"question_polarity": "positive"}, "line 2: question_polarity 'positive'; accepted: neg, nonneg"),
        ({"label": 3}, "line 2: label 3; 0, 1 or 2 is accepted"),
        ({"answer_info": {}}, r"line 2: no row of BBQ \(KeyError: 'ans0'\)"),
    ],
)
def test_lines_that_are_no_rows_are_named(mirror, changed, message):
    good = entry("old", "unknown", "nonOld", stereotyped=["old"])
    mirror("Age.jsonl", [good, good | changed])
    with pytest.raises(ValueError, match=message):
        load("age")


def test_one_answer_is_unknown(mirror):
    mirror("Age.jsonl", [entry("old", "nonOld", "old", stereotyped=["old"])])
    with pytest.raises(ValueError, match="age/0: 0 answers are tagged unknown"):
        load("age")


def test_there_are_published_rows_alone():
    with pytest.raises(UsageError, match="bbq has published rows alone: expected source 'official'"):
        evenhand.load_dataset("bbq", "age")
