"""What people are asked about the packaged datasets: sheets without the rows' labels, and the whole way back."""

import base64
import csv
import io
import json
import re

import pytest

from evenhand.errors import UsageError
from evenhand.library import DATASETS, load_dataset
from evenhand.tools.annotation.schemes import SCHEMES
from evenhand.tools.annotation.to_sheets import ExportSettings, export, instructions

ASKED = [scheme for scheme in SCHEMES.values() if scheme.shown]
AGENCY = SCHEMES["agency"]
DATASET_SCHEMES = [scheme for scheme in ASKED if scheme is not AGENCY]
NATURALNESS, PICTURED, STORY_BIAS, TASK_STEREOTYPE, YES_MEANS = (
    SCHEMES[name] for name in ("naturalness", "pictured", "story-bias", "task-stereotype", "yes-means")
)


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def answer(path, question, label_of):
    """label_of: a row → what the annotator writes."""
    rows = rows_of(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {question: label_of(row)} for row in rows)
    return path


def columns(scheme, n, tmp_path):
    """The texts of a sheet, by column, and the labels of its key by id."""
    exported = export(ExportSettings((scheme.shown.dataset,), scheme, tmp_path / "sheet.csv", n=n))
    key = {row["entry"]: row for row in rows_of(exported.key)}
    return [(key[row["entry"]], row) for row in rows_of(exported.sheets[0])]


@pytest.mark.parametrize("scheme", ASKED, ids=lambda scheme: scheme.name)
def test_the_whole_way(evenhand, scheme, tmp_path):
    """Two annotators answer alike, the third differs on one row; sheets tell neither a row's id nor its label."""
    [question], labels = scheme.questions, [label.name for label in scheme.labels if label.name not in scheme.na]
    called = evenhand(
        "annotate", "export", scheme.shown.dataset, "--scheme", scheme.name, "--n", 40, "--annotators", 3,
        "--output", tmp_path / "s.csv",
    )  # fmt: skip
    assert called.code == 0, called.err
    key = {row["entry"]: row for row in rows_of(tmp_path / "s.key.csv")}
    default = f"default_{question.name}"
    sheets = [tmp_path / f"s.annotator-{k}.csv" for k in (1, 2, 3)]
    for sheet in sheets:
        rows = rows_of(sheet)
        assert {row["entry"] for row in rows} == {*key}
        assert not {*rows[0]} & {"id", "label", default}
        assert not any(key[row["entry"]]["id"] in value for row in rows for value in row.values())
    told = (tmp_path / "s.instructions.md").read_text(encoding="utf-8")
    assert all(f"- `{label.name}`" in told for label in scheme.labels)
    assert question.text in told

    own = {entry: row.get(default, labels[0]) for entry, row in key.items()}
    other = min(key)
    answer(sheets[0], question.name, lambda row: own[row["entry"]])
    answer(sheets[1], question.name, lambda row: own[row["entry"]].upper())
    answer(sheets[2], question.name, lambda row: next(x for x in labels if x != own[other]) if row["entry"] == other
           else own[row["entry"]])  # fmt: skip
    options = ["--with-default"] if default in key[other] else []
    importing = ("annotate", "import", *sheets, "--scheme", scheme.name, "--key", tmp_path / "s.key.csv", *options)
    called = evenhand(*importing, "--output", tmp_path / "merged.csv")
    assert called.code == 0, called.err
    merged = {row["id"]: row for row in rows_of(tmp_path / "merged.csv")}
    assert {row["majority"] for row in merged.values()} <= {*labels}
    assert all(merged[row["id"]]["majority"] == own[entry] for entry, row in key.items())

    called = evenhand("annotate", "agree", tmp_path / "merged.csv")
    assert called.code == 0, called.err
    assert f"{question.name}: 40 entries that all {3 + len(options)} raters labelled" in called.out
    assert "97.5 % of entries are unanimous" in called.out


def test_every_scheme_is_named_on_the_command_line(evenhand):
    told = evenhand("annotate", "export", "--help").out
    assert all(re.search(rf"\b{name}\b", told) for name in SCHEMES)


def test_contact_shows_the_question_once_and_both_experiences(tmp_path):
    table = load_dataset("contact_hypothesis", "certainty", "test").data.to_pandas().set_index("id")
    for key, shown in columns(NATURALNESS, 20, tmp_path):
        row = table.loc[key["id"]]
        assert f"{shown['good_experience']} {shown['then_asks']}" == row["positive_contact"]
        assert f"{shown['bad_experience']} {shown['then_asks']}" == row["negative_contact"]
        assert row["no_contact"] == shown["then_asks"]


def test_rows_that_are_not_asked_are_not_judged():
    row = {"id": "1", "no_contact": "Should I?", "positive_contact": "", "negative_contact": "", "action": "negative"}
    for scheme in (NATURALNESS, YES_MEANS):
        assert len(list(scheme.shown.items(row))) == len(list(scheme.shown.items(row | {"plausible": True}))) == 1
        assert not list(scheme.shown.items(row | {"plausible": False}))
    [item] = YES_MEANS.shown.items(row)
    assert item.label == "apart"


def test_mixed_sentences_are_neutral_in_table_8():
    labels = [
        next(AGENCY.shown.items({"id": "n", "text": "…", **of})).label
        for of in ({"kind": "mixed"}, {"label": "agentic"})
    ]
    assert labels == ["neutral", "agentic"]


def test_neutral_sentences_are_judged_as_the_others_are(evenhand, tmp_path):
    """Their rows have no column `label`; the key says neutral of neutral and of mixed ones."""
    called = evenhand(
        "annotate", "export", "language_agency:neutral", "--scheme", "agency", "--output", tmp_path / "s.csv"
    )
    assert called.code == 0, called.err
    assert [*rows_of(tmp_path / "s.csv")[0]] == ["entry", "text", "agency"]
    key = rows_of(tmp_path / "s.key.csv")
    assert len(key) == len(load_dataset("language_agency", "neutral", "test"))
    assert {row["default_agency"] for row in key} == {"neutral"}


def test_published_rows_are_asked_for(evenhand, tmp_path, monkeypatch):
    """bbq has no others; what is absent from the mirror is said as load_dataset says it."""
    monkeypatch.setenv("EVENHAND_SOURCES", str(tmp_path))
    export_religion = ("annotate", "export", "bbq:religion", "--column", "question", "--scheme", "agency")
    called = evenhand(*export_religion, "--output", tmp_path / "s.csv")
    assert (called.code, "add --source official" in called.err) == (2, True)
    called = evenhand(*export_religion, "--source", "official", "--output", tmp_path / "s.csv")
    assert called.code == 1
    assert "expected there: bbq/Religion.jsonl" in called.err
    (tmp_path / "own.csv").write_text("question\nWho?\n")
    own = (
        "annotate",
        "export",
        tmp_path / "own.csv",
        "--column",
        "question",
        "--scheme",
        "agency",
        "--source",
        "official",
    )
    called = evenhand(*own, "--output", tmp_path / "s.csv")
    assert (called.code, "has no effect on a file or a run" in called.err) == (2, True)


def test_sheets_and_the_guide_name_the_same_time(root):
    """docs/judging.md: minutes for 200 rows, rounded to five; the sheets: seconds a row."""
    guide = (root / "docs" / "judging.md").read_text(encoding="utf-8")
    minutes = dict(re.findall(r"^\| `\w+` \| `([\w-]+)` \|.*\| (\d+) minutes", guide, re.MULTILINE))
    assert {*minutes} == {scheme.name for scheme in ASKED}
    for scheme in DATASET_SCHEMES:
        [seconds] = re.findall(r"about (\d+) seconds a row", instructions(scheme))
        assert abs(int(seconds) * 200 / 60 - int(minutes[scheme.name])) <= 2.5, scheme.name


def test_tasks_keep_their_scenario_and_stereotype(tmp_path):
    rows = {row["id"]: row for row in load_dataset("implicit_bias", "scenarios", "test")}
    for key, shown in columns(TASK_STEREOTYPE, 30, tmp_path):
        scenario, _, number = key["id"].partition("/task-")
        row, place = rows[scenario], int(number) - 1
        assert (shown["scenario"], shown["task"]) == (row["scenario"], row["tasks"][place])
        assert key["default_stereotype"] == row["task_stereotypes"][place]


def test_stories_are_shown_without_system_message_and_reason(tmp_path):
    rows = {row["id"]: row for part in load_dataset("implicit_bias", "finetune_full").values() for row in part}
    for key, shown in columns(STORY_BIAS, 30, tmp_path):
        system, story, reason = (message["content"] for message in rows[key["id"]]["messages"])
        assert shown["story"] == story
        assert key["default_bias"] == ("biased" if rows[key["id"]]["biased"] else "unbiased")
        assert not {system, reason} & {*shown.values()}


def test_pictures_stand_on_a_page_in_the_order_of_the_sheet(tmp_path):
    settings = ExportSettings(("mllm_stereotypes",), PICTURED, tmp_path / "p.csv", n=9, annotators=2)
    exported = export(settings)
    key = {row["entry"]: row for row in rows_of(exported.key)}
    for sheet, page in zip(exported.sheets, exported.pages):
        html = page.read_text(encoding="utf-8")
        shown = re.findall(r'base64,([^"]+)"><figcaption>(\d+)\. (\w+)<', html)
        assert [(number, entry) for _, number, entry in shown] == [
            (str(place), row["entry"]) for place, row in enumerate(rows_of(sheet), 1)
        ]
        assert all(base64.b64decode(png).startswith(b"\x89PNG") for png, _, _ in shown)
        assert not any(row["id"] in html or row["default_pictured"] in html for row in key.values())
    export(settings)  # killed midway, it is repeated
    exported.pages[0].write_text("mine")
    with pytest.raises(UsageError, match=r"already there.*p\.annotator-1\.pictures\.html"):
        export(settings)


def test_the_list_of_pictured_things_is_that_of_the_traits():
    traits = json.loads((DATASETS / "mllm_stereotypes/sources/prompts.json").read_text(encoding="utf-8"))
    assert [label.name for label in PICTURED.labels] == [*traits["persona"]["items"], "none"]
    assert [PICTURED.read(str(number)) for number in (1, 14, 0)] == ["Art Lover", "Shabby Hut", "none"]


def test_columns_that_are_named_are_shown_instead(tmp_path):
    source, named = "implicit_bias:scenarios", ("scenario", "characters")
    exported = export(ExportSettings((source,), TASK_STEREOTYPE, tmp_path / "own.csv", columns=named, n=3))
    assert [*rows_of(exported.sheets[0])[0]] == ["entry", *named, "stereotype"]
    assert [*rows_of(exported.key)[0]] == ["entry", "id"]


def test_a_configuration_without_what_is_judged(tmp_path):
    with pytest.raises(UsageError, match="implicit_bias:finetune_full has no column 'scenario', which is judged"):
        export(ExportSettings(("implicit_bias:finetune_full",), TASK_STEREOTYPE, tmp_path / "x.csv"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scheme", DATASET_SCHEMES, ids=lambda scheme: scheme.name)
def test_instructions_are_short_and_give_leave_to_stop(scheme):
    told = instructions(scheme)
    assert len(told.split()) < 400
    assert "stop whenever you like" in told
    assert "Work on your own" in told
