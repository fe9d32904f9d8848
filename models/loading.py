"""Checkpoints: how they are loaded, what identifies them, and why they can't be loaded, in a line."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
import transformers.dynamic_module_utils
from huggingface_hub import constants, hf_hub_download
from transformers import (
    CONFIG_NAME,
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import GENERATION_CONFIG_NAME, cached_file, extract_commit_hash

from evenhand.errors import EvenhandError
from evenhand.models.adapters import Adapter, put_adapter
from evenhand.models.errors import ModelError, first_line
from evenhand.models.fingerprint import fingerprint, fingerprint_of_gguf
from evenhand.models.generation import OwnSettings
from evenhand.models.registry import Bits, DType
from evenhand.models.template_settings import NO_SETTINGS, TemplateSettings

# transformers asks on standard input whether to run a checkpoint's code where it loads a part without being asked not
# to (a processor's tokenizer, a part of a pipeline), and a pipe may say yes. With 0 seconds to answer it doesn't ask.
transformers.dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0

CODE = (
    "it needs code of its own, which is never run here: it could do anything on this machine. Choose a model whose "
    "code is part of transformers"
)
_MLX = (
    "Name the model that was converted, or run mlx_lm.server --model {folder}, and then --model "
    "http://localhost:8080/v1"
)
_UNREAD_WEIGHTS = {
    (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"): "pickled ({files}), which can hold code and are never loaded "
    "here. Convert them to safetensors: save_pretrained of current libraries writes them, on a machine on which you "
    "trust them",
    (".onnx",): "ONNX ({files}), which is not read here; name the model that was exported",
    (".npz",): f"MLX's ({{files}}), which are not read here. {_MLX}",
}


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
    except (ModelError, EvenhandError):
        raise
    except Exception as error:  # what libraries raise for a damaged checkpoint may be nearly anything
        raise ModelError(f"could not {what}: {first_line(error)}. {advice}") from error


def loaded(kind: Any, path: str, *, revision: str | None = None, **settings: Any) -> Any:
    """What a class of transformers or diffusers makes of a Hub id or local folder: everything is loaded here.

    No code of a checkpoint is run. Raises ValueError where it would be, and whatever the library raises.
    """
    try:
        return kind.from_pretrained(path, revision=revision, trust_remote_code=False, **settings)
    except Exception as error:
        if "trust_remote_code" in str(error) or "execute custom code" in str(error):
            raise ValueError(CODE) from error
        raise


def loaded_weights(kind: Any, path: str, *, revision: str | None = None, **settings: Any) -> Any:
    """`loaded`, with weights: from safetensors alone, and without kernels that the configuration would fetch."""
    check_weights(Path(path))
    if kind.__module__.startswith("transformers.") and settings.get("attn_implementation") is None:
        check_attention(loaded(AutoConfig, path, revision=revision))
    return loaded(kind, path, revision=revision, use_safetensors=True, **settings)


def check_weights(folder: Path) -> None:
    """Raises ValueError for a local folder whose weights are none that are loaded here, saying what to do.

    Pickles beside safetensors are left alone: nothing reads them. But an adapter beside them would be read.
    """
    if (folder / "adapter_config.json").is_file():
        raise ValueError("it has an adapter beside its weights; merge it into them (peft's merge_and_unload)")
    if not folder.is_dir() or any(folder.glob("*.safetensors")):
        return
    files = sorted(path.name for path in (*folder.iterdir(), *folder.glob("*/*.onnx")))
    for suffixes, what in _UNREAD_WEIGHTS.items():
        if found := [name for name in files if name.endswith(suffixes)]:
            raise ValueError(f"its weights are {what.format(files=', '.join(found[:3]), folder=folder)}")


def check_attention(config: PreTrainedConfig) -> None:
    """Raises ValueError where a configuration, or a part of it, names attention that is somebody's compiled code."""
    parts = (getattr(config, name, None) for name in (*config.sub_configs, "text_config"))
    for each in (config, *parts):
        named = getattr(each, "_attn_implementation", None)
        if isinstance(named, str) and "/" in named:
            raise ValueError(
                f"its configuration would fetch {named} and run it; --model-option attn_implementation=sdpa takes the "
                "library's own attention"
            )


def check_quantized(config: PreTrainedConfig, path: str) -> None:
    """Raises ValueError for weights that MLX has quantized: transformers would load them as if they were plain."""
    named = getattr(config, "quantization", None)
    known = getattr(config, "quantization_config", None) not in (None, named)
    if isinstance(named, dict) and "group_size" in named and not known:
        raise ValueError(f"its weights are quantized by MLX, which alone reads them. {_MLX.format(folder=path)}")


def check_quantization(bits: Bits) -> None:
    """Raises ModelError where weights can't be loaded so: without a CUDA GPU or bitsandbytes."""
    if not torch.cuda.is_available():
        raise ModelError(
            f"weights of {bits} were asked for (quantization), and this machine has no CUDA GPU, which they need: "
            "leave it out, or run there; --dtype bfloat16 takes half the memory of float32 anywhere"
        )
    if importlib.util.find_spec("bitsandbytes") is None:
        raise ModelError(
            f"weights of {bits} were asked for (quantization), and bitsandbytes is not installed; run: "
            "pip install 'evenhand[quantization]'"
        )


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
    are computed in, bfloat16 by default. gguf: the file from which the folder was unpacked. template: settings of its
    chat template. what, accepted: for errors.
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
    gguf: Path | None = None
    template: TemplateSettings = NO_SETTINGS

    def explained(self) -> AbstractContextManager[None]:
        if self.adapter is None:
            return explained(f"load {self.what} {str(self.gguf or self.path)!r}", f"Accepted: {self.accepted}")
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
            check_weights(Path(self.path))
            config: PreTrainedConfig = loaded(AutoConfig, self.path, revision=self.pinned)
            check_quantized(config, self.path)
            return config

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

    @cached_property
    def own_settings(self) -> OwnSettings:
        """Of its generation_config.json, else of its config.json, which held them in older checkpoints."""
        with self.explained():
            settings = self._read(GENERATION_CONFIG_NAME)
            if settings is None:
                settings = self._read(CONFIG_NAME) or {}
                for part in ("text_config", "generator", "decoder"):
                    inner = settings.get(part)
                    outer = {name: value for name, value in settings.items() if value is not None}
                    settings = inner | outer if isinstance(inner, dict) else settings
            return OwnSettings.read(settings)

    def _read(self, name: str) -> dict[str, Any] | None:
        """A JSON file of the checkpoint; None where it has none. Raises ValueError where it can't be read."""
        file = cached_file(
            self.path,
            name,
            revision=self.pinned,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=not constants.HF_HUB_OFFLINE,
        )
        if file is None:
            return None
        try:
            settings = json.loads(Path(file).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"its {name} is no valid JSON ({error})") from error
        if not isinstance(settings, dict):
            raise ValueError(f"its {name} holds no mapping")
        return settings

    @property
    def notes(self) -> dict[str, str]:
        """What a run's report says of its generation settings; see `HasNotes`."""
        left_out = self.own_settings.left_out
        if not left_out:
            return {}
        text = (
            f"{self.name or self.path}: settings of its generation_config.json that are not used here: "
            f"{', '.join(left_out)}. Texts are written token by token, greedily or by the benchmark's sampling."
        )
        return {"decoding_settings_left_out": text}

    @property
    def context(self) -> int | None:
        """Tokens that the model has positions for; None where the configuration doesn't say.

        Beyond the original ones, longrope (Phi-3, Phi-4-mini) turns the positions of a whole batch into others: there
        an answer would depend on what is asked beside it.
        """
        config = self.config.get_text_config()
        rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
        named = "original_max_position_embeddings"
        original = rope.get(named, getattr(config, named, None))
        if "longrope" in (rope.get("rope_type"), rope.get("type")) and original:
            return int(original)
        return getattr(config, "max_position_embeddings", None)

    @property
    def version(self) -> str:
        """Of the weights, and so of an adapter's base: the hash of a local folder or GGUF file, or a commit."""
        if self.gguf is not None:
            return fingerprint_of_gguf(self.gguf)
        if Path(self.path).is_dir():
            return fingerprint(Path(self.path))
        with self.explained():
            if self.commit is None:
                raise ValueError(f"its commit is unknown: {CONFIG_NAME} could not be fetched")
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
            check_attention(self.config)
            with torch.device("meta"):
                model: PreTrainedModel = kind.from_config(self.config, trust_remote_code=False)
                return model

    def weights(self, kind: Any) -> PreTrainedModel:
        """kind: the Auto class of its task. Raises ModelError saying what could not be loaded, or is missing."""
        chosen: dict[str, Any] = {}
        if self.attn_implementation is not None:
            chosen["attn_implementation"] = self.attn_implementation
        if kind in (AutoModelForCausalLM, AutoModelForImageTextToText):
            chosen["generation_config"] = self.own_settings.used
        if self.quantization is not None:
            # 4 bits as QLoRA has them (arXiv 2305.14314, section 3): normal floats, whose scales are quantized, too.
            chosen["quantization_config"] = (
                BitsAndBytesConfig(load_in_8bit=True)
                if self.quantization == "8bit"
                else BitsAndBytesConfig(
                    load_in_4bit=True,
                    bnb_4bit_quant_type="nf4",
                    bnb_4bit_use_double_quant=True,
                    bnb_4bit_compute_dtype=getattr(torch, self.precision),
                )
            )
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
        with explained(f"put adapter {self.name!r} on its base {self.path!r}", self.adapter.advice):
            return put_adapter(model, self.adapter.folder, len(self.tokenizer))
