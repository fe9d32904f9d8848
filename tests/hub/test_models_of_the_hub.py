"""What stands for a model of the Hub in stores, results and records is its commit."""

import pytest
from safetensors.numpy import load_file, save_file

MODEL = "lab/tiny"
OF_REVISIONS = """
import sys
from evenhand.models.loading import Checkpoint
from transformers import AutoModelForCausalLM
for revision in sys.argv[1:]:
    checkpoint = Checkpoint("lab/tiny", revision=revision.strip("-") or None, dtype="float32")
    print(checkpoint.identity, checkpoint.weights(AutoModelForCausalLM).lm_head.weight[0, 0].item() == 7)
"""
MOVED_MEANWHILE = """
from huggingface_hub import HfApi
checkpoint = Checkpoint("lab/tiny", dtype="float32")
print(checkpoint.identity)
HfApi().upload_file(path_or_fileobj=b'{"model_type": "gpt2"}', path_in_repo="config.json", repo_id="lab/tiny")
print(checkpoint.weights(AutoModelForCausalLM).lm_head.weight[0, 0].item() == 7)
"""


@pytest.fixture
def commits(hub, tiny_checkpoint, tmp_path):
    """Of a model and of its next revision, whose first weight of the head is 7."""
    first = hub.store.put("model", MODEL, tiny_checkpoint)
    changed = tmp_path / "changed"
    changed.mkdir()
    weights = dict(load_file(tiny_checkpoint / "model.safetensors"))
    head = "lm_head.weight" if "lm_head.weight" in weights else "model.embed_tokens.weight"  # tied ones are kept once
    weights[head] = weights[head].copy()
    weights[head][0, 0] = 7
    save_file(weights, changed / "model.safetensors", metadata={"format": "pt"})
    return first, hub.store.put("model", MODEL, changed)


def test_two_commits_are_two_identities(hub, commits, python):
    """By whatever revision they are named; also where the branch moves between the configuration and the weights."""
    first, second = commits
    done = python(OF_REVISIONS + MOVED_MEANWHILE, first, "-", "main")
    of_second = f"{MODEL}@{second} float32"
    assert done.out.splitlines() == [
        f"{MODEL}@{first} float32 False", f"{of_second} True", f"{of_second} True", of_second, "True",
    ], done.err  # fmt: skip
    assert hub.store.repositories["model", MODEL].refs["main"] not in commits

    asked = len(hub.requests)
    offline = python(OF_REVISIONS, "-", HF_HUB_OFFLINE="1")  # the commit that was seen last
    assert offline.out.splitlines() == [f"{of_second} True"], offline.err
    assert len(hub.requests) == asked
