"""evenhand.load_dataset: the published files in place of ours, and errors that say what to do."""

import json
import re
from collections import Counter

import pytest

import evenhand
from evenhand.errors import EvenhandError, UsageError
from evenhand.library import config_names

LEXICON = (
    "holistic_bias/descriptors_v1.1.json"  # its place in the mirror; its sha256 as shared/sources/README.md has it
)
LEXICON_SHA256 = "c1328f0edfdeefb76302d360a01878df3db55f18026f4ea1956b4a0f52daf943"
PHRASES = "holistic_bias/standalone_noun_phrases_v1.1.json"
PHRASES_SHA256 = "bac592574f81df55e8c8d8e3919a866d43cbd8df5ae9376a68d95e7b83dbebac"
NOUN = "{article} {noun} "

pytestmark = pytest.mark.usefixtures("datasets_cache")


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """An empty folder as EVENHAND_SOURCES."""
    folder = tmp_path / "mirror"
    (folder / LEXICON).parent.mkdir(parents=True)
    monkeypatch.setenv("EVENHAND_SOURCES", str(folder))
    return folder


def load_holistic_bias():
    return evenhand.load_dataset("contact_hypothesis", "certainty", split="test", descriptors="holistic_bias")


def test_holistic_bias_whole_in_our_situations(official_sources):
    """60 templates × 583 adjectives and 192 noun phrases on 13 axes; what is listed twice is two descriptors."""
    axes = json.loads((official_sources / LEXICON).read_text(encoding="utf-8"))
    published = Counter(
        (axis, bucket, term if isinstance(term, str) else term["descriptor"])
        for axis, buckets in axes.items()
        for bucket, terms in buckets.items()
        for term in terms
    )
    assert published.total() == 583
    phrases = json.loads((official_sources / PHRASES).read_text(encoding="utf-8"))
    published += Counter(
        (axis, "standalone_noun_phrases", (each if isinstance(each, str) else each["noun_phrase"]).removeprefix(NOUN))
        for axis, some in phrases.items()
        for each in some
    )
    assert published.total() == 583 + 192
    rows = load_holistic_bias().to_pandas()
    assert len(rows) == 60 * 775
    assert rows["id"].is_unique
    assert rows["template"].nunique() == 60
    assert rows["axis"].nunique() == 13
    of_one = rows[rows["template"] == rows["template"][0]]
    assert Counter(zip(of_one["axis"], of_one["bucket"], of_one["descriptor"])) == published
    legs = rows[rows["descriptor"] == "with a prosthetic leg"]
    assert legs["no_contact"].str.contains("s with prosthetic legs| with a prosthetic leg").all()


def test_another_checksum_is_an_error(mirror):
    """A file that is not the pinned one stops the build; the error names the file and both checksums."""
    for each in (LEXICON, PHRASES):
        (mirror / each).write_bytes(b"{}")  # sha256 of these two bytes: 44136fa3…
    with pytest.raises(ValueError, match=LEXICON_SHA256) as error:
        load_holistic_bias()
    assert str(mirror / LEXICON) in str(error.value)
    assert "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" in str(error.value)


@pytest.mark.parametrize(("file", "sha256"), [(LEXICON, LEXICON_SHA256), (PHRASES, PHRASES_SHA256)])
def test_one_changed_byte_is_an_error(official_sources, mirror, file, sha256):
    """The checksum sees a single byte, of either file."""
    for each in (LEXICON, PHRASES):
        content = bytearray((official_sources / each).read_bytes())
        content[100] ^= each == file
        (mirror / each).write_bytes(content)
    with pytest.raises(ValueError, match=sha256):
        load_holistic_bias()


def test_mirror_without_the_file_is_an_error(mirror):
    """A mirror that lacks a file stops the build; the error names the mirror and lists the files expected there."""
    with pytest.raises(EvenhandError, match=re.escape(LEXICON)) as error:
        load_holistic_bias()
    assert str(mirror) in str(error.value)
    assert PHRASES in str(error.value)


def test_mirror_with_one_of_two_files_is_an_error(official_sources, mirror):
    """Half of the lexicon is not taken for all; the error names the file that is missing, and no other."""
    (mirror / LEXICON).write_bytes((official_sources / LEXICON).read_bytes())
    with pytest.raises(EvenhandError, match=re.escape(PHRASES)) as error:
        load_holistic_bias()
    assert LEXICON not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("contact_hypotheses", "certainty"),
            "unknown dataset 'contact_hypotheses'; did you mean 'contact_hypothesis'",
        ),
        (("zzz", "certainty"), "unknown dataset 'zzz'; accepted: .*contact_hypothesis"),
        (("contact_hypothesis", "certinty"), "'certinty'; did you mean 'certainty'"),
        (("contact_hypothesis", "certainty", "test", "offical"), "unknown source 'offical'; did you mean 'official'"),
        ((None,), "unknown dataset None; accepted: .*contact_hypothesis"),
        (("utility", 7), "unknown configuration of utility 7; accepted: questions, texts"),
        (("utility", "texts", "test", None), "unknown source None; accepted: evenhand, official"),
        (("utility", "texts", "tset"), r"utility \(texts\): Unknown split \"tset\".*'test'"),
        (("utility", "texts", "tset[:3]"), "Unknown split"),
        (("utility", "texts", 5), "Unknown split"),
        (("utility", "texts", "test", "official"), "utility has no published rows: expected source 'evenhand'"),
        (("implicit_bias", "case_study", "test", "official"), "case_study has no published rows"),
        (("language_agency", "neutral", "test", "official"), "neutral is of source 'evenhand'"),
        (("labe", "biography", "test", "official"), "only 'evenhand' is accepted"),
        (("bbq", "ses"), "bbq has published rows alone: expected source 'official'"),
    ],
)
def test_unknown_names(arguments, message):
    """An unknown dataset, configuration, split or source is a usage error that says what is accepted."""
    with pytest.raises(UsageError, match=message):
        evenhand.load_dataset(*arguments)


@pytest.mark.parametrize(
    ("config", "option", "accepted"),
    [
        (("contact_hypothesis", "certainty"), "faces", "config, split, source, descriptors"),
        (("utility", "texts"), "streaming", "config, split, source"),
        (("utility", "texts"), "trust_remote_code", "config, split, source"),
        (("mllm_stereotypes", "occupation_gender"), "streaming", "config, split, source, faces, .*spliced"),
    ],
)
def test_unknown_option(config, option, accepted):
    """An option that is not taken is a usage error that names it, what is taken, and who takes others."""
    with pytest.raises(UsageError, match=f"does not take these options: {option}; accepted: {accepted}\\.") as error:
        evenhand.load_dataset(*config, **{option: True})
    assert "go to datasets.load_dataset" in str(error.value)
    assert "BuilderConfig" not in str(error.value)


def test_a_split_that_is_not_published(official_sources):
    with pytest.raises(EvenhandError, match=r"has no split 'train'\. Its splits: test\."):
        evenhand.load_dataset("contact_hypothesis", "certainty", split="train", descriptors="holistic_bias")


def test_missing_configuration_lists_all():
    """Where a dataset has several configurations, leaving it out is a usage error that lists them."""
    with pytest.raises(UsageError, match=", ".join(config_names("contact_hypothesis"))):
        evenhand.load_dataset("contact_hypothesis")
