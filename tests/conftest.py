"""The command line, called in this process; tiny models built from a configuration, never downloaded; and HF libraries
that stay off the network."""

import gc
import json
import multiprocessing
import os
import shutil
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores
    os.environ["OMP_NUM_THREADS"] = "1"

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import BaseContext

    from matplotlib.figure import Figure
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

# What takes seconds to import is imported where it is used: the process that hands tests to workers needs none of it.

ROOT = Path(__file__).parents[1]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: workers that share the files then end at about the same time."""
    slow = {item.path for item in items if "slow" in item.keywords}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: collecting garbage, which libraries do often, needn't look at it."""
    gc.freeze()


@cache
def drawing() -> "Callable[[Figure], str]":
    """What draws a plot, as it is before any test."""
    from evenhand.report import plots

    return plots._svg


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Plots are made but not drawn, which takes longer than most runs here, except where a test is `drawn`.

    In what fixtures of a wider scope make, too: whatever the first test that asks for them says.
    """
    from evenhand.report import plots

    draw = drawing()
    plots._svg = draw if "drawn" in item.keywords else lambda figure: "<svg></svg>"


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def tokenizer() -> "PreTrainedTokenizerFast":
    """Byte-level BPE of 400 tokens, trained on the situations; it has a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    situations = ROOT / "datasets/contact_hypothesis/sources/situations.jsonl"
    bpe.train_from_iterator(situations.read_text(encoding="utf-8").splitlines(), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token="<|end|>", pad_token="<|end|>", chat_template=CHAT_TEMPLATE
    )


@pytest.fixture(scope="session")
def tiny_llama(tokenizer) -> "LlamaForCausalLM":
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.2,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory, tiny_llama, tokenizer) -> Path:
    """A folder that --model takes."""
    folder = tmp_path_factory.mktemp("tiny-llama")
    tiny_llama.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def processes() -> "BaseContext":
    """Processes forked from one that has imported what takes long, for all tests that start some."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        [
            "evaluate",
            "evenhand.flow.evaluation",
            "evenhand.language_agency.lexicon",
            "evenhand.models.transformers_model",
            "evenhand.trainers.run",
            "evenhand.trainers.supervised",
        ]
    )
    return context


@pytest.fixture
def evenhand(capsys):
    """evenhand("run", …) → its exit code, what it printed (out, err)."""
    from evenhand.cli import main

    def call(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit_:  # argparse
            code = exit_.code
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return call


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """finished("labe", "stub:first", limit=12, …) → the folder of that run, made once: look, and leave it as it is."""
    from evenhand.flow.configuration import run_config
    from evenhand.flow.evaluation import evaluate

    made = {}

    def call(benchmark, model, **options):
        key = json.dumps([benchmark, model, options], sort_keys=True, default=str)
        if key not in made:
            config = run_config(benchmark, model, **options)
            made[key] = evaluate(config, tmp_path_factory.mktemp("finished") / "run").path
        return made[key]

    return call


@pytest.fixture
def run(finished, tmp_path):
    """run("stub:first", limit=60, …) → a copy of a finished run of contact_hypothesis: folder, results, figures,
    predictions.
    """
    import pandas as pd

    from evenhand.figure import FigureRow, FigureTable

    def call(model, output="run", limit=60, **options):
        folder = tmp_path / output
        shutil.copytree(finished("contact_hypothesis", model, limit=limit, **options), folder)
        results = json.loads((folder / "results.json").read_text())
        return SimpleNamespace(
            folder=folder, results=results, figures=FigureTable(map(FigureRow.from_json, results["figures"])),
            predictions=pd.read_parquet(folder / "predictions.parquet"),
        )  # fmt: skip

    return call
