"""Checkpoints: how they are loaded, what stands for them, and why they can't be, said in a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from huggingface_hub import hf_hub_download
from transformers import (
    CONFIG_NAME,
    AutoConfig,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import extract_commit_hash

from evenhand.models.adapters import Adapter
from evenhand.models.errors import ModelError, first_line
from evenhand.models.fingerprint import fingerprint
from evenhand.models.quantization import Bits, quantization_config
from evenhand.models.registry import DType
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings
from evenhand.models.without_code import check_attention, check_weights, without_code


def fastest_dtype() -> Literal["float32", "bfloat16"]:
    """bfloat16 where the GPU or CPU computes in it natively, float32 elsewhere."""
    if torch.cuda.is_available():
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    if torch.backends.mps.is_available():
        return "bfloat16"
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return "bfloat16" if capabilities.get("avx512_bf16") or capabilities.get("amx_bf16") else "float32"


@contextmanager
def explained(what: str, advice: str) -> Iterator[None]:
    """Raises ModelError: "could not {what}: the reason in a line. {advice}"."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # what libraries raise for a damaged checkpoint may be nearly anything
        raise ModelError(f"could not {what}: {first_line(error)}. {advice}") from error


def loaded(kind: Any, path: str, *, revision: str | None = None, **settings: Any) -> Any:
    """What a class of transformers or diffusers makes of a Hub id or local folder: all that is loaded is loaded here.

    No code of a checkpoint is run, whatever it says and whoever is asked. Raises ValueError where it would be, and
    whatever the library raises.
    """
    with without_code():
        return kind.from_pretrained(path, revision=revision, trust_remote_code=False, **settings)


def loaded_weights(kind: Any, path: str, *, revision: str | None = None, **settings: Any) -> Any:
    """Likewise what has weights: from safetensors alone, and without kernels that its configuration would fetch."""
    if Path(path).is_dir():
        check_weights(Path(path))
    if kind.__module__.startswith("transformers.") and settings.get("attn_implementation") is None:
        check_attention(loaded(AutoConfig, path, revision=revision))
    return loaded(kind, path, revision=revision, use_safetensors=True, **settings)


def without_weights(kind: Any, path: str, config: PreTrainedConfig) -> PreTrainedModel:
    """Its layers alone, as `loaded_weights` would make them: without numbers, in no memory. Raises as that does."""
    if Path(path).is_dir():
        check_weights(Path(path))
    check_attention(config)
    with without_code(), torch.device("meta"):
        return kind.from_config(config, trust_remote_code=False)


def commit_of(path: str, revision: str | None) -> str | None:
    """The commit of a Hub id's revision, by its 40 digits; None of a local folder, and of what has no config.json.

    By the folder in which huggingface_hub keeps the file: from the network, or without one as it was last seen.
    """
    if Path(path).is_dir():
        return None
    try:
        kept = hf_hub_download(path, CONFIG_NAME, revision=revision)
    except (OSError, ValueError):  # what is wrong, loading says
        return None
    commit: str | None = extract_commit_hash(kept, None)
    return commit


@dataclass(frozen=True)
class Checkpoint:
    """A Hub id or a local folder, and how it is loaded: safetensors only, and no code of a checkpoint is run.

    path: of the weights; of an adapter, its base's. name: as people call it; by default the path. device_map,
    attn_implementation: as transformers takes them. quantization: of the weights, whose dtype is then that of what they
    are computed in, bfloat16 by default. what, accepted: for errors. template: settings of its chat template.
    """

    path: str
    name: str = ""
    revision: str | None = None
    dtype: DType = "auto"
    device_map: str | None = None
    attn_implementation: str | None = None
    adapter: Adapter | None = None
    what: str = "model"
    accepted: str = "a Hub id, or a local folder with config.json, safetensors weights and a tokenizer"
    quantization: Bits | None = None
    template: TemplateSettings = NO_SETTINGS

    def explained(self) -> AbstractContextManager[None]:
        if self.adapter is None:
            return explained(f"load {self.what} {self.path!r}", f"Accepted: {self.accepted}")
        return explained(f"load {self.path!r}, the base of adapter {self.name!r}", self.adapter.advice)

    @cached_property
    def precision(self) -> str:
        """ "float32", for instance."""
        if self.dtype != "auto":
            return self.dtype
        return "bfloat16" if self.quantization else fastest_dtype()

    @cached_property
    def commit(self) -> str | None:
        return commit_of(self.path, self.revision)

    @property
    def pinned(self) -> str | None:
        """The revision's commit, so that all files are of one: a branch may move while they are loaded."""
        return self.commit or self.revision

    @cached_property
    def config(self) -> PreTrainedConfig:
        with self.explained():
            return loaded(AutoConfig, self.path, revision=self.pinned)

    @cached_property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The adapter's, where it brings one."""
        path, revision = self.source_of("tokenizer_config.json")
        with self.explained():
            tokenizer = loaded(AutoTokenizer, path, revision=revision)
            if len(tokenizer) <= len(tokenizer.all_special_tokens):  # transformers makes one up
                raise ValueError("its tokenizer has no vocabulary")
            return tokenizer

    def source_of(self, file: str) -> tuple[str, str | None]:
        """Path and revision of what the file belongs to: the adapter, where it has it, else the weights."""
        if self.adapter is not None and (self.adapter.folder / file).is_file():
            return str(self.adapter.folder), None
        return self.path, self.pinned

    @property
    def context(self) -> int | None:
        """Tokens that the model has positions for; None where the configuration doesn't say."""
        return getattr(self.config.get_text_config(), "max_position_embeddings", None)

    @property
    def version(self) -> str:
        """Of the weights, and so of an adapter's base: the fingerprint of a local folder, or a commit."""
        if Path(self.path).is_dir():
            return fingerprint(Path(self.path))
        with self.explained():
            if self.commit is None:
                raise ValueError(f"its commit can't be told: {CONFIG_NAME} could not be had")
            return self.commit

    @property
    def identity(self) -> str:
        """What stands for it in stores and reports: its name, what it holds, its quantization, and the dtype."""
        version = self.version
        if self.adapter is not None:
            version = f"{self.adapter.version}+{version}"
        quantized = f"{self.quantization} " if self.quantization else ""
        return f"{self.name or self.path}@{version} {quantized}{self.precision}"

    def layers(self, kind: Any) -> PreTrainedModel:
        """The model of `weights` without them, and without the adapter: for what it is to be known by beforehand."""
        with self.explained():
            return without_weights(kind, self.path, self.config)

    def weights(self, kind: Any) -> PreTrainedModel:
        """kind: the Auto class of its task. Raises ModelError saying what could not be loaded, or is missing."""
        chosen: dict[str, Any] = {}
        if self.attn_implementation is not None:
            chosen["attn_implementation"] = self.attn_implementation
        if self.quantization is not None:
            chosen["quantization_config"] = quantization_config(self.quantization, self.precision)
        with self.explained():
            model, report = loaded_weights(
                kind,
                self.path,
                revision=self.pinned,
                dtype=getattr(torch, self.precision),
                device_map=self.device_map,
                output_loading_info=True,
                **chosen,
            )
            if report["missing_keys"]:  # transformers makes them up, with no more than a warning
                raise ValueError(f"it has no weights for {', '.join(sorted(report['missing_keys'])[:3])}")
        if self.adapter is None:
            return model
        from evenhand.models.adapter_weights import with_adapter  # peft takes seconds

        with explained(f"put adapter {self.name!r} on its base {self.path!r}", self.adapter.advice):
            return with_adapter(model, self.adapter.folder, len(self.tokenizer))
