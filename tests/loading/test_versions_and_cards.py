"""No row changes without a new version, and the cards say what the parquet files hold."""

import re
import shutil

import datasets
import pyarrow.parquet
import pytest
import yaml

from evenhand.errors import UsageError
from evenhand.library import DATASETS, dataset_builder_class, dataset_version, packaged_dataset_names
from evenhand.tools.annotation.schemes import SCHEMES
from evenhand.tools.dataset_upkeep.cards import compute_card, dataset_info
from evenhand.tools.dataset_upkeep.versions import describe_rows, read_records, rows_digest, split_files, write_records

RECORD = "tests/loading/versions.json"
SPLITS = [(name, split) for name in packaged_dataset_names() for split in split_files(name)]
SIZES = {"n<1K": (0, 10**3), "1K<n<10K": (10**3, 10**4), "10K<n<100K": (10**4, 10**5), "100K<n<1M": (10**5, 10**6)}
SECTIONS = (
    "Use",
    "Who wrote it, and who checked it",
    "People's judgement",
    "Does it measure what it says?",
    "Contact",
    "Licence of what was taken over",
    "Sizes and sample rows",
)
TO_BUILD = "python scripts/build_datasets.py writes it anew"


def card(name):
    """A card's metadata and its text."""
    _, metadata, text = (DATASETS / name / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(metadata), text


def section(name, title):
    [found] = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |^<!-- |\Z)", card(name)[1], re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def copy(tmp_path):
    """labe's files in a folder of their own, and a record of them."""
    shutil.copytree(DATASETS / "labe", tmp_path / "labe")
    write_records(tmp_path / "versions.json", ["labe"], tmp_path)
    return tmp_path


def change(folder, column="prompt"):
    """One cell of one row is another."""
    path = folder / "labe/data/professor_review/test.parquet"
    rows = pyarrow.parquet.read_table(path).to_pylist()
    rows[7][column] += "!"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def say_version(monkeypatch, number):
    for config in dataset_builder_class("labe").BUILDER_CONFIGS:
        monkeypatch.setattr(config, "version", datasets.Version(number))


# Versions


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_rows_are_those_of_their_version(root, name, split):
    """Whoever changed them on purpose raises the version in the loading script and in the card, and records it."""
    known = read_records(root / RECORD)[name]
    told = "raise the version, then python scripts/build_datasets.py --record"
    assert rows_digest(split_files(name)[split]) == known.sha256.get(split), told
    assert dataset_version(name) == known.version, told


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_no_recorded_split_is_gone(root, name):
    assert {*split_files(name)} == {*read_records(root / RECORD)[name].sha256}


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_the_card_says_what_is_new_in_the_version(name):
    """In a list of versions; the first needs none."""
    told = re.search(rf"^[-#| *`]*{re.escape(dataset_version(name))}\b", card(name)[1], re.MULTILINE)
    assert told or dataset_version(name) == "1.0.0"


@pytest.mark.parametrize("number", ["1.0.0", "0.9.9"])
def test_changed_rows_of_the_same_version_are_refused(copy, monkeypatch, number):
    before = (copy / "versions.json").read_bytes()
    change(copy)
    say_version(monkeypatch, number)
    with pytest.raises(UsageError, match=r"labe: rows of professor_review/test are not those of version 1\.0\.0"):
        write_records(copy / "versions.json", ["labe"], copy)
    assert (copy / "versions.json").read_bytes() == before


def test_a_split_that_is_gone_is_a_change(copy):
    (copy / "labe/data/biography/test.parquet").unlink()
    with pytest.raises(UsageError, match="biography/test"):
        write_records(copy / "versions.json", ["labe"], copy)


def test_published_rows_have_no_record(tmp_path):
    with pytest.raises(UsageError, match=r"'bbq'; accepted: contact_controls, .*\(bbq has published rows alone\)"):
        write_records(tmp_path / "versions.json", ["bbq"])
    assert not list(tmp_path.iterdir())


def test_a_higher_version_is_recorded(copy, monkeypatch):
    change(copy)
    say_version(monkeypatch, "1.0.10")
    assert write_records(copy / "versions.json", ["labe"], copy) == ["labe"]
    assert read_records(copy / "versions.json") == {"labe": describe_rows("labe", copy)}
    assert write_records(copy / "versions.json", ["labe"], copy) == []


def test_packing_is_no_change_and_order_is_one(copy):
    path = copy / "labe/data/professor_review/test.parquet"
    table, digest = pyarrow.parquet.read_table(path), rows_digest(path)
    pyarrow.parquet.write_table(table.select(table.column_names[::-1]), path, compression="none", row_group_size=7)
    assert rows_digest(path) == digest
    pyarrow.parquet.write_table(table.slice(1), path)
    assert rows_digest(path) != digest


# Cards


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_computed_parts_are_as_computed(name):
    text = (DATASETS / name / "README.md").read_text(encoding="utf-8")
    assert compute_card(text, name) == text, TO_BUILD


def test_a_card_without_metadata_is_refused():
    with pytest.raises(UsageError, match="does not begin with metadata"):
        compute_card("# labe\n", "labe")


def test_what_is_written_by_hand_stays():
    """Old computed parts give way wherever they stand; keys and sections behind them are kept."""
    text = (DATASETS / "labe" / "README.md").read_text(encoding="utf-8")
    old = re.sub(r"num_examples: \d+", "num_examples: 1", text).replace("| biography |", "| x |")
    moved = old.replace("---\n", "---\npretty: yes\n", 1).replace("\n---\n", "\nlast: 1\n---\n", 1) + "\n## More\n"
    again = compute_card(moved, "labe")
    expected = text.replace("---\n", "---\npretty: yes\n", 1).replace("\n---\n", "\nlast: 1\n---\n", 1) + "\n## More\n"
    assert again == expected


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_metadata(name):
    metadata, _ = card(name)
    told = {"annotations_creators", "language_creators", "source_datasets", "multilinguality", "dataset_info"}
    assert told <= {*metadata}
    n = sum(split["num_examples"] for info in dataset_info(name) for split in info["splits"])
    [size] = metadata["size_categories"]
    least, below = SIZES[size]
    assert least <= n < below
    configs = [entry["config_name"] for entry in metadata["configs"]]
    assert configs == [info["config_name"] for info in metadata["dataset_info"]]


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_sections_that_every_card_has(name):
    for title in SECTIONS:
        assert section(name, title).strip(), title


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_the_checklist_is_filled_in(name):
    """Eight questions after Bean et al. 2025, each answered yes, partly or no, with a reason."""
    lines = re.findall(
        r"^\| (\d)\. [^|]+\? \| (yes|partly|no) \| ([^|]+) \|$", section(name, SECTIONS[3]), re.MULTILINE
    )
    assert [number for number, _, _ in lines] == list("12345678")
    assert all(len(reason.split()) >= 8 for _, _, reason in lines)


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_one_citation_a_paper_and_the_published_one(name):
    _, text = card(name)
    entries = re.findall(r"^@(\w+)\{(\w+),$(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    titles = [re.search(r"title=\{(.+)\}", body)[1] for _, _, body in entries]
    assert len({*titles}) == len(titles) >= 1
    assert all("year=" in body and ("booktitle=" in body or "journal=" in body) for _, _, body in entries)
    assert "nonymous" not in text


@pytest.mark.parametrize("name", packaged_dataset_names())
def test_agreement_has_its_place_and_is_not_made_up(name):
    """A line for each question that people are to judge: all figures, or none yet."""
    found = section(name, "People's judgement")
    lines = re.findall(
        r"^\| `([\w-]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", found, re.MULTILINE
    )
    ours = {scheme.name for scheme in SCHEMES.values() if scheme.shown and scheme.shown.dataset == name}
    assert {line[0] for line in lines} == ours
    for _, _, *figures in lines:
        filled = [bool(re.search(r"\d", figure)) for figure in figures]
        assert all(filled) or not any(filled)
    assert lines or name in ("labe", "utility")  # the paper's prompts; facts, of which replies are judged in pairs
