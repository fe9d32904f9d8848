"""--constrain: answers that are written are JSON by a schema, and the report says that they were forced."""

import json

import pandas as pd
import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.benchmarks.contact_controls.benchmark import ContactControls
from evenhand.benchmarks.contact_hypothesis.benchmark import ContactHypothesis
from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.request import Reply
from tests.benchmarks.contact_hypothesis.test_prompt_sets import ROW
from tests.hostile.faulty_server import Sent, serving

BENCHMARK = ContactHypothesis()
FORCED = "The format of answers was forced (--constrain)"


def test_the_schema_names_the_two_options():
    """The messages are those of a free answer."""
    free, forced = (
        BENCHMARK.ask(ROW, BENCHMARK.asking(protocol="generate", constrain=constrain)) for constrain in (False, True)
    )
    assert [request.messages for request in free] == [request.messages for request in forced]
    assert {request.schema for request in free} == {None}
    assert json.loads(forced[0].schema) == {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["Likely", "Unlikely"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def test_what_is_written_is_read():
    how = BENCHMARK.asking(protocol="generate", constrain=True)
    replies = [Reply('{"answer": "Likely"}'), Reply('{\n"answer":"Unlikely"}'), Reply('{"answer": "Li')]
    assert [each["answer"] for each in BENCHMARK.read(ROW, replies, how)] == ["Likely", "Unlikely", None]


@pytest.mark.parametrize("benchmark", [BENCHMARK, ContactControls()])
def test_nothing_is_forced_where_nothing_is_written(benchmark):
    config = benchmark.configuring.filled(
        run_config(benchmark.card.name, "stub:first", protocol="choose", constrain=True)
    )
    with pytest.raises(UsageError, match=r"--constrain applies to written answers; use it with --protocol generate"):
        benchmark.configuring.check(config)


@pytest.fixture
def no_report(monkeypatch):
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)


@pytest.mark.parametrize("name", ["contact_hypothesis", "contact_controls"])
def test_a_server_that_keeps_to_schemas_leaves_nothing_unread(name, tmp_path, no_report):
    """It scores no options, and writes the last one of the schema's."""

    def answer(body):
        schema = body["response_format"]["json_schema"]["schema"]
        return json.dumps({"answer": schema["properties"]["answer"]["enum"][-1]})

    with serving() as start:
        config = run_config(name, start(answer).url, limit=6, constrain=True)
        folder = evaluate(config, tmp_path / "run")
    rows = pd.read_parquet(folder.predictions_file)
    assert rows["answer"].notna().all()
    results = folder.read_results()
    if name == "contact_controls":  # which items are asked is decided by the protocol that was taken
        assert any("left out: written answers to them are not read" in each.text for each in results.warnings)
    else:
        assert "the answers' format forced by a schema" in results.differs
    assert any(each.startswith(FORCED) for each in get_benchmark(name).findings(rows, results).sentences)


def test_a_server_that_takes_no_schema_says_what_to_do(tmp_path):
    error = Sent({"error": {"message": "response_format is not supported", "param": "response_format"}}, 400)
    with serving() as start, pytest.raises(Exception, match="--constrain"):
        evaluate(
            run_config("contact_hypothesis", start(lambda body: error).url, limit=2, constrain=True), tmp_path / "r"
        )
