"""What is made of finished runs: files for the Hub's boards, records of Every Eval Ever, single answers."""

import hashlib
import json
import os
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from jsonschema import Draft202012Validator

from evenhand.benchmarks import get_benchmark
from evenhand.flow.run_folder import RunFolder
from evenhand.library import dataset_version
from tests.hub.submittable import COMMIT, MODEL, add_warning, change, change_figure, change_predictions, files, whole

SCHEMA = json.loads((Path(__file__).with_name("every_eval_ever_0.2.2.json")).read_text(encoding="utf-8"))
SCALES = ("certainty", "likelihood", "frequency")
TASKS = [f"{scale}-{contact}" for scale in SCALES
         for contact in ("no_contact", "positive_contact", "negative_contact")]  # fmt: skip


def validate(part, record):
    Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": SCHEMA["$defs"]}).validate(record)


@pytest.fixture
def contact(finished, tmp_path):
    return whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")


@pytest.fixture
def submit(evenhand, tmp_path):
    """submit(run, …, "--namespace", "ann") → {path: text} of what was written; the printed text under "out"."""

    def call(*arguments):
        done = evenhand("submit", *arguments, "--model-id", MODEL, "--output", tmp_path / "submission")
        assert done.code == 0, done.err
        return files(tmp_path / "submission") | {"out": done.out}

    return call


def entries(written):
    return [
        parse_eval_result_entries(yaml.safe_load(text))[0]
        for path, text in written.items()
        if path.startswith(".eval_results/")
    ]


def the_record(written):
    [(path, text)] = [(path, text) for path, text in written.items() if path.endswith(".json")]
    return path, json.loads(text)


def test_a_copy_is_of_the_time_at_which_the_run_was_finished(contact, submit, tmp_path):
    """Files say when they were copied; so does a store of earlier versions."""
    first = the_record(submit(contact))[1]
    for path in contact.iterdir():
        os.utime(path, (2_000_000_000, 2_000_000_000))  # in 2033
    assert the_record(submit(contact))[1] == first
    os.utime(contact / "results.json", (1_700_000_000, 1_700_000_000))
    with sqlite3.connect(contact / "store.sqlite") as store:
        store.execute("DELETE FROM meta WHERE name = 'finished'")
    store.close()
    assert the_record(submit(contact))[1]["evaluation_timestamp"] == "1700000000"


def test_one_file_a_task_as_the_client_reads_it(contact, submit):
    """Value = 1 - percentage / 100: where the raw figure is 25, the board has 0.75."""
    figures = RunFolder(contact).read_results().figures
    change_figure(contact, "biased", {"scale": "certainty", "contact": "no_contact"}, value=25.0, low=20.0, high=30.0)
    written = submit(contact, "--namespace", "ann", "--date", "2026-01-31")
    found = {each.task_id: each for each in entries(written)}
    assert [*sorted(found)] == sorted(TASKS)
    assert {path for path in written if path.startswith(".eval_results/")} == {
        f".eval_results/evenhand-contact_hypothesis-{task}.yaml" for task in TASKS
    }
    first = found["certainty-no_contact"]
    assert (first.value, first.dataset_id, first.date) == (0.75, "ann/contact_hypothesis", "2026-01-31")
    assert first.notes.startswith("value = 1 - biased / 100; biased 25.0 [")
    for told in (
        "protocol choose",
        "seed 0",
        f"contact_hypothesis {dataset_version('contact_hypothesis')}",
        COMMIT[:12],
    ):
        assert told in first.notes
    assert first.source_url.startswith(
        f"https://huggingface.co/{MODEL}/blob/main/every_eval_ever/data/evenhand/{MODEL}/"
    )
    raw = figures.row("biased", scale="frequency", contact="positive_contact").value
    assert found["frequency-positive_contact"].value == pytest.approx(1 - raw / 100, abs=1e-6)


@pytest.mark.parametrize("best", ["low", "high", "zero"])
def test_boards_have_the_first_figure_of_each_task(evenhand, submit, tmp_path, monkeypatch, best):
    """A further figure by the same columns is submitted with the first, and takes no place of it."""
    kind = type(get_benchmark("contact_hypothesis"))
    first = kind.figures[0]
    further = replace(first, key="further", best=best, headline=(("scale", "contact"),), submitted=None)
    monkeypatch.setattr(kind, "figures", (*kind.figures, further))
    done = evenhand(
        "run", "contact_hypothesis", "--model", "stub:random", "--limit", "60", "--output", tmp_path / "new"
    )
    assert done.code == 0, done.err
    written = submit(whole(tmp_path / "new", tmp_path / "run"), "--namespace", "ann")
    assert sorted(each.task_id for each in entries(written)) == sorted(TASKS)
    assert all(each.notes.startswith("value = 1 - biased / 100") for each in entries(written))
    of_further = [each for each in the_record(written)[1]["evaluation_results"] if "further" in json.dumps(each)]
    assert {each["evaluation_result_id"].partition("/")[0] for each in of_further} == {*TASKS}


def test_higher_is_better_everywhere(contact, submit):
    """The share is lower wherever the raw figure is higher; the raw one is the other way round, and says so."""
    written = submit(contact, "--namespace", "ann")
    _, record = the_record(written)
    raw = {each["evaluation_result_id"].partition("/")[0]: each for each in record["evaluation_results"]}
    assert all(each["metric_config"]["lower_is_better"] for each in raw.values())
    for each in entries(written):
        assert each.value == pytest.approx(1 - raw[each.task_id]["score_details"]["score"] / 100, abs=1e-6)


def test_a_record_of_every_eval_ever(contact, submit):
    path, record = the_record(submit(contact, "--namespace", "ann", "--date", "2026-01-31T10:30:00+02:00"))
    validate("record", record)
    assert re.fullmatch(rf"every_eval_ever/data/evenhand/{MODEL}/[0-9a-f-]{{14}}4[0-9a-f-]{{21}}\.json", path)
    assert record["retrieved_timestamp"] == "1769848200"  # 2026-01-31 08:30 in UTC
    assert record["model_info"]["additional_details"]["revision"] == COMMIT
    results = {each["evaluation_name"]: each for each in record["evaluation_results"]}
    assert {*results} == {f"contact_hypothesis.{task}" for task in (*TASKS, *SCALES, "all")}
    overall = results["contact_hypothesis.all"]
    row = RunFolder(contact).read_results().figures.row("biased")
    assert overall["score_details"]["score"] == row.value
    interval = overall["score_details"]["uncertainty"]["confidence_interval"]
    assert [interval["lower"], interval["upper"]] == [row.low, row.high]
    assert overall["score_details"]["uncertainty"]["num_samples"] == row.n_read
    assert interval["method"].startswith("Student's t in log-odds, errors clustered by situation and by descriptor")
    source = results["contact_hypothesis.certainty-no_contact"]["source_data"]
    assert (source["hf_repo"], source["hf_config"]) == ("ann/contact_hypothesis", "certainty")
    assert source["hf_revision"] == f"v{dataset_version('contact_hypothesis')}"


def test_single_answers(contact, submit):
    written = submit(contact, "--single-answers")
    path, record = the_record(written)
    samples = written[path.replace(".json", "_samples.jsonl")]
    answers = [json.loads(line) for line in samples.splitlines()]
    assert len(answers) == 180 == record["detailed_evaluation_results"]["total_rows"]
    assert record["detailed_evaluation_results"]["checksum"] == hashlib.sha256(samples.encode()).hexdigest()
    assert path == f"every_eval_ever/{record['detailed_evaluation_results']['file_path']}".replace(
        "_samples.jsonl", ".json"
    )
    ids = {each["evaluation_result_id"] for each in record["evaluation_results"]}
    for answer in answers:
        validate("answer", answer)
        assert answer["evaluation_id"] == record["evaluation_id"]
        assert answer["evaluation_result_id"] in ids
        right = answer["answer_attribution"][0]["extracted_value"] == answer["input"]["reference"][0]
        assert answer["evaluation"] == {"score": float(not right), "is_correct": right}
    score = 100 * sum(each["evaluation"]["score"] for each in answers) / 180
    [whole_run] = [each for each in record["evaluation_results"] if each["evaluation_name"].endswith(".all")]
    assert score == pytest.approx(whole_run["score_details"]["score"])


def test_again_is_the_same(contact, submit):
    """So that who submits twice has one pull request with the same files, not twice as many."""
    assert submit(contact, "--namespace", "ann") == submit(contact, "--namespace", "ann")


def test_a_scale_alone_has_no_mean(finished, submit, tmp_path):
    run = whole(finished("contact_hypothesis", "stub:random", limit=60, configs=("certainty",)), tmp_path / "run")
    written = submit(run, "--namespace", "ann")
    _, record = the_record(written)
    assert {each["evaluation_name"] for each in record["evaluation_results"]} == {
        f"contact_hypothesis.{task}" for task in ("certainty", *TASKS[:3])
    }
    assert "frequency, likelihood are missing, so there is no figure over all" in written["out"]


def test_a_constant_answer_is_said(contact, submit):
    """Yes to everything has 50 on a scale, which means nothing."""
    add_warning(contact, "constant_answer", scale="frequency")
    told = {
        each.task_id for each in entries(submit(contact, "--namespace", "ann")) if "nearly all answers" in each.notes
    }
    assert told == {*TASKS[6:]}


def test_without_a_namespace_there_are_records_alone(contact, submit):
    written = submit(contact)
    assert entries(written) == []
    assert "they need --namespace NS" in written["out"]
    validate("record", the_record(written)[1])


def test_a_mitigated_run_is_on_no_board(finished, submit, tmp_path):
    run = whole(
        finished("contact_hypothesis", "stub:random", limit=60, mitigation="unbiased-instruction"), tmp_path / "run"
    )
    written = submit(run, "--namespace", "ann")
    assert entries(written) == []
    assert "boards are of models alone" in written["out"]
    [details] = {
        json.dumps(each["generation_config"]["additional_details"])
        for each in the_record(written)[1]["evaluation_results"]
    }
    assert json.loads(details)["mitigation"] == "unbiased-instruction"


@pytest.mark.parametrize(
    ("benchmark", "model", "options"),
    [
        ("contact_controls", "stub:first", {}),
        ("labe", "stub:say:She is kind.", {"configs": ("biography",), "limit": 24, "classifiers": ("lexicon",)}),
        ("implicit_bias", "stub:random", {"protocol": "rank", "limit": 20, "setting": "none"}),
        ("mllm_stereotypes", "stub:random:male|female", {"configs": ("persona_gender",), "limit": 30}),
    ],
)  # fmt: skip
def test_every_benchmark_has_records(finished, submit, tmp_path, benchmark, model, options):
    run = whole(finished(benchmark, model, **options), tmp_path / "run")
    written = submit(run, "--namespace", "ann")
    _, record = the_record(written)
    validate("record", record)
    assert record["evaluation_results"]
    on_boards = {each.task_id: each.value for each in entries(written)}
    assert on_boards == ({"controls": 0.5} if benchmark == "contact_controls" else {})


def test_a_run_of_some_items_is_on_no_board(finished, submit, tmp_path):
    """Written answers to 40 of the 280 controls are not read: those items are left out."""
    run = whole(finished("contact_controls", "stub:say:Yes", protocol="generate"), tmp_path / "run")
    written = submit(run, "--namespace", "ann")
    assert entries(written) == []
    assert "not all rows were asked: 40 items" in written["out"]


def test_no_place_of_a_machine_is_told(contact, submit):
    """Of a folder its name, of a server its model's; of texts that a run names, nothing else."""
    identity = "/data/ann/checkpoints/mine@abcdef float32"
    change(contact, model="/data/ann/checkpoints/mine", model_name=identity, model_identity=identity)
    change(contact, **{"config.model": "/data/ann/checkpoints/mine"})
    written = submit(contact, "--namespace", "ann", "--under-another-name")
    assert "checkpoints" not in "".join(text for path, text in written.items() if path != "out")
    assert all("ran as the folder 'mine' (not from the Hub)" in each.notes for each in entries(written))


def test_hostile_texts_stay_texts(contact, submit):
    """What a model wrote is one JSON string, whatever it holds; the boards' files hold none of it."""
    bad = 'No"\n- dataset: {id: evil/x, task_id: y}\n  value: 1 \u2028 \x1b[31m'
    change_predictions(contact, text=bad)
    written = submit(contact, "--namespace", "ann", "--single-answers")
    [samples] = [text for path, text in written.items() if path.endswith(".jsonl")]
    answers = [json.loads(line) for line in samples.split("\n") if line]
    assert {answer["output"]["raw"][0] for answer in answers} == {bad}
    assert len(entries(written)) == len(TASKS)
    assert "evil" not in "".join(text for path, text in written.items() if path.startswith(".eval_results"))
