"""What is never published: said by file and reason, before anything is asked of the Hub."""

import io
import pickle
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.contents import Contents, files_of, repository_id
from evenhand.hub.of_dataset import dataset_contents
from evenhand.hub.of_model import model_contents
from evenhand.hub.refusals import reasons, refuse
from evenhand.hub.results_checks import refuse_weak_results
from evenhand.library import DATASETS, METRICS, dataset_names, load_dataset, load_metric, metric_names
from tests.hub.submittable import add_warning, change, whole
from tests.hub.weights import weights

KEY, ASSIGNED = "a token or a key of a service", "what is assigned as a password, a key or a token"
SECRETS = {
    "a token of the Hub": b"token = 'hf_" + b"Ab1" * 12 + b"'",
    "a token of the Hub behind a name": b"TOKEN_hf_" + b"Ab1" * 12,
    "a key of AWS": b"AKIA" + b"ABCDEFGH12345678",
    "a private key": b"-----BEGIN OPENSSH PRIVATE KEY-----",
    "a password in an address": b"https://ann:geheim@example.org/x",
    "a password in an address of a database": b"postgres://ann:geheim@db.example.org/x",
    "an authorization header": b'"Authorization": "Bearer abcdefghijklmnop"',
    "a password of .netrc": b"machine example.org login ann password geheim",
    f"{KEY} (OpenAI)": b"OPENAI=sk-proj-" + b"x1Y" * 12,
    f"{KEY} (GitHub)": b"ghp_" + b"a1B2" * 9,
    f"{KEY} (GitLab)": b"glpat-" + b"a1B2c3D4e5F6g7H8i9J0",
    f"{KEY} (a signed web token)": b"eyJhbGciOiJIUzI1NiJ9" + b".eyJzdWIiOiIxMjM0In0" + b".SflKxwRJSMeKKF2QT4",
    f"{ASSIGNED} (wandb)": b"WANDB_API_KEY=" + b"a1b2c3d4" * 5,
    f"{ASSIGNED} (aws)": b"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX",
    f"{ASSIGNED} (yaml)": b"password: hunter2hunter2",
}


@pytest.mark.parametrize("what", SECRETS)
def test_secrets_are_found_and_not_repeated(what):
    [told] = reasons("notes.md", b"some words\nthen " + SECRETS[what] + b", then others")
    assert told == "holds " + re.sub(r" \(.*| of a database| behind a name", "", what) + " (line 2)"
    assert SECRETS[what].decode() not in told


def parquet_of(text):
    file = io.BytesIO()
    pq.write_table(pa.table({"said": ["word " * 99, text]}), file, compression="zstd")
    return file.getvalue()


HUB = "hf_" + "Ab1" * 12


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.parquet", parquet_of(f"my key is {HUB}")),
        ("model.safetensors", weights(told={"note": HUB})),
        ("a.png", b"\x89PNG\r\n\x1a\n....tEXt" + HUB.encode() + b"IEND\xaeB`\x82"),
        ("tokenizer.json", f'{{"x": "{HUB}"}}'.encode()),
        ("spiece.model", b"\x0a" + HUB.encode()),
    ],
)
def test_secrets_are_found_in_what_is_no_plain_text(path, content):
    [told] = reasons(path, content)
    assert told.startswith("holds a token of the Hub")


def test_a_secret_of_the_environment_is_found_by_its_value(monkeypatch):
    monkeypatch.setenv("MY_SERVER_API_KEY", "correct-horse-battery")
    assert [*reasons("a.txt", b"key: correct-horse-battery")] == [
        "holds the value of the environment variable MY_SERVER_API_KEY"
    ]


@pytest.mark.parametrize(
    "text",
    ['{"model": "/home/ann/models/x"}', "see /Users/ann/x.csv", f"{Path('/') / 'root' / 'runs'}", r"C:\Users\ann\x", "file:///data/x",
     "(/tmp/pytest-of-ann/x)", f"{Path.home() / 'x'}", f"{Path.cwd()}", "/data/ann/llms/base", "/opt/models/x",
     "path:/nfs/ann/x", "--cfg=/srv/x/y", "/var/lib/x/y", r'"D:\\models\\x"', "C:/Users/ann/x"],
)  # fmt: skip
def test_places_of_a_machine_are_found(text):
    [told] = reasons("training.json", text.encode())
    assert told.startswith("names a place of a machine: ")


def test_places_in_the_header_of_weights_are_found():
    [told] = reasons("model.safetensors", weights(told={"path": r"C:\Users\ann\x"}))
    assert told.startswith("names a place of a machine: C:")
    assert [*reasons("model.safetensors", weights(told={"format": "pt"}))] == []


@pytest.mark.parametrize(
    "text",
    ["#!/usr/bin/env python", "https://example.org/home/ann/x", "data/home/x", "and/or", "~/x", "1/2", "the tmp folder",
     "hf_ and sk- and AKIA", "Authorization: Bearer …", "https://example.org/a:b@c", "on 1/2/2026 or 2026/11/23",
     "he/she/they", "a ratio of 5/10 /20", "POST /api/models/x", "`/think` or `/no_think`", "[docs](/docs)", "</b></i>",
     r"r'x:\d+\w+'", r"$f:\mathbb{R}\to$", "password: …", '"eos_token": "<|im_end|>"', "api_key=os.environ['A1']",
     "a task-specific-instruction-tuned model", "the login and password fields", "(e.g. this)"],
)  # fmt: skip
def test_what_only_looks_alike_is_published(text):
    assert [*reasons("README.md", text.encode())] == []


def test_all_files_are_named_at_once():
    contents = Contents(
        "model", "lab/x", {"a.pt": b"", "optimizer.pt": b"", "b.md": b"fine", "c.md": b"/home/ann"}, "title"
    )
    with pytest.raises(
        UsageError,
        match=r"model lab/x is not published: a\.pt is no kind of file .*; c\.md names .*; optimizer\.pt is the state.*"
        r"what only looks so in c\.md is published with --allow c\.md",
    ):
        refuse([contents])


def test_what_only_looks_so_is_published_where_somebody_says_so():
    """Of what is there by its kind, and of this process's own secrets, nobody can say so."""
    contents = Contents("model", "lab/x", {"a.md": b"see\n/home/ann/x", "b.md": b"fine"}, "title")
    [note] = refuse([contents], ["a.md"])
    assert note == (
        "model lab/x: a.md names a place of a machine: /home/ann/x (line 2), and is published all the same (--allow)"
    )
    with pytest.raises(UsageError, match=r"--allow c\.md came; the path of a file in the repository is accepted"):
        refuse([contents], ["c.md"])
    with pytest.raises(UsageError, match=r"a\.pkl is no kind of file"):
        refuse([Contents("model", "lab/x", {"a.pkl": pickle.dumps(1)}, "title")], ["a.pkl"])


def test_everything_that_is_packaged_may_be_published():
    for folder, names, kind in ((DATASETS, dataset_names(), "dataset"), (METRICS, metric_names(), "metric")):
        for name in names:
            assert refuse([Contents(kind, f"lab/{name}", files_of(folder / name), "title")]) == ()


@pytest.mark.parametrize(
    ("namespace", "name"), [("a b", "x"), ("lab", "x/y"), ("", "x"), ("lab", "-x"), ("lab", "x" * 97)]
)
def test_names_that_the_hub_would_not_take(namespace, name):
    with pytest.raises(UsageError, match="can't be a repository's id"):
        repository_id(namespace, name)


# Datasets


@pytest.mark.parametrize("load", [load_dataset, load_metric])
def test_a_name_and_a_revision_say_the_same(load):
    with pytest.raises(UsageError, match="say which revision of it, such as revision='main'"):
        load("lab/labe")
    with pytest.raises(UsageError, match="write NAMESPACE/NAME, or leave the revision out"):
        load("labe", revision="v1.0.0")
    with pytest.raises(UsageError, match="unknown"):
        load("../labe")


def test_rows_that_the_script_does_not_build_are_refused(tmp_path):
    shutil.copytree(DATASETS / "utility", tmp_path / "utility")
    assert dataset_contents("utility", "lab", datasets=tmp_path).tag == "v1.1.0"
    [texts] = (tmp_path / "utility/data/texts").iterdir()
    shutil.copy(next((tmp_path / "utility/data/questions").iterdir()), texts)
    with pytest.raises(UsageError, match=rf"texts/{texts.stem} of data/ .* differ from what loading_script.py builds"):
        dataset_contents("utility", "lab", datasets=tmp_path)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda folder: (folder / "data/extra.csv").write_text("a,b"), r"data/extra\.csv is no file of a dataset"),
        (lambda folder: (folder / "data/controls/x.jsonl").write_text("{}"), r"x\.jsonl is no file of a dataset"),
        (lambda folder: (folder / "notes.txt").write_text(""), r"notes\.txt is no file of a dataset"),
        (lambda folder: (folder / "eval.yaml").write_text("tasks: ["), r"eval\.yaml is not what the benchmark's"),
        (lambda folder: (folder / "eval.yaml").unlink(), r"eval\.yaml is not what the benchmark's tasks are"),
    ],
)  # fmt: skip
def test_a_dataset_holds_what_it_says_and_nothing_else(tmp_path, edit, said):
    folder = tmp_path / "contact_controls"
    shutil.copytree(DATASETS / "contact_controls", folder)
    edit(folder)
    with pytest.raises(UsageError, match=said):
        dataset_contents("contact_controls", "lab", datasets=tmp_path)


@pytest.mark.parametrize("name", ["bbq", "contact_hypotheses", "../metrics"])
def test_datasets_without_packaged_rows_are_refused(name):
    with pytest.raises(UsageError, match=r"accepted|did you mean"):
        dataset_contents(name, "lab")


# Models


def test_what_is_no_finished_checkpoint_is_refused(checkpoint, tmp_path):
    assert model_contents(str(checkpoint), "lab").repo_id == "lab/fair-model"
    with pytest.raises(UsageError, match="is no folder"):
        model_contents(str(tmp_path / "none"), "lab")
    (checkpoint / ".asked.json").write_text("{}")
    with pytest.raises(UsageError, match="cut off"):
        model_contents(str(checkpoint), "lab")
    (checkpoint / ".asked.json").unlink()
    (checkpoint / "model.safetensors").rename(checkpoint / "pytorch_model.bin")
    with pytest.raises(UsageError, match="weights in safetensors"):
        model_contents(str(checkpoint), "lab")


def test_a_card_written_by_hand_stays_and_takes_no_runs(checkpoint, tmp_path):
    assert model_contents(str(checkpoint), "lab").files["README.md"] == (checkpoint / "README.md").read_bytes()
    with pytest.raises(UsageError, match="leave --runs out"):
        model_contents(str(checkpoint), "lab", runs=[tmp_path])
    (checkpoint / "README.md").unlink()
    with pytest.raises(UsageError, match="write its card"):
        model_contents(str(checkpoint), "lab")


# Results


def test_a_sample_of_the_rows_is_a_part_of_them(finished, tmp_path):
    """As labe draws one; the option is put into another benchmark's run, which is there already."""
    folder = whole(finished("contact_hypothesis", "stub:first", limit=60), tmp_path / "run")
    change(folder, **{"config.options.sample": 8})
    with pytest.raises(UsageError, match=r"asked a sample of 8 in place of all rows \(--sample\)"):
        refuse_weak_results(RunFolder(folder))


def test_runs_of_weight_alone_are_published(finished, tmp_path):
    """A rehearsal, a part of the rows and answers that mostly could not be read are refused."""
    folder = tmp_path / "run"
    shutil.copytree(finished("contact_hypothesis", "stub:first", limit=60), folder)
    with pytest.raises(UsageError, match="limited to 60 rows"):
        refuse_weak_results(RunFolder(folder))
    change(folder, **{"config.limit": None, "differs": ["only 60 of 103,014 rows"]})
    with pytest.raises(UsageError, match="asked only 60 of 103,014 rows"):
        refuse_weak_results(RunFolder(folder))
    change(folder, differs=[])
    refuse_weak_results(RunFolder(folder))
    change(folder, n_read=88)
    with pytest.raises(UsageError, match="51 % of the answers could not be read"):
        refuse_weak_results(RunFolder(folder))
    change(folder, n_read=180)
    add_warning(folder, "rehearsal")
    with pytest.raises(UsageError, match="rehearsal"):
        refuse_weak_results(RunFolder(folder))
