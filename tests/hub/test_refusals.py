"""What is never published: said by file and reason, before anything is asked of the Hub."""

import pickle
import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

from evenhand.errors import UsageError
from evenhand.flow.run_folder import RunFolder
from evenhand.hub.checkpoint import model_contents
from evenhand.hub.contents import Contents, files_of, repository_id
from evenhand.hub.packaged import dataset_contents
from evenhand.hub.publish_command import ModelOptions
from evenhand.hub.refusals import find_findings, find_problem, refuse
from evenhand.hub.results_checks import refuse_weak_results
from evenhand.library import DATASETS, METRICS, dataset_names, load_dataset, load_metric, metric_names
from tests.hub.submittable import add_warning, change, whole
from tests.hub.weights import weights

KEY, ASSIGNED = "a token or a key of a service", "a value assigned to a password, key or token"
SECRETS = {
    "a token of the Hub": "token = 'hf_" + "Ab1" * 12 + "'",
    "a key of AWS": "AKIA" + "ABCDEFGH12345678",
    "a private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
    "a password in a URL": "https://ann:geheim@example.org/x",
    "a password in a URL (database)": "postgres://ann:geheim@db.example.org/x",
    f"{KEY} (OpenAI)": "OPENAI=sk-proj-" + "x1Y" * 12,
    f"{KEY} (GitHub)": "ghp_" + "a1B2" * 9,
    f"{KEY} (GitLab)": "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    f"{ASSIGNED} (wandb)": "WANDB_API_KEY=" + "a1b2c3d4" * 5,
    f"{ASSIGNED} (aws)": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX",
    f"{ASSIGNED} (yaml)": "password: hunter2hunter2",
}


@pytest.mark.parametrize("what", SECRETS)
def test_secrets_are_found_and_not_repeated(what):
    [found] = find_findings("notes.md", f"some words\nthen {SECRETS[what]}, then others".encode())
    assert found == "holds " + what.partition(" (")[0] + " (line 2)"
    assert SECRETS[what] not in found


def test_a_secret_of_the_environment_is_found_by_its_value(monkeypatch):
    monkeypatch.setenv("MY_SERVER_API_KEY", "correct-horse-battery")
    assert find_problem("a.txt", b"key: correct-horse-battery") == (
        "holds the value of the environment variable MY_SERVER_API_KEY"
    )


@pytest.mark.parametrize(
    "text",
    ['{"model": "/home/ann/models/x"}', "see /Users/ann/x.csv", f"{Path('/') / 'root' / 'runs'}", r"C:\Users\ann\x",
     "(/tmp/pytest-of-ann/x)", f"{Path.home() / 'x'}", f"{Path.cwd()}", "/data/ann/llms/base", "/opt/models/x",
     "path:/nfs/ann/x", "--cfg=/srv/x/y", "/var/lib/x/y", "C:/Users/ann/x"],
)  # fmt: skip
def test_paths_of_a_machine_are_found(text):
    [found] = find_findings("training.json", text.encode())
    assert found.startswith("names ")


@pytest.mark.parametrize(
    "text",
    ["#!/usr/bin/env python", "https://example.org/home/ann/x", "data/home/x", "and/or", "~/x", "1/2", "the tmp folder",
     "hf_ and sk- and AKIA", "https://example.org/a:b@c", "on 1/2/2026 or 2026/11/23", "he/she/they",
     "a ratio of 5/10 /20", "POST /api/models/x", "`/think` or `/no_think`", "[docs](/docs)", "</b></i>",
     "password: …", '"eos_token": "<|im_end|>"', "api_key=os.environ['A1']",
     "a task-specific-instruction-tuned model", "the login and password fields"],
)  # fmt: skip
def test_similar_texts_are_published(text):
    assert find_problem("README.md", text.encode()) is None
    assert [*find_findings("README.md", text.encode())] == []


KIND, NAME = "is not a kind of file", "is, by its name, a file of secrets or the state of a training"
REFUSED = {
    "training_args.bin": (b"", KIND),
    "optimizer.pt": (b"", KIND),
    "Optimizer.safetensors": (b"", KIND),
    "rng_state_0.pth": (b"", KIND),
    "trainer_state.json": (b"{}", NAME),
    "zero_pp_rank_0_mp_rank_00_optim_states.safetensors": (b"", KIND),
    "adam_state.safetensors": (weights(b"1"), KIND),
    "model.safetensors": (pickle.dumps(1), "is not a whole safetensors file"),
    "model-1.safetensors": (weights(b"12345678")[:-1], "is not a whole safetensors file"),
    "harmless.txt": (pickle.dumps(1), "is not text"),
    "notes.rst": ("password".encode("utf-16"), "is not text"),
    **dict.fromkeys(
        ("pytorch_model.bin", "weights.pkl", "WEIGHTS.PKL", "a.npy", "a.h5", "a.onnx", "a.so", "notes.tar", "a.db",
         "a.exe", "run.sh", ".env", "server.pem", "id_ed25519_old"),
        (b"A=1", KIND),
    ),
    "token.txt": (b"A=1", NAME),
}  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
def test_other_kinds_of_files_are_refused(path):
    content, said = REFUSED[path]
    assert find_problem(path, content).startswith(said)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.png", b"\x89PNG"), ("LICENSE", b"MIT"), ("tokenizer.json", "{\"é\": 1}".encode()), ("a.py", b"\tx\r\n"),
        ("spiece.model", b"\n\x0e"), ("b.txt", b""), ("adapter_model.safetensors", weights(b"1")),
        ("chat_template.jinja", b"{{ x }}"), ("data/test.parquet", b"PAR1"),
    ],
)  # fmt: skip
def test_the_usual_kinds_are_published(path, content):
    assert find_problem(path, content) is None
    assert [*find_findings(path, content)] == []


def test_all_files_are_named_at_once():
    contents = Contents(
        "model", "lab/x", {"a.pt": b"", "optimizer.pt": b"", "b.md": b"fine", "c.md": b"/home/ann"}, "title"
    )
    with pytest.raises(
        UsageError,
        match=r"model lab/x is not published: a\.pt is not a kind of .*; c\.md names .*; optimizer\.pt is not a kind.*"
        r"If c\.md only seems to hold that, add --allow c\.md",
    ):
        refuse([contents])


@pytest.mark.parametrize("secret", ["hf_" + "Ab1" * 12, "ghp_" + "a1B2" * 9, "correct-horse-battery"])
def test_a_secret_in_a_files_name_is_refused_and_not_repeated(monkeypatch, secret):
    monkeypatch.setenv("MY_SERVER_API_KEY", "correct-horse-battery")
    with pytest.raises(UsageError, match="in its name") as caught:
        refuse([Contents("model", "lab/x", {f"notes-{secret}.md": b"fine"}, "title")], [f"notes-{secret}.md"])
    assert secret not in str(caught.value)


def test_a_line_break_in_a_files_name_is_refused():
    """A CI's log would take what follows for a command."""
    assert find_problem("a\n::error::b.md", b"fine").startswith("has a name with line breaks")


def test_links_are_followed_into_the_hubs_cache_alone(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    blobs = tmp_path / "hub" / "models--lab--x" / "blobs"
    blobs.mkdir(parents=True)
    (checkpoint / "model.safetensors").rename(blobs / "0123")
    (checkpoint / "model.safetensors").symlink_to(blobs / "0123")
    (checkpoint / "LICENSE").symlink_to("README.md")
    assert {"model.safetensors", "LICENSE"} <= {*model_contents(str(checkpoint), ModelOptions("lab")).files}
    for place in ("private.txt", "models--lab--x/blobs/private.txt", "hub/models--lab--x/private.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("mine")
        (checkpoint / "notes.txt").symlink_to(tmp_path / place)
        with pytest.raises(UsageError, match=r"notes\.txt is a link to a file outside"):
            model_contents(str(checkpoint), ModelOptions("lab"))
        (checkpoint / "notes.txt").unlink()


def test_a_snapshot_of_the_cache_may_be_published_wherever_it_is(checkpoint, tmp_path):
    snapshot, blobs = (tmp_path / "cache" / "models--lab--x" / name for name in ("snapshots/0123", "blobs"))
    blobs.mkdir(parents=True)
    snapshot.parent.mkdir()
    checkpoint.rename(snapshot)
    (snapshot / "model.safetensors").rename(blobs / "4567")
    (snapshot / "model.safetensors").symlink_to(blobs / "4567")
    assert "model.safetensors" in files_of(snapshot)


def test_what_only_looks_so_is_published_where_somebody_says_so():
    """Of what is there by its kind, and of this process's own secrets, nobody can say so."""
    contents = Contents("model", "lab/x", {"a.md": b"see\n/home/ann/x", "b.md": b"fine"}, "title")
    [note] = refuse([contents], ["a.md"])
    assert note == ("model lab/x: a.md names a path of a machine: /home/ann/x (line 2); published because of --allow")
    with pytest.raises(UsageError, match=r"--allow c\.md: no such file"):
        refuse([contents], ["c.md"])
    with pytest.raises(UsageError, match=r"a\.pkl is not a kind of file"):
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
    with pytest.raises(UsageError, match=f"texts/{texts.stem} differ from what loading_script.py builds"):
        dataset_contents("utility", "lab", datasets=tmp_path)


def test_only_files_of_a_dataset_are_published(tmp_path):
    folder = tmp_path / "contact_controls"
    shutil.copytree(DATASETS / "contact_controls", folder)
    before = dataset_contents("contact_controls", "lab", datasets=tmp_path).files
    for path in ("data/extra.csv", "data/controls/x.jsonl", "notes.txt"):
        (folder / path).write_text("a,b")
    assert dataset_contents("contact_controls", "lab", datasets=tmp_path).files == before
    assert {"README.md", "loading_script.py", "eval.yaml", "data/controls/test.parquet"} <= {*before}


@pytest.mark.parametrize("name", ["bbq", "contact_hypotheses", "../metrics"])
def test_datasets_without_packaged_rows_are_refused(name):
    with pytest.raises(UsageError, match=r"accepted|did you mean"):
        dataset_contents(name, "lab")


# Models


def test_what_is_no_finished_checkpoint_is_refused(checkpoint, tmp_path):
    assert model_contents(str(checkpoint), ModelOptions("lab")).repo_id == "lab/fair-model"
    with pytest.raises(UsageError, match="is no folder"):
        model_contents(str(tmp_path / "none"), ModelOptions("lab"))
    (checkpoint / ".asked.json").write_text("{}")
    with pytest.raises(UsageError, match="unfinished"):
        model_contents(str(checkpoint), ModelOptions("lab"))
    (checkpoint / ".asked.json").unlink()
    (checkpoint / "model.safetensors").rename(checkpoint / "pytorch_model.bin")
    with pytest.raises(UsageError, match="weights in safetensors"):
        model_contents(str(checkpoint), ModelOptions("lab"))


def test_a_card_written_by_hand_stays_and_takes_no_runs(checkpoint, tmp_path):
    assert (
        model_contents(str(checkpoint), ModelOptions("lab")).files["README.md"]
        == (checkpoint / "README.md").read_bytes()
    )
    with pytest.raises(UsageError, match="remove --runs"):
        model_contents(str(checkpoint), ModelOptions("lab", runs=[tmp_path]))
    (checkpoint / "README.md").unlink()
    with pytest.raises(UsageError, match="write its card"):
        model_contents(str(checkpoint), ModelOptions("lab"))


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
