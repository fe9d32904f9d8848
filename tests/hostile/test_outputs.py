"""No command writes over what it reads, into a run's folder, or, without --overwrite, over a file of another kind."""

import json
import os
from pathlib import Path

import pytest

from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.output_files import check_output
from evenhand.tools.generation.agency_pairs import PairGeneration, make_agency_pairs

SHEET = "id,agency\na,agentic\nb,communal\n"
LABELS = ("annotate", "import", "ada.csv", "--scheme", "agency", "--output")
CAPTIONS = '{"caption": "A nurse and her cat."}\n'
AUDIT = ("audit-captions", "captions.jsonl", "--output")


def contents(folder):
    """Every file's, by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with people's labels, captions, notes and links to them; commands are given there."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "ada.csv").write_text(SHEET)
    (folder / "captions.jsonl").write_text(CAPTIONS)
    (folder / "notes.csv").write_text("buy,milk\n")
    (folder / "link.csv").symlink_to("ada.csv")
    (folder / "hard.csv").hardlink_to(folder / "ada.csv")
    (folder / "linked").symlink_to(folder)
    (folder / "link.json").symlink_to("captions.jsonl")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def runs(here, run):
    """Two finished runs, in the same folder as all else."""
    folders = [run(f"stub:{policy}", output=f"here/{policy}", limit=12).folder for policy in ("first", "last")]
    return [folder.relative_to(here) for folder in folders]


def refused(evenhand, here, arguments, says):
    """It says why, and nothing has changed, nor was anything read or asked before."""
    before = contents(here)
    called = evenhand(*arguments)
    assert called.code == 2, called.err
    assert says in called.err
    assert not called.out
    assert contents(here) == before


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["", "overwrite"])
@pytest.mark.parametrize("name", ["ada.csv", "./ada.csv", "link.csv", "hard.csv", "linked/ada.csv", "../here/ada.csv"])
def test_labels_are_never_written_over(evenhand, here, name, overwrite):
    refused(evenhand, here, (*LABELS, name, *overwrite), "is read here and can't be written over")


@pytest.mark.parametrize("option", ["--key", "--third"])
def test_nor_is_the_key(evenhand, here, option):
    (here / "key.csv").write_text("entry,id\ne1,a\n")
    arguments = (*LABELS, "key.csv", option, "key.csv", "--overwrite")
    refused(evenhand, here, arguments, "key.csv is read here and can't be written over")


@pytest.mark.parametrize("name", ["captions.jsonl", "link.json"])
def test_captions_are_never_written_over(evenhand, here, name):
    refused(evenhand, here, (*AUDIT, name, "--overwrite"), "is read here and can't be written over")


@pytest.mark.parametrize(
    "name", ["first/predictions.parquet", "last/results.json", "last/new.html", "linked/first/x.html", "first/a/b"]
)
@pytest.mark.parametrize("command", ["compare", "audit", "import", "export"])
def test_a_runs_folder_is_its_own(evenhand, here, runs, command, name):
    """Also where nothing is there yet, and for other commands than those that read it."""
    (here / "first" / "a").mkdir()
    name = name if command in ("compare", "audit") else str(Path(name).with_suffix(".csv"))
    arguments = {
        "compare": ("compare", *runs, "--output", name, "--overwrite"),
        "audit": (*AUDIT, name, "--overwrite"),
        "import": (*LABELS, name, "--overwrite"),
        "export": ("annotate", "export", "notes.csv", "--scheme", "agency", "--column", "buy", "--output", name),
    }[command]
    refused(evenhand, here, arguments, "where only its own command writes; choose another --output")


def test_a_link_to_a_runs_file_is_one(evenhand, here, runs):
    (here / "page.html").symlink_to("first/report.html")
    (here / "hard.html").hardlink_to(here / "last" / "report.html")
    refused(evenhand, here, ("compare", *runs, "--output", "page.html"), "inside the run folder")
    refused(evenhand, here, ("compare", *runs, "--output", "hard.html", "--overwrite"), "is read here")


@pytest.mark.parametrize(
    ("arguments", "name", "kind"),
    [
        (("compare", "first", "last", "--output"), "notes.csv", "a comparison"),
        ((*AUDIT,), "notes.csv", "an audit"),
        ((*LABELS,), "notes.csv", "a merged table"),
    ],
)
def test_a_file_of_another_kind_needs_overwrite_and_ones_own_is_said(evenhand, here, runs, arguments, name, kind):
    refused(evenhand, here, (*arguments, name), f"{name} exists and is not {kind}; choose another --output, or give")
    assert evenhand(*arguments, name, "--overwrite").code == 0
    written = (here / name).read_bytes()
    again = evenhand(*arguments, name)
    assert again.code == 0, again.err
    assert f"{name} (written over an earlier one)" in again.out
    assert (here / name).read_bytes() == written


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_merged_table_is_written_again_in_every_format(evenhand, here, suffix):
    assert "earlier" not in evenhand(*LABELS, f"merged{suffix}").out
    assert f"merged{suffix} (written over an earlier one)" in evenhand(*LABELS, f"merged{suffix}").out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("linked", "is a folder"),
        ("/dev/null", "is a pipe or a device"),
        ("pipe", "is a pipe or a device"),
        ("absent/figures.json", "absent is no folder; make it"),
        ("notes.csv/figures.json", "notes.csv is no folder"),
        ("x" * 300, "is too long"),
        ("circle", "can't be a file's name"),
    ],
)
def test_a_place_that_is_none_is_refused_before_any_work(evenhand, here, name, says):
    os.mkfifo(here / "pipe")
    (here / "circle").symlink_to("circle")
    called = evenhand(*AUDIT, name)
    assert (called.code, called.out) == (2, ""), called.err
    assert says in called.err
    assert not Path("/dev/null").is_file()


def test_another_suffix_is_refused_before_any_work(evenhand, here):
    refused(evenhand, here, (*LABELS, "merged.xlsx"), ".csv or .jsonl or .parquet")


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_names_that_no_file_has(tmp_path, name):
    with pytest.raises(UsageError):
        check_output(Path(name), (), "anything", lambda _: True)


def test_an_ensemble_or_a_training_is_not_written_over_a_run(evenhand, here, runs):
    refused(evenhand, here, ("train", "agency", "--output", "first"), "exists and is not empty")
    refused(evenhand, here, ("run", "labe", "--model", "stub:first", "--output", "."), "is no run folder of evenhand")


def test_what_a_script_reads_is_not_among_what_it_writes(tmp_path):
    config = PairGeneration(texts=str(tmp_path / "run" / "pairs.jsonl"))
    with RunFolder.begin(tmp_path / "run", config):
        (tmp_path / "run" / "pairs.jsonl").write_text(json.dumps({"id": "a"}))
    with pytest.raises(UsageError, match=r"pairs\.jsonl is read here and can't be written over"):
        make_agency_pairs(config, tmp_path / "run")
