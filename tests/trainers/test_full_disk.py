"""On a full disk each library has other words; a person reads one sentence."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from evenhand.errors import EvenhandError
from evenhand.trainers.full_disk import full_disk_explained

FULL = Path("/dev/full")  # on it every write ends as on a full disk


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize(
    "written",
    [
        lambda: torch.save({"state": torch.zeros(100_000)}, FULL),
        lambda: FULL.write_bytes(save({"weight": torch.zeros(100_000)})),
        lambda: FULL.write_text("a card"),
    ],
)
def test_a_full_disk_is_told_in_a_sentence(written, tmp_path):
    says = r"the disk is full at .*: free space and run the same command again"
    with pytest.raises(EvenhandError, match=says), full_disk_explained(tmp_path):
        written()


def test_what_safetensors_says_is_known(tmp_path):
    with pytest.raises(EvenhandError, match="the disk is full"), full_disk_explained(tmp_path):
        raise RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")


def test_other_errors_pass(tmp_path):
    with pytest.raises(RuntimeError, match="shapes"), full_disk_explained(tmp_path):
        raise RuntimeError("shapes differ")
    with pytest.raises(PermissionError), full_disk_explained(tmp_path):
        raise PermissionError(13, "Permission denied")
