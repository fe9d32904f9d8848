"""Secrets and places, written in ways and files in which they are seen less easily; and what only looks like them."""

import json

import pandas as pd
import pytest

from evenhand.hub.refusals import reasons

HEX = "0123456789abcdef" * 2
TOKEN = "hf_" + "aB1" * 12
ASSIGNS, PLACE = "assigned as a password", "names a place of a machine"


def rows(text, tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"x": ["a word", text], "nested": [[], [{"y": "b"}]]}).to_parquet(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("config.json", json.dumps({"hub_token": HEX}), ASSIGNS),
        ("config.json", json.dumps({"HUGGINGFACE_HUB_TOKEN_OLD": HEX}), ASSIGNS),
        ("a.txt", "DB_PWD=s3cretpw99", ASSIGNS),
        ("a.txt", "-----BEGIN PGP PRIVATE KEY BLOCK-----", "a private key"),
        ("config.json", '{"t": "\\u0068f_' + TOKEN[3:] + '"}', "a token of the Hub"),
        ("model.gguf", "GGUF\3\0\0\0/home/ann/project/x", PLACE),
        ("tokenizer.json", '{"name_or_path": "/home/ann/x"}', PLACE),
    ],
)
def test_found(name, text, said):
    assert said in " ".join(reasons(name, text.encode()))


@pytest.mark.parametrize(("text", "said"), [("password=hunter22x", ASSIGNS), ("/home/ann/secret/x.txt", PLACE)])
def test_found_in_rows(text, said, tmp_path):
    assert said in " ".join(reasons("rows.parquet", rows(text, tmp_path)))
    assert not list(reasons("rows.parquet", rows("another word", tmp_path)))


@pytest.mark.parametrize(
    "text",
    [
        "GET /models/foo", "Route /chat/completions", "/he/she", '{"eos_token": "<|im_end|>", "pad_token": "PAD1"}',
        "token = tokenizer.decode2(x)", "max_token: 4096", 'api_key="YOUR_KEY_1234"', "a secret: santa2024 it was",
        "password: Required1 characters", '"token": "018f3c5e-aaaa-bbbb-cccc-0123456789ab"', "[x](/docs/models)",
        "sk-learn-based-model-of-2024-version", "Phi3SmallForCausalLM and Qwen3VLMoeForConditionalGeneration",
        f"sha256-{HEX} {HEX} {HEX}{HEX}",
        "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='",
        "M144V118H82V92H64V70H104V96H122M82", "see /en/docs/x", "said as /ˈkæt/dɒg/",
    ],
)  # fmt: skip
def test_what_only_looks_alike(text):
    assert not list(reasons("config.json", text.encode()))
    assert not list(reasons("notes.md", text.encode()))
