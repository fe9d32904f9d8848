"""The rows of ours, in a mirror that EVENHAND_SOURCES names."""

import json
import sys

import datasets
import pytest

from evenhand.flow.configuration import run_config
from evenhand.flow.rows import drawn_rows
from evenhand.library import dataset_builder_class
from tests.benchmarks.bbq.known_answers import BENCHMARK, FILES, NAME, entries


@pytest.fixture(scope="module", autouse=True)
def mirror(tmp_path_factory):
    """Three categories in a mirror, which EVENHAND_SOURCES names, as if they were published so; and an empty cache."""
    folder = tmp_path_factory.mktemp("mirror")
    (folder / "bbq").mkdir()
    for category, file in FILES.items():
        lines = "".join(json.dumps(entry) + "\n" for entry in entries(category))
        (folder / "bbq" / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    script = sys.modules[dataset_builder_class(NAME).__module__]
    with pytest.MonkeyPatch.context() as patch:
        for category, file in FILES.items():
            checksum = script.sha256_of(folder / "bbq" / f"{file}.jsonl")
            patch.setitem(script.FILES, category, (f"{file}.jsonl", checksum))
        patch.setenv("EVENHAND_SOURCES", str(folder))
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        yield folder


@pytest.fixture(scope="module")
def rows(mirror):
    return {row["id"]: row for row in drawn_rows(BENCHMARK, BENCHMARK.configuring.filled(run_config(NAME, "m"))).rows}
