"""What a repository may hold by its kind, and what only calls itself so."""

import bz2
import gzip
import io
import json
import marshal
import pickle
import zipfile

import pytest
import torch

from evenhand.hub.refusals import reasons
from tests.hub.weights import weights

STATE, KIND, ODD = "is the state of a training", "is no kind of file", "is not what its name says"
PNG, END = b"\x89PNG\r\n\x1a\n....", b"IEND\xaeB`\x82"


class Calls:
    def __reduce__(self):
        return print, ("called",)


PICKLE = pickle.dumps(Calls())


def torch_saved():
    file = io.BytesIO()
    torch.save({"a": torch.zeros(2)}, file)
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("weights.pkl", PICKLE)
    return file.getvalue()


REFUSED = {
    "training_args.bin": (b"", STATE),
    "optimizer.pt": (b"", STATE),
    "Optimizer.safetensors": (b"", STATE),
    "rng_state_0.pth": (b"", STATE),
    "trainer_state.json": (b"{}", STATE),
    "random_states_0.json": (b"", STATE),
    "zero_pp_rank_0_mp_rank_00_optim_states.safetensors": (b"", STATE),
    "last/checkpoint-5/model.safetensors": (b"", STATE),
    "adam_state.safetensors": (weights(b"1"), KIND),
    "model.safetensors": (PICKLE, ODD),
    "model-1.safetensors": (weights(b"1") + PICKLE, ODD),
    "model.gguf": (PICKLE, ODD),
    "spiece.model": (PICKLE, ODD),
    "picture.png": (PICKLE, ODD),
    "rows.parquet": (b"PAR1" + PICKLE, ODD),
    "harmless.txt": (pickle.dumps({"a": 1}), ODD),
    "harmless.bib": (zipped(), ODD),
    "harmless.svg": (gzip.compress(PICKLE), ODD),
    "harmless.csv": (bz2.compress(PICKLE), ODD),
    "harmless.yaml": (torch_saved(), ODD),
    "harmless.py": (b"\xa7\r\r\n" + bytes(12) + marshal.dumps(compile("1", "x", "exec")), ODD),
    "LICENSE": (b"\x7fELF" + bytes(50), ODD),
    "notes.rst": ("password".encode("utf-16"), ODD),
    **dict.fromkeys(
        ("pytorch_model.bin", "weights.pkl", "WEIGHTS.PKL", "a.dill", "a.npy", "a.h5", "a.onnx", "a.so", "a.pyc", "a.Z",
         "notes.tar", "a.db", "a.exe", "run.sh", "a.docx", ".env", "server.pem", "id_ed25519_old", "env.backup"),
        (b"A=1", KIND),
    ),
    "token.txt": (b"A=1", "is a file of secrets by its name"),
}  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)  # by names alone: archives hold the time at which they were made
def test_other_kinds_of_files_are_refused(path):
    content, said = REFUSED[path]
    [told] = reasons(path, content)
    assert told.startswith(said)


def test_a_header_may_be_as_long_as_a_pickle_begins():
    """A header of 0x280 bytes begins with 80 02, and so does a pickle."""
    header = json.dumps({"__metadata__": {"format": "pt"}}).encode().ljust(0x280)
    assert [*reasons("model.safetensors", len(header).to_bytes(8, "little") + header)] == []


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.png", PNG + END), ("LICENSE", b"MIT"), ("tokenizer.json", "{\"é\": 1}".encode()), ("a.py", b"\tx\r\n"),
        ("spiece.model", b"\n\x0e\n\x05<unk>"), ("a.md", b"I am a cat."), ("a.txt", b"N."), ("b.txt", b""),
        ("adapter_model.safetensors", weights(b"1")), ("chat_template.jinja", b"{{ x }}"),
    ],
)  # fmt: skip
def test_the_usual_kinds_are_published(path, content):
    assert [*reasons(path, content)] == []
