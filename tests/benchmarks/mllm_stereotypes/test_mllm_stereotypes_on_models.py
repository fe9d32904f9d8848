"""mllm_stereotypes on tiny vision-language models of several families, built in code, as --model takes them."""

import numpy as np
import pytest
import torch

from evenhand.benchmarks.mllm_stereotypes.pictures import encode
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.loading import Checkpoint
from evenhand.models.protocol import replies
from evenhand.models.request import Image, Message, Request
from evenhand.models.vision_model import VisionModel
from tests.benchmarks.mllm_stereotypes.placeholders import PLACEHOLDERS, undecoded
from tests.models import tiny_vision

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=tiny_vision.ARCHITECTURES)
def checkpoint(request, tmp_path_factory):
    if request.param == "smolvlm":
        pytest.importorskip("num2words", reason="SmolVLM's processor needs it; the extra `vision` brings it")
    return tiny_vision.build(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run("mllm_stereotypes", checkpoint, …) → a new run's folder, without a report."""
    monkeypatch.setattr("evenhand.flow.evaluation.write_report", lambda folder, found: None)

    def call(benchmark, checkpoint, output="run", **options):
        config = run_config(benchmark, str(checkpoint), dtype="float32", **options)
        return evaluate(config, tmp_path / output)

    return call


def loaded(checkpoint):
    """Its weights are read when the first question comes."""
    return VisionModel.from_checkpoint(Checkpoint(str(checkpoint), dtype="float32"))


def asking(row, **more):
    return Request((Message("user", (Image(encode(row["image"])), row["prompt"])),), **more)


def test_the_whole_benchmark_runs_and_runs_again_to_the_byte(checkpoint, run):
    """Faces and drawings through processor, model, readers and metric."""
    options = {"configs": ("occupation_gender", "persona_race"), **PLACEHOLDERS, "limit": 12, "max_new_tokens": 6}
    folder = run("mllm_stereotypes", checkpoint, **options)
    results, predictions = folder.read_results(), folder.read_predictions()
    assert results.n in (11, 12)  # pairs are drawn whole
    assert (
        set(predictions["config"])
        == {*results.figures.values("association_score", "config")}
        == {"occupation_gender", "persona_race"}
    )
    assert predictions["text"].nunique() > 1  # what is shown and asked decides what is written
    assert results.option("box_scale") == loaded(checkpoint).box_scale
    again = run("mllm_stereotypes", checkpoint, "again", **options)
    assert again.predictions_file.read_bytes() == folder.predictions_file.read_bytes()


def test_the_two_orders_of_a_pair_are_two_pictures(checkpoint):
    """Told apart, and each by itself as together but for the last bits: other batches are another arithmetic."""
    model = loaded(checkpoint)
    drawn, swapped = undecoded("gender").select(range(2))
    assert drawn["pair"] == swapped["pair"]
    asked = [asking(row, choices=("left", "right")) for row in (drawn, swapped)]
    one, other = together = [np.concatenate(reply.choice_log_probs) for reply in replies(model, asked)]
    assert np.abs(one - other).max() > 1e-3
    for request, expected in zip(asked, together):
        [alone] = replies(model, [request])
        np.testing.assert_allclose(np.concatenate(alone.choice_log_probs), expected, rtol=0, atol=1e-4)


def test_text_alone_is_asked_of_it_too(checkpoint, run):
    assert len(run("contact_hypothesis", checkpoint, configs=("certainty",), limit=2).read_predictions()) == 6


@pytest.fixture(scope="module")
def left_sided(tmp_path_factory):
    """A LLaVA that was taught one answer, whoever is shown."""
    folder = tiny_vision.build("llava", tmp_path_factory.mktemp("left"))
    model = loaded(folder)
    requests = [asking(row) for row in undecoded("gender").shuffle(seed=0).select(range(12))]
    answer = model.tokenizer("left", add_special_tokens=False)["input_ids"] + [model.tokenizer.eos_token_id]
    rows = [model.rows(request)[0] for request in requests]
    inputs = model.inputs(
        [row.prompt for row in rows], [[model.picture(image) for image in row.request.images] for row in rows]
    )
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


def test_a_left_sided_model_scores_0_and_is_exposed(left_sided, run):
    folder = run(
        "mllm_stereotypes", left_sided, configs=("occupation_gender",), **PLACEHOLDERS, limit=120, max_new_tokens=6
    )
    results = folder.read_results()
    assert set(folder.read_predictions()["text"]) == {"left"}
    assert (results.n, results.unread_rate) == (120, 0)
    rows = (
        results.figures.row(key, config="occupation_gender") for key in ("association_score", "position_sensitivity")
    )
    assert [row.value for row in rows] == [0, 50]
