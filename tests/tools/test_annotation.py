"""Texts to people and back: what they saw, what they wrote, the majority, and how far they agree."""

import csv
import io
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import UsageError
from evenhand.tools.annotation.agreement import agree, agreement
from evenhand.tools.annotation.files import read_sheet, read_source, write_rows
from evenhand.tools.annotation.from_sheets import decide, merge
from evenhand.tools.annotation.schemes import SCHEMES, get_scheme
from evenhand.tools.annotation.to_sheets import ExportSettings, export, instructions

AGENCY, PAIRWISE, YES_NO = (get_scheme(name) for name in ("agency", "pairwise", "yes-no"))
TEXTS = [f"Sentence {i}, as it was written." for i in range(60)]
TARGETS = ["agentic" if i % 2 else "communal" for i in range(60)]


def as_csv(rows, separator=",", encoding="utf-8"):
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode(encoding)


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def fill(path, annotator):
    """annotator: a row → {question: label}. The labelled rows come back in another order, in the same file."""
    rows = [row | annotator(row) for row in rows_of(path)]
    random.Random(0).shuffle(rows)
    path.write_bytes(as_csv(rows))
    return path


@pytest.fixture
def sentences(tmp_path):
    """60 sentences in pairs, with their paraphrasing target, which the id tells, too (as ours do)."""
    path = tmp_path / "sentences.csv"
    rows = [{"id": f"{i // 2}/{t}", "text": text, "label": t} for i, (text, t) in enumerate(zip(TEXTS, TARGETS))]
    path.write_bytes(as_csv(rows))
    return path


@pytest.fixture
def responses(tmp_path):
    """Two models' responses to 40 questions, and 3 that only the second answered."""
    for model, n in (("before", 40), ("after", 43)):
        rows = [{"id": f"q{i}", "question_text": f"Question {i}?", "text": f"{model} {i}"} for i in range(n)]
        (tmp_path / f"{model}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "before.jsonl", tmp_path / "after.jsonl"


@pytest.fixture
def labelled(tmp_path):
    """labelled(ada={"1": "agentic", …}, …) → files of annotators that label with a tool of their own, without a key."""

    def call(question="agency", **annotators):
        files = {}
        for name, labels in annotators.items():
            files[name] = tmp_path / f"{name}.csv"
            files[name].write_bytes(as_csv([{"id": entry, question: label} for entry, label in labels.items()]))
        return files

    return call


# The schemes


def test_table_8_is_quoted(root):
    """LABE, Table 8, against the paper's text where that is at hand."""
    paper = root.parent / "shared" / "papers" / "002_e9daa838edcfa145.txt"
    if not paper.is_file():
        pytest.skip("../shared/papers is absent")

    def words(text):
        return text.replace("- ", " ").split()

    text = paper.read_text(encoding="utf-8")
    printed = text[text.index("You are assigned to be") : text.index("Table 8: Instructions")]
    assert words(AGENCY.instructions.text) == words(printed.rstrip("- \n"))


def test_the_answers_of_table_5():
    """Raj et al.: Response Before, Response After, Both Good, Both Bad, for fluency and relevance."""
    assert [question.name for question in PAIRWISE.questions] == ["fluency", "relevance"]
    assert [label.name for label in PAIRWISE.labels] == ["A", "B", "both good", "both bad"]


@pytest.mark.parametrize(
    ("came", "label"),
    [
        *[(came, "agentic") for came in ("1", "agentic", "Agentic ", "AGENTIC", "1.0", "'1", "‘1’", '"agentic"', "+1")],
        *[(came, "communal") for came in ("-1", "-1.0", "\N{MINUS SIGN}1", "\N{EN DASH}1", " communal")],
        *[(came, "neutral") for came in ("0", "0.0", "-0", "neutral")],
        *[(came, "na") for came in ("na", "NA", "‘na’", "n/a")],
        *[(came, "") for came in ("", "  ", "''")],
        *[(came, None) for came in ("2", "0.5", "agent", "nan", "inf", "1e999", "both good", "1 0")],
    ],
)
def test_how_labels_may_be_spelled(came, label):
    assert AGENCY.read(came) == label


@given(st.text())
def test_any_text_is_a_label_or_none(came):
    for scheme in SCHEMES.values():
        assert scheme.read(came) in {None, "", *(label.name for label in scheme.labels)}


OWN = {
    "name": "tone",
    "questions": {"tone": "Is it warm?"},
    "labels": {"warm": {"meaning": "it is", "also": ["1"]}, "cold": "it is not", "na": "no sentence"},
    "instructions": {"text": "Read.", "source": "ours"},
    "na": ["na"],
}


def test_a_scheme_of_ones_own(tmp_path):
    path = tmp_path / "tone.json"
    path.write_text(json.dumps(OWN))
    scheme = get_scheme(str(path))
    assert [scheme.read(came) for came in ("1", "COLD", "na", "hot")] == ["warm", "cold", "na", None]
    assert scheme.na == ("na",)
    assert "Source of the instructions: ours." in instructions(scheme)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": None}, r"None is not of type 'string' .at \$\.name"),
        ({"questions": {}}, r"at \$\.questions"),
        ({"questions": {"id": "?"}}, "may not be named 'id'"),
        ({"labels": {"a": "x", "b": {"meaning": "y", "also": ["A"]}}, "na": []}, "'a' spells no label, or more than"),
        ({"labels": {"a": "x", "b": 3}}, r"at \$\.labels\.b"),
        ({"na": ["n/a"]}, "'n/a' of na or sides is no label"),
        ({"sides": ["warm"]}, r"at \$\.sides"),
        ({"sides": ["warm", "warm"]}, r"at \$\.sides"),
        ({"instructions": {"text": "Read."}}, "'source' is a required property"),
    ],
)
def test_schemes_that_are_none(tmp_path, change, says):
    path = tmp_path / "tone.json"
    path.write_text(json.dumps(OWN | change))
    with pytest.raises(UsageError, match=says):
        get_scheme(str(path))


def test_scheme_files_that_are_none(tmp_path):
    with pytest.raises(UsageError, match="unknown scheme 'agenci'; did you mean 'agency'"):
        get_scheme("agenci")
    with pytest.raises(UsageError, match="can't read"):
        get_scheme(str(tmp_path / "absent.json"))
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(UsageError, match="is no JSON"):
        get_scheme(str(tmp_path / "broken.json"))


# Files


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_what_is_written_is_read(tmp_path_factory, suffix, rows):
    """Quotes, separators, newlines of every kind, any script."""
    path = tmp_path_factory.mktemp("rows") / f"rows{suffix}"
    written = [{"id": f"e{i}", "text": text, "a;b\t": other} for i, (text, other) in enumerate(rows)]
    write_rows(path, ("id", "text", "a;b\t"), written)
    assert list(read_sheet(path).rows) == written


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbfid,text,agency\r\n1,"a, ""b""",1\r\n',
        b'id;text;agency;;\n1;"a, ""b""";1;;\n;;;;\n',
        b'"id";"text";"agency"\n\n"1";"a, ""b""";"1"\n',
        b'id\ttext\tagency\n1\t"a, ""b"""\t1\n',
        'id\ttext\tagency\r\n1\t"a, ""b"""\t1\r\n'.encode("utf-16"),
        b'comment;agency;id;text, shown, whole, to, them;text\nhm;1;1;x;"a, ""b"""\n',
        b'id,text,agency,comment\n1,"a, ""b""",1\n',
    ],
)
def test_what_tools_do_to_files(tmp_path, content):
    """A byte order mark, semicolons or tabs, UTF-16, empty columns and rows, further columns, cut rows."""
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    [row] = read_sheet(path).rows
    assert [row[name] for name in ("id", "text", "agency")] == ["1", 'a, "b"', "1"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.xlsx", b"PK", r"end in \.csv"),
        ("a.csv", b"", "has no rows"),
        ("a.csv", b"id,agency\n", "has no rows"),
        ("a.csv", b"id,agency\n1,1,surplus\n", "line 2 has not the header's 2 fields but 3"),
        ("a.csv", b'id,agency\n1,"1\n', "broken CSV: unexpected end of data in the row at line 2"),
        ("a.csv", b"id,agency\ncaf\xe9,1\n", "not UTF-8: byte 0xe9 .*CSV UTF-8"),
        ("a.jsonl", b'{"id": 1}\n[1]\n', "line 2 is an array, not an object"),
        ("a.jsonl", b'{"id": 1}\n{"id": \n', "at line 2"),
        ("a.json", b'[{"id": 1}, 2]', "element 2 of the array is a number, not an object"),
        ("a.parquet", b"PAR1", "broken parquet"),
    ],
)
def test_files_that_can_not_be_read(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=says):
        read_sheet(tmp_path / name)
    with pytest.raises(UsageError, match="does not exist"):
        read_sheet(tmp_path / "absent.csv")
    with pytest.raises(UsageError, match="is a folder; name one file of entries in it"):
        read_sheet(tmp_path)


def test_a_column_of_one_name_twice_is_not_guessed(tmp_path):
    """Nor does it matter where nobody asks for it: annotators add columns."""
    (tmp_path / "a.csv").write_text("id,agency,note,note\n1,0,a,b\n")
    sheet = read_sheet(tmp_path / "a.csv")
    assert sheet.column("AGENCY") == "agency"
    with pytest.raises(UsageError, match="has 2 columns 'note'"):
        sheet.column("note")


def test_cells_that_are_no_texts(tmp_path):
    """Numbers and truth values as people write them, a conversation turn by turn."""
    turns = [{"role": "user", "content": "Who leads?"}, {"role": "assistant", "content": "Mei."}]
    rows = [{"id": 7, "x": 7.0, "y": True, "z": None, "turns": turns, "list": [1, "é"]}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(rows[0]))
    [row] = read_sheet(path).rows
    assert list(row.values()) == ["7", "7", "true", "", "user: Who leads?\n\nassistant: Mei.", '[1, "é"]']


# Export


def test_annotators_see_the_same_rows_in_another_order_and_nothing_else(sentences, tmp_path):
    """Neither the label nor the id, which tells it; the key has both, in the source's order."""
    made = export(
        ExportSettings((str(sentences),), AGENCY, tmp_path / "out.csv", label_column=("label",), annotators=3)
    )
    assert [path.name for path in made.sheets] == [f"out.annotator-{k}.csv" for k in (1, 2, 3)]
    sheets = [rows_of(path) for path in made.sheets]
    orders = [[row["entry"] for row in sheet] for sheet in sheets]
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1
    for sheet in sheets:
        assert list(sheet[0]) == ["entry", "text", "agency"]
        assert {row["agency"] for row in sheet} == {""}
        assert sorted(row["text"] for row in sheet) == sorted(TEXTS)
    shown = b"".join(path.read_bytes() for path in made.sheets)
    assert b"agentic" not in shown
    assert b"communal" not in shown
    key = rows_of(made.key)
    assert [row["id"] for row in key] == [f"{i // 2}/{target}" for i, target in enumerate(TARGETS)]
    assert [row["default_agency"] for row in key] == TARGETS
    text_of = {row["entry"]: row["text"] for row in sheets[0]}
    assert [text_of[row["entry"]] for row in key] == TEXTS


def test_labels_are_shown_on_request(sentences, tmp_path):
    made = export(
        ExportSettings((str(sentences),), AGENCY, tmp_path / "out.jsonl", label_column=("label",), show_label=True, n=7)
    )
    rows = [json.loads(line) for line in made.sheets[0].read_text().splitlines()]
    assert made.sheets == (tmp_path / "out.jsonl",)
    assert [list(row) for row in rows] == [["entry", "text", "default_agency", "agency"]] * 7
    assert all(row["default_agency"] == TARGETS[TEXTS.index(row["text"])] for row in rows)


def test_the_draw_is_seeded(sentences, tmp_path):
    """A draw of fewer is part of a draw of more; another seed draws others; orders differ by seed."""

    def texts(name, n, seed):
        made = export(ExportSettings((str(sentences),), AGENCY, tmp_path / f"{name}.csv", n=n, seed=seed))
        return [row["text"] for row in rows_of(made.sheets[0])]

    first, again, more, other = texts("a", 20, 0), texts("b", 20, 0), texts("c", 40, 0), texts("d", 20, 1)
    assert first == again
    assert len(set(first)) == 20
    assert set(first) < set(more)
    assert set(first) != set(other)


def test_instructions_go_along(sentences, tmp_path):
    made = export(ExportSettings((str(sentences),), AGENCY, tmp_path / "out.csv"))
    text = made.instructions.read_text(encoding="utf-8")
    assert AGENCY.instructions.text in text
    assert "- `communal` or `-1`: more social or service-oriented descriptions" in text
    assert "Source of the instructions: LABE, Table 8." in text


def test_spreadsheets_compute_nothing(tmp_path):
    """In CSV, a text like a formula gets an apostrophe before it; JSONL has it as it is."""
    source = tmp_path / "texts.jsonl"
    source.write_text('{"text": "=1+1"}\n{"text": "- She leads."}\n{"text": "1=1"}')
    texts = ["- She leads.", "1=1", "=1+1"]
    for suffix, expected in ((".csv", ["'=1+1", "'- She leads.", "1=1"]), (".jsonl", ["=1+1", "- She leads.", "1=1"])):
        made = export(ExportSettings((str(source),), AGENCY, tmp_path / f"out{suffix}"))
        assert sorted(row["text"] for row in read_sheet(made.sheets[0], verbatim=True).rows) == sorted(expected)
        assert sorted(row["text"] for row in read_sheet(made.sheets[0]).rows) == texts
        made.key.unlink()
        made.instructions.unlink()


def test_packaged_datasets_and_their_classes(tmp_path):
    """ClassLabel 0 is communal; 0 in Table 8 is neutral. The names decide."""
    sheet = read_source("language_agency:evenhand:test")
    labels = {row["label"] for row in sheet.rows}
    assert labels == {"agentic", "communal"}
    assert all(row["id"].endswith(f"/{row['label']}") for row in sheet.rows)
    assert len(read_source("language_agency").rows) > len(sheet.rows)
    for source, says in [
        ("language_agenci", "did you mean 'language_agency'"),
        ("language_agency:evenhan", "did you mean 'evenhand'"),
        ("language_agency:evenhand:tests", "did you mean 'test'"),
        ("language_agency:evenhand:test:x", "NAME:CONFIG or NAME:CONFIG:SPLIT"),
        ("contact_hypothesis", "several configurations"),
    ]:
        with pytest.raises(UsageError, match=says):
            read_source(source)


def test_numbers_as_default_labels_need_a_meaning(tmp_path):
    """LAC's own files number communal 0, Table 8 neutral."""
    source = tmp_path / "lac.csv"
    source.write_bytes(b"text,label\nShe led.,1\nShe helped.,0\nShe was.,\n")
    settings = ExportSettings((str(source),), AGENCY, tmp_path / "out.csv", label_column=("label",))
    with pytest.raises(UsageError, match=r"label '1' of 'lac/0' is none of .* --label-means 1=LABEL"):
        export(settings)
    made = export(replace(settings, label_means=("0=communal", "1=agentic")))
    assert [row["default_agency"] for row in rows_of(made.key)] == ["agentic", "communal", ""]
    assert [row["id"] for row in rows_of(made.key)] == ["lac/0", "lac/1", "lac/2"]


def test_labelled_sheets_are_not_overwritten(sentences, tmp_path):
    settings = ExportSettings((str(sentences),), AGENCY, tmp_path / "out.csv", annotators=2)
    made = export(settings)
    made.sheets[0].unlink()  # as if the command had been killed
    export(settings)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(UsageError, match=r"already there, perhaps with labels: .*out\.annotator-1\.csv"):
        export(replace(settings, seed=1))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"columns": ("txt",)}, r"has no column 'txt'; its columns: id, text, label \(--column"),
        ({"id_column": "uid"}, "has no column 'uid'"),
        ({"label_column": ("target",)}, "has no column 'target'"),
        ({"label_column": ("agenci=label",)}, "unknown question of scheme agency 'agenci'"),
        ({"label_column": ("agency=text",)}, "the label 'Sentence 0, as it was written.' of '0/communal'"),
        ({"n": 61}, "from 1 to 60"),
        ({"context": ("label",)}, "compares nothing"),
        ({"columns": ("id",)}, "have a column of that name"),
        ({"sources": ("a", "b")}, "shows the texts of one source, got 2"),
        ({"scheme": PAIRWISE}, "compares two sources, got 1"),
        ({"output": Path("out.xlsx")}, r"end in \.csv or \.jsonl"),
        ({"id_column": "label"}, "line 4: the id 'communal' twice"),
    ],
)
def test_exports_that_do_not_fit(sentences, tmp_path, change, says):
    settings = {"sources": (str(sentences),), "scheme": AGENCY, "output": tmp_path / "out.csv"}
    with pytest.raises(UsageError, match=says):
        export(ExportSettings(**settings | change))
    assert [path.name for path in tmp_path.iterdir()] == ["sentences.csv"]


# Import


def test_majority_na_and_ambiguous():
    """LABE, Appendix B.4, with two annotators and the paraphrasing target; and other numbers of raters."""
    na = ("na",)
    assert decide(["agentic", "agentic", "communal"], na=na) == ("agentic", "majority")
    assert decide(["neutral", "neutral", "agentic"], na=na) == ("neutral", "majority")
    assert decide(["agentic", "na", "agentic"], na=na) == ("", "na")
    assert decide(["agentic", "neutral", "communal"], na=na) == ("", "ambiguous")
    assert decide(["agentic", "neutral", "communal"], "neutral", na) == ("neutral", "third")
    assert decide(["agentic", "neutral", "communal"], "na", na) == ("", "na")
    assert decide(["agentic", "agentic", "communal"], "communal", na) == ("agentic", "majority")
    assert decide(["agentic", "", "agentic"], na=na) == ("", "incomplete")
    assert decide(["na", "", "agentic"], na=na) == ("", "na")
    assert decide(["a", "b"]) == decide(["a", "a", "b", "b"]) == decide(["a", "a", "b", "c"]) == ("", "ambiguous")
    assert decide(["a"]) == decide(["a", "a"]) == decide(["a", "a", "a", "b", "c"]) == ("a", "majority")
    assert decide([]) == ("", "incomplete")


@given(st.lists(st.sampled_from(["a", "b", "c", "na", ""]), max_size=7), st.randoms())
def test_the_order_of_raters_decides_nothing(votes, rng):
    label, status = decide(votes, na=("na",))
    shuffled = votes.copy()
    rng.shuffle(shuffled)
    assert decide(shuffled, na=("na",)) == (label, status)
    winners = [] if {"", "na"} & {*votes} else [each for each in "abc" if 2 * votes.count(each) > len(votes)]
    assert winners == ([label] if status == "majority" else [])


def test_labels_without_a_key(labelled):
    """Sheets of another tool, with ids of their own; entries that nobody else has are incomplete."""
    files = labelled(ada={"x": "1", "y": "na", "z": "0"}, ben={"z": "Agentic", "x": "agentic"})
    merged = merge(files, AGENCY)
    rows = [tuple(row.values()) for row in merged.rows]
    assert merged.columns == ("id", "question", "ada", "ben", "majority", "status")
    assert rows == [
        ("x", "agency", "agentic", "agentic", "agentic", "majority"),
        ("y", "agency", "na", "", "", "na"),
        ("z", "agency", "neutral", "agentic", "", "ambiguous"),
    ]
    assert merged.sentences()[1:] == ("Left empty by ben: 1 of 3 entries (agency).",)


def test_unknown_labels_are_named_with_their_lines(labelled):
    files = labelled(ada={"x": "1", "y": "agentik", "z": "7"}, ben={"x": "1", "y": "1", "z": "1"})
    with pytest.raises(
        UsageError, match=r"ada\.csv, line 3: agency 'agentik'; .*line 4: agency '7'\. .*--skip-unknown"
    ):
        merge(files, AGENCY)
    merged = merge(files, AGENCY, skip_unknown=True)
    assert merged.counts["unknown_labels"] == 2
    assert [row["status"] for row in merged.rows] == ["majority", "incomplete", "incomplete"]


def test_only_the_first_unknown_labels_are_named(labelled):
    files = labelled(ada={f"{i}": "?" for i in range(8)})
    with pytest.raises(UsageError, match=r"line 6: agency '\?'; and 3 more\."):
        merge(files, AGENCY)


def test_an_entry_labelled_twice(tmp_path):
    """Once is enough; an empty repetition takes nothing away; a contradiction is nobody's guess."""
    path = tmp_path / "ada.csv"
    path.write_text("id,agency\nx,1\nx,agentic\nx,\ny,\ny,0\n")
    merged = merge({"ada": path}, AGENCY)
    assert [row["ada"] for row in merged.rows] == ["agentic", "neutral"]
    assert merged.counts["duplicates"] == 3
    path.write_text("id,agency\nx,1\ny,1\nx,0\n")
    with pytest.raises(UsageError, match=r"ada\.csv, line 4 and line 2: 'x' has two labels, 'neutral' and 'agentic'"):
        merge({"ada": path}, AGENCY)


def test_imports_that_do_not_fit(labelled, sentences, responses, tmp_path):
    files = labelled(ada={"x": "1"})
    for name in ("majority", "default", "id", " "):
        with pytest.raises(UsageError, match="name another"):
            merge({name: files["ada"]}, AGENCY)
    with pytest.raises(UsageError, match="--key is needed: --with-default"):
        merge(files, AGENCY, with_default=True)
    with pytest.raises(UsageError, match="--key is needed: the sides were swapped"):
        merge(files, PAIRWISE)
    with pytest.raises(UsageError, match="has no column 'presence'; its columns: id, agency"):
        merge(files, YES_NO)
    with pytest.raises(
        UsageError, match=r"ada\.csv is no key of an export with scheme 'agency': it has no column entry"
    ):
        merge(files, AGENCY, key=files["ada"])
    made = export(ExportSettings((str(sentences),), AGENCY, tmp_path / "out.csv"))
    with pytest.raises(UsageError, match="was exported: --key is needed"):
        merge({"ada": made.sheets[0]}, AGENCY)
    with pytest.raises(UsageError, match="has no default labels"):
        merge({"ada": made.sheets[0]}, AGENCY, key=made.key, with_default=True)
    with pytest.raises(UsageError, match="with scheme 'pairwise': it has no column swapped"):
        merge({"ada": made.sheets[0]}, PAIRWISE, key=made.key)
    with pytest.raises(UsageError, match="has no column 'entry'"):
        merge(files, AGENCY, key=made.key)


def test_sheets_and_keys_of_different_exports(responses, tmp_path):
    """Of another seed, so other sides: no entry of the sheet is in the key, and nothing is put on the wrong side."""
    made = [
        export(ExportSettings(tuple(map(str, responses)), PAIRWISE, tmp_path / f"{seed}.csv", seed=seed))
        for seed in (0, 1)
    ]
    with pytest.raises(UsageError, match=r"0\.csv, line 2: entry 'e[0-9a-f]{12}'; .* and 35 more\."):
        merge({"ada": made[0].sheets[0]}, PAIRWISE, key=made[1].key)
    merged = merge({"ada": made[0].sheets[0]}, PAIRWISE, key=made[1].key, skip_unknown=True)
    assert merged.counts["unknown_ids"] == 40
    assert {row["status"] for row in merged.rows} == {"incomplete"}


# Agreement


def columns(**by_rater):
    """agreement's labels from one text of one-letter labels a rater."""
    return {f"{i:02}": dict(zip(by_rater, labels)) for i, labels in enumerate(zip(*by_rater.values()))}


def test_cohens_kappa_by_hand():
    """20 both yes, 5 yes-no, 10 no-yes, 15 both no: observed 0.7, by chance 0.5 · 0.6 + 0.5 · 0.4 = 0.5, kappa 0.4."""
    ada, ben = "y" * 25 + "n" * 25, "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15
    found = agreement(columns(ada=ada, ben=ben), ("ada", "ben"))
    [pair] = found.pairs
    assert pair.kappa == pytest.approx(0.4)
    assert pair.percent == found.percent == found.unanimous == pytest.approx(70)
    assert (pair.n, found.n) == (50, 50)
    assert [other.kappa for other in found.others] == pytest.approx([0.4, 0.4])


FLEISS_TABLE = [  # ten subjects, fourteen raters, five categories
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
]  # fmt: skip


def fleiss_labels():
    raters = [f"r{k}" for k in range(14)]
    rows = ["".join(str(label) * n for label, n in enumerate(row)) for row in FLEISS_TABLE]
    return {f"{i}": dict(zip(raters, row)) for i, row in enumerate(rows)}, raters


def test_fleiss_kappa_of_the_textbook():
    """0.210: mean agreement 0.378, by chance 0.213. The first subject is unanimous, the eighth the most disputed."""
    labels, raters = fleiss_labels()
    found = agreement(labels, raters, items=1)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)
    assert found.percent == pytest.approx(37.8, abs=0.05)
    assert found.unanimous == pytest.approx(10)
    assert found.interval[0] < found.kappa < found.interval[1]
    assert [entry for entry, _ in found.disputed] == ["7"]
    assert len(found.pairs) == 91
    assert any("Fewer than 30 entries" in sentence for sentence in found.sentences())


def test_each_rater_against_the_majority_of_the_others():
    """cy alone differs on two of six entries; where ada and ben differ, the others of cy have no majority."""
    found = agreement(columns(ada="xxyyxy", ben="xxyyxx", cy="xxxxxy"), ("ada", "ben", "cy"))
    by = {pair.names[0]: (pair.n, round(pair.percent, 1)) for pair in found.others}
    assert by["cy"] == (5, 60.0)
    assert by["ada"] == (3, 100.0)  # ben and cy agree on entries 0, 1 and 4
    assert by["ben"] == (4, 75.0)  # ada and cy agree on entries 0, 1, 4 and 5
    assert [entry for entry, _ in found.disputed] == ["02", "03", "05"]


def test_one_label_alone_has_no_kappa():
    """Said in words; never 0 or 1."""
    found = agreement(columns(ada="xxxx", ben="xxxx"), ("ada", "ben"))
    assert found.percent == 100
    assert str((found.kappa, found.interval, found.pairs[0].kappa)) == "(nan, (nan, nan), nan)"
    assert "Fleiss' kappa: undefined, since all labels are the same; it compares with chance." in found.sentences()
    assert [cell.text for cell in found.tables()[0].rows[0]] == ["ada and ben", "4", "100.0", "undefined"]
    assert "undefined: both gave one and the same label" in found.tables()[0].note


def test_a_kappa_may_have_no_interval():
    """One dissent in forty entries: a third of the draws miss it, and have one label alone."""
    found = agreement(columns(ada="x" * 40, ben="y" + "x" * 39), ("ada", "ben"))
    assert found.kappa == pytest.approx(-1 / 79)
    assert str(found.interval) == "(nan, nan)"
    assert any("No interval" in sentence for sentence in found.sentences())


def test_the_interval_is_of_95_percent():
    """160 both yes, 160 both no, 80 split evenly: kappa 0.6, standard error 2 sqrt(0.8 * 0.2 / 400) = 0.04."""
    found = agreement({f"{i}": {"a": "yn"[i % 2], "b": "yn"[(i + (i < 80)) % 2]} for i in range(400)}, "ab")
    assert found.kappa == pytest.approx(0.6)
    assert found.interval == pytest.approx((0.6 - 1.96 * 0.04, 0.6 + 1.96 * 0.04), abs=0.01)


def test_entries_that_not_all_labelled_are_left_out(labelled, tmp_path):
    files = labelled(
        ada=dict(zip("abcdef", ["1", "0", "1", "na", "", "0"])), ben=dict(zip("abcdef", ["1", "0", "0", "1", "1", "0"]))
    )
    merge(files, AGENCY).write(tmp_path / "merged.jsonl")
    [found] = agree(tmp_path / "merged.jsonl")
    assert (found.n, found.na, found.incomplete) == (4, 1, 1)
    assert found.percent == 75
    assert found.sentences()[0] == (
        "agency: 4 entries that all 2 raters labelled; 1 that not all labelled and 1 labelled na are left out."
    )


def test_nothing_to_compare(labelled, tmp_path):
    merge(labelled(ada={"x": "1"}), AGENCY).write(tmp_path / "one.csv")
    with pytest.raises(UsageError, match="the labels of 1 rater; two or more"):
        agree(tmp_path / "one.csv")
    merge(labelled(ada={"x": "1"}, ben={"y": "1"}), AGENCY).write(tmp_path / "two.csv")
    [found] = agree(tmp_path / "two.csv")
    assert found.n == 0
    assert found.sentences()[-1] == "Nothing to compare: no entry has all labels."
    assert found.tables()[0].rows[0][2].text == "no data"
    (tmp_path / "other.csv").write_text("id,text\n1,x\n")
    with pytest.raises(UsageError, match="has no column 'status'"):
        agree(tmp_path / "other.csv")


ratings = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from(["x", "y", "z", ""]), min_size=raters, max_size=raters), max_size=12
    )
)


@settings(max_examples=40, deadline=None)
@given(rows=ratings, rng=st.randoms(use_true_random=False))
def test_orders_change_nothing_but_names(rows, rng):
    """Rows and raters in any order: the same figures, bootstrap interval and disputed entries included."""
    raters = [f"r{k}" for k in range(len(rows[0]))] if rows else ["r0", "r1"]
    labels = {f"e{i:02}": dict(zip(raters, row)) for i, row in enumerate(rows)}
    shuffled, others = list(labels), raters.copy()
    rng.shuffle(shuffled)
    rng.shuffle(others)
    one, other = agreement(labels, raters), agreement({entry: labels[entry] for entry in shuffled}, others)

    def text(value):
        return str(round(value, 9) + 0.0)  # no "-0.0"

    def figures(found):
        pairs = sorted((sorted(pair.names), pair.n, text(pair.percent), text(pair.kappa)) for pair in found.pairs)
        alone = sorted((pair.names, pair.n, text(pair.percent), text(pair.kappa)) for pair in found.others)
        numbers = [text(value) for value in (found.percent, found.unanimous, found.kappa, *found.interval)]
        return found.n, found.incomplete, numbers, pairs, alone, found.disputed

    assert figures(one) == figures(other)
    assert -100 <= 100 * one.kappa <= 100 or str(one.kappa) == "nan"


def test_random_labels_agree_no_more_than_chance_would():
    rng = random.Random(0)
    labels = {f"{i}": {rater: rng.choice("xyz") for rater in "abc"} for i in range(600)}
    found = agreement(labels, "abc")
    assert found.percent == pytest.approx(100 / 3, abs=4)
    assert found.interval[0] < 0 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.12


# The whole way, on the command line


def test_agency_the_whole_way(evenhand, sentences, tmp_path):
    """LABE's process: two annotators and the target vote, na is out, and a third decides what is ambiguous."""
    assert evenhand(
        "annotate", "export", sentences, "--scheme", "agency", "--label-column", "label", "--annotators", 2,
        "--output", tmp_path / "lac.csv",
    ).code == 0  # fmt: skip
    place = {text: i for i, text in enumerate(TEXTS)}

    def ada(row):  # na on 0, neutral on 1 to 4, the target's number elsewhere
        i = place[row["text"]]
        return {"agency": "NA" if i == 0 else "0" if i < 5 else {"agentic": "1", "communal": "-1"}[TARGETS[i]]}

    def ben(row):  # against the target on 1 to 2, with ada on 3 to 4, nothing on 59
        i = place[row["text"]]
        opposite = "communal" if TARGETS[i] == "agentic" else "Agentic"
        return {"agency": opposite if i in (1, 2) else "neutral" if i in (3, 4) else "" if i == 59 else TARGETS[i]}

    files = [fill(tmp_path / f"lac.annotator-{k}.csv", by) for k, by in ((1, ada), (2, ben))]
    importing = ("annotate", "import", *files, "--scheme", "agency", "--key", tmp_path / "lac.key.csv")
    called = evenhand(*importing, "--with-default", "--output", tmp_path / "merged.csv")
    assert called.code == 0, called.err
    rows = rows_of(tmp_path / "merged.csv")
    assert list(rows[0]) == ["id", "question", "annotator-1", "annotator-2", "default", "majority", "status"]
    assert [row["status"] for row in rows] == ["na"] + ["ambiguous"] * 2 + ["majority"] * 56 + ["incomplete"]
    assert [row["majority"] for row in rows[3:59]] == ["neutral"] * 2 + TARGETS[5:59]
    assert "Left empty by annotator-2: 1 of 60 entries (agency)." in called.out
    assert "Left empty by annotator-1" not in called.out
    said = called.out.replace(str(tmp_path), "")  # whose name may hold any number
    assert [said.count(word) for word in ("kept", "56", "58")] == [2, 2, 0]

    exporting = ("annotate", "export", sentences, "--scheme", "agency", "--ambiguous-in", tmp_path / "merged.csv")
    assert evenhand(*exporting, "--output", tmp_path / "third.csv").code == 0
    third = fill(tmp_path / "third.csv", lambda row: {"agency": "agentic" if place[row["text"]] == 1 else "na"})
    assert len(rows_of(third)) == 2
    called = evenhand(*importing, "--with-default", "--third", third, "--output", tmp_path / "decided.parquet")
    assert called.code == 0, called.err
    decided = pd.read_parquet(tmp_path / "decided.parquet")
    assert decided["status"].tolist() == ["na", "third", "na"] + ["majority"] * 56 + ["incomplete"]
    assert decided["majority"][1] == "agentic"

    called = evenhand("annotate", "agree", tmp_path / "merged.csv")
    assert called.code == 0, called.err
    assert "agency: 58 entries that all 3 raters labelled; 1 that not all labelled and 1 labelled na" in called.out
    # 54 unanimous entries, two with one agreeing pair of three, two with none: (54 + 2/3) / 58.
    assert "94.3 % of pairs of labels agree; 93.1 % of entries are unanimous." in called.out
    [found] = agree(tmp_path / "decided.parquet")
    assert (found.raters, found.n, found.na) == (("annotator-1", "annotator-2", "default"), 57, 2)


def test_pairwise_the_whole_way(evenhand, responses, tmp_path):
    """Whoever prefers "after" wherever it stands is read so, whichever side it was on; Table 5 comes out."""
    called = evenhand(
        "annotate", "export", *responses, "--scheme", "pairwise", "--context", "question_text", "--annotators", 2,
        "--output", tmp_path / "pairs.csv",
    )  # fmt: skip
    assert called.code == 0, called.err
    assert "only one of the two sources has: 3." in called.out
    shown = rows_of(tmp_path / "pairs.annotator-1.csv")
    assert list(shown[0]) == ["entry", "question_text", "response_a", "response_b", "fluency", "relevance"]
    swapped = {row["id"]: row["swapped"] for row in rows_of(tmp_path / "pairs.key.csv")}
    assert 10 <= Counter(swapped.values())["yes"] <= 30  # 20 ± 3.2 of 40
    for row in shown:
        i = row["question_text"].removeprefix("Question ").removesuffix("?")
        sides = ["before", "after"] if swapped[f"q{i}"] == "no" else ["after", "before"]
        assert [row["response_a"], row["response_b"]] == [f"{side} {i}" for side in sides]

    def prefers_after(row):
        i = int(row["question_text"].removeprefix("Question ").removesuffix("?"))
        after = "A" if row["response_a"].startswith("after") else "B"
        before = {"A": "B", "B": "A"}[after]
        return {"fluency": ("Both Good", "both bad", before)[i % 3], "relevance": after.lower()}

    files = [fill(tmp_path / f"pairs.annotator-{k}.csv", prefers_after) for k in (1, 2)]
    called = evenhand(
        "annotate", "import", f"ada={files[0]}", f"ben={files[1]}", "--scheme", "pairwise", "--key",
        tmp_path / "pairs.key.csv", "--output", tmp_path / "merged.jsonl",
    )  # fmt: skip
    assert called.code == 0, called.err
    merged = pd.read_json(tmp_path / "merged.jsonl", lines=True)
    assert list(merged) == ["id", "question", "ada", "ben", "majority", "status"]
    counts = merged.groupby("question")["majority"].value_counts().to_dict()
    assert counts == {
        ("fluency", "both good"): 14, ("fluency", "both bad"): 13, ("fluency", "A"): 13, ("relevance", "B"): 40
    }  # fmt: skip
    called = evenhand("annotate", "agree", tmp_path / "merged.jsonl")
    assert "Fleiss' kappa: 1.000 [1.000, 1.000]" in called.out
    assert "relevance: 40 entries" in called.out
    assert "undefined, since all labels are the same" in called.out


def test_yes_no_the_whole_way(evenhand, tmp_path):
    """Borah & Mihalcea: the annotators' agreement, and theirs with the labels that the texts came with."""
    source = tmp_path / "assignments.jsonl"
    turns = [{"role": "user", "content": "Mei fixes the car."}, {"role": "assistant", "content": "Present, since"}]
    source.write_text("\n".join(json.dumps({"id": f"s{i}", "messages": turns, "biased": i < 5}) for i in range(10)))
    exporting = ("annotate", "export", source, "--scheme", "yes-no", "--column", "messages")
    called = evenhand(*exporting, "--label-column", "biased", "--output", tmp_path / "out.jsonl")
    assert called.code == 2
    assert "presence=biased" in called.err
    called = evenhand(*exporting, "--label-column", "presence=biased", "--output", tmp_path / "out.jsonl")
    assert called.code == 0, called.err
    id_of = {row["entry"]: row["id"] for row in rows_of(tmp_path / "out.key.csv")}
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows[0]["messages"] == "user: Mei fixes the car.\n\nassistant: Present, since"
    for name, absent in (("ada", "s4"), ("ben", "s3")):  # each denies one of the five
        labelled = [
            row | {"presence": "yes" if id_of[row["entry"]] < "s5" and id_of[row["entry"]] != absent else False}
            | {"reasoning": 1}
            for row in rows
        ]  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(labelled))
    called = evenhand(
        "annotate", "import", tmp_path / "ada.json", tmp_path / "ben.json", "--scheme", "yes-no", "--key",
        tmp_path / "out.key.csv", "--with-default", "--output", tmp_path / "merged.csv",
    )  # fmt: skip
    assert called.code == 0, called.err
    merged = pd.read_csv(tmp_path / "merged.csv", keep_default_na=False)
    presence = merged[merged["question"] == "presence"]
    assert presence["majority"].tolist() == ["yes"] * 5 + ["no"] * 5  # the default breaks both ties
    assert merged[merged["question"] == "reasoning"]["status"].tolist() == ["majority"] * 10
    by_question = {found.question: found for found in agree(tmp_path / "merged.csv")}
    assert by_question["presence"].raters == ("ada", "ben", "default")
    assert by_question["reasoning"].raters == ("ada", "ben")
    percent = {pair.names: pair.percent for pair in by_question["presence"].pairs}
    assert percent == pytest.approx({("ada", "ben"): 80, ("ada", "default"): 90, ("ben", "default"): 90})


def test_runs_are_compared(evenhand, run, tmp_path):
    """Two run folders: their answers side by side, to the same questions."""
    first, second = run("stub:first", output="one", limit=12), run("stub:last", output="two", limit=12)
    called = evenhand(
        "annotate", "export", first.folder, second.folder, "--scheme", "pairwise", "--context", "question",
        "--output", tmp_path / "pairs.csv",
    )  # fmt: skip
    assert called.code == 0, called.err
    key = {row["entry"]: row for row in rows_of(tmp_path / "pairs.key.csv")}
    answers = [each.predictions.set_index("id")["text"] for each in (first, second)]
    for row in rows_of(tmp_path / "pairs.csv"):
        pair = [answer[key[row["entry"]]["id"]] for answer in answers]
        shown = [row["response_a"], row["response_b"]]
        assert shown == (pair[::-1] if key[row["entry"]]["swapped"] == "yes" else pair)


def test_comparisons_that_do_not_fit(responses, tmp_path):
    def exported(**change):
        settings = {"sources": tuple(map(str, responses)), "scheme": PAIRWISE, "output": tmp_path / "out.csv"}
        return export(ExportSettings(**settings | change))

    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "q1", "question_text": "Another?", "text": "x"}')
    third = tmp_path / "third.jsonl"
    third.write_text('{"id": "z", "text": "x"}')
    for change, says in [
        ({"sources": (str(responses[0]), str(third))}, "have no id in common"),
        ({"sources": (str(responses[0]), str(other)), "context": ("question_text",)}, "of 'q1' is not the same"),
        ({"columns": ("text", "question_text")}, "must name one column to compare, got 2"),
        ({"label_column": ("fluency=text",)}, "takes no default labels"),
        ({"sources": (str(responses[0]),)}, "compares two sources, got 1"),
    ]:
        with pytest.raises(UsageError, match=says):
            exported(**change)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("annotate",), "a step is needed first: export, import, agree"),
        (("annotate", "export", "absent.csv", "--scheme", "agency", "--output", "o.csv"), "does not exist"),
        (("annotate", "export", "labee", "--scheme", "agency", "--output", "o.csv"), "did you mean 'labe'"),
        (("annotate", "export", "labe", "--scheme", "agenci", "--output", "o.csv"), "did you mean 'agency'"),
        (
            (
                *("annotate", "export", "labe", "--scheme", "agency", "--label-column", "label"),
                *("--label-means", "0", "--output", "o.csv"),
            ),
            "--label-means must be CAME=LABEL",
        ),
        (("annotate", "import", "a/x.csv", "b/x.csv", "--scheme", "agency", "--output", "m.csv"), "NAME=FILE"),
        (
            ("annotate", "import", "=x.csv", "--scheme", "agency", "--output", "m.csv"),
            "must be NAME=FILE, as ada=x.csv, got '=x.csv'",
        ),
        (
            ("annotate", "import", "ada=", "--scheme", "agency", "--output", "m.csv"),
            "got 'ada='",
        ),
        (("annotate", "import", "x.csv", "--scheme", "agency", "--output", "m.csv"), "x.csv does not exist"),
        (("annotate", "agree", "m.csv"), "m.csv does not exist"),
        (("annotate", "agree", "m.csv", "--items", "0"), "a whole number of 1 or more"),
    ],
)
def test_wrong_usage_is_explained(evenhand, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    called = evenhand(*arguments)
    assert called.code == 2
    assert says in called.err
    assert not list(tmp_path.iterdir())
