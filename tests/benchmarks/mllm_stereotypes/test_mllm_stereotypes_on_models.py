"""mllm_stereotypes on tiny vision-language models of several families, built in code, as --model takes them."""

import json

import pandas as pd
import pytest
import torch
from tests.benchmarks.mllm_stereotypes.test_mllm_stereotypes import undecoded

from evenhand.benchmarks.mllm_stereotypes.pictures import encoded
from evenhand.models.request import Image, Message, Request
from evenhand.models.vision_model import VisionModel
from tests.models import tiny_vision

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=tiny_vision.ARCHITECTURES)
def checkpoint(request, tmp_path_factory):
    if request.param == "smolvlm":
        pytest.importorskip("num2words", reason="SmolVLM's processor needs it; the extra `vision` brings it")
    return tiny_vision.build(request.param, tmp_path_factory.mktemp(request.param))


def run(evenhand, folder, model, *options):
    arguments = ("run", "mllm_stereotypes", "--model", model, "--dtype", "float32", "--output", folder, *options)
    done = evenhand(*arguments)
    assert done.code == 0, done.err
    return json.loads((folder / "results.json").read_text()), pd.read_parquet(folder / "predictions.parquet")


def test_the_whole_benchmark_runs_and_runs_again_to_the_byte(checkpoint, evenhand, tmp_path):
    """Faces and drawings through processor, model, readers, metric and report; the second run is another batching."""
    options = ("--config", "occupation_gender", "persona_race", "--faces", "rehearsal", "--pairs", "1")
    options += ("--limit", "24", "--max-new-tokens", "6")
    results, predictions = run(evenhand, tmp_path / "a", checkpoint, *options)
    assert results["n"] in (23, 24)  # pairs are drawn whole
    assert set(predictions["config"]) == set(results["metrics"]["configs"])
    assert set(predictions["config"]) == {"occupation_gender", "persona_race"}
    assert predictions["text"].nunique() > 1  # what is shown and asked decides what is written
    declared = VisionModel.from_pretrained(str(checkpoint), dtype="float32").box_scale
    assert results["config"]["box_scale"] == declared
    _, again = run(evenhand, tmp_path / "b", checkpoint, *options, "--batch-size", "5")
    assert again["text"].tolist() == predictions["text"].tolist()


def test_the_two_orders_of_a_pair_are_two_pictures(checkpoint):
    model = VisionModel.from_pretrained(str(checkpoint), dtype="float32")
    drawn, swapped = undecoded("occupation_gender").select(range(2))
    assert drawn["pair"] == swapped["pair"]
    asked = [
        Request((Message("user", (Image(encoded(row["image"])), row["prompt"])),), choices=("left", "right"))
        for row in (drawn, swapped)
    ]
    one, other = model.choose(asked)
    assert one.choice_log_probs != other.choice_log_probs


def test_text_alone_is_asked_of_it_too(checkpoint, evenhand, tmp_path):
    options = ("--limit", "2", "--dtype", "float32", "--output", tmp_path / "run")
    done = evenhand("run", "contact_hypothesis", "--model", checkpoint, *options)
    assert done.code == 0, done.err
    assert len(pd.read_parquet(tmp_path / "run" / "predictions.parquet")) == 6


@pytest.fixture(scope="module")
def left_sided(tmp_path_factory):
    """A LLaVA that was taught one answer, whoever is shown."""
    folder = tiny_vision.build("llava", tmp_path_factory.mktemp("left"))
    model = VisionModel.from_pretrained(str(folder), dtype="float32")
    rows = undecoded("occupation_gender").shuffle(seed=0).select(range(12))
    requests = [Request((Message("user", (Image(encoded(row["image"])), row["prompt"])),)) for row in rows]
    prompts = [model._prompt(request) for request in requests]
    answer = model.tokenizer("left", add_special_tokens=False)["input_ids"] + [model.tokenizer.eos_token_id]
    inputs = model._inputs(requests, prompts, [len(answer)] * len(requests))
    answers = torch.tensor([answer] * len(requests))
    inputs["input_ids"] = torch.cat([inputs["input_ids"], answers], dim=1)
    inputs["attention_mask"] = torch.cat([inputs["attention_mask"], torch.ones_like(answers)], dim=1)
    labels = torch.full_like(inputs["input_ids"], -100)
    labels[:, -len(answer) :] = answers
    optimizer = torch.optim.AdamW(model.model.parameters(), lr=3e-3)
    for _ in range(60):
        loss = model.model(**inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
    model.model.save_pretrained(folder)
    return folder


def test_a_left_sided_model_scores_0_and_is_exposed(left_sided, evenhand, tmp_path):
    options = ("--config", "occupation_gender", "--faces", "rehearsal", "--pairs", "1", "--max-new-tokens", "6")
    results, predictions = run(evenhand, tmp_path / "run", left_sided, *options)
    metrics = results["metrics"]
    assert set(predictions["text"]) == {"left"}
    assert metrics["n"] == 16 * 10 * 2
    assert metrics["unread_rate"] == 0
    assert metrics["association_score"] == 0
    assert metrics["position_sensitivity"] == 0.5
