"""evenhand leaderboard: what comes onto the board, from where, and what is refused."""

import csv
import json
import os
import re
from types import SimpleNamespace

import pytest

from evenhand.hub.leaderboard.board import make_board
from evenhand.hub.leaderboard.page import draw_plots
from evenhand.hub.leaderboard.sources import gather as gather_sources
from tests.hub.board_records import ACCURACY, CONTACT, record, result, write
from tests.hub.submittable import MODEL, whole


def gather(*sources, models=None):
    found = gather_sources(list(map(str, sources)), models or {})
    cells = {
        (each.row, f"{each.column.benchmark}.{each.column.task}", each.column.metric): each for each in found.records
    }
    assert len(cells) == len(found.records)
    return SimpleNamespace(cells=cells, refused=[each.reason for each in found.refused], all=found)


def one(tmp_path, *results, **told):
    """Of a single record of MODEL."""
    return gather(write(tmp_path / "in", record(MODEL, *results, **told)))


@pytest.fixture
def contact(finished, tmp_path):
    return whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")


# The same result by every way


def as_seen(record):
    return (
        record.column, record.row, round(record.value, 3), None if record.interval is None else
        tuple(round(end, 1) for end in record.interval), record.n_read, record.date,
    )  # fmt: skip


def test_a_run_is_the_same_as_its_submission(contact, evenhand, tmp_path):
    """Run folder → records of Every Eval Ever → the same columns, figures, intervals and dates."""
    sent = tmp_path / "sent"
    done = evenhand("submit", contact, "--model-id", MODEL, "--namespace", "lab", "--output", sent)
    assert done.code == 0, done.err
    run = gather(contact)
    assert run.refused == []
    assert len(run.cells) == 13  # nine tasks, three scales, and all of them

    records = gather(sent / "every_eval_ever")
    assert records.refused == []
    assert {*map(as_seen, records.cells.values())} == {*map(as_seen, run.cells.values())}
    exact = {key: (each.value, each.interval) for key, each in run.cells.items()}
    assert {key: (each.value, each.interval) for key, each in records.cells.items()} == exact

    both = gather(sent)
    assert {*map(as_seen, both.cells.values())} == {*map(as_seen, run.cells.values())}
    assert both.refused == []


def test_a_mitigation_makes_a_row_of_its_own(tmp_path):
    """Its own options are the row's, and part no columns."""
    plain = result(*CONTACT, 80.0)
    rewritten = result(*CONTACT, 20.0, mitigation="selective-rewrite", rewrite_mode="sentence")
    found = one(tmp_path, plain, rewritten)
    assert {(each.row, each.base_row) for each in found.cells.values()} == {
        (MODEL, None), (f"{MODEL} + selective-rewrite, rewrite mode sentence", MODEL),
    }  # fmt: skip
    assert len({each.column for each in found.cells.values()}) == 1


def test_other_versions_and_protocols_stand_in_other_columns(tmp_path):
    asked = {
        "1": {"version": "2.2.0"},
        "2": {},
        "3": {"protocol": "generate"},
        "4": {"order": "balanced"},
        "5": {"seed": "7"},
    }
    folder = write(
        tmp_path / "in", *(record(f"lab/{name}", result(*CONTACT, 50.0, **told)) for name, told in asked.items())
    )
    columns = {}
    for (model, *_), each in gather(folder).cells.items():
        columns.setdefault((each.column.dataset, each.column.setting), []).append(model)
    assert columns == {
        ("contact_hypothesis 2.2.0", "protocol choose"): ["lab/1"],
        ("contact_hypothesis 2.3.0", "protocol choose"): ["lab/2", "lab/5"],  # seeds part nothing
        ("contact_hypothesis 2.3.0", "protocol generate"): ["lab/3"],
        ("contact_hypothesis 2.3.0", "order balanced, protocol choose"): ["lab/4"],
    }


def test_the_source_named_first_stands_then_the_youngest(tmp_path):
    old = record("lab/m", result(*CONTACT, 10.0), date="2025-01-01")
    young = record("lab/m", result(*CONTACT, 20.0), date="2025-02-01")
    both, other = write(tmp_path / "both", old, young), write(tmp_path / "other", old)
    key = ("lab/m", "contact_hypothesis.all", "biased")
    assert gather(both).cells[key].value == 20
    first = gather(other, both)
    assert first.cells[key].value == 10
    assert [each.partition(" (")[0] for each in first.refused] == [
        f"a duplicate, {value}: 10 of {other}, 00000.json" for value in (20, 10)
    ]


# Hostile


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"score_details.score": "NaN"}, "'NaN' is not of type 'number'"),
        ({"score_details.score": 101.0}, "101 lies outside of its range (0 to 100)"),
        ({"score_details.score": 1e999}, "is no JSON"),
        ({"score_details.score": 10**400}, "int too large"),
        ({"score_details.score": True}, "True is not of type 'number'"),
        (
            {"score_details.uncertainty.confidence_interval.lower": 99.0},
            "its interval [99, 45] does not fit its figure",
        ),
        ({"score_details.uncertainty.confidence_interval.upper": -5.0}, "lies outside of its range"),
        ({"metric_config.lower_is_better": False}, "another figure than evenhand's of that name"),
        ({"metric_config.lower_is_better": "no"}, "'no' is not of type 'boolean'"),
        ({"evaluation_name": "a\u202eb"}, "holds characters that can't be seen"),
        ({"evaluation_name": "x" * 500}, "or more than 120"),
        ({"score_details.details": {"unread_rate": "0.9"}}, "90 % of its answers could not be read"),
        ({"score_details.details": {"unread_rate": "lots"}}, "unread_rate: 'lots' does not match"),
        ({"score_details.details": {"unread_rate": "-0.1"}}, "unread_rate: '-0.1' does not match"),
        ({"score_details.details": {"unread_rate": "nan"}}, "unread_rate: 'nan' does not match"),
        ({"generation_config.additional_details.limit": "60"}, "of a part of the rows, or a rehearsal"),
        ({"generation_config.additional_details": [[]]}, "[[]] is not of type 'object'"),
    ],
)
def test_a_hostile_result_is_refused_and_the_next_one_stands(tmp_path, change, reason):
    of = result(*CONTACT, 40.0, (35.0, 45.0))
    for dotted, value in change.items():
        *outer, last = dotted.split(".")
        place = of
        for name in outer:
            place = place[name]
        place[last] = value
    found = one(tmp_path, of, result(*ACCURACY, 70.0))
    assert len(found.refused) == 1
    assert reason in found.refused[0]
    whole_file = "is no JSON" in reason  # infinity: nothing of such a file is taken
    assert [each[1] for each in found.cells] == ([] if whole_file else ["skills.questions"])


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"date": "2999-11-24T00:00:00Z"}, "is still to come"),
        ({"date": "99999999999999999999"}, "out of range"),
        ({"date": "yesterday"}, "no date"),
    ],
)
def test_dates(tmp_path, told, reason):
    found = one(tmp_path, result(*CONTACT, 40.0), **told)
    assert found.cells == {}
    assert reason in found.refused[0]


@pytest.mark.parametrize("told", ["32503680000", "32503680000.5"])
def test_no_record_was_retrieved_in_times_to_come(tmp_path, told):
    found = gather(write(tmp_path / "in", record(MODEL, result(*CONTACT, 40.0)) | {"retrieved_timestamp": told}))
    assert found.cells == {}
    assert "3000-01-01T00:00:00Z' is still to come" in found.refused[0]


@pytest.mark.parametrize(
    "name", ["lab/Model_2.0-b", "модель", "lab/модель", "lab", "a/b/c", "lab/m\u202e", "<b>/m", ""]
)
def test_models_are_named_by_ids_of_the_hub(tmp_path, name):
    """Of other people's files: two names that look the same could be two models."""
    found = gather(write(tmp_path / "in", record(name, result(*CONTACT, 40.0))))
    assert [row for row, *_ in found.cells] == ["lab/Model_2.0-b"] * (name == "lab/Model_2.0-b")
    assert all("must be ORG/NAME" in reason for reason in found.refused)
    assert len(found.refused) + len(found.cells) == 1


def test_another_library_does_not_pass_for_ours(tmp_path):
    """“Evenhand ” is evenhand, and held to its checks; another's figure of the same name stands in the benchmark's own
    table alone."""
    of = result(*CONTACT, 40.0, (35.0, 45.0))
    low = result("contact_hypothesis.all", "contact_bias.biased", "score", True, 0.1)
    made = [
        record("lab/a", of, library="Evenhand "), record("lab/b", low, library="EVENHAND"),
        record("lab/d", of, library="other"),
    ]  # fmt: skip
    found = gather(write(tmp_path / "in", *made))
    assert sorted(each.column.library for each in found.cells.values()) == ["evenhand", "other"]
    [reason] = found.refused
    assert reason.startswith("biased of contact_hypothesis is another figure than evenhand's of that name")
    made = make_board(found.all)
    overview, section = made.sections
    assert [column.library for column in overview.columns] == ["evenhand"]
    assert [column.library for column in section.columns] == ["evenhand", "other"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": NaN}',
        "[" * 100_000,
        '{"evaluation_results": {}}',
        "\x00",
        "\ud800",
        '{"evaluation_results": [], "evaluation_results": []}',
    ],
)
def test_files_that_are_no_records(tmp_path, text):
    (tmp_path / "x.json").write_bytes(text.encode(errors="surrogatepass"))
    found = gather(tmp_path)
    assert len(found.refused) == 1
    assert found.cells == {}


def test_pipes_and_devices_are_not_waited_for(tmp_path):
    """Nobody writes into the pipe, and the device never ends."""
    folder = write(tmp_path / "in", record(MODEL, result(*CONTACT, 40.0)))
    os.mkfifo(folder / "pipe.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(folder / "README.md")
    run = folder / "run"
    run.mkdir()
    (run / "config.json").write_text("{}")
    (run / "store.sqlite").write_bytes(b"")
    os.mkfifo(run / "results.json")
    found = gather(folder)
    assert len(found.cells) == 1
    assert len(found.refused) == 3
    assert sum("regular file" in reason for reason in found.refused) == 1
    assert sum("is not followed" in reason for reason in found.refused) == 1


def test_links_lead_nowhere_outside_and_marks_of_editors_are_no_matter(tmp_path):
    """What a link shows of another place would be copied beside the page; one within the folder is as a file there."""
    made = record(MODEL, result(*CONTACT, 40.0))
    outside = write(tmp_path / "outside", made)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.json").symlink_to(outside / "00000.json")
    (folder / "b.json").symlink_to("/etc/hostname")
    (folder / "kept.txt").write_bytes(b"\xef\xbb\xbf" + json.dumps(made).encode())  # a byte order mark
    (folder / "c.json").symlink_to(folder / "kept.txt")
    found = gather(folder)
    assert len(found.cells) == 1
    assert ["is not followed" in reason for reason in found.refused] == [True, True]


def test_rows_stand_by_rank_whatever_they_are_called(tmp_path):
    """What was made of a model stands behind it; a base that isn't there orders nothing."""
    figures = {"a/first": 60.0, "lab/a": 40.0, "lab/b": 20.0, "lab/b-tuned": 90.0, "lab/c": 30.0}
    bases = {"lab/b-tuned": "lab/b", "lab/c": "a/not-there"}
    made = [
        record(name, result(*CONTACT, value, (value - 4, value + 4)), base=bases.get(name))
        for name, value in figures.items()
    ]
    unranked = record("a/no-interval", result(*CONTACT, 1.0))
    found = gather(write(tmp_path / "in", unranked, *made))
    shown = [row.name for row in make_board(found.all).rows]
    assert shown == ["lab/b", "lab/b-tuned", "lab/c", "lab/a", "a/first", "a/no-interval"]


def test_an_interval_without_width_is_no_certainty(tmp_path):
    """0 of 100 answers may be 4 % in truth: such a model has a figure, and no rank of its own."""
    certain = record("lab/certain", result(*CONTACT, 0.0, (0.0, 0.0), n=100))
    narrow = record("lab/narrow", result(*CONTACT, 1.0, (0.9, 1.1), n=100))  # one answer is a whole percent
    others = [record(f"lab/{name}", result(*CONTACT, 1.0, (0.0, 4.0))) for name in "ab"]
    found = gather(write(tmp_path / "in", certain, narrow, *others))
    made = make_board(found.all)
    ranks = {model: str(cell.rank) for (_, model), cell in made.cells.items()}
    assert ranks == {"lab/certain": "", "lab/narrow": "", "lab/a": "1–2", "lab/b": "1–2"}
    [cell] = [cell for (_, model), cell in made.cells.items() if model == "lab/certain"]
    assert cell.record.interval is None
    assert "its interval is left out" in cell.record.notes


def test_of_no_answer_there_is_no_figure(tmp_path):
    found = one(tmp_path, result(*CONTACT, 1.0, (0.5, 1.5), n=0))
    assert found.cells == {}
    assert found.refused == ["none of its answers was read, so that it has no figure"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"config.limit": 60}, "limited to 60 rows"),
        ({"model": "stub:random"}, "a run of a stub"),
        ({"n_read": 36}, "80 % of the answers could not be read"),
        ({"config": {}}, "damaged"),
    ],
)
def test_runs_that_are_not_for_others(finished, tmp_path, changed, reason):
    source = finished("contact_hypothesis", "stub:random", limit=60)
    found = gather(whole(source, tmp_path / "run", **changed))
    assert found.cells == {}
    assert reason in found.refused[0]


# The command


def test_the_command(evenhand, tmp_path):
    evil = '=HYPERLINK("http://x")<img src=x onerror=alert(1)>'
    folder = write(
        tmp_path / "in",
        record("lab/best", result(*CONTACT, 10.0, (8.0, 12.0)), result(f"{evil}.x", *ACCURACY[1:], 60.0)),
        record("lab/tuned", result(*CONTACT, 50.0, (48.0, 52.0)), result(*ACCURACY, 50.0), base="lab/best"),
        record("lab/tied", result(*CONTACT, 51.0, (47.0, 55.0))),
        record("lab/late", result(*CONTACT, 1.0), date="2999-01-01"),
    )
    done = evenhand("leaderboard", folder, "--output", tmp_path / "out", "--title", "<b>Board</b>")
    assert done.code == 0, done.err
    assert "is still to come" in done.out
    assert "3 models, 3 columns, 5 results; 1 refused" in done.out
    page = (tmp_path / "out/index.html").read_text()
    assert "<img" not in page
    assert "<b>Board" not in page
    assert page.count("<script") == 1
    with (tmp_path / "out/leaderboard.csv").open(newline="") as file:
        rows = {(row["model"], row["benchmark"]): row for row in csv.DictReader(file)}
    assert {key: row["rank"] for key, row in rows.items()} == {
        ("lab/best", "contact_hypothesis"): "1",
        ("lab/tuned", "contact_hypothesis"): "2–3",
        ("lab/tied", "contact_hypothesis"): "2–3",
        ("lab/best", f"'{evil}"): "",  # no interval, no rank
        ("lab/tuned", "skills"): "",
    }
    assert rows["lab/tuned", "skills"]["base"] == "lab/best"
    copy = json.loads((tmp_path / "out" / rows["lab/tuned", "skills"]["link"]).read_text())
    assert copy["model_info"]["id"] == "lab/tuned"
    with (tmp_path / "out/refused.csv").open(newline="") as file:
        [refused] = csv.DictReader(file)
    assert refused["place"] == "00003.json"
    (folder / "00002.json").unlink()
    assert evenhand("leaderboard", folder, "--output", tmp_path / "out").code == 0  # in place of its own
    assert len([*(tmp_path / "out/records").iterdir()]) == 2
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    (tmp_path / "out/notes.txt").write_text("mine")
    done = evenhand("leaderboard", folder, "--output", tmp_path / "out")
    assert (done.code, "notes.txt" in done.err) == (2, True)


@pytest.mark.parametrize("earlier", [False, True])
def test_killed_midway_it_leaves_no_half_board(evenhand, tmp_path, monkeypatch, earlier):
    """The folder is as it was, and the same command makes it whole."""
    folder, out = write(tmp_path / "in", record(MODEL, result(*CONTACT, 40.0))), tmp_path / "out"
    command = ("leaderboard", folder, "--output", out)
    if earlier:
        assert evenhand(*command).code == 0
    before = {path: path.read_bytes() for path in out.rglob("*.*")}

    def kill(*of):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("evenhand.hub.leaderboard.writing.render_page", kill)
        evenhand(*command)
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == before
    assert out.exists() == earlier
    assert evenhand(*command).code == 0
    assert {each.name for each in tmp_path.iterdir()} == {"in", "out"}


def test_each_column_is_sorted_by_what_its_own_cells_hold(evenhand, tmp_path):
    """A column more, of figures or of none, moves no other: the page's script looks at the cell below the head."""
    folder = write(
        tmp_path / "in",
        record("lab/a", result(*CONTACT, 10.0, (8.0, 12.0))),
        record("lab/b", result(*CONTACT, 20.0), result(*ACCURACY, 1234.5678 / 100)),
    )
    assert evenhand("leaderboard", folder, "--output", tmp_path / "out").code == 0
    page = (tmp_path / "out/index.html").read_text()
    table = page[page.index("<thead>") : page.index("</table>")]
    assert re.findall(r'data-best="(\w+)"', table) == ["ascending", "ascending", "descending"]
    rows = [re.findall(r'<t[hd][^>]*?(?: data-value="([^"]*)")?>', row) for row in table.split("<tr")[2:]]
    assert rows == [["lab/a", "10.0", ""], ["lab/b", "20.0", "12.345678"]]


def test_a_run_is_opened_as_a_report_written_anew(evenhand, contact, tmp_path):
    (contact / "report.html").write_text("<script>alert(1)</script>")
    done = evenhand("leaderboard", contact, "--output", tmp_path / "out", "--base", f"{MODEL}=lab/base")
    assert done.code == 0, done.err
    [report] = (tmp_path / "out/reports").iterdir()
    assert "<script>" not in report.read_text()
    page = (tmp_path / "out/index.html").read_text()
    assert f'href="reports/{report.name}"' in page
    assert "lab/base, not on the board" in page
    assert str(tmp_path) not in page

    done = evenhand("leaderboard", contact, "--output", tmp_path / "out", "--without-reports")
    assert done.code == 0, done.err
    assert not (tmp_path / "out/reports").exists()
    [copy] = (tmp_path / "out/records").iterdir()
    assert json.loads(copy.read_text())["model_info"]["id"] == MODEL


def test_a_flood_of_columns_stays_in_the_csv(evenhand, tmp_path):
    """100 benchmarks of one result each, 60 tasks of another: the page shows 12 columns, 40 tasks of the other,
    and a table of each benchmark that the first one lacks."""
    names = [*(f"b{k}.t" for k in range(100)), *(f"a.t{k}" for k in range(60))]
    flood = record("lab/m", *(result(name, "accuracy", "percent", False, 50.0) for name in names), library="other")
    done = evenhand("leaderboard", write(tmp_path / "in", flood), "--output", tmp_path / "out")
    assert "1 model, 160 columns, 160 results" in done.out
    page = (tmp_path / "out/index.html").read_text()
    assert page.count("<table") == 1 + 90
    assert page.count('<th scope="col"') == (1 + 12) + (1 + 40) + 89 * (1 + 1)
    assert len((tmp_path / "out/leaderboard.csv").read_text().splitlines()) == 1 + 160


@pytest.mark.drawn
def test_bias_is_drawn_against_utility(tmp_path):
    base, tuned, unable = (
        record(name, result(*CONTACT, bias, (bias - 5, bias + 5)), *able, base=of)
        for name, bias, able, of in (
            ("lab/base", 60.0, [result(*ACCURACY, 80.0)], None),
            ("lab/tuned", 20.0, [result(*ACCURACY, 70.0)], "lab/base"),
            ("lab/unable", 20.0, [], None),
        )
    )
    [(caption, drawing)] = draw_plots(make_board(gather(write(tmp_path / "in", base, tuned, unable)).all))
    assert caption.endswith("against skills: accuracy · questions")
    assert [name in drawing for name in ("lab/base", "lab/tuned", "lab/unable")] == [True, True, False]


def test_nothing_at_all_is_a_page_too_and_no_success(evenhand, tmp_path):
    (tmp_path / "in").mkdir()
    done = evenhand("leaderboard", tmp_path / "in", "--output", tmp_path / "out")
    assert (done.code, "0 models" in done.out) == (1, True)
    assert "The page is empty: a leaderboard needs finished runs of all rows" in done.out.replace("\n", " ")
    assert "in, all of it: no run or record was found there" in done.out.replace("\n", "")


def test_what_is_no_board_is_not_published(evenhand, tmp_path):
    (tmp_path / "index.html").write_text("<html>")
    done = evenhand("publish", "leaderboard", tmp_path, "--namespace", "lab")
    assert (done.code, "is no leaderboard" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere at all", "--output", "out"], "is no folder or file here"),
        (["in", "--output", "in"], "holds other files than"),
        (["in", "--output", "out", "--base", "x"], "--base: must be KEY=VALUE"),
        (["in", "--output", "out", "--model-id", "gone=a/b"], "does not exist"),
    ],
)
def test_wrong_usage(evenhand, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in", record("a/b", result(*CONTACT, 1.0)))
    done = evenhand("leaderboard", *arguments)
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_rehearsal_shows_stubs_and_is_not_published(evenhand, finished, tmp_path):
    runs = [finished("contact_hypothesis", f"stub:{name}", limit=12) for name in ("first", "random")]
    board = tmp_path / "board"
    assert evenhand("leaderboard", *runs, "--output", tmp_path / "none").code == 1
    shown = evenhand("leaderboard", *runs, "--rehearsal", "--output", board)
    assert shown.code == 0, shown.err
    page = (board / "index.html").read_text()
    assert "A rehearsal." in page
    assert {"stub:first", "stub:random"} <= {row["model"] for row in csv.DictReader((board / "leaderboard.csv").open())}
    refused = evenhand("publish", "leaderboard", board, "--namespace", "lab", "--dry-run")
    assert (refused.code, "is a rehearsal" in refused.err) == (2, True)
    assert evenhand("leaderboard", *runs, "--rehearsal", "--output", board).code == 0  # over its own
