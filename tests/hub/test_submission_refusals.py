"""What is not submitted, each with a sentence that says what came and what to do; nothing is written then."""

from datetime import UTC, datetime

import pytest
from huggingface_hub import EvalResultEntry

from evenhand.errors import UsageError
from evenhand.hub.submission.eval_results import dump_files
from evenhand.hub.submission.figures import distances
from evenhand.hub.submission.finished_run import shown
from evenhand.hub.submission.validation import checked_date
from tests.hub.submittable import COMMIT, MODEL, add_warning, change, change_figure, whole

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def contact(finished, tmp_path):
    return whole(finished("contact_hypothesis", "stub:random", limit=60), tmp_path / "run")


@pytest.fixture
def refused(evenhand, tmp_path):
    """refused(run, …) → what was said; nothing was written."""

    def call(*arguments, model=MODEL):
        folder = tmp_path / "submission"
        done = evenhand("submit", *arguments, "--model-id", model, "--namespace", "ann", "--output", folder)
        assert done.code in (1, 2), done.out
        assert not folder.exists()
        return " ".join(done.err.split())

    return call


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"config.limit": 60}, "limited to 60 rows"),
        ({"differs": ["only 60 of 103,014 rows"]}, "asked only 60 of 103,014 rows"),
        ({"n_read": 54}, "70 % of the answers could not be read"),
        ({"rows_sha256": "0" * 64}, "the rows of a file"),
        ({"config.options.held_out": "1"}, "what a training held out (--held-out 1)"),
        ({"model": "stub:first", "config.model": "stub:first"}, "a run of a stub (stub:first)"),
        ({"agents": {"default": "stub:first"}}, "a run of a stub"),
        ({"model": "", "config.model": ""}, "asked no model"),
        ({"model": "lab/other", "config.model": "lab/other"}, "asked lab/other, and --model-id is 'lab/"),
        ({"model_identity": f"{MODEL}@abcdef float32"}, f"{MODEL} (not from the Hub)"),
    ],
)
def test_a_run_that_is_not_for_others(contact, refused, changes, said):
    change(contact, **changes)
    assert said in refused(contact)


@pytest.mark.parametrize(
    ("groups", "values", "said"),
    [
        (
            {"scale": "certainty", "contact": "no_contact"},
            {"value": None, "low": None, "high": None},
            "is nan, and not a number",
        ),
        ({}, {"value": 140.0}, "biased is 140.0, and its own interval ["),
        ({"scale": "certainty"}, {"value": 1.0}, "biased, certainty is 1.0, and its own interval ["),
        ({"scale": "certainty"}, {"n_read": 10_000}, "biased, certainty: 10000 of "),
        ({"scale": "certainty"}, {"n_read": 0}, "60 of 60 answers could not be read"),
        ({"scale": "certainty"}, {"n_read": 20}, "40 of 60 answers could not be read"),
        ({"scale": "certainty"}, {"low": 1e999}, "is not finite"),
        ({"scale": "certainty"}, {"value": "50"}, "damaged"),
    ],
)
def test_a_figure_that_is_not_for_others(contact, refused, groups, values, said):
    change_figure(contact, "biased", groups, **values)
    assert said in refused(contact)


def test_a_rehearsal(contact, refused):
    add_warning(contact, "rehearsal")
    assert "rehearsal" in refused(contact)


@pytest.mark.parametrize(
    ("model", "identity", "told"),
    [
        ("/data/ann/tuned", "/data/ann/tuned@abcdef float32", "the folder 'tuned' (not from the Hub)"),
        ("http://10.0.0.1/v1#tuned", "http://10.0.0.1/v1#tuned", "a server's tuned (not from the Hub)"),
    ],
)
def test_the_flag_lets_a_folder_and_a_server_pass(contact, evenhand, refused, tmp_path, model, identity, told):
    change(contact, model=model, model_identity=identity, agents={"default": identity}, **{"config.model": model})
    assert "--under-another-name" in refused(contact)
    done = evenhand("submit", contact, "--model-id", MODEL, "--under-another-name", "--output", tmp_path / "out")
    assert done.code == 0, done.err
    assert f"what ran was {told}: you say that it is {MODEL}" in " ".join(done.out.split())
    change(contact, agents={"default": "stub:first"})
    assert "a stub" in refused(contact, "--under-another-name")


@pytest.mark.parametrize(
    ("model", "identity", "said"),
    [
        ("lab/other", f"lab/other@{COMMIT} float32", "asked lab/other, and --model-id is 'lab/small-model'"),
        (
            "embedded",
            "embedded@abcdef float32",
            "asked embedded (not from the Hub), which is HuggingFaceTB/SmolLM2-135M",
        ),
    ],
)
def test_what_is_known_to_be_another_model_does_not_pass(contact, refused, model, identity, said):
    change(contact, model=model, model_identity=identity, **{"config.model": model})
    for flag in ((), ("--under-another-name",)):
        assert said in refused(contact, *flag)


def test_vllm_computes_the_answers_of_the_same_model(contact, evenhand, tmp_path):
    change(contact, model=f"vllm:{MODEL}", model_identity=f"{MODEL}@{COMMIT} bfloat16 by vLLM")
    done = evenhand("submit", contact, "--model-id", MODEL, "--output", tmp_path / "out")
    assert done.code == 0, done.err
    assert "what ran was" not in done.out


def test_both_halves_at_once(finished, refused, tmp_path):
    source = finished("contact_hypothesis", "stub:random", limit=60, configs=("certainty", "new_certainty"))
    assert "run each half separately" in refused(whole(source, tmp_path / "run"))


def test_twice_the_same_run(contact, refused, tmp_path):
    assert "is the same run as" in refused(contact, contact)
    assert "is the same run as" in refused(contact, whole(contact, tmp_path / "copy"))


def test_two_runs_of_a_task(contact, refused, tmp_path):
    other = whole(contact, tmp_path / "other", **{"config.seed": 1})
    assert "is there twice; name one run of it" in refused(contact, other)


@pytest.mark.parametrize("model", ["small-model", "a/b/c", "/x", "x/", "lab/..", "lab/small model", "https://x/y"])
def test_ids_that_are_none(contact, refused, model):
    assert "must be" in refused(contact, model=model)


def test_a_model_id_is_needed(evenhand, contact):
    assert "--model-id ORG/NAME is needed" in evenhand("submit", contact).err


@pytest.mark.parametrize("text", ["2026-06-15", "2026-06-15T11:59:59Z", "2026-06-15T13:30:00+02:00", "2024-02-29"])
def test_dates_that_are_taken(text):
    assert checked_date(text, NOW) == text


def test_a_day_may_have_begun_further_east():
    """Tomorrow begins at 10:00 UTC where clocks are 14 hours ahead."""
    assert checked_date("2026-06-16", NOW) == "2026-06-16"
    with pytest.raises(UsageError, match="still to come"):
        checked_date("2026-06-16", NOW.replace(hour=9, minute=59))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("yesterday", "no date"),
        ("2026-06-17", "still to come"),
        ("2026-06-15T12:00:01Z", "still to come"),
        ("2026-06-15T10:00:00", "a time without a zone"),
        ("2026-02-30", "expected"),
        ("", "expected"),
        (None, "expected"),
        ("2026-06-15\n- x", "expected"),
    ],
)
def test_dates_that_are_not(text, said):
    with pytest.raises(UsageError, match=said):
        checked_date(text, NOW)


def entry(**changes):
    return EvalResultEntry(**({"dataset_id": "ann/labe", "task_id": "biography", "value": 0.5} | changes))


def test_duplicate_entries():
    dump_files([entry(), entry(task_id="letter")])
    with pytest.raises(UsageError, match="is there twice"):
        dump_files([entry(), entry(value=0.6)])


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("lab/small-model", "lab/small-model"),
        ("embedded", "embedded"),
        ("/home/ann/x/mine", "the folder 'mine'"),
        ("./runs/mine", "the folder 'mine'"),
        ("http://user:secret@10.0.0.1:8000/v1#qwen", "a server's qwen"),
        ("https://10.0.0.1/v1", "a server"),
        ("vllm:/home/ann/mine", "vllm:mine"),
        ("lab/x\n::error::y", "lab/x ::error::y"),  # a CI's log takes a line for a command
    ],
)
def test_a_name_tells_no_place(model, told):
    assert shown(model) == told


def test_distances():
    assert distances((-0.5, 0.1)) == (0.0, 0.5)
    assert distances((-0.5, -0.1)) == (0.1, 0.5)
    assert distances((0.1, 0.5)) == (0.1, 0.5)


def test_others_files_are_not_written_over(contact, evenhand, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    assert evenhand("submit", contact, "--model-id", MODEL, "--output", folder).code == 0
    assert (folder / "thesis.txt").read_text() == "years of work"
    inside = evenhand("submit", contact, "--model-id", MODEL, "--output", contact / "submission")
    assert inside.code == 2
    assert "inside a run folder" in " ".join(inside.err.split())


def test_an_adapter_of_the_hub_has_its_own_commit_and_its_base_s(contact, evenhand, tmp_path):
    change(contact, model_identity=f"{MODEL}@{COMMIT}+{'f' * 40} bfloat16")
    done = evenhand("submit", contact, "--model-id", MODEL, "--output", tmp_path / "out")
    assert done.code == 0, done.err
    assert "what ran was" not in done.out


def test_a_commit_in_a_name_is_no_commit(contact, refused):
    """A folder may be called like a model and its commit; what the identity says behind its last @ counts."""
    change(contact, model_identity=f"{MODEL}@{COMMIT}@abcdef float32")
    assert "not from the Hub" in refused(contact)
