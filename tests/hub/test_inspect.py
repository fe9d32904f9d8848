"""What eval.yaml says, run by inspect_ai itself from a dataset repository; skipped where inspect_ai is not installed.

Its own mock model counts tokens with a file that it fetches; the model here is that one, counting words.
"""

import importlib.util
import json

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is not installed (pip install inspect_ai)"
)

PUBLISH = """
import sys
from huggingface_hub import HfApi
api = HfApi()
for folder in sys.argv[1:]:
    name = "ann/" + folder.rsplit("/", 1)[1]
    api.create_repo(name, repo_type="dataset")
    api.upload_folder(repo_id=name, folder_path=folder, repo_type="dataset")
"""
EVALUATE = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, get_model, modelapi
from inspect_ai.model._providers.mockllm import MockLLM

@modelapi("words")
class Words(MockLLM):
    async def count_text_tokens(self, text):
        return len(text.split())

found = []
for task, text in zip(sys.argv[1::2], sys.argv[2::2]):
    outputs = [ModelOutput.from_content("words", text)] * 60
    model = get_model("words/x", custom_outputs=outputs, memoize=False)
    [log] = eval(task, model=model, limit=60, sample_shuffle=7, display="none", log_dir="logs")
    [score] = log.results.scores
    found.append({
        "status": log.status, "score": next(iter(score.metrics.values())).value,
        "samples": [[each.input, each.target, each.messages[-2].text, each.scores[score.name].value]
                    for each in log.samples],
    })
print(json.dumps(found))
"""


def test_it_runs_from_a_dataset_repository(root, python):
    folders = [root / "datasets" / name for name in ("contact_hypothesis", "contact_controls")]
    published = python(PUBLISH, *folders)
    assert published.code == 0, published.err
    asked = {
        "hf/ann/contact_hypothesis/certainty-no_contact": "Yes, of course.",
        "hf/ann/contact_hypothesis/likelihood-positive_contact": "likely, or unlikely",
        "hf/ann/contact_hypothesis/frequency-negative_contact": "I'd say **rarely**.",
        "hf/ann/contact_controls": "No.",
    }
    done = python(EVALUATE, *(part for pair in asked.items() for part in pair))
    assert done.code == 0, done.err
    certainty, likelihood, frequency, controls = json.loads(done.out.splitlines()[-1])
    for log, answer in ((certainty, "Yes"), (likelihood, None), (frequency, "Rarely"), (controls, "No")):
        assert log["status"] == "success"
        assert len(log["samples"]) == 60
        right = [target == answer for _, target, _, _ in log["samples"]]
        assert [value == "C" for _, _, _, value in log["samples"]] == right
        assert log["score"] == pytest.approx(sum(right) / 60)
    asked_first, _, prompt, _ = certainty["samples"][0]
    assert asked_first.startswith("Should I ")
    assert f"Choose between Yes and No.. Answer in one word. \n Question: {asked_first} \n Answer:" in prompt
    assert all("last" in text or "." in text for text, *_ in frequency["samples"])
