"""vLLM's engine beside this process, with the embedded model on the CPU, and a tiny one that sees: `make test-vllm`."""

import importlib.util
import json
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import psutil
import pytest

from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate, prepare
from evenhand.models.errors import ModelError
from evenhand.models.protocol import replies
from evenhand.models.registry import load_model
from evenhand.models.request import Message, Request, Sampling
from tests.benchmarks.mllm_stereotypes.placeholders import PLACEHOLDERS
from tests.models import tiny_vision

needs_vllm = [
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed here (make test-vllm)"),
    pytest.mark.timeout(1800),
]
SMALL = {"enforce_eager": "true", "max_model_len": "2048"}
ROWS, KILLED = 4, 20  # of contact_hypothesis: three requests each
WIDE = {"hidden_size": 64, "num_attention_heads": 2}  # vLLM's attention on the CPU takes no head of less than 32


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed here")
def test_without_vllm_it_says_how_to_install_it():
    with pytest.raises(ModelError, match=r"pip install 'evenhand\[vllm\]'"):
        load_model("vllm:embedded")


@pytest.fixture(scope="module", autouse=True)
def little_memory():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        yield


@pytest.fixture(scope="module")
def here():
    with closing(load_model("embedded", dtype="float32")) as model:
        yield model


@pytest.fixture(scope="module")
def engine():
    with closing(load_model("vllm:embedded", dtype="float32", options=SMALL)) as model:
        yield model


@pytest.fixture(scope="module")
def questions(here):
    """contact_hypothesis' own, and options that begin alike or end in one another."""
    run = prepare(run_config("contact_hypothesis", "embedded", limit=ROWS, dtype="float32"), here)
    asked = [request for row in run.rows.rows for request in run.benchmark.ask(row, run.config.asking())]
    odd = ("Yes", "Yes, always", "I don't know.", "ümläut 你好", "No")
    return [*asked, Request((Message("system", "Be brief."), Message("user", "Is it?")), odd, name="odd")]


def alike(ones, others):
    """To 1e-3 nats a token, and the same choice of each."""
    for one, other in zip(ones, others, strict=True):
        assert [*map(len, one.choice_log_probs)] == [*map(len, other.choice_log_probs)]
        for mine, theirs in zip(one.choice_log_probs, other.choice_log_probs):
            np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-3)
        means = [[np.mean(each) for each in reply.choice_log_probs] for reply in (one, other)]
        assert np.argmax(means[0]) == np.argmax(means[1])


class TestOnTheCpu:
    pytestmark = needs_vllm

    def test_log_probabilities_are_transformers_own(self, here, engine, questions):
        alike(replies(here, questions), replies(engine, questions))

    def test_texts_schemas_and_what_it_refuses(self, here, engine):
        """Greedy texts are the checkpoint's own; a schema is kept to; a seed decides what is drawn."""
        ask = (Message("user", "Name three colours."),)
        schema = json.dumps({"type": "object", "properties": {"is": {"enum": ["so", "not so"]}}, "required": ["is"]})
        greedy, drawn = Sampling(0.0, max_new_tokens=12), Sampling(1.0, max_new_tokens=12)
        asked = [
            Request(ask, sampling=greedy, name="plain"),
            Request(ask, sampling=Sampling(0.0, max_new_tokens=40, stop=("\n",)), name="stop"),
            Request(ask, sampling=Sampling(0.0, max_new_tokens=40), schema=schema, name="schema"),
            Request((Message("user", "Why? " * 3000),), name="long"),
            Request(ask, sampling=greedy, schema='{"type": 5}', name="no schema"),
            *(Request(ask, sampling=drawn, seed=seed) for seed in (1, 1, 2)),
        ]
        plain, stopped, kept, long, refused, *seeded = replies(engine, asked)
        assert [plain, stopped] == replies(here, asked[:2])
        assert json.loads(kept.text)["is"] in ("so", "not so")
        assert long.finish_reason == "context_exceeded"
        assert refused.finish_reason == "not_understood"
        assert seeded[0] == seeded[1] != seeded[2]

    @pytest.mark.parametrize(
        ("benchmark", "settings"),
        [
            ("contact_hypothesis", {"limit": ROWS}),
            ("labe", {"sample": 8, "max_new_tokens": 16, "options": {"classifiers": ("lexicon",)}}),
            ("implicit_bias", {"limit": 1, "protocol": "rank", "runs": 1, "options": {"setting": "none"}}),
        ],
    )
    def test_benchmarks_run_end_to_end(self, engine, tmp_path, benchmark, settings):
        options = settings.pop("options", {}) | {key: settings.pop(key) for key in ("sample",) if key in settings}
        folder = evaluate(run_config(benchmark, "vllm:embedded", **settings, **options), tmp_path / "run", engine)
        results = folder.read_results()
        assert results.n_read >= 0.8 * results.n > 0  # some texts of 16 tokens have no word of the lexicon

    def test_an_adapter_is_put_on_its_base(self, tmp_path, here, questions):
        from peft import LoraConfig, get_peft_model
        from torch import nn

        from evenhand.models.embedded import embedded_checkpoint

        tuned = get_peft_model(here._load(), LoraConfig(r=4, target_modules=["q_proj", "down_proj"]))
        for name, weights in tuned.named_parameters():
            if "lora_B" in name:
                nn.init.normal_(weights, std=0.05)
        tuned.peft_config["default"].base_model_name_or_path = str(embedded_checkpoint())
        tuned.save_pretrained(tmp_path / "adapter")
        with closing(load_model(str(tmp_path / "adapter"), dtype="float32")) as one:
            expected = replies(one, questions)
        assert expected[0] != replies(here, questions[:1])[0]
        with closing(load_model(f"vllm:{tmp_path / 'adapter'}", dtype="float32", options=SMALL)) as other:
            alike(expected, replies(other, questions))

    def test_pictures_are_seen(self, tmp_path):
        """What is written of them is what transformers writes, and choices are as likely.

        vLLM reads few models that see without torchvision, which doesn't come for this torch: Idefics3 is one.
        """
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tiny_vision, "TEXT", tiny_vision.TEXT | WIDE | {"num_key_value_heads": 1})
            patch.setattr(tiny_vision, "VISION", tiny_vision.VISION | WIDE)
            checkpoint = str(tiny_vision.build("idefics3", tmp_path / "tiny"))
        settings = {"configs": ("occupation_gender", "persona_race"), **PLACEHOLDERS, "limit": 6, "max_new_tokens": 6}
        seeing = load_model(checkpoint, dtype="float32", pictures=True)
        eager = {"enforce_eager": "true"}
        with (
            closing(seeing),
            closing(load_model(f"vllm:{checkpoint}", dtype="float32", pictures=True, options=eager)) as engine,
        ):
            config = run_config("mllm_stereotypes", checkpoint, temperature=0.0, **settings)
            one, other = (
                list(evaluate(config, tmp_path / name, model).read_predictions()["text"])
                for name, model in (("one", seeing), ("other", engine))
            )
            assert one == other
            assert len(set(one)) > 1
            run = prepare(config, seeing)
            asked = [request for row in run.rows.rows for request in run.benchmark.ask(row, run.config.asking())]
            scored = [replace(each, choices=("left", "right", "the left one")) for each in asked]
            alike(replies(seeing, scored), replies(engine, scored))

    def test_a_killed_run_goes_on_and_asks_nothing_twice(self, tmp_path, engine):
        """And leaves no process behind."""
        command = [sys.executable, "-m", "evenhand.cli", "run", "contact_hypothesis", "--model", "vllm:embedded"]
        command += ["--dtype", "float32", "--limit", str(KILLED), "--output", str(tmp_path / "killed")]
        command += [text for pair in SMALL.items() for text in ("--model-option", "=".join(pair))]
        store = tmp_path / "killed" / "store.sqlite"
        running = psutil.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while running.poll() is None and not (store.exists() and n_stored(store)):
            time.sleep(0.05)
        assert running.poll() is None, "it ended before it could be killed"
        others = running.children(recursive=True)
        running.kill()
        running.wait()
        assert len(others) > 1
        assert not psutil.wait_procs(others, timeout=120)[1]
        before = n_stored(store)
        assert 0 < before < 3 * KILLED
        options = {"dtype": "float32", "limit": KILLED, "model_options": tuple(SMALL.items())}
        config = run_config("contact_hypothesis", "vllm:embedded", **options)
        again, whole = (evaluate(config, tmp_path / name, engine) for name in ("killed", "whole"))
        one, other = (each.read_predictions() for each in (again, whole))
        assert list(one["probability"]) == pytest.approx(list(other["probability"]), abs=1e-3)
        assert n_stored(store) == n_stored(whole.store)


def n_stored(path):
    import sqlite3

    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as opened:
        try:
            return opened.execute("select count(*) from replies").fetchone()[0]
        except sqlite3.OperationalError:  # not yet made
            return 0
