"""Readers of replies and of files, fed with garbage: an answer or None, or a sentence; never a traceback.

scripts/fuzz_readers.py does the same a million times, and tells how time grows.
"""

import contextlib
import json
import os
import random
import runpy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evenhand.benchmarks.labe.texts import read_texts
from evenhand.benchmarks.mllm_stereotypes.faces.reading import read_faces
from evenhand.benchmarks.mllm_stereotypes.persona_images.folder import PersonaFolder
from evenhand.benchmarks.mllm_stereotypes.real_shares import read_real_shares
from evenhand.errors import EvenhandError, UsageError
from evenhand.row_files import read_rows
from evenhand.tools.annotation.agreement import agree
from evenhand.tools.annotation.files import read_sheet
from evenhand.tools.annotation.from_sheets import merge, read_key
from evenhand.tools.annotation.schemes import get_scheme, read_scheme
from evenhand.tools.caption_audit.audit import audit

FUZZ = runpy.run_path(str(Path(__file__).parents[2] / "scripts/fuzz_readers.py"))
REPLIES = st.integers(0, 2**32).map(lambda seed: FUZZ["mutated"](random.Random(seed))) | st.text(max_size=200)


@pytest.mark.parametrize("name", FUZZ["READERS"])
@settings(max_examples=20, deadline=None)
@given(reply=REPLIES)
@example(reply="")
@example(reply="\ud800\x00\u2028" * 3)
@example(reply="[" * 5_000)
@example(reply='{"a":' * 5_000)
@example(reply='"' * 5_000)
def test_any_reply_is_read_and_always_alike(name, reply):
    assert FUZZ["crashed"](name, reply) is None


@pytest.mark.parametrize("name", FUZZ["READERS"])
@pytest.mark.timeout(60)
def test_long_replies_end(name):
    """Far from a minute; a pattern that backtracks would take hours."""
    for piece in ('"', "“a ", "(", "*a ", "[[", "Task 1: John, ", "\n", " ", "not ", "{"):
        FUZZ["READERS"][name]((piece * 20_000)[:20_000])


# Files

AGENCY = get_scheme("agency")
FACES = "file,age,gender,race\n1.png,20,male,white\n"
READ_FILE = {
    "texts": read_texts,
    "rows": lambda path: read_rows(path, "text", "texts").places,
    "sheets": lambda path: read_sheet(path),
    "keys": lambda path: read_key(path, AGENCY),
    "labels": lambda path: merge({"ada": path}, AGENCY),
    "merged tables": agree,
    "schemes": read_scheme,
    "captions": lambda path: audit([path]),
    "shares": read_real_shares,
    "faces": lambda path: read_faces(path.parent, path),
}  # fmt: skip
FILES = {
    "texts.csv": b'text,gender,race\n"She leads, he\n helps.",f,White\nb,m,\n',
    "sheet.csv": "\ufeffentry;id;text;agency\r\ne1;a;'=1;agentic\r\ne2;b;x;communal\r\n".encode(),
    "merged.csv": b"id,question,ada,bo,majority,status\na,agency,agentic,agentic,agentic,majority\n",
    "table.csv": FACES.encode("utf-16"),
    "shares.csv": b"instance,group,share\nnurse,male,10\nnurse,female,90\n",
    "rows.json": b'[{"text": "a", "id": "1", "gender": "m", "caption": "a male nurse"}, {"text": ["b"], "id": 2}]',
    "rows.jsonl": b'{"text": "a", "conversations": [{"from": "gpt", "value": "A nurse. He helps."}]}\n{"id": null}\n',
    "scheme.json": json.dumps(
        {"name": "tone", "questions": {"tone": "?"}, "labels": {"yes": "it is", "no": {"meaning": "-", "also": ["0"]}},
         "instructions": {"text": "t", "source": "s"}, "na": [], "sides": None}
    ).encode(),
}  # fmt: skip
DAMAGE = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 20), st.binary(max_size=6) | st.sampled_from(
        [b"\0", b'"', b"\n", b"\r", b"[" * 2000, b'{"a":' * 2000, b"\xff\xfe", b"\xef\xbb\xbf", b";;", b"\t", b"1e999",
         b"9" * 5000, b"NaN", b"\\ud800", b"null", b"\xed\xa0\x80", b",,,,", b"id", b"text"]
    )),
    max_size=3,
)  # fmt: skip


@pytest.mark.parametrize("reader", READ_FILE)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(FILES)), damage=DAMAGE)
def test_any_file_is_read_or_refused_with_a_sentence(reader, name, damage, tmp_path):
    content = FILES[name]
    for place, length, piece in damage:
        content = content[:place] + piece + content[place + length :]
    path = tmp_path / name
    path.write_bytes(content)
    found = []
    for _ in range(2):
        try:
            found.append(repr(READ_FILE[reader](path)))
        except EvenhandError as error:
            found.append(str(error))
    assert found[0] == found[1]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=DAMAGE)
def test_any_table_of_persona_images_is_read_or_refused(damage, tmp_path):
    header = b"trait,file,number,seed,prompt,persons_found,kept,painter,detector\n"
    content = header + b'Slob,Slob/0001.png,1,2,"A mess, \'=x",0,true,p,d\n'
    for place, length, piece in damage:
        content = content[:place] + piece + content[place + length :]
    (tmp_path / "images.csv").write_bytes(content)
    with contextlib.suppress(EvenhandError):
        PersonaFolder(tmp_path).read_table()


@pytest.mark.parametrize("reader", READ_FILE)
def test_what_is_nested_too_deep_is_refused_and_a_pipe_is_not_waited_for(reader, tmp_path):
    path = tmp_path / "a.json"
    for content in ("[" * 100_000, '{"a":' * 100_000, '[{"text": ' + "[" * 100_000):
        path.write_text(content)
        with pytest.raises(EvenhandError):
            READ_FILE[reader](path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(UsageError, match="is a pipe or a device"):
        READ_FILE[reader](path)
