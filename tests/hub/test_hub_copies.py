"""What is asked of the Hub is never taken from the working folder."""

import pytest

import evenhand
from evenhand.errors import UsageError


@pytest.mark.parametrize("load", [evenhand.load_dataset, evenhand.load_metric])
def test_a_folder_of_a_repositorys_name_is_not_taken_in_its_place(load, tmp_path, monkeypatch):
    """Its script would run, and the revision be left unread."""
    (tmp_path / "lab" / "contact_bias").mkdir(parents=True)
    (tmp_path / "lab" / "contact_bias" / "contact_bias.py").write_text("raise SystemExit('ran')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"'lab/contact_bias'.*lies in .*rename that one"):
        load("lab/contact_bias", revision="v1.0.0")
