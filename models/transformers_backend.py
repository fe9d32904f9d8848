"""Names of Hub models, local folders, GGUF files, adapters and the embedded model: what transformers loads."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evenhand.errors import UsageError
from evenhand.models.errors import ModelError
from evenhand.models.name_hints import find_model_folders, suggest_name
from evenhand.models.registry import EMBEDDED, Bits, Loading
from evenhand.options import option
from evenhand.paths import typed_path

if TYPE_CHECKING:
    from evenhand.models.adapters import Adapter
    from evenhand.models.loading import Checkpoint
    from evenhand.models.protocol import Model

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TransformersOptions:
    device_map: str | None = option(
        None, "where the weights go: cpu, cuda:1, auto (over all GPUs)", metavar="MAP", incidental=True
    )
    base: str | None = option(None, "of an adapter, in place of the base that it names itself", metavar="MODEL")
    scoring: Literal["auto", "padded"] = option(
        "auto", "of choices: each shared prefix computed once where the model allows it, or plain padded batches"
    )
    prompt_memory: float | None = option(
        None,
        "GB of prompts kept on a CPU for later prompts with the same beginning; by default a quarter of what is free",
        metavar="GB",
        least=0,
        incidental=True,
    )
    attn_implementation: str | None = option(
        None, "eager, sdpa, flash_attention_2 or another that transformers knows", metavar="NAME"
    )
    quantization: Bits | None = option(
        None, "of the weights, by bitsandbytes on a CUDA GPU; 4bit is nf4, double-quantized, computed in bfloat16"
    )


class TransformersBackend:
    """Text models, image-text-to-text models, and adapters on either."""

    Options = TransformersOptions
    ACCEPTED = "embedded, a Hub id, a local folder, a GGUF file, or an adapter's Hub id or folder as peft saves it"

    def load(self, name: str, loading: Loading, options: TransformersOptions) -> Model:
        """With pictures the model is an image-text-to-text model; without them it may be one, too.

        Raises ModelError for what can't be loaded, and for the embedded model where there are pictures.
        """
        from evenhand.models.transformers_model import TransformersModel

        checkpoint = checkpoint_of(name, loading, options)
        if not (loading.pictures or only_sees(checkpoint)):
            return TransformersModel.from_checkpoint(
                checkpoint, loading.batch_size, options.scoring, options.prompt_memory
            )
        from evenhand.models.picture_reader import ACCEPTED as SEEING
        from evenhand.models.vision_model import VisionModel

        if name == EMBEDDED:
            raise ModelError(
                f"the embedded model sees no pictures; accepted: {SEEING}, a server of one "
                "(http://HOST:PORT/v1#NAME), or a stub"
            )
        return VisionModel.from_checkpoint(checkpoint, loading.batch_size)

    def without_effect(self, name: str) -> Mapping[str, str]:
        if name == EMBEDDED:
            return {"revision": "it comes with the installation, in one version"}
        if os.path.exists(os.path.expanduser(name)):
            return {"revision": "a folder holds one version; revisions are of Hub models"}
        return {}


def checkpoint_of(name: str, loading: Loading, options: TransformersOptions) -> Checkpoint:
    """The checkpoint of that name; an adapter's is its base's with the adapter. Raises ModelError, UsageError."""
    import torch

    from evenhand.models.adapters import find_adapter
    from evenhand.models.embedded import NAME
    from evenhand.models.loading import Checkpoint, check_quantization, explained

    if options.quantization is not None:
        check_quantization(options.quantization)
    meant = suggest_name(name)
    checkpoint = Checkpoint(
        name,
        NAME if name == EMBEDDED else name,
        loading.revision,
        loading.dtype,
        options.device_map or ("auto" if torch.cuda.is_available() else None),
        options.attn_implementation,
        accepted=f"{EMBEDDED}, a Hub id, a GGUF file, or a local folder with config.json, safetensors weights and a "
        "tokenizer, or of an adapter as peft saves it" + (f"; did you mean --model {meant}?" if meant else ""),
        quantization=options.quantization,
        template=replace(loading.template, alone=loading.alone),
    )
    with explained(f"load model {name!r}", f"Accepted: {checkpoint.accepted}"):
        checkpoint = _locate(checkpoint)
        adapter = find_adapter(checkpoint.path, name, loading.revision)
    if adapter is not None:
        return _put_on_base(checkpoint, adapter, options.base)
    if options.base is not None and loading.alone:
        raise UsageError(f"base={options.base} has no effect: {name} is no adapter; remove it")
    return checkpoint


def _locate(checkpoint: Checkpoint) -> Checkpoint:
    """With the path of its files, in place of the name that was typed. Raises ValueError for a path without a model."""
    from evenhand.models.embedded import embedded_checkpoint, embedded_gguf, find_gguf, unpack_gguf

    name = checkpoint.path
    if name == EMBEDDED:
        return replace(checkpoint, path=str(embedded_checkpoint()), gguf=embedded_gguf())
    path = typed_path(name)
    if not path.exists():
        if name.startswith((".", "/", "~")) or path.suffix == ".gguf":
            raise ValueError("it does not exist")
        return checkpoint
    if (gguf := find_gguf(path)) is not None:
        return replace(checkpoint, path=str(unpack_gguf(gguf, checkpoint.precision)), gguf=gguf)
    if path.is_file():
        raise ValueError(f"it is a file; name its folder, --model {path.parent}")
    if any((path / file).is_file() for file in ("config.json", "adapter_config.json")):
        return replace(checkpoint, path=str(path))
    if (path / "model_index.json").is_file():
        raise ValueError("it is a pipeline of diffusers, which writes no text")
    below = find_model_folders(path)
    holds = ", ".join(sorted(each.name for each in path.iterdir())[:5]) or "nothing"
    meant = f"; name a folder in it: --model {below[0]}" if below else ""
    raise ValueError(f"it has no config.json; it holds {holds}{meant}")


def _put_on_base(checkpoint: Checkpoint, adapter: Adapter, given: str | None) -> Checkpoint:
    from evenhand.models.adapters import find_adapter

    base = given or adapter.base
    if base is None:
        raise ModelError(f"adapter {adapter.name!r} names no base. {adapter.advice}")
    based = replace(checkpoint, path=base, revision=None if given else adapter.base_revision, adapter=adapter)
    with based.explained():
        based = _locate(based)
        if find_adapter(based.path, base, based.revision) is not None:
            raise ValueError("it is an adapter itself; merge it into its base first (peft's merge_and_unload)")
        own_embedded = base == adapter.base == EMBEDDED  # it comes with the installation, in one version
        if adapter.trained_on is not None and not own_embedded and based.version != adapter.trained_on:
            logger.warning(  # an adapter fits any base of its shape; a newer commit may only have another card
                "adapter %r was trained on version %s of its base, and is put on %s, which is version %s: if the "
                "weights differ, its answers are not those that were trained. --model-option base=NAME names another "
                "base",
                adapter.name,
                adapter.trained_on,
                base,
                based.version,
            )
    return based


def only_sees(checkpoint: Checkpoint) -> bool:
    """Whether it is an image-text-to-text model, and transformers has no text model for its kind."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

    kind = type(checkpoint.config)
    return kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING and kind not in MODEL_FOR_CAUSAL_LM_MAPPING
