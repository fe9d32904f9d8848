"""Texts from a file: every text unchanged, every row accounted for, and the paper's two sets of human-written texts."""

import csv
import hashlib
import io
import json
import random
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.benchmarks.labe.options import TextColumns
from evenhand.benchmarks.labe.preprocessing import BIOGRAPHIES, PROFESSIONS
from evenhand.benchmarks.labe.texts import read_texts
from evenhand.errors import EvenhandError, UsageError

TABLE_14 = {  # LABE, Table 14: (reviews of women, of men)
    "English": (75, 528), "Mathematics": (60, 333), "Biology": (17, 217), "Communication": (53, 130),
    "Computer Science": (26, 122), "Education": (20, 127), "Chemistry": (23, 114), "Sociology": (19, 111),
    "Philosophy": (32, 86), "Fine Arts": (35, 80), "Science": (17, 77), "Economics": (10, 58), "Accounting": (20, 42),
    "Languages": (20, 24), "Humanities": (20, 20),
}  # fmt: skip
TABLE_13 = {
    "dentist", "comedian", "yoga_teacher", "rapper", "filmmaker", "chiropractor", "personal_trainer", "painter",
    "model", "dietitian", "dj", "teacher", "pastor", "interior_designer", "composer", "poet", "psychologist",
    "surgeon", "physician", "architect", "attorney", "nurse", "journalist", "photographer", "accountant", "professor",
    "software_engineer", "paralegal",
}  # fmt: skip


def as_csv(rows):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def as_lines(rows):
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def as_escaped_lines(rows):
    return "\r\n".join(json.dumps(row) for row in rows).encode() + b"\r\n"


def as_array(rows):
    return json.dumps(rows, indent=1).encode()


def as_parquet(rows):
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def as_parquet_of_latin_1():
    """A string column whose bytes are no UTF-8, which pyarrow writes unasked and unchecked."""
    file = io.BytesIO()
    pq.write_table(pa.table({"text": pa.array([b"caf\xe9"]).view(pa.string()), "gender": ["m"]}), file)
    return file.getvalue()


FORMS = [
    ("texts.csv", as_csv),
    ("texts.jsonl", as_lines),
    ("texts.json", as_escaped_lines),
    ("texts.JSONL", as_array),
    ("texts.parquet", as_parquet),
]


@pytest.fixture
def read(tmp_path):
    """read(rows or bytes or a text, …) → the TextFile of a file that holds them."""

    def call(content, name="texts.csv", **options):
        if isinstance(content, list):
            content = dict(FORMS)[name](content)
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_texts(path, **options)

    return call


def assert_every_row_is_accounted_for(file, n):
    assert len(file.rows) + sum(file.left_out.values()) == n


# Texts come back as they were


fragments = st.sampled_from(
    ['"', '""', ",", "\n", "\r\n", "\r", "\t", " ", "\u2028", "\x85", "\ufeff", "None", "<return>"]
)
texts = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")) | fragments, max_size=4).map("".join)


@pytest.mark.parametrize(("name", "written_as"), FORMS)
@settings(max_examples=100, deadline=None)
@given(written=st.lists(texts, min_size=1, max_size=8))
@example(written=["NA", "null", "nan", "1.0", "#N/A", "[]", " leading", "trailing ", '"', "\n", ""])
@example(written=["x" * 100_000, "她领导了这个项目。\nהיא הובילה את הפרויקט. 👩🏽‍🔬", "e\u0301 é"])
def test_any_texts_come_back_unchanged_from_every_form(tmp_path_factory, name, written_as, written):
    """Newlines, quotes, any script, any length, words for "missing" elsewhere; only <return> and blanks change."""
    path = tmp_path_factory.mktemp("texts") / name
    path.write_bytes(written_as([{"text": text, "gender": "female"} for text in written]))
    file = read_texts(path)
    with_newlines = [text.replace("<return>", "\n") for text in written]
    expected = [text if text.strip() else "" for text in with_newlines]
    assert file.rows["text"].tolist() == expected
    assert file.rows["id"].tolist() == [f"texts/{row}" for row in range(len(written))]
    assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_text_longer_than_the_csv_module_likes(read):
    """Its limit of 131,072 characters a field is the process's: it is as before afterwards, error or none."""
    csv.field_size_limit(131_072)
    assert read([{"text": "x" * 200_000, "gender": "m"}]).rows["text"].tolist() == ["x" * 200_000]
    assert csv.field_size_limit() == 131_072
    with pytest.raises(UsageError, match="broken CSV"):
        read("text,gender\none")
    assert csv.field_size_limit() == 131_072


def test_the_published_sign_for_a_newline(read):
    file = read([{"text": "One.<return><return>Two.", "gender": "m"}, {"text": "<return> <return>", "gender": "m"}])
    assert file.rows["text"].tolist() == ["One.\n\nTwo.", ""]


@pytest.mark.parametrize("name", ["texts.jsonl", "texts.JSONL", "texts.parquet"])
def test_missing_texts_stay_as_unread_rows(read, name):
    """Three of four are missing or blank; the note says so."""
    file = read([{"text": text, "gender": "male"} for text in (None, "  \n", "I lead.", "")], name)
    assert file.rows["text"].tolist() == ["", "", "I lead.", ""]
    assert file.notes == ("Texts that are missing or blank: 3 of 4. They count as unread.",)


def test_texts_that_are_no_strings_are_missing(read):
    rows = [{"text": text, "gender": "male"} for text in (5, ["a"], float("nan"), True, {"a": 1})] + [
        {"gender": "male"}
    ]
    file = read(rows, "texts.jsonl")
    assert file.rows["text"].tolist() == [""] * 6


def test_half_characters_become_question_marks(read):
    """JSON can spell a half of 👩 that no UTF-8 file can hold."""
    assert read(r'{"text": "a\ud83db", "gender": "m"}', "texts.jsonl").rows["text"].tolist() == ["a?b"]


@pytest.mark.parametrize("name", ["texts.csv", "texts.jsonl", "texts.JSONL"])
def test_a_byte_order_mark_is_no_part_of_the_first_name(read, name):
    content = b"\xef\xbb\xbf" + dict(FORMS)[name]([{"text": "é", "gender": "f"}])
    assert read(content, name).rows[["text", "gender"]].values.tolist() == [["é", "female"]]


def test_blank_lines_are_no_rows(read):
    assert read("text,gender\n\nI lead.,m\n\n,f\n").rows["text"].tolist() == ["I lead.", ""]
    assert read('\n{"text": "I lead.", "gender": "m"}\n \n', "texts.jsonl").rows["text"].tolist() == ["I lead."]


# Genders, races, names


@pytest.mark.parametrize(
    ("came", "gender"),
    [
        *[(value, "male") for value in ("male", "MALE", "Male ", "m", "M", "man", "Man")],
        *[(value, "female") for value in ("female", "Female", "f", "F", "woman", "WOMAN")],
        *[("mostly_male", "mostly_male"), ("Mostly_Female", "mostly_female")],
        *[(value, "") for value in ("", "nonbinary", "unknown", "andy", "0", "1", "mal", "men", "None", "nan")],
    ],
)
def test_genders(read, came, gender):
    """Codes mean nothing without Bias in Bios's preprocessing."""
    file = read([{"text": "I lead.", "gender": came}])
    assert file.rows["gender"].tolist() == [gender]
    of = {
        "": ["Texts of unknown gender"],
        "mostly_male": ["Texts of mostly_male"],
        "mostly_female": ["Texts of mostly_male"],
    }
    assert [note[: len(begins)] for note, begins in zip(file.notes, of.get(gender, []), strict=True)] == of.get(
        gender, []
    )


def test_the_note_names_genders_that_were_not_understood(read):
    """The most frequent three of four; an empty one is no value."""
    came = ["x"] * 4 + ["andy"] * 3 + ["they"] * 2 + ["n/a", "", "male", "mostly_female"]
    unknown, mostly = read([{"text": "I lead.", "gender": gender} for gender in came]).notes
    assert unknown.startswith("Texts of unknown gender (such as 'x', 'andy', 'they' and 1 more): 11 of 13.")
    assert mostly.startswith("Texts of mostly_male or mostly_female: 1 of 13.")


def test_races_and_names(read):
    """The paper's four races in the paper's spelling, others as they came."""
    races = {"black": "Black", "WHITE ": "White", "Hispanic": "Hispanic", "asian": "Asian", "Māori": "Māori", "": ""}
    file = read([{"text": "t", "gender": "f", "race": race, "name": f" {i} "} for i, race in enumerate(races)])
    assert file.rows["race"].tolist() == list(races.values())
    assert file.rows["name"].tolist() == ["0", "1", "2", "3", "4", "5"]
    assert file.notes == ("Texts of unknown race: 1 of 6. They count in no race's figures.",)


def test_missing_labels_are_unknown(read):
    """NaN, null and an absent key are no one's name; without a column of races nobody needs to be told."""
    file = read('{"text": "t", "gender": "f", "name": NaN}\n{"text": "t", "gender": null, "name": null}', "texts.jsonl")
    assert file.rows["name"].tolist() == file.rows["race"].tolist() == file.rows["group"].tolist() == ["", ""]
    assert file.rows["gender"].tolist() == ["female", ""]
    assert file.notes == ("Texts of unknown gender: 1 of 2. They count in no gender's figures.",)


# Columns


ROW = {"text": "t", "gender": "f"}


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["text", "chatgpt_gen", "comments"], "text"),
        (["chatgpt_gen", "comments"], "chatgpt_gen"),
        *[([name], name) for name in ("comments", "hard_text", "bio", "generation", "llama3_gen")],
    ],
)
def test_where_texts_are_found(read, names, found):
    file = read([{"gender": "f"} | {name: f"of {name}" for name in names}])
    assert file.rows["text"].tolist() == [f"of {found}"]
    assert file.columns == TextColumns(text=found, race=None, name=None, prompt=None)


@pytest.mark.parametrize("names", [["a_gen", "b_gen"], ["a_gen", "b_gen", "bio"], ["comments", "bio"], ["review"]])
def test_texts_are_not_guessed_among_several(read, names):
    with pytest.raises(UsageError, match=f"no column 'text'; --text-column names .* of: {', '.join(names)}, gender"):
        read([dict.fromkeys(names, "t") | {"gender": "f"}])


def test_named_columns(read):
    row = {"review": "t", "sex": "F", "origin": "asian", "who": "Mei", "field": "Art", "text": "other", "race": "White"}
    columns = TextColumns("review", "sex", "origin", "who", "field", prompt=None)
    file = read([row], columns=columns)
    assert file.rows.values.tolist() == [["texts/0", "t", "female", "Asian", "Mei", "Art"]]
    assert list(file.rows) == ["id", "text", "gender", "race", "name", "group"]
    assert file.columns == columns


def test_a_column_can_be_left_unread(read):
    file = read([ROW | {"race": "Asian", "name": "Mei"}], columns=TextColumns(race=None, name=None))
    assert file.rows[["race", "name"]].values.tolist() == [["", ""]]


@pytest.mark.parametrize("field", ["text", "gender", "race", "name", "group", "prompt"])
@pytest.mark.parametrize("name", [name for name, _ in FORMS])
def test_a_named_column_that_is_absent(read, name, field):
    """The error says what the file has, which option names the column, and what was nearly right."""
    rows = [{"text": "t", "gender": "f", "race": "Asian", "author": "Mei"}]
    with pytest.raises(UsageError) as error:
        read(rows, name, columns=TextColumns(**{field: "autor"}))
    for words in (name, "no column 'autor'; did you mean 'author'?", f"--{field}-column", "text, gender, race, author"):
        assert words in str(error.value)


def test_a_near_match_of_a_default_is_proposed(read):
    with pytest.raises(UsageError, match=r"no column 'gender'; did you mean 'Gender'.*--gender-column"):
        read([{"text": "t", "Gender": "f"}])


def test_a_file_without_a_header_fills_no_screen(read):
    with pytest.raises(UsageError) as error:
        read(f"{'I lead and lead. ' * 1000},m\nI follow.,f\n")
    assert len(str(error.value)) < 600


def test_two_columns_of_one_name(read):
    with pytest.raises(UsageError, match="2 columns named 'text'; rename all but one"):
        read("text,gender,text\na,m,b\n")
    assert len(read("text,x,gender,x\na,1,m,2\n").rows) == 1


# Files that are none


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty; give a file with one text a row"),
        ("a.jsonl", " \n\n", "is empty"),
        ("a.parquet", "", "is empty"),
        ("a.csv", b"\xef\xbb\xbf", "has no rows"),
        ("a.csv", "text,gender\n", "has no rows"),
        ("a.json", "[]", "has no rows"),
        ("a.parquet", as_parquet([ROW])[:-9], "broken parquet: "),
        ("a.parquet", "text,gender\na,m\n", "broken parquet: .*magic"),
        ("a.parquet", as_parquet_of_latin_1(), "broken parquet: .*UTF8"),
        (
            "a.csv",
            "text,gender\nok,m\nI lead, m,f\n",
            "broken CSV: the row at line 3 has not the header's 2 fields but 3",
        ),
        (
            "a.csv",
            'text,gender\n"a\nb",m\nshort\n',
            "broken CSV: the row at line 4 has not the header's 2 fields but 1",
        ),
        ("a.csv", 'text,gender\nok,m\n"never closed,f\n\n', "broken CSV: unexpected end of data in the row at line 3"),
        ("a.csv", 'text,gender\n"a" b,m\n', "broken CSV: .* in the row at line 2"),
        ("a.csv", b"text,gender\ncaf\xe9,m\n", "not UTF-8: byte 0xe9 at position 15; save it as UTF-8"),
        ("a.csv", "text,gender\na,m\n".encode("utf-16")[:-1], "is broken UTF-16: truncated data at position"),
        ("a.csv", "text,gender\na,m\n".encode("utf-16-le"), "a NUL character at line 1, as in UTF-16 without its mark"),
        ("a.csv", b"text,gender\na,m\n\n\0,f\n", "a NUL character at line 4"),
        (
            "a.csv",
            b'text,gender\na,m\n"b,f\nc,m\n',
            "end of data in the row at line 3, whose quotation mark is never closed",
        ),
        ("a.jsonl", b'{"text": "caf\xe9"}', "not UTF-8"),
        ("a.jsonl", '{"text": "a", "gender": "m"}\n\n["b"]\n{}', "broken JSON: line 3 is an array, not an object"),
        ("a.jsonl", '["text"]\n{"text": "a"}', "broken JSON: line 1 is an array, not an object"),
        ("a.jsonl", '"text"', "broken JSON: line 1 is a string, not an object"),
        ("a.jsonl", "{}\nnull", "broken JSON: line 2 is null, not an object"),
        ("a.jsonl", "{}\n7", "broken JSON: line 2 is a number, not an object"),
        ("a.jsonl", '{"text": "a"}\n{"text": \n', "broken JSON: Expecting value at line 2, column 10"),
        ("a.json", '[{"text": "a"},\n {"text" "b"}]', "broken JSON: Expecting ':' delimiter at line 2, column 10"),
        ("a.json", '[{"text": "a"}, 4]', "broken JSON: element 2 of the array is a number, not an object"),
        ("a.json", "[" * 100_000 + "]" * 100_000, "broken JSON: .*recursion"),
        ("a.json", "[" + "1" * 5000 + "]", "broken JSON: .*5000 digits"),
        ("a.pkl", b"\x80\x04N.", "must end in .csv or .jsonl or .json or .parquet"),
        ("a.csv.gz", b"\x1f\x8b", "must end in .csv or .jsonl or .json or .parquet"),
        ("a", "text,gender\na,m\n", "must end in .csv or .jsonl or .json or .parquet"),
    ],
)
def test_files_that_do_not_fit(read, name, content, message):
    """One sentence: which file, what is wrong where, and what to do."""
    with pytest.raises(UsageError, match=f"{re.escape(name)} .*{message}") as error:
        read(content, name)
    assert "\n" not in str(error.value)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(UsageError, match=r"absent\.csv does not exist; name a file of texts"):
        read_texts(tmp_path / "absent.csv")
    with pytest.raises(UsageError, match=r"folder\.csv is a folder; name one file of texts in it"):
        read_texts(tmp_path / "folder.csv")
    with pytest.raises(EvenhandError, match=r"can't read .*: File name too long"):
        read_texts(tmp_path / f"{'x' * 300}.csv")


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet"])
@settings(max_examples=100, deadline=None)
@given(garbage=st.binary(max_size=200) | st.text(alphabet='text,gender"[]{}:\r\n1 ').map(str.encode))
def test_garbage_is_a_usage_error_or_read_whole(tmp_path_factory, name, garbage):
    path = tmp_path_factory.mktemp("garbage") / name
    path.write_bytes(garbage)
    try:
        file = read_texts(path)
    except UsageError:
        return
    assert len(file.rows) > 0


# RateMyProfessor (LABE, section 4.1.1 and Table 14)


def reviews(department, **of_gender):
    return [
        {"comments": f'"{department}",\nreview {i}', "professor_name": f"{gender} {i % 7}", "gender": gender}
        | {"department_name": department}
        for gender, n in of_gender.items()
        for i in range(n)
    ]


@pytest.fixture
def rate_my_professor():
    """Table 14's reviews, a third of them of mostly_… genders; departments that fail its rule; reviews without gender.

    Departments are named as in the published file ("English department"), and rows are shuffled.
    """
    rows = []
    for department, (women, men) in TABLE_14.items():
        mostly = {"mostly_female": women // 3, "mostly_male": men // 3}
        rows += reviews(f"{department} department", female=women - women // 3, male=men - men // 3, **mostly)
    rows += reviews("Theater department", female=30, male=6, mostly_male=3, unknown=20)  # 9 men
    rows += reviews("Music department", female=5, mostly_female=4, male=100)  # 9 women
    rows += reviews("Law department", male=40)
    rows += reviews("English department", unknown=17, andy=11)
    rows += [row | {"gender": ""} for row in reviews("Law department", female=10)]
    rows += reviews("", female=12, male=13)
    random.Random(0).shuffle(rows)
    return rows


@pytest.mark.parametrize("name", ["texts.csv", "texts.parquet"])
def test_table_14_comes_out(read, rate_my_professor, name):
    """15 departments with 447 reviews of women and 2,069 of men; 17 + 11 + 10 + 20 rows have no gender."""
    file = read(rate_my_professor, name, preprocess="ratemyprofessor")
    counts = file.rows.groupby(["group", "gender"]).size().unstack()
    assert {group: (row["female"], row["male"]) for group, row in counts.iterrows()} == TABLE_14
    assert list(counts) == ["female", "male"]
    assert len(file.rows) == 447 + 2069
    assert file.left_out == {"gender": 58, "group": (30 + 9) + (9 + 100) + 40 + (12 + 13)}
    assert_every_row_is_accounted_for(file, len(rate_my_professor))
    assert file.columns == TextColumns("comments", "gender", None, "professor_name", "department_name", prompt=None)
    assert file.notes == (
        f"Reviews without a gender, left out: 58 of {len(rate_my_professor):,}.",
        "Reviews of departments that are unknown or have fewer than 10 of either gender, left out: 213, in 3 "
        "departments.",
    )


def test_reviews_stay_in_file_order_with_their_row_numbers(read, rate_my_professor):
    """What is left out leaves gaps in the ids: they are places in the file."""
    file = read(rate_my_professor, preprocess="ratemyprofessor")
    places = [int(identity.removeprefix("texts/")) for identity in file.rows["id"]]
    assert places == sorted(set(places))
    assert file.rows["text"].tolist() == [rate_my_professor[place]["comments"] for place in places]
    assert file.rows["name"].tolist() == [rate_my_professor[place]["professor_name"] for place in places]
    assert list(file.rows.index) == list(range(len(places)))


@pytest.mark.parametrize(("women", "stay"), [(9, False), (10, True)])
def test_ten_reviews_of_either_gender_are_enough(read, women, stay):
    rows = reviews("Art", female=women, male=10) + reviews("English", female=10, male=10)
    kept = read(rows, preprocess="ratemyprofessor").rows
    assert set(kept["group"]) == ({"Art", "English"} if stay else {"English"})


def test_no_department_large_enough(read):
    with pytest.raises(UsageError, match=r"leaves none of the 22 rows .*\(left out by gender: 4, group: 18\)"):
        read(reviews("Art", female=9, male=9, unknown=4), preprocess="ratemyprofessor")


def test_preprocessing_needs_its_columns(read):
    with pytest.raises(UsageError, match=r"no column 'department_name'; .*--group-column"):
        read([{"comments": "t", "gender": "f"}], preprocess="ratemyprofessor")
    with pytest.raises(UsageError, match=r"no column 'comments'; .*--text-column"):
        read([{"text": "t", "gender": "f", "department_name": "Art"}], preprocess="ratemyprofessor")
    with pytest.raises(UsageError, match=r"no column 'profession'; .*--group-column"):
        read([{"hard_text": "t", "gender": "f"}], preprocess="bias_in_bios")


def test_named_columns_go_before_the_preprocessings(read):
    rows = [
        {"review": f"of {gender}", "comments": "other", "sex": gender, "gender": "x", "field": "Art"}
        | {"department_name": "Law", "professor_name": "A"}
        for gender in ("m", "f") * 10
    ]
    columns = TextColumns("review", "sex", group="field", name=None)
    file = read(rows, preprocess="ratemyprofessor", columns=columns)
    assert file.rows["text"].tolist() == ["of m", "of f"] * 10
    assert file.rows["gender"].tolist() == ["male", "female"] * 10
    assert set(file.rows["group"]) == {"Art"}
    assert set(file.rows["name"]) == {""}


# Texts that begin with their own prompt


ASKED = "Generate a review for Amara, a Black female professor in the Physics department."
PUBLISHED_FORM = {  # as in the published files of Mistral and Llama-3: <return> for a newline, the prompt first
    f"{ASKED}<return><return>Review:<return>Amara leads the lab.": "Review:\nAmara leads the lab.",
    f"{ASKED} The review should be brief.<return>She is kind.": "The review should be brief.\nShe is kind.",
    f" Generate a review  for Amara,<return>{ASKED[29:]}\tShe wins.": "She wins.",
    f"{ASKED}": "",
    "Amara leads the lab.": "Amara leads the lab.",
    "": "",
}


@pytest.mark.parametrize("column", ["prompts", "prompt"])
@pytest.mark.parametrize("name", [name for name, _ in FORMS])
def test_a_text_is_read_without_its_own_prompt(read, name, column):
    rows = [{column: ASKED, "mistral_gen": text, "gender": "female"} for text in PUBLISHED_FORM]
    file = read([*rows, {column: "", "mistral_gen": "He leads.", "gender": "male"}], name)
    assert file.rows["text"].tolist() == [*PUBLISHED_FORM.values(), "He leads."]
    assert file.columns.prompt == column
    assert file.notes[0] == (
        f"Texts that begin with their own prompt (column {column!r}), which was removed: 4 of 5. --own-prompts keep "
        "leaves it there, as in the paper's figures."
    )


def test_a_prompt_may_be_kept_and_its_column_named(read):
    row = {"asked": ASKED, "prompts": "He leads", "text": f"{ASKED} She wins.", "gender": "f"}
    columns = TextColumns(prompt="asked")
    assert read([row], columns=columns).rows["text"].tolist() == ["She wins."]
    for chosen in ({"own_prompts": "keep", "columns": columns}, {"columns": TextColumns(prompt=None)}, {}):
        file = read([row], **chosen)
        assert file.rows["text"].tolist() == [row["text"]]
        note = "Texts that begin with their own prompt (column 'prompts'): 0 of 1."
        assert file.notes == (() if chosen else (note,))


@pytest.mark.parametrize("own_prompts", ["strip", "keep"])
def test_own_prompts_need_a_column_of_prompts(read, own_prompts):
    with pytest.raises(
        UsageError,
        match="has no column 'prompts' or 'prompt'; --prompt-column names the one",
    ):
        read([{"text": "She leads.", "gender": "f"}], own_prompts=own_prompts)


def test_a_word_that_goes_on_is_no_prompt(read):
    rows = [{"prompts": "Describe her", "text": text, "gender": "f"} for text in ("Describe hers.", "Describe her.")]
    assert read(rows).rows["text"].tolist() == ["Describe hers.", "."]


def test_texts_are_no_prompts_of_themselves(read):
    rows = [{"prompt": "She leads.", "gender": "f"}]
    assert read(rows, columns=TextColumns("prompt")).rows["text"].tolist() == ["She leads."]
    assert read(rows, columns=TextColumns("prompt", prompt="prompt")).rows["text"].tolist() == ["She leads."]


# Bias in Bios (LABE, section 4.1.1 and Table 13)


def biographies(of_gender, text="hard_text"):
    """of_gender: {(profession code, gender code): how many}; columns and codes as in the Hub's copy."""
    rows = [
        {text: f"{profession} {gender} {i}", "profession": profession, "gender": gender}
        for (profession, gender), n in of_gender.items()
        for i in range(n)
    ]
    random.Random(0).shuffle(rows)
    return rows


BALANCED = {(profession, gender): 125 for profession in range(28) for gender in range(2)}
DJ, RAPPER = PROFESSIONS.index("dj"), PROFESSIONS.index("rapper")
UNEVEN = BALANCED | {(DJ, 1): 80, (RAPPER, 1): 0, (0, 0): 120}


def test_the_professions_are_table_13():
    """28, in alphabetical order: code 0 is accountant, 27 yoga_teacher."""
    assert len(PROFESSIONS) == 28
    assert set(PROFESSIONS) == TABLE_13
    assert list(PROFESSIONS) == sorted(PROFESSIONS)
    assert (PROFESSIONS[0], PROFESSIONS[13], PROFESSIONS[27]) == ("accountant", "nurse", "yoga_teacher")


@pytest.mark.parametrize("name", ["texts.csv", "texts.parquet"])
def test_120_biographies_of_each_gender_and_profession(read, name):
    """54 cells of 120 (one of which had no more), 80 female djs, no female rapper: 6,560 biographies."""
    file = read(biographies(UNEVEN), name, preprocess="bias_in_bios")
    counts = file.rows.groupby(["group", "gender"]).size().to_dict()
    expected = {(profession, gender): 120 for profession in PROFESSIONS for gender in ("male", "female")}
    expected["dj", "female"] = 80
    del expected["rapper", "female"]
    assert counts == expected
    assert len(file.rows) == 54 * 120 + 80
    assert file.left_out["draw"] == 53 * 5
    assert_every_row_is_accounted_for(file, sum(UNEVEN.values()))
    assert file.notes == ("Fewer than 120 biographies, of which all were taken: dj (female: 80), rapper (female: 0).",)
    for text, profession, gender in file.rows[["text", "group", "gender"]].values:
        assert text.startswith(f"{PROFESSIONS.index(profession)} {('male', 'female').index(gender)} ")


def test_codes_and_names_draw_the_same(read):
    """1, "1", 1.0 and "female" mean one thing, in whatever form the file is."""
    coded = biographies(UNEVEN)
    named = [
        row | {"profession": PROFESSIONS[row["profession"]], "gender": ("male", "Female")[row["gender"]]}
        for row in coded
    ]
    decimal = [row | {"profession": float(row["profession"]), "gender": float(row["gender"])} for row in coded]
    first = read(coded, preprocess="bias_in_bios").rows
    for rows, name in [(named, "texts.jsonl"), (decimal, "texts.csv"), (decimal, "texts.parquet")]:
        assert read(rows, name, preprocess="bias_in_bios").rows.equals(first)


def test_unknown_codes_are_left_out(read):
    rows = biographies({(3, 0): 5, (3, 1): 4, (28, 0): 3, (3, 2): 2, (3, -1): 1, (-1, 0): 1, (2.5, 0): 1, ("", 1): 1})
    file = read(rows, preprocess="bias_in_bios")
    assert set(file.rows["group"]) == {"chiropractor"}
    assert file.rows["gender"].value_counts().to_dict() == {"male": 5, "female": 4}
    assert file.left_out == {"gender": 3, "group": 6, "draw": 0}
    assert_every_row_is_accounted_for(file, len(rows))
    assert file.notes[:2] == (
        "Biographies without a gender, left out: 3 of 18.",
        "Biographies without a profession, left out: 6.",
    )


def test_the_draw_is_seeded_and_in_file_order(read):
    rows = biographies(BALANCED)
    first, again, other = (read(rows, preprocess="bias_in_bios", seed=seed).rows for seed in (0, 0, 1))
    assert first.equals(again)
    assert first.equals(read(rows, preprocess="bias_in_bios").rows)
    assert not first.equals(other)
    places = [int(identity.removeprefix("texts/")) for identity in first["id"]]
    assert places == sorted(set(places))
    assert first["text"].tolist() == [rows[place]["hard_text"] for place in places]


def test_every_biography_has_the_same_chance(read):
    """Of 240, each is drawn in half of 64 draws: 32 ± 4 times, and none beyond 4.5 standard deviations."""
    rows = biographies({(0, 0): 2 * BIOGRAPHIES, (0, 1): 1})
    drawn = [text for seed in range(64) for text in read(rows, preprocess="bias_in_bios", seed=seed).rows["text"]]
    times = [drawn.count(row["hard_text"]) for row in rows if row["gender"] == 0]
    assert sum(times) == 64 * BIOGRAPHIES
    assert min(times) >= 14
    assert max(times) <= 50


@pytest.mark.parametrize(
    ("names", "found"), [(["text", "bio", "hard_text"], "hard_text"), (["text", "bio"], "bio"), (["text"], "text")]
)
def test_where_biographies_are_found(read, names, found):
    rows = [{"profession": 0, "gender": gender} | {name: name for name in names} for gender in range(2)]
    assert read(rows, preprocess="bias_in_bios").rows["text"].tolist() == [found] * 2


# Published files


@pytest.mark.parametrize(("name", "n"), [("chatgpt_clg_professor.csv", 600), ("chatgpt_clg_bios.csv", 2400)])
def test_published_generations(root, name, n):
    """LABE's own files need no options: every race and gender equally often, 40 names, nothing dropped."""
    path = root.parent / "shared" / "sources" / "labe" / name
    if not path.is_file():
        pytest.skip("../shared/sources/labe is absent")
    file = read_texts(path)
    assert len(file.rows) == n
    assert file.rows.groupby(["race", "gender"]).size().to_dict() == {
        (race, gender): n // 8 for race in ("White", "Black", "Hispanic", "Asian") for gender in ("male", "female")
    }
    assert file.rows["name"].nunique() == 40
    assert not file.rows["text"].str.contains("<return>").any()
    assert file.rows["text"].str.contains("\n").any()
    assert file.notes == (f"Texts that begin with their own prompt (column 'prompts'): 0 of {n:,}.",)
