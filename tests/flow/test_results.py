"""results.json: one record that is written and read, described by a schema, and refused when it is not that."""

import json
import math
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evenhand.benchmarks import get_benchmark
from evenhand.errors import EvenhandError
from evenhand.flow import results as module
from evenhand.flow.results import SCHEMA_VERSION, Results
from evenhand.report.agreement import distance_from_no_bias

SCHEMA = json.loads(Path(module.__file__).with_name("results.schema.json").read_text(encoding="utf-8"))


def test_the_schema_knows_the_same_keys_as_the_record():
    Draft202012Validator.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == SCHEMA["required"] == [each.name for each in fields(Results)]
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    assert not SCHEMA["additionalProperties"]


@pytest.fixture(scope="module")
def record(finished):
    return json.loads((finished("contact_hypothesis", "stub:first", limit=12) / "results.json").read_text())


@pytest.mark.parametrize(
    ("benchmark", "model", "options"),
    [
        ("contact_hypothesis", "stub:first", {"limit": 12}),
        ("contact_controls", "stub:first", {"limit": 14}),
        ("labe", "stub:say:She led the team.", {"limit": 12, "classifiers": ("lexicon",)}),
        ("implicit_bias", "stub:first", {"limit": 2, "protocol": "rank"}),
        ("implicit_bias_understanding", "stub:silent", {"limit": 4}),
        ("implicit_bias_case_study", "stub:first", {"limit": 3, "protocol": "rank", "classifiers": ("lexicon",)}),
        ("mllm_stereotypes", "stub:say:left", {"limit": 12}),
        ("utility", "stub:say:seven", {"limit": 40}),
    ],
)
def test_every_benchmark_writes_what_the_schema_describes(finished, benchmark, model, options):
    written = json.loads((finished(benchmark, model, **options) / "results.json").read_text())
    Draft202012Validator(SCHEMA).validate(written)
    assert json.loads(json.dumps(Results.from_json(written).to_json())) == written
    results = Results.from_json(written)
    distance = distance_from_no_bias(get_benchmark(benchmark), results.figures)
    assert math.isnan(distance) or distance >= 0
    assert pd.DataFrame(written["figures"]).shape[0] == len(results.figures) > 0


def test_options_are_found_wherever_they_stand(record):
    results = Results.from_json(record)
    assert (results.option("limit"), results.option("order"), results.option("shoe_size")) == (12, "paper", None)
    assert results.asked["order"] == "paper"


def test_a_record_without_a_version_is_an_older_run(record):
    older = {key: value for key, value in record.items() if key != "schema_version"}
    with pytest.raises(EvenhandError, match=r"written before results had a version; this evenhand reads 2: repeat its"):
        Results.from_json(older)
    with pytest.raises(EvenhandError, match=r"in version 7 of its format"):
        Results.from_json({**record, "schema_version": 7})


def test_unknown_and_missing_keys_are_named(record):
    with pytest.raises(EvenhandError, match=r"unknown: shoe_size\)"):
        Results.from_json({**record, "shoe_size": 43})
    with pytest.raises(EvenhandError, match=r"damaged \(wrong, missing or unknown: figures\)"):
        Results.from_json({**record, "figures": "high"})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("n_read",), -1),
        (("n",), True),
        (("differs",), "all"),
        (("figures", 0, "value"), "high"),
        (("figures", 0, "n"), -1),
        (("figures", 0, "scale"), 3),
        (("warnings", 0, "code"), "Not A Code"),
        (("config", "seed"), None),
        (("rows_sha256",), "abc"),
        (("model_name",), ""),
        (("agents", "default"), 3),
    ],
)
def test_what_the_schema_refuses_is_not_read(record, path, value):
    damaged = json.loads(json.dumps(record))
    inner = damaged
    for name in path[:-1]:
        inner = inner[name]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    assert not Draft202012Validator(SCHEMA).is_valid(damaged)
    with pytest.raises(EvenhandError, match=str(path[0])):
        Results.from_json(damaged)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine
@given(st.dictionaries(st.sampled_from([each.name for each in fields(Results)]), junk))
def test_a_damaged_record_is_explained_and_nothing_else(damaged):
    with pytest.raises(EvenhandError, match="repeat its evenhand run command"):
        Results.from_json({"schema_version": SCHEMA_VERSION, **damaged, "figures": {}})
