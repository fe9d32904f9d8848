"""What would do nothing is refused, and values that are none, before anything is asked or made."""

import re

import pytest

from evenhand.errors import UsageError
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.models.stub import StubModel

CONTACT = ("run", "contact_hypothesis", "--limit", "6")
STUB = (*CONTACT, "--model", "stub:first")
IDLE = {
    "revision of a stub": (*STUB, "--revision", "main"),
    "revision of the embedded model": (*CONTACT, "--model", "embedded", "--revision", "main"),
    "revision of a folder": (*CONTACT, "--model", ".", "--revision", "main"),
    "revision of a server": (*CONTACT, "--model", "http://127.0.0.1:9/v1#x", "--revision", "main"),
    "dtype of a stub": (*STUB, "--dtype", "float16"),
    "dtype of a server": (*CONTACT, "--model", "http://127.0.0.1:9/v1#x", "--dtype", "float16"),
    "batch-size of a stub": (*STUB, "--batch-size", "4"),
    "temperature of choices": (*STUB, "--temperature", "1"),
    "top-p of choices": (*STUB, "--top-p", "0.5"),
    "max-new-tokens of choices": (*STUB, "--max-new-tokens", "5"),
    "top-p where nothing is drawn": (*STUB, "--protocol", "generate", "--top-p", "0.5"),
    "top-p beside the model's own sampling": ("run", "labe", "--model", "stub:first", "--limit", "6", "--top-p", "0.5"),
    "max-new-tokens of rankings": (
        *("run", "implicit_bias", "--model", "stub:first", "--limit", "6", "--protocol", "rank"),
        *("--setting", "none", "--max-new-tokens", "5"),
    ),
    "text-column without texts": ("run", "labe", "--text-column", "text"),
    "race-column without texts": ("run", "labe", "--race-column", "race"),
    "preprocess without texts": ("run", "labe", "--preprocess", "none"),
    "faces-table without faces": ("run", "mllm_stereotypes", "--faces-table", "table.csv"),
    "pairs without faces": ("run", "mllm_stereotypes", "--pairs", "50"),
    "label-means without labels": ("annotate", "export", "labe", "--scheme", "agency", "--label-means", "0=communal"),
    "show-label without labels": ("annotate", "export", "labe", "--scheme", "agency", "--show-label"),
}
WRONG = {
    "temperature": [*((*STUB, "--temperature", value) for value in ("nan", "inf", "-1", "")),],
    "seed": [(*STUB, "--seed", value) for value in ("-5", "1e3", "²")],
    "limit": [(*STUB, "--limit", value) for value in ("²", "1e3", "٣", "0", "-1", "6.0", "")],
    "model": [(*CONTACT, "--model", value) for value in ("", " ")],
    "top-p": [(*STUB, "--top-p", value) for value in ("0", "1.1", "nan")],
    "config": [(*STUB, "--config", "")],
    "epochs": [("train", "agency", "--epochs", value) for value in ("0", "nan", "-1", "inf")],
    "n": [("annotate", "export", "labe", "--scheme", "agency", "--n", value) for value in ("0", "²")],
}  # fmt: skip


@pytest.mark.parametrize("what", IDLE)
def test_what_would_do_nothing_is_refused(evenhand, tmp_path, what):
    output = tmp_path / "output.csv"
    told = evenhand(*IDLE[what], "--output", output)
    assert told.code == 2
    assert told.err.startswith(f"evenhand: --{what.split()[0]} ")
    assert not output.exists()


@pytest.mark.parametrize("command", [each for some in WRONG.values() for each in some], ids=" ".join)
def test_errors_name_the_option_and_what_came(evenhand, tmp_path, command):
    *_, option, came = command
    told = evenhand(*command, "--output", tmp_path / "output")
    assert told.code == 2
    assert f"{option}: " in told.err
    assert "must be " in told.err
    assert re.search(rf"got ({re.escape(repr(came))}|{re.escape(came)}(\.0)?)( |$)", told.err)


def test_a_model_that_nobody_asks_is_refused(tmp_path):
    texts = tmp_path / "texts.csv"
    texts.write_text("text,gender\nShe leads.,female\nHe helps.,male\n")
    config = run_config("labe", texts=str(texts), classifiers=("lexicon",))
    with pytest.raises(UsageError, match="scores what exists and asks none"):
        evaluate(config, tmp_path / "run", model=StubModel("first"))


def test_a_model_in_place_of_the_named_one_may_be_any(tmp_path):
    """Its own loading is nobody's business."""
    config = run_config("contact_hypothesis", "stub:first", limit=6, dtype="float32", batch_size=3)
    assert evaluate(config, tmp_path / "run", model=StubModel("first")).results.exists()
