"""The store: what was written is read, whole batches or nothing, and clear words when it fails."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import EvenhandError, UsageError
from evenhand.flow.store import Store, finished_at
from evenhand.models.request import Reply

MODELS = {"default": "m@1 float32"}
log_probs = st.lists(st.lists(st.floats(-1e6, 0), min_size=1, max_size=4).map(tuple), max_size=3).map(tuple)
replies = st.builds(
    Reply, st.text(st.characters(codec="utf-8")), st.sampled_from(["stop", "length", "choice"]), log_probs
)


@settings(max_examples=50, deadline=None)
@given(written=st.dictionaries(st.text(min_size=1, max_size=64), replies, max_size=20))
def test_replies_come_back_exactly_after_reopening(tmp_path_factory, written):
    """Texts in any script, log-probabilities to the last bit."""
    path = tmp_path_factory.mktemp("store") / "store.sqlite"
    with Store(path, MODELS) as store:
        store.put(written.items())
    with Store(path, MODELS) as store:
        assert store.get([*written, "absent"]) == written
        assert len(store) == len(written)


def test_half_characters_are_stored_as_question_marks(tmp_path):
    with Store(tmp_path / "store.sqlite", MODELS) as store:
        store.put([("key", Reply("a\ud800b"))])
        assert store.get(["key"])["key"].text == "a?b"


def test_many_keys_are_found(tmp_path):
    with Store(tmp_path / "store.sqlite", MODELS) as store:
        store.put((f"{i}", Reply(str(i))) for i in range(3000))
        assert len(store.get([f"{i}" for i in range(0, 6000, 2)])) == 1500


def test_a_store_of_another_model_is_refused(tmp_path):
    Store(tmp_path / "store.sqlite", MODELS).close()
    with pytest.raises(UsageError, match=r"holds replies of m@1 float32; this run asks m@2 float32.*another --output"):
        Store(tmp_path / "store.sqlite", {"default": "m@2 float32"})


def test_a_file_that_is_no_store_is_left_alone(tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"precious notes " * 100)
    with pytest.raises(EvenhandError, match="is no store of evenhand"):
        Store(path, MODELS)
    assert path.read_bytes() == b"precious notes " * 100


def test_a_full_disk_loses_nothing(tmp_path):
    """The batch that does not fit is refused whole; all before it stay."""
    path = tmp_path / "store.sqlite"
    with Store(path, MODELS) as store:
        store.put([("small", Reply("kept"))])
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(EvenhandError, match=r"the disk is full .* free space and run the same command again"):
            store.put((f"large {i}", Reply("x" * 5000)) for i in range(20))
    with Store(path, MODELS) as store:
        assert store.get(["small", "large 0"]) == {"small": Reply("kept")}
        store.put([("large 0", Reply("x" * 5000))])
        assert len(store) == 2


def test_a_failing_batch_leaves_no_half(tmp_path):
    def broken():
        yield "one", Reply("1")
        raise RuntimeError("model died")

    with Store(tmp_path / "store.sqlite", MODELS) as store:
        with pytest.raises(RuntimeError, match="model died"):
            store.put(broken())
        assert len(store) == 0
    assert sqlite3.connect(tmp_path / "store.sqlite").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_when_a_run_was_finished_stays_unless_it_asked_more(tmp_path):
    path = tmp_path / "store.sqlite"
    assert finished_at(path) is None
    for seconds, asked, told in ((5.5, False, 5), (9, False, 5), (12, True, 12)):
        with Store(path, {"default": "m"}) as store:
            store.finish(seconds, asked)
        assert finished_at(path) == told
    path.write_bytes(b"no database")
    assert finished_at(path) is None
