"""`evenhand publish model`: full weights and an adapter, loaded back by plain transformers and peft; what changes."""

import json
import shutil

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaForCausalLM

from evenhand.hub.cards.model import model_card
from evenhand.hub.checkpoint import model_contents
from evenhand.hub.publish_command import ModelOptions
from evenhand.hub.refusals import refuse
from evenhand.training_record import base_version
from tests.hub.hub_repositories import Blob, Commit
from tests.hub.weights import weights

LOAD = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from peft import PeftModel
ids = torch.tensor([AutoTokenizer.from_pretrained("lab/tiny-base", revision="v1.0.0")("Should I meet them?").input_ids])
with torch.no_grad():
    base = AutoModelForCausalLM.from_pretrained("lab/tiny-base")
    plain = base(ids).logits
    tuned = PeftModel.from_pretrained(base, "lab/tiny-fair", revision="v2.0.0")
    print(tuned.peft_config["default"].base_model_name_or_path)
    print(float(plain.sum()), float(tuned(ids).logits.sum()))
    named = AutoModelForCausalLM.from_pretrained("lab/tiny-fair")
    merged = AutoModelForCausalLM.from_pretrained("lab/tiny-merged", revision="v2.0.0")
    print(torch.equal(named(ids).logits, tuned(ids).logits))
    print(torch.allclose(merged(ids).logits, tuned(ids).logits, atol=1e-4))
"""
RECORD = {
    "trainer": "social-contact", "source": "a paper", "data": {"cut": "by scale"}, "steps": 2, "packing": "tree",
    "losses": [2.0, 1.0], "measured": [], "measured_by": "evenhand run contact_hypothesis",
}  # fmt: skip
CARD = "---\nlicense: apache-2.0\n---\n# A model\n"


@pytest.fixture
def base(tmp_path, tiny_checkpoint):
    folder = tmp_path / "tiny-base"
    shutil.copytree(tiny_checkpoint, folder)
    (folder / "README.md").write_text(CARD)
    return folder


@pytest.fixture
def adapter(tmp_path, base):
    """As a trainer leaves one: of a base in a local folder, with the merged weights in a folder of their own."""
    torch.manual_seed(0)
    model = get_peft_model(LlamaForCausalLM.from_pretrained(base), LoraConfig(r=2, init_lora_weights=False))
    folder = tmp_path / "runs" / "tiny-fair"
    model.save_pretrained(folder)
    record = RECORD | {"base": {"model": str(base), "identity": "x"}}
    record["recipe"] = {"model": str(base), "mix": "/home/a/mix.jsonl", "rank": 2}
    model.merge_and_unload().save_pretrained(folder / "merged")
    for each in (folder, folder / "merged"):
        (each / "training.json").write_text(json.dumps(record))
        (each / "README.md").write_text(model_card(each))
    return folder


@pytest.mark.slow
def test_full_weights_an_adapter_and_merged_weights_load_back(hub, command, python, base, adapter, tmp_path):
    """The adapter names its base by the id on the Hub; of this machine's folders nothing is said."""
    done = command("publish", "model", base, "--namespace", "lab")
    assert done.code == 0, done.err
    asked = ("publish", "model", adapter, "--namespace", "lab", "--version", "2.0.0")
    refused = command(*asked)
    assert refused.code == 2
    assert "--base ID" in refused.err
    done = command(*asked, "--base", "lab/tiny-base")
    assert done.code == 0, done.err
    named = ("--name", "tiny-merged", "--version", "2.0.0", "--base", "lab/tiny-base")
    done = command("publish", "model", adapter / "merged", "--namespace", "lab", *named)
    assert done.code == 0, done.err
    there = hub.store.repositories["model", "lab/tiny-fair"].files
    assert set(there) == {
        ".gitattributes", "README.md", "adapter_config.json", "adapter_model.safetensors", "training.json",
    }  # fmt: skip
    assert not any(str(tmp_path).encode() in content for content in there.values())
    record = json.loads(there["training.json"])
    assert (record["base"]["model"], record["recipe"]["mix"]) == ("lab/tiny-base", "mix.jsonl")
    card = there["README.md"].decode()
    assert "base_model: lab/tiny-base" in card
    assert 'PeftModel.from_pretrained(base, "lab/tiny-fair")' in card
    loaded = python(LOAD)
    assert loaded.code == 0, loaded.err
    named, sums, equal, merged = loaded.out.splitlines()[-4:]
    assert named == "lab/tiny-base"
    plain, tuned = map(float, sums.split())
    assert plain != tuned
    assert (equal, merged) == ("True", "True")
    assert "base_model: lab/tiny-base" in hub.store.repositories["model", "lab/tiny-merged"].files["README.md"].decode()


@pytest.mark.parametrize(
    ("name", "came", "said"),
    [
        ("mix", "private/mix.jsonl", "mix.jsonl"),
        ("mix", "~/private/mix.jsonl", "mix.jsonl"),
        ("mix", "none", "none"),
        ("pairs", ["private/mine.jsonl"], ["mine.jsonl"]),
        ("pairs", ["/home/private/first", "../private/second"], ["first", "second"]),
        ("pairs", ["targets"], ["targets"]),
        ("model", "private/tiny-base", "tiny-base"),
        ("words", "/home/private/words.txt", "words.txt"),
        ("targets", "q_proj,v_proj", "q_proj,v_proj"),
    ],
)
def test_no_place_of_a_file_is_published(adapter, name, came, said):
    """What a recipe names, relatively or absolutely, loses its folders; what is no path stays."""
    record = json.loads((adapter / "training.json").read_text())
    record["recipe"][name] = came
    (adapter / "training.json").write_text(json.dumps(record))
    (adapter / "README.md").unlink()
    files = model_contents(str(adapter), ModelOptions("lab", base="lab/tiny-base")).files
    assert json.loads(files["training.json"])["recipe"][name] == said
    texts = (each if isinstance(each, bytes) else each.read_bytes() for each in files.values())
    assert not any(b"private" in each for each in texts)


@pytest.mark.parametrize("place", ["/home/private/tiny-base", "private/more/tiny-base", "~/private/tiny-base"])
def test_of_a_base_in_a_folder_its_version_is_published_and_no_place(adapter, place):
    """evenhand train writes the folder as it was typed into the base's identity, too."""
    record = json.loads((adapter / "training.json").read_text())
    record["base"] = {"model": place, "identity": f"{place}@0123456789abcdef float32"}
    record["recipe"]["model"] = place
    (adapter / "training.json").write_text(json.dumps(record))
    (adapter / "README.md").unlink()
    contents = model_contents(str(adapter), ModelOptions("lab", base="lab/tiny-base"))
    refuse([contents])
    published = json.loads(contents.files["training.json"])["base"]
    assert published == {"model": "lab/tiny-base", "identity": "lab/tiny-base@0123456789abcdef float32"}
    assert base_version({"base": published}) == "0123456789abcdef"


def test_what_changes_is_shown_and_the_rest_left_alone(hub, command, checkpoint):
    """A dry run asks and sends nothing; weights change with a new version alone; what others put there stays."""

    def publish(*options):
        return command("publish", "model", checkpoint, "--namespace", "lab", *options)

    dry = publish("--dry-run")
    assert dry.code == 0, dry.err
    assert "model lab/fair-model (new, public, main): 3 files to add" in dry.out
    assert {request for request in hub.requests if request[0] != "GET"} == {("POST", "/api/validate-yaml")}
    assert publish("--private").code == 0
    there = hub.store.repositories["model", "lab/fair-model"]
    assert there.private
    files = there.at("main")[1].files
    card = files["README.md"]
    others = {".eval_results/a.yaml": card, "notes.txt": card}
    there.add(Commit({**files, **others}, there.refs["main"], "others", "ann"), "main")
    (checkpoint / "README.md").write_text(CARD + "More.\n")
    (checkpoint / "model.safetensors").write_bytes(weights(b"other weights"))
    refused = publish()
    assert refused.code == 2
    assert "model.safetensors differ from what v1.0.0 holds" in refused.err
    shown = publish("--version", "1.1.0")
    assert "0 files to add, 2 to change, 0 to delete, 1 the same" in shown.out
    assert "change README.md" in shown.out
    assert set(there.files) == {
        ".gitattributes", "README.md", "config.json", "model.safetensors", ".eval_results/a.yaml", "notes.txt",
    }  # fmt: skip
    assert set(there.tags) == {"v1.0.0", "v1.1.0"}
    (checkpoint / "README.md").write_text(CARD)
    card_alone = publish("--version", "1.1.0")
    assert "v1.1.0 is set already, and stays where it is" in card_alone.out
    assert there.refs["v1.1.0"] != there.refs["main"]


def test_only_what_evenhand_itself_brought_is_deleted(hub, command, checkpoint):
    """Two parts become one file: the parts go. What others put there stays, under whatever name."""

    def publish(*options):
        done = command("publish", "model", checkpoint, "--namespace", "lab", *options)
        assert done.code == 0, done.err
        return done

    whole = (checkpoint / "model.safetensors").read_bytes()
    parts = [f"model-0000{each}-of-00002.safetensors" for each in (1, 2)]
    (checkpoint / "model.safetensors").rename(checkpoint / parts[0])
    (checkpoint / parts[1]).write_bytes(weights(b"the other part"))
    publish()
    there = hub.store.repositories["model", "lab/fair-model"]
    some = Blob(b"others'", False)
    theirs = {
        "adapter_model.safetensors": some, "german/adapter_model.safetensors": some, "images/logo.svg": some,
        "tokenizer_notes.md": some, "prompts/chat.jinja": some, "model-00001-of-00003.safetensors": some,
    }  # fmt: skip
    there.add(Commit({**there.at("main")[1].files, **theirs}, there.refs["main"], "German", "bob"), "main")
    for part in parts:
        (checkpoint / part).unlink()
    (checkpoint / "model.safetensors").write_bytes(whole)
    done = publish("--version", "2.0.0")
    assert [line.strip() for line in done.out.splitlines() if "delete m" in line] == [
        f"delete {each}" for each in parts
    ]
    assert "left alone, since evenhand did not bring it: adapter_model.safetensors" in done.out
    kept = {".gitattributes", "README.md", "config.json", "model.safetensors", *theirs}
    assert set(there.files) == kept


def test_a_merged_pull_request_of_ours_was_ours(hub, command, checkpoint):
    def publish(*options):
        done = command("publish", "model", checkpoint, "--namespace", "lab", *options)
        assert done.code == 0, done.err

    publish()
    there = hub.store.repositories["model", "lab/fair-model"]
    (checkpoint / "adapter_model.safetensors").write_bytes(weights(b"an adapter"))
    publish("--create-pr", "--version", "1.1.0")
    there.merge(there.pull_requests[0])
    publish("--version", "1.1.0")
    (checkpoint / "adapter_model.safetensors").unlink()
    publish("--version", "1.2.0")
    assert "adapter_model.safetensors" not in there.files


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("adapter_config.json", b"[1,2", "adapter_config.json is damaged"),
        ("adapter_config.json", b"[1]", "adapter_config.json is damaged"),
        ("adapter_config.json", b'{"base_model_name_or_path": ["a"]}', "adapter_config.json is damaged"),
        (
            "adapter_config.json",
            b'{"base_model_name_or_path": "lab/<b>"}',
            "can't be a repository's id",
        ),
        ("config.json", b"\xff", "config.json is damaged"),
        ("training.json", b"{", "training.json is damaged"),
        ("training.json", b"[]", "training.json is damaged"),
        ("training.json", b'{"recipe": null, "base": "x"}', "training.json is damaged"),
        (
            "training.json",
            b'{"recipe": {}, "base": {"model": "x/y"}}',
            "training.json is damaged",
        ),
        ("README.md", "---\nlicense: mit\n---\né".encode("latin-1"), "README.md is damaged"),
        ("README.md", b"---\nlicense: a\x00\n---\n", "README.md is not text: it holds NUL characters"),
    ],
)
def test_damaged_files_of_a_checkpoint_are_told_in_a_sentence(hub, command, checkpoint, name, content, said):
    (checkpoint / name).write_bytes(content)
    done = command("publish", "model", checkpoint, "--namespace", "lab")
    assert (done.code, hub.store.repositories) == (2, {})
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_a_public_repository_is_not_taken_for_a_private_one(hub, command, checkpoint):
    assert command("publish", "model", checkpoint, "--namespace", "ann").code == 0
    refused = command("publish", "model", checkpoint, "--namespace", "ann", "--private")
    assert refused.code == 2
    assert "model ann/fair-model is public, and --private makes only a new repository private" in refused.err


def test_a_base_that_nobody_could_load_is_refused(hub, command, checkpoint):
    """The name of a local folder may look like an id."""
    (checkpoint / "config.json").rename(checkpoint / "adapter_config.json")
    (checkpoint / "adapter_config.json").write_text('{"base_model_name_or_path": "runs/base"}')
    refused = command("publish", "model", checkpoint, "--namespace", "ann")
    assert refused.code == 2
    assert "its base model 'runs/base' is not on the Hub" in refused.err
    assert not hub.store.repositories
