"""A folder is gone on with by the training that it was begun by, and by no other."""

import pytest

from evenhand.errors import UsageError
from evenhand.trainers.training_folder import ASKED, UNFINISHED, begun, refuse_other
from evenhand.whole_files import PREFIX, SUFFIX

ASKED_FOR = {"model": "m", "targets": ("q_proj",), "learned from": {"sha256": "a"}}


def killed(output, files):
    """files: that it wrote until then."""
    (output / UNFINISHED).mkdir()
    for name in files:
        (output / UNFINISHED / name).write_text("a part")
    raise RuntimeError


@pytest.fixture
def cut_off(tmp_path):
    with pytest.raises(RuntimeError), begun(ASKED_FOR, tmp_path, "training.json"):
        killed(tmp_path, ["optimizer.pt"])
    assert (tmp_path / ASKED).is_file()
    return tmp_path


def test_the_same_training_goes_on(cut_off):
    with begun(ASKED_FOR, cut_off, "training.json"):
        (cut_off / "training.json").write_text("{}")
    assert [each.name for each in cut_off.iterdir()] == ["training.json"]
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


@pytest.mark.parametrize("there", [True, False])
def test_where_nothing_was_learned_the_folder_is_free_again(tmp_path, there):
    output = tmp_path / "output"
    if there:
        output.mkdir()
    with pytest.raises(RuntimeError), begun(ASKED_FOR, output, "training.json"):
        killed(output, [])
    assert output.exists() == there
    with begun({**ASKED_FOR, "model": "n"}, output, "training.json"):
        assert (output / ASKED).is_file()


def test_a_training_killed_while_it_tidied_up_is_tidied_by_its_own_command_alone(cut_off):
    (cut_off / "training.json").write_text("{}")
    with pytest.raises(UsageError, match="holds a finished training"):
        refuse_other({**ASKED_FOR, "model": "n"}, cut_off, "training.json")
    assert (cut_off / UNFINISHED).is_dir()
    with pytest.raises(UsageError, match="holds a finished training"):
        refuse_other({"model": "m"}, cut_off, "training.json")
    assert [each.name for each in cut_off.iterdir()] == ["training.json"]


def test_what_a_killed_process_was_saving_is_removed(cut_off):
    saved = cut_off / "merged" / f"{PREFIX}a1b2{SUFFIX}"
    saved.mkdir(parents=True)
    (saved / "model.safetensors").write_text("a part")
    with begun(ASKED_FOR, cut_off, "training.json"):
        assert not saved.exists()
