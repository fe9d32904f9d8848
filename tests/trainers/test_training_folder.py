"""A folder is gone on with by the training that it was begun by, and by no other."""

import pytest

from evenhand.errors import UsageError
from evenhand.trainers.training_folder import ASKED, begun, refuse_other

ASKED_FOR = {"model": "m", "targets": ("q_proj",), "learned from": {"sha256": "a"}}


@pytest.fixture
def cut_off(tmp_path):
    with pytest.raises(RuntimeError), begun(ASKED_FOR, tmp_path, "training.json"):
        raise RuntimeError("killed")
    assert (tmp_path / ASKED).is_file()
    return tmp_path


def test_the_same_training_goes_on(cut_off):
    with begun(ASKED_FOR, cut_off, "training.json"):
        (cut_off / "training.json").write_text("{}")
    assert not (cut_off / ASKED).exists()
    with pytest.raises(UsageError, match="holds a finished training"):
        refuse_other(ASKED_FOR, cut_off, "training.json")


@pytest.mark.parametrize("other", [{"model": "n"}, {"learned from": {"sha256": "b"}}])
def test_other_options_and_other_data_are_refused_by_name(cut_off, other):
    with pytest.raises(UsageError, match=next(iter(other))):
        refuse_other({**ASKED_FOR, **other}, cut_off, "training.json")


def test_before_the_data_are_read_they_are_no_others(cut_off):
    refuse_other({"model": "m", "targets": ("q_proj",)}, cut_off, "training.json")


@pytest.mark.parametrize("text", ["{", "[]"])
def test_what_cannot_be_read_is_refused(cut_off, text):
    (cut_off / ASKED).write_text(text)
    with pytest.raises(UsageError, match="can't be read"):
        refuse_other(ASKED_FOR, cut_off, "training.json")
