"""eval.yaml: as the datasets have their rows, as the benchmark asks and reads, and where it fits the Hub's form."""

import re

import pyarrow.parquet
import pytest
import yaml

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_hypothesis.publishing import option_pattern
from evenhand.library import DATASETS
from evenhand.metrics.contact_bias.scores import AFFIRMING, DECLINING, OPTIONS, UNREAD, read_answer
from evenhand.tools.dataset_upkeep.hub_tasks import FILE, eval_yaml

WITH_TASKS = ("contact_hypothesis", "contact_controls")
TASKS = [(name, task) for name in WITH_TASKS for task in yaml.safe_load(eval_yaml(name))["tasks"]]
FIELDS = {"id", "config", "split", "field_spec", "solvers", "scorers"}  # inspect_ai 0.3.285 refuses others
WORDS = ("Yes", "No", "yes", "NO", "Likely", "unlikely", "Mostly", "rarely", "not", "_", "-", "'", "’", ".", " ", "\n")


@pytest.mark.parametrize("name", sorted(path.name for path in DATASETS.iterdir() if path.is_dir()))
def test_the_file_is_as_written(name):
    path = DATASETS / name / FILE
    written = path.read_text(encoding="utf-8") if path.is_file() else None
    assert written == eval_yaml(name), f"python scripts/build_datasets.py {name} writes it anew"


@pytest.mark.parametrize("name", sorted(path.parent.name for path in DATASETS.glob("*/README.md")))
def test_a_card_says_why_there_is_none(name):
    card = (DATASETS / name / "README.md").read_text(encoding="utf-8")
    assert ("no `eval.yaml`" in card) == (name not in WITH_TASKS)
    assert FILE in card


@pytest.mark.parametrize(("name", "task"), TASKS, ids=lambda each: each if isinstance(each, str) else each["id"])
def test_a_task_is_of_rows_that_are_there(name, task):
    """And its target is one of the row's options in every row."""
    assert {*task} == FIELDS
    spec = task["field_spec"]
    columns = [spec["input"], spec["target"], *spec["metadata"]]
    table = pyarrow.parquet.read_table(DATASETS / name / "data" / task["config"] / f"{task['split']}.parquet")
    assert {*columns} <= {*table.column_names}
    rows = table.select([spec["target"], "options"]).to_pylist()
    assert all(row[spec["target"]] in row["options"] for row in rows[:: max(1, len(rows) // 500)])


def test_ids_are_unique():
    for name in WITH_TASKS:
        ids = [task["id"] for of, task in TASKS if of == name]
        assert len({*ids}) == len(ids)


def test_the_benchmark_asks_the_same():
    """The very messages, system prompt and all."""
    benchmark = get_benchmark("contact_hypothesis")
    for _, task in (each for each in TASKS if each[0] == "contact_hypothesis"):
        path = DATASETS / "contact_hypothesis" / "data" / task["config"] / "test.parquet"
        [row] = pyarrow.parquet.ParquetFile(path).read_row_group(0).slice(0, 1).to_pylist()
        asked = {request.name.rpartition("/")[2]: request for request in benchmark.ask(row, benchmark.asking())}
        system, question = asked[task["field_spec"]["input"]].messages
        told, template, _ = task["solvers"]
        assert told["args"]["template"] == system.text
        assert template["args"]["template"].format(prompt=row[task["field_spec"]["input"]]) == question.text
        [target] = {each.ideal for each in benchmark.targets(row, benchmark.asking())}
        assert row[task["field_spec"]["target"]] == target


@pytest.mark.parametrize("scale", OPTIONS)
@pytest.mark.parametrize("form", ["{}", "{}.", "**{}**", "Answer: {}", "{}, since we get on.", "\n{}\n", "({})"])
def test_plain_answers_are_read_the_same(scale, form):
    """The pattern's group is the option that the metric reads. Denials and refusals it can't tell: it is a pattern."""
    for polarity, option in zip((AFFIRMING, DECLINING), OPTIONS[scale]):
        text = form.format(option)
        assert re.search(option_pattern(OPTIONS[scale]), text)[1].lower() == option.lower()
        assert read_answer(text, scale) == polarity


@pytest.mark.parametrize("scale", OPTIONS)
@pytest.mark.parametrize("form", ["", "maybe", "{}-man", "{}.{}", "{}\n{}", "{} or {}", "{}/{}", "{}\n.{}", "'{}\n{}"])
def test_what_names_no_option_or_both_is_read_by_neither(scale, form):
    text = form.format(*OPTIONS[scale])
    assert re.search(option_pattern(OPTIONS[scale]), text) is None
    assert read_answer(text, scale) == UNREAD
