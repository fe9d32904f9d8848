"""What the tests of dataset loading share: a cache of their own, and the mirror of official files where it exists."""

from pathlib import Path

import datasets
import pytest


@pytest.fixture
def datasets_cache(tmp_path, monkeypatch):
    """An empty cache of the `datasets` library, so that nothing built earlier is loaded in place of what is tested."""
    cache = tmp_path / "datasets_cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    return cache


@pytest.fixture
def official_sources(datasets_cache, monkeypatch):
    """The local mirror of the published files, as EVENHAND_SOURCES; it lies beside the repository, not in it."""
    folder = Path(__file__).parents[3] / "shared" / "sources"
    if not folder.is_dir():
        pytest.skip("../shared/sources is absent")
    monkeypatch.setenv("EVENHAND_SOURCES", str(folder))
    return folder
