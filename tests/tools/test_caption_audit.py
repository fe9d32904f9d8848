"""Gender terms beside occupations and descriptors: counted by hand, in every kind of file, whatever else is in it."""

import io
import json
import math
import re
import tracemalloc
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from scipy import stats

from evenhand.errors import EvenhandError, UsageError
from evenhand.row_files import json_values as values_of_files
from evenhand.row_files.json_values import (
    NOT_JSON,
    NOT_UTF_8,
    TOO_LONG,
    json_values,
)
from evenhand.tools.caption_audit.audit import FEMALE_TERMS, MALE_TERMS, TABLE_A9, audit
from evenhand.tools.caption_audit.commands import audit_captions
from evenhand.tools.caption_audit.scores import bias_score, chance_score, male_share, score_interval, share_interval
from evenhand.tools.caption_audit.terms import BETWEEN_TURNS, FEMALE, MALE, Terms, plural, text_of
from evenhand.tools.caption_audit.terms import INSTANCES as BY_SCENARIO

INSTANCES = [name for names in BY_SCENARIO.values() for name in names]

# Counted by hand: terms are mentions, in texts that name the instance.
TEXTS = [
    "A nurse and her mother, a nurse too.",  # nurse; female 2 (her, mother)
    "The NURSE said he was a male nurse: this is his.",  # nurse; male 3 (he, male, his: not the, this)
    "nurses with their sons",  # no nurse: the plural is another word; male 1
    "A flight attendant smiles at the men",  # flight attendant; male 1 (men: not the)
    "In flight, attendants and an attendant. She sleeps.",  # no flight attendant; female 1
    "The chef's wife: she's a cook, a co-pilot",  # chef, cook, pilot; female 1
    "A dog on a beach",
]
NURSE, FLIGHT_ATTENDANT, CHEF = (2, 3, 2), (1, 1, 0), (1, 0, 1)  # texts, male and female terms
ALL = (7, 5, 4)


def counts(line):
    return line.n_texts, line.male_terms, line.female_terms


def by_name(found):
    return {line.instance: counts(line) for line in found.lines}


def rows(texts):
    return [{"id": f"{number}", "caption": text} for number, text in enumerate(texts)]


def llava(texts):
    question = {"from": "human", "value": "Describe the image.\n<image>"}
    return [{"id": text[:3], "conversations": [question, {"from": "gpt", "value": text}]} for text in texts]


@pytest.fixture
def written(tmp_path):
    """written("a.json", records) → the file: an array, lines or parquet, or the bytes as they are."""

    def call(name, records):
        path = tmp_path / name
        if isinstance(records, bytes):
            path.write_bytes(records)
        elif path.suffix == ".json":
            path.write_text(json.dumps(records))
        elif path.suffix == ".jsonl":
            path.write_text("\n".join(map(json.dumps, records)))
        else:
            pq.write_table(pa.Table.from_pylist(records), path, row_group_size=3)
        return path

    return call


def values(content):
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", "surrogateescape", newline="\n")
    return [value for _, value in json_values(text)]


# Table A9


@pytest.mark.parametrize(("instance", "row"), list(TABLE_A9.iterrows()))
def test_the_scores_of_table_a9(instance, row):
    assert instance in INSTANCES
    score = bias_score(row.male_terms, row.female_terms)
    assert score == pytest.approx(row.bias_score, abs=5e-5, nan_ok=True)


def test_scores_by_hand():
    assert bias_score(38, 25) == pytest.approx(38 / 63 - 1 / 2)  # 0.6032 of a pilot's terms are male
    assert bias_score(0, 8) == 0.5
    assert bias_score(1, 1) == 0
    assert math.isnan(bias_score(0, 0))
    assert male_share(3, 1) == 0.75
    assert bias_score(MALE_TERMS, FEMALE_TERMS) == pytest.approx(0.0265, abs=5e-5)


def test_a_pilot_as_in_table_a9(written):
    """246 texts with a pilot; 38 male and 25 female terms in these."""
    texts = ["a pilot and his son"] * 19 + ["she is a pilot"] * 25 + ["a pilot"] * 202 + ["his daughter"] * 9
    found = audit([written("a.jsonl", rows(texts))])
    pilot = next(line for line in found.lines if line.instance == "pilot")
    assert counts(pilot) == (246, 38, 25)
    assert (pilot.n_with_terms, pilot.n_with_male, pilot.n_with_female) == (44, 19, 25)
    assert round(pilot.bias_score, 4) == 0.1032
    assert pilot.interval[0] < pilot.bias_score < pilot.interval[1]
    assert counts(found.overall) == (255, 38 + 9, 25 + 9)


# Counting


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("records", [rows(TEXTS), llava(TEXTS)], ids=["captions", "conversations"])
def test_texts_counted_by_hand(written, name, records):
    found = audit([written(name, records)])
    named = by_name(found)
    assert counts(found.overall) == ALL
    assert named["nurse"] == NURSE
    assert named["flight attendant"] == FLIGHT_ATTENDANT
    assert named["chef"] == named["cook"] == named["pilot"] == CHEF
    others = set(INSTANCES) - {"nurse", "flight attendant", "chef", "cook", "pilot"}
    assert {named[each] for each in others} == {(0, 0, 0)}


def test_the_lists_are_the_papers():
    assert (len(MALE), len(FEMALE)) == (20, 20)
    assert not {*MALE} & {*FEMALE}
    assert list(TABLE_A9.index) == INSTANCES


@pytest.mark.parametrize(
    ("text", "male", "female"),
    [
        ("the other theme of this history: mankind, shepherd, heroine, human, woman", 0, 1),
        ("HE, Him; (his) “himself” he's he-man", 7, 0),
        ("she_her herself2 hers", 0, 1),
        ("hé he\u0301 hè", 0, 0),  # letters with accents are letters, whichever way they are spelt
        ("他he他 he", 1, 0),
        ("\ud83d he \ud83d", 1, 0),  # half a character, which JSON can spell
        ("", 0, 0),
    ],
)
def test_words_are_whole(text, male, female):
    assert Terms(["nurse"])(text)[:2] == (male, female)


def test_phrases_may_overlap_and_blanks_part_their_words():
    terms = Terms(["male nurse", "nurse", "nurse practitioner", "c++ developer", "R&B singer"])
    assert terms("a Male\n  nurse  practitioner") == (1, 0, {0, 1, 2})
    assert terms("nurse-practitioner") == (0, 0, {1})
    assert terms("A C++ developer, an r&b singer; a ++ developer") == (0, 0, {3, 4})
    assert Terms(["women", "a man"])("a man, women") == (1, 1, {0, 1})


def test_plurals_where_asked_for():
    assert [plural(noun) for noun in ("nurse", "coach", "secretary", "Taxi Driver", "firewoman", "human", "boy")] == [
        "nurses", "coaches", "secretaries", "Taxi Drivers", "firewomen", "humans", "boys",
    ]  # fmt: skip
    text = "Two nurses, three flight attendants"
    assert Terms(["nurse", "flight attendant"])(text).instances == set()
    assert Terms(["nurse", "flight attendant"], plurals=True)(text).instances == {0, 1}
    assert Terms(["nurse", "nurses"], plurals=True)(text).instances == {0, 1}


FRAGMENTS = st.sampled_from(
    [*MALE, *FEMALE, *INSTANCES, "flight", "taxi", " ", "  ", "-", "'s", ", ", "\n", "x", "_", "é"]
)


@given(st.lists(FRAGMENTS).map("".join))
def test_one_pass_finds_what_a_search_for_every_word_finds(text):
    def mentions(word):
        return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", re.sub(r"\s+", " ", text)))

    found = Terms(INSTANCES)(text)
    assert found.male == sum(map(mentions, MALE))
    assert found.female == sum(map(mentions, FEMALE))
    assert found.instances == {place for place, name in enumerate(INSTANCES) if mentions(name)}


def test_instances_of_the_users_own(written):
    path = written("a.jsonl", rows(["A Judge and her clerk", "the judge himself"]))
    found = audit([path], ["Judge", "clerk", "JUDGE"])
    assert by_name(found) == {"Judge": (2, 1, 1), "clerk": (1, 0, 1)}
    found = audit([path], {"court": ["judge"], "office": ["clerk"]})
    assert [(line.scenario, line.instance) for line in found.lines] == [("court", "judge"), ("office", "clerk")]
    assert by_name(audit(path, "judge")) == {"judge": (2, 1, 1)}
    for nothing in ([], {}, {"court": []}):
        with pytest.raises(UsageError, match="no instance given"):
            audit([path], nothing)
    for blank in ("", "  ", "!?"):
        with pytest.raises(UsageError, match="an instance must be words"):
            audit([path], ["judge", blank])


# Laws


PLAIN_TEXTS = st.lists(st.lists(FRAGMENTS).map(lambda words: " ".join([*words, "."])), min_size=1, max_size=6)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PLAIN_TEXTS, st.randoms(use_true_random=False))
def test_neither_the_kind_of_file_nor_the_order_of_texts_matters(written, texts, rng):
    shuffled = rng.sample(texts, len(texts))
    found = [
        audit([written(name, layout(some))]).results()
        for name in ("a.json", "a.jsonl", "a.parquet")
        for layout in (rows, llava)
        for some in (texts, shuffled)
    ]
    for each in found:
        assert each["overall"] == found[0]["overall"]
        assert each["instances"] == found[0]["instances"]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PLAIN_TEXTS, PLAIN_TEXTS)
def test_counts_of_files_add_up(written, first, second):
    one, other = written("1.jsonl", rows(first)), written("2.json", llava(second))
    both = audit([one, other])
    joined = audit([written("12.parquet", rows(first + second))])
    for figures in ("overall", "instances", "n_texts"):
        assert both.results()[figures] == joined.results()[figures]
    for line, *parts in zip(both.lines, audit([one]).lines, audit([other]).lines):
        assert counts(line) == tuple(map(sum, zip(*map(counts, parts))))
    assert [file.n_texts for file in both.files] == [len(first), len(second)]


# Intervals and chance


def test_the_interval_is_the_bootstrap_over_texts():
    """Against the bootstrap that draws the texts themselves, of 200: 60 (1, 0), 30 (0, 2), 110 without a term."""
    kinds = {(1, 0): 60, (0, 2): 30, (0, 0): 110}
    terms = np.repeat(np.array(list(kinds)), list(kinds.values()), axis=0)

    def share(places):
        male, female = terms[places].sum(axis=0)
        return male / (male + female)

    direct = stats.bootstrap(
        (np.arange(200),), share, vectorized=False, n_resamples=2000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    (low, high), reason = share_interval(kinds)
    assert reason == ""
    assert low < 60 / (60 + 60) < high
    assert (low, high) == pytest.approx((direct.low, direct.high), abs=0.01)
    assert share_interval(dict(reversed(kinds.items()))) == ((low, high), "")


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ({}, "no text"),
        ({(0, 0): 50}, "no text with a term"),
        ({(1, 0): 20, (0, 1): 9, (0, 0): 1000}, "fewer than 30 texts with a term"),
        ({(2, 0): 40}, "terms of one gender alone"),
    ],
)
def test_where_there_is_no_interval(kinds, why):
    (low, high), reason = share_interval(kinds)
    assert (math.isnan(low), math.isnan(high), reason) == (True, True, why)
    assert all(map(math.isnan, score_interval((low, high))))


def test_the_interval_of_the_score_is_that_of_the_share_folded_at_one_half():
    assert score_interval((0.6, 0.8)) == pytest.approx((0.1, 0.3))
    assert score_interval((0.2, 0.4)) == pytest.approx((0.1, 0.3))
    assert score_interval((0.4, 0.8)) == pytest.approx((0, 0.3))


def test_the_score_of_chance():
    assert chance_score({(1, 0): 1}) == 0.5  # one term is of one gender, whichever
    assert chance_score({(0, 1): 2}) == pytest.approx((0.5 + 0 + 0 + 0.5) / 4, abs=0.01)  # both heads, one, both tails
    assert chance_score({(1, 1): 9}) == 0  # a coin changes nothing
    assert chance_score({(3, 0): 1, (0, 1): 1}) == pytest.approx((0.5 + 0.25) / 2, abs=0.01)  # 4:0 or 3:1 of 4
    assert chance_score({(0, 1): 10_000, (0, 0): 5}) < 0.01
    assert math.isnan(chance_score({(0, 0): 3}))


# Where the text of a record is


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"caption": "a"}, "a"),
        ({"text": "a", "value": "b"}, "a"),
        ({"caption": None, "text": "a"}, "a"),
        ({"caption": " ", "value": "a"}, "a"),
        ({"caption": ["a", 1, "b"]}, f"a{BETWEEN_TURNS}b"),
        ({"conversations": [{"from": "gpt", "value": "a"}, {"value": None}, 3, {"value": "b"}]}, f"a{BETWEEN_TURNS}b"),
        ({"conversations": [{"role": "user", "content": "a"}], "caption": "b"}, "a"),
        ({"text": "a" * 1_000_000}, "a" * 1_000_000),
    ],
)
def test_the_text_of_a_record(record, text):
    assert text_of(record) == text


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"caption": math.nan}, "without a text in their column"),
        ({"caption": {"raw": "a"}}, "without a text in their column"),
        ({"text": 3, "value": True}, "without a text in their column"),
        ({"conversations": []}, "without a text in their column"),
        ({"conversations": [{"value": 1}, [["a"]]]}, "without a text in their column"),
        ({"caption": "\n \t"}, "blank"),
        ({"conversations": [{"value": ""}]}, "blank"),
        ({"title": "a"}, "without a column 'conversations' or 'caption' or 'text' or 'value'"),
        ({}, "without a column 'conversations' or 'caption' or 'text' or 'value'"),
        ("a nurse", "not an object"),
        ([{"value": "a"}], "not an object"),
        (None, "not an object"),
        (math.nan, "not an object"),
    ],
)
def test_records_without_text(record, reason):
    assert text_of(record).reason == reason


def test_words_do_not_run_on_into_the_next_turn(written):
    turns = [{"value": "Is this in flight"}, {"value": "attendant: he"}]
    found = audit([written("a.json", [{"conversations": turns}])])
    assert by_name(found)["flight attendant"] == (0, 0, 0)
    assert counts(found.overall) == (1, 1, 0)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.parquet"])
def test_a_chosen_column(written, name):
    path = written(name, [{"caption": "a nurse", "blip_caption": "her chef"}])
    assert by_name(audit([path], column="blip_caption")) == by_name(audit([path])) | {
        "nurse": (0, 0, 0), "chef": (1, 0, 1),
    }  # fmt: skip
    with pytest.raises(UsageError, match="blip_caption"):
        audit([path], column="blip_captions")


# Broken files: counted by reason, never fatal


def test_broken_lines_are_counted_by_reason(written):
    lines = [
        b'\xef\xbb\xbf{"caption": "a nurse and her dog"}',
        b'{"caption": "a nurse',
        b"",
        b'{"caption": "caf\xe9"}',
        b"\x00\xff\xfe\x93garbage",
        b"NaN",
        b"[1, 2]",
        b'{"caption": NaN}',
        b'{"caption": ""}',
        b'{"image": "a.jpg"}',
        b"[" * 100_000,
        b"1" * 10_000,
        b'{"caption": "he is a \\ud83d nurse"}\r',
    ]
    found = audit([written("a.jsonl", b"\n".join(lines))])
    assert by_name(found)["nurse"] == (2, 1, 1)
    assert found.files[0].left_out == {
        "not JSON": 3,
        "not UTF-8": 2,
        "not an object": 2,
        "without a text in their column": 1,
        "blank": 1,
        "without a column 'conversations' or 'caption' or 'text' or 'value'": 1,
    }
    [sentence] = found.sentences()
    assert "2 texts; 10 left out (3 not JSON; " in sentence
    assert found.results()["n_left_out"] == 10


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[]", []),
        (b"\xef\xbb\xbf [ ] \n", []),
        (b'[1, 23, "a,]\\"[", {"a": [1, {}]}, null]', [1, 23, 'a,]"[', {"a": [1, {}]}, None]),
        ('["é", "\U0001f600", "\\u00e9"]'.encode(), ["é", "\U0001f600", "é"]),
        (b'["caf\xe9", "\xff\\"", "a"]', [NOT_UTF_8, NOT_UTF_8, "a"]),
        (b"[1, garbage, 2]", [NOT_JSON]),
        (b"[1, 2", [NOT_JSON]),
        (b"[1] 2", [NOT_JSON]),
        (b"[" + b"[" * 100_000 + b"]" * 100_000 + b", 2]", [NOT_JSON]),
        (b"[1, 2]\n[3]\n\n4", [[1, 2], [3], 4]),  # lines, each an array
    ],
)
def test_arrays_whole_and_broken(content, expected):
    assert values(content) == expected


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(JSON_VALUES), st.sampled_from([None, 1]), st.booleans())
def test_an_array_is_read_as_json_reads_it(array, indent, ascii_only):
    assert values(json.dumps(array, indent=indent, ensure_ascii=ascii_only).encode()) == array


@settings(deadline=None, max_examples=300)
@given(st.binary() | st.text(st.sampled_from('[]{}",:\\ \n1ae')).map(str.encode))
def test_garbage_never_breaks_the_reader(content):
    assert all(isinstance(each, list) for each in (values(content), values(b"[" + content)))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["a.json", "a.jsonl", "a.parquet"]), st.binary(), st.binary())
def test_garbage_around_a_text_is_counted_or_a_usage_error(written, name, before, after):
    text = json.dumps({"caption": "a nurse and her dog"}).encode()
    path = written(name, before.replace(b"[", b"(") + b"\n" + text + b"\n" + after)
    if name == "a.parquet" or before.startswith((b"\xff\xfe", b"\xfe\xff")):
        with pytest.raises(UsageError, match=name):
            audit([path])
    else:
        assert by_name(audit([path]))["nurse"][0] == 1


def test_values_too_long_are_left_out_and_not_kept(monkeypatch):
    monkeypatch.setattr(values_of_files, "LONGEST", 100)
    long = json.dumps({"caption": '\\"' * 500}).encode()
    assert values(b"1\n" + long + b"\n2\n") == [1, TOO_LONG, 2]
    assert values(long) == [TOO_LONG]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_memory_does_not_grow_with_the_file(written, name):
    """16 MB of captions."""
    path = written(name, [{"caption": f"{number} his nurse " + "x y " * 1000} for number in range(4000)])
    tracemalloc.start()
    try:
        found = audit([path])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert by_name(found)["nurse"] == (4000, 4000, 0)
    assert most < 8e6


def test_parquet_with_bytes_that_are_no_text(written, tmp_path):
    cells = pa.array([b"a nurse and her dog", b"caf\xe9", None, b" "]).view(pa.string())
    pq.write_table(pa.table({"caption": cells}), tmp_path / "a.parquet")
    found = audit([tmp_path / "a.parquet"])
    assert by_name(found)["nurse"] == (1, 0, 1)
    assert found.files[0].left_out == {"not UTF-8": 1, "without a text in their column": 1, "blank": 1}


def test_a_broken_row_group_is_left_out(written):
    path = written("a.parquet", rows([f"nurse {number} " + "y" * 500 for number in range(9)]))
    metadata = pq.ParquetFile(path).metadata
    begin = metadata.row_group(1).column(1).dictionary_page_offset or metadata.row_group(1).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + 40] = b"\xff" * 40
    path.write_bytes(content)
    found = audit([path])
    assert found.overall.n_texts == 6
    assert found.files[0].left_out == {"row groups that can't be read, with all their rows": 1}


# Errors that say what came, what is accepted and what to do


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"", "has no text to count: it is empty"),
        ("a.json", b"[]", "has no text to count: it is empty"),
        ("a.json", b"\x93\x00garbage", "has no text to count: 1 not UTF-8"),
        ("a.json", b'[{"image": "a.jpg", "label": 3}]', r"1 without a column .* \(its columns: image, label\)"),
        ("a.jsonl", b'{"caption": 3}\n{"caption": " "}', "1 without a text in their column; 1 blank"),
        ("a.json", '[{"caption": "a"}]'.encode("utf-16"), "is UTF-16: save it as UTF-8"),
        ("a.parquet", b"PAR1 garbage PAR1", "is broken parquet: .*; fix the file"),
        ("a.parquet", [{"image": "a.jpg"}], "has no column .*; its columns: image; --column names one"),
        ("a.parquet", [{"caption": None}, {"caption": None}], "2 without a text in their column"),
        ("a.csv", b"caption\na nurse", r"must end in \.json or \.jsonl or \.parquet"),
    ],
)
def test_files_in_which_nothing_can_be_used(written, name, content, message):
    with pytest.raises(UsageError, match=message):
        audit([written(name, content)])


def test_files_that_are_none(tmp_path, written):
    good = written("good.jsonl", rows(TEXTS))
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(UsageError, match="does not exist; name a file"):
        audit([good, tmp_path / "absent.jsonl"])
    with pytest.raises(UsageError, match="does not exist; name a file"):
        audit([good / "a.jsonl"])
    with pytest.raises(UsageError, match="does not exist; name a file"):
        audit(["a\0.jsonl"])
    with pytest.raises(UsageError, match="is a folder; name files"):
        audit([tmp_path / "folder.json"])
    with pytest.raises(EvenhandError, match="can't read"):
        audit([tmp_path / f"{'x' * 300}.jsonl"])
    with pytest.raises(UsageError, match="no file given"):
        audit([])


# What is shown


def test_the_table(written):
    texts = ["a nurse and her son"] * 30 + ["a nurse and her mother"] * 30 + ["a chef, he"] * 2 + ["a thug"]
    table = audit([written("a.jsonl", rows(texts))], ["Nurse", "chef", "thug", "judge"]).table()
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    score, *ends = cells["Nurse"].pop(4).split()
    assert cells["Nurse"][:4] == ["60", "30", "90", "0.2500"]
    assert score == "0.2500"
    assert len(ends) == 2
    assert cells["Nurse"][-1] == "0.2075"  # printed in Table A9
    assert cells["chef"] == ["2", "2", "0", "1.0000", "0.5000", cells["chef"][5], "0.0862"]
    assert cells["thug"] == ["1", "0", "0", "no data", "no data", "no data", "0.1667"]
    assert cells["judge"] == ["0", "0", "0", "no data", "no data", "no data", ""]
    assert cells["all texts"][:3] == ["63", "32", "90"]
    assert [row[-1].published for row in table.rows] == [True, True, True, False, True]
    assert "No score, for no text with a term: thug. No score, for no text: judge." in table.note
    assert "No interval, for fewer than 30 texts with a term: chef." in table.note
    assert len(audit([written("b.jsonl", rows(texts))], ["judge"]).table().columns) == 7


def test_results_are_json(written):
    results = audit([written("a.jsonl", rows(TEXTS))]).results()
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    nurse, thug = (
        next(each for each in results["instances"] if each["instance"] == name) for name in ("nurse", "thug")
    )
    assert (nurse["n_texts"], nurse["male_terms"], nurse["female_terms"], nurse["scenario"]) == (*NURSE, "occupation")
    assert nurse["bias_score"] == pytest.approx(0.1)
    assert nurse["interval"] == [None, None]
    assert nurse["no_interval"] == "fewer than 30 texts with a term"
    assert (thug["bias_score"], thug["chance_score"], thug["no_score"]) == (None, None, "no text")
    assert Counter(each["scenario"] for each in results["instances"]) == {"occupation": 10, "descriptor": 10}
    assert results["files"][0]["n_texts"] == results["n_texts"] == 7


def test_the_command(written, tmp_path):
    path, output = written("a.jsonl", rows(TEXTS)), tmp_path / "figures.json"
    console = Console(record=True, width=128, file=io.StringIO())
    audit_captions([str(path), "--instances", "nurse", "wife", "--plurals", "--output", str(output)], console)
    printed = console.export_text()
    assert "7 texts." in printed
    assert str(output) in printed.replace("\n", "")
    nurse, wife = json.loads(output.read_text())["instances"]
    assert (nurse["n_texts"], nurse["male_terms"], nurse["female_terms"]) == (3, 4, 2)  # with the nurses and their sons
    assert (wife["n_texts"], wife["male_terms"], wife["female_terms"]) == (1, 0, 1)
