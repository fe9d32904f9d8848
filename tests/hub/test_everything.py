"""All datasets and metrics, published and loaded back elsewhere: part of `make test-compatibility`, for it is slow."""

import json
import os

import pyarrow.parquet as pq
import pytest
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from evenhand.library import DATASETS, METRICS, packaged_dataset_names

LOAD = """
import datasets, evaluate, json, sys
names, metrics = json.loads(sys.argv[1])
found = {}
for name in names:
    for config in datasets.get_dataset_config_names("lab/" + name):
        rows = datasets.load_dataset("lab/" + name, config)
        found[name + "/" + config] = {split: len(part) for split, part in rows.items()}
loaded = [evaluate.load("lab/" + name).name for name in metrics]
print(json.dumps([found, loaded]))
"""

pytestmark = pytest.mark.skipif("EVENHAND_EVERYTHING" not in os.environ, reason="make test-compatibility runs it")


def packaged_rows():
    """{"labe/biography": {"test": 2400}, …}, as the parquet files say."""
    found = {}
    for name in packaged_dataset_names():
        data = DatasetCard((DATASETS / name / "README.md").read_text(encoding="utf-8")).data
        for config, told in MetadataConfigs.from_dataset_card_data(data).items():
            found[f"{name}/{config}"] = {
                each["split"]: sum(pq.read_metadata(file).num_rows for file in (DATASETS / name).glob(each["path"]))
                for each in told["data_files"]
            }
    return found


def test_all_datasets_and_metrics_are_published_and_loaded_by_others(hub, command, python):
    names, metrics = packaged_dataset_names(), sorted(path.parent.name for path in METRICS.glob("*/scores.py"))
    for kind, of_it in (("dataset", names), ("metric", metrics)):
        done = command("publish", kind, *of_it, "--namespace", "lab")
        assert done.code == 0, done.err
    read = python(LOAD, json.dumps([names, metrics]))
    assert read.code == 0, read.err
    found, loaded = json.loads(read.out.splitlines()[-1])
    assert found == packaged_rows()
    assert loaded == metrics
    again = command("publish", "dataset", *names, "--namespace", "lab")
    assert again.out.count("up to date") == len(names)
