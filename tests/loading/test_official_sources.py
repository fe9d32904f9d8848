"""evenhand.load_dataset: the published files in place of ours, and errors that say what to do."""

import json
import re

import pytest

import evenhand
from evenhand.errors import UsageError
from evenhand.library import config_names

LEXICON = (
    "holistic_bias/descriptors_v1.1.json"  # its place in the mirror; its sha256 as shared/sources/README.md has it
)
LEXICON_SHA256 = "c1328f0edfdeefb76302d360a01878df3db55f18026f4ea1956b4a0f52daf943"

pytestmark = pytest.mark.usefixtures("datasets_cache")


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """An empty folder as EVENHAND_SOURCES."""
    folder = tmp_path / "mirror"
    (folder / LEXICON).parent.mkdir(parents=True)
    monkeypatch.setenv("EVENHAND_SOURCES", str(folder))
    return folder


def load_official():
    return evenhand.load_dataset("contact_hypothesis", "certainty", split="test", source="official")


def test_official_lexicon_in_our_situations(official_sources):
    """60 templates × the 583 descriptors of HolisticBias v1.1 on its 13 axes; a term on two axes is two descriptors."""
    axes = json.loads((official_sources / LEXICON).read_text(encoding="utf-8"))
    published = {
        (axis, bucket, term if isinstance(term, str) else term["descriptor"])
        for axis, buckets in axes.items()
        for bucket, terms in buckets.items()
        for term in terms
    }
    rows = load_official().to_pandas()
    assert len(rows) == 60 * 583
    assert rows["id"].is_unique
    assert rows["template"].nunique() == 60
    assert rows["axis"].nunique() == 13
    assert len(published) == 583
    assert set(zip(rows["axis"], rows["bucket"], rows["descriptor"])) == published


def test_another_checksum_is_an_error(mirror):
    """A file that is not the pinned one stops the build; the error names the file and both checksums."""
    (mirror / LEXICON).write_bytes(b"{}")  # sha256 of these two bytes: 44136fa3…
    with pytest.raises(ValueError, match=LEXICON_SHA256) as error:
        load_official()
    assert str(mirror / LEXICON) in str(error.value)
    assert "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" in str(error.value)


def test_one_changed_byte_is_an_error(official_sources, mirror):
    """The checksum sees a single byte."""
    content = bytearray((official_sources / LEXICON).read_bytes())
    content[100] ^= 1
    (mirror / LEXICON).write_bytes(content)
    with pytest.raises(ValueError, match=LEXICON_SHA256):
        load_official()


def test_mirror_without_the_file_is_an_error(mirror):
    """A mirror that lacks the file stops the build; the error names the mirror and lists the file expected there."""
    with pytest.raises(FileNotFoundError, match=re.escape(LEXICON)) as error:
        load_official()
    assert str(mirror) in str(error.value)


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
    ],
)
def test_unknown_names(arguments, message):
    """An unknown dataset, configuration or source is a usage error that says what is accepted."""
    with pytest.raises(UsageError, match=message):
        evenhand.load_dataset(*arguments)


def test_unknown_option():
    """An option that the dataset's builder does not have is a usage error that names it."""
    with pytest.raises(UsageError, match="does not take these options: faces"):
        evenhand.load_dataset("contact_hypothesis", "certainty", faces="nowhere")


def test_missing_configuration_lists_all():
    """Where a dataset has several configurations, leaving it out is a usage error that lists them."""
    with pytest.raises(UsageError, match=", ".join(config_names("contact_hypothesis"))):
        evenhand.load_dataset("contact_hypothesis")
