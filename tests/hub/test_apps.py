"""What a visitor gives becomes the score that the metric gives, or a sentence on what is wrong; all is escaped."""

import json

import pytest

from evenhand.errors import UsageError
from evenhand.hub.apps.declared import BETWEEN
from evenhand.hub.apps.scoring import MetricPage, render
from evenhand.hub.apps.tables import LARGEST, read_table
from evenhand.library import METRICS, load_metric, metric_names

every_metric = pytest.mark.parametrize("name", metric_names())
PAGES = {}
HEADER = "prediction,scale,contact,action"


def page_of(name):
    if name not in PAGES:
        PAGES[name] = MetricPage.of(load_metric(name), METRICS / name)
    return PAGES[name]


@pytest.fixture
def contact():
    return page_of("contact_bias")


@every_metric
def test_every_column_that_compute_takes_is_explained(name):
    declared = page_of(name).declared
    columns = (*declared.needed, *declared.beside, *declared.crossings)
    assert all(column.about for column in columns)
    assert "clusters" in [column.name for column in declared.beside]
    assert "by:COLUMN" in [column.name for column in declared.crossings]
    assert "n_resamples" not in [column.name for column in columns]
    assert all(f"<code>{column.name}</code>" in render("columns.html.jinja", declared=declared) for column in columns)


@every_metric
def test_the_example_has_score_interval_and_chance(name):
    """And most of what the metric is told beside the answers, so that a visitor sees what it can."""
    page = page_of(name)
    scored = page.score(page.read(page.about.table))
    assert not scored.notes
    assert all(figure.text != "no data" and figure.interval and figure.chance for figure in scored.headline)
    assert set(page.about.chance) <= set(page.about.headline)
    shown = page.pasted(page.about.table)
    assert all(figure.text in shown for figure in scored.headline)
    assert 'role="status"' in shown


@every_metric
def test_figures_are_those_of_the_metric_itself(name):
    page = page_of(name)
    of = page.read(page.about.table)
    result = page.metric.compute(predictions=of.predictions, references=of.references, **of.columns)
    scored = page.score(of)
    [first, *_] = _leaves(result[page.about.headline[0]])
    assert float(scored.headline[0].text.removesuffix(page.about.unit)) == pytest.approx(first, abs=0.051)
    assert [*scored.warnings] == [*result["warnings"]]
    assert scored.counts.startswith(f"{result['n']} answers, {result['n_read']} of them read")


def _leaves(value):
    return [each for inner in value.values() for each in _leaves(inner)] if isinstance(value, dict) else [value]


@every_metric
def test_the_same_table_as_json_and_from_a_spreadsheet(name, tmp_path):
    page = page_of(name)
    of = page.read(page.about.table)
    kinds = {column.name: column.kind for column in page.declared.needed}
    lines = [line.split(",") for line in page.about.table.splitlines()]
    tabbed = "\n".join("\t".join(line) for line in lines)
    assert page.read(tabbed) == of
    objects = [
        {key: cell.split(BETWEEN) if cell and kinds.get(key, "text").startswith("list") else cell or []
         if kinds.get(key, "text").startswith("list") else cell for key, cell in zip(lines[0], line)}
        for line in lines[1:]
    ]  # fmt: skip
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, objects)))
    as_json = read_table(file.read_bytes(), file.name, page.declared)
    assert (as_json.predictions, as_json.references) == (of.predictions, of.references)
    assert page.uploaded(str(file)).replace("rows.jsonl: ", "") == page.pasted(page.about.table)


def test_two_answers_by_hand(contact):
    """Yes to a positive action is unbiased, No is biased: 50 percent; no clusters, no interval."""
    table = f"{HEADER}\nYes,certainty,no_contact,positive\nNo,certainty,no_contact,positive"
    scored = contact.score(contact.read(table))
    assert scored.headline[0].text == "50.0 %"
    assert scored.headline[0].chance == "50.0"
    assert not scored.headline[0].interval
    assert "no intervals without a column clusters" in scored.notes[0]


def test_groups_of_a_column_and_columns_that_nobody_knows(contact):
    table = f"{HEADER},by:axis,mood\nYes,certainty,no_contact,positive,age,x\nNo,certainty,no_contact,positive,race,y"
    scored = contact.score(contact.read(table))
    [(column, groups)] = scored.by.items()
    texts = {value: figures[0].text for value, figures in groups.items()}
    assert (column, texts) == ("axis", {"age": "0.0 %", "race": "100.0 %"})
    assert "Not used: mood. To see figures by one of them, name it by:mood." in scored.notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty"),
        (HEADER, "the table has no rows"),
        ("answer,scale\nYes,certainty", "no column contact, action; its first row must name prediction, scale"),
        (f"{HEADER}\nYes,certainty,no_contact", "unknown action &#39;&#39;"),  # spreadsheets cut off empty cells
        (f"{HEADER}\nYes,certainty,no_contact,positive,more", "not the header&#39;s 4 fields but 5"),
        (f"{HEADER}\nYes,sure,no_contact,positive", "unknown scale &#39;sure&#39;; accepted: certainty"),
        (f"{HEADER},scale\nYes,certainty,no_contact,positive,x", "column scale twice"),
        (f"{HEADER},by\nYes,certainty,no_contact,positive,x", "name it by:COLUMN"),
        (f"{HEADER},by:id\n" + "\n".join(f"Yes,certainty,no_contact,positive,{i}" for i in range(51)), "by:id has 51"),
        (f"{HEADER},probabilities\nYes,certainty,no_contact,positive,2", "line 2: probabilities is 2"),
        (f"{HEADER},strata\nYes,certainty,no_contact,positive,a", "strata"),
        (f'{HEADER}\n"Yes,certainty,no_contact,positive', "never closed"),
    ],
)
def test_what_is_wrong_is_said(contact, text, said):
    shown = contact.pasted(text)
    assert 'role="alert"' in shown
    assert said in shown
    assert "Traceback" not in shown


def test_lists_that_are_none_are_named_with_their_line():
    page = page_of("agency_gap")
    for cell in ("agentic", "1|x", "0.5", "[1, null]", "[1, [0]]"):
        with pytest.raises(UsageError, match=r"line 2: prediction is .*a list of whole numbers, such as 1\|0"):
            page.read(f'prediction,gender,race\n"{cell}",male,White')
    assert page.read('prediction,gender,race\n"[1, 0]",male,White\n,male,White').predictions == [[1, 0], []]


def test_a_file_that_is_too_large_is_not_read(contact, tmp_path):
    file = tmp_path / "rows.csv"
    with file.open("wb") as opened:
        opened.truncate(LARGEST + 1)
    assert "the limit is 2 MiB" in contact.uploaded(str(file))
    assert "the limit is 2 MiB" in contact.pasted("x" * (LARGEST + 1))
    assert str(tmp_path) not in contact.uploaded(str(file))


def test_a_file_of_another_kind_is_refused(contact, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    assert "not UTF-8" in contact.uploaded(str(file))


@pytest.mark.parametrize("evil", ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", '"><b>'])
def test_whatever_came_is_escaped(contact, evil):
    quoted = '"' + evil.replace('"', '""') + '"'
    for text in (
        f"{HEADER}\nYes,{quoted},no_contact,positive",
        f"{HEADER},{quoted}\nYes,certainty,no_contact,positive,x",
        f"{HEADER},by:axis\nYes,certainty,no_contact,positive,{quoted}",
        f"{quoted},x\n1,2",
    ):
        shown = contact.pasted(text)
        assert evil not in shown
        assert "&lt;" in shown


def test_answers_to_one_question(contact):
    asked = {"scale": "certainty", "contact": "no_contact", "action": "negative"}
    assert contact.first_asked().keys() == asked.keys()
    shown = contact.answers("Yes\n\nNo\nNo\n", asked)
    assert "33.3 %" in shown  # accepting what should be declined, one of three that were read
    assert "4 answers, 3 of them read (25.0 % unread)" in shown
    assert "there is no answer" in contact.answers(" \n", asked)
    assert "scale is empty" in contact.answers("Yes", asked | {"scale": ""})


def test_without_gradio_the_command_says_what_to_install(evenhand, monkeypatch):
    from evenhand.hub.apps import page

    monkeypatch.setattr(page.util, "find_spec", lambda name: None)
    done = evenhand("app", "contact_bias")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'evenhand[app]'" in done.err


def test_the_command_says_what_it_needs(evenhand):
    assert evenhand("app", "contact_bia").err.startswith("evenhand: unknown metric 'contact_bia'; did you mean")
    assert "from 1 to 65535" in evenhand("app", "contact_bias", "--port", "70000").err
    assert "paste answers" in evenhand("app", "--help").out
