"""Names after "vllm:": checkpoints and adapters that vLLM's engine answers for, in this process."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.models.errors import ModelError
from evenhand.models.registry import Loading
from evenhand.models.transformers_backend import TransformersBackend, TransformersOptions, checkpoint_of, only_sees
from evenhand.options import option

if TYPE_CHECKING:
    from evenhand.models.protocol import Model

INSTALL = "pip install 'evenhand[vllm]'"


@dataclass(frozen=True)
class VllmOptions:
    base: str | None = option(None, "base of an adapter, instead of the one that it names", metavar="MODEL")
    tensor_parallel_size: int = option(1, "GPUs that share each layer's weights", least=1, metavar="N", incidental=True)
    data_parallel_size: int = option(
        1, "copies of the model, each on its own GPUs", least=1, metavar="N", incidental=True
    )
    quantization: str | None = option(
        None, "of the weights, as vLLM names it (fp8, bitsandbytes); a checkpoint's own is known", metavar="NAME"
    )
    max_model_len: int | None = option(
        None, "tokens of a prompt with its answer, where the model's own are too many to keep", least=2, metavar="N"
    )
    gpu_memory_utilization: float = option(
        0.9, "share of each GPU for weights, keys and values", above=0, most=1, metavar="SHARE", incidental=True
    )
    enforce_eager: bool = option(False, "compile nothing: starts sooner, answers slower", incidental=True)


class VllmBackend:
    """Text models, image-text-to-text models, and LoRA adapters on either; each prefix of prompts is computed once."""

    Options = VllmOptions
    ACCEPTED = "vllm:embedded, vllm:HUB_ID, vllm:FOLDER, or an adapter's, of a model that vLLM knows"

    def load(self, name: str, loading: Loading, options: VllmOptions) -> Model:
        """Raises ModelError for what can't be loaded, and where vLLM is not installed."""
        if importlib.util.find_spec("vllm") is None:
            raise ModelError(
                f"vllm:{name} needs vLLM, which is not installed: {INSTALL}, in an environment of its own; or name a "
                "server that runs it, http://HOST:PORT/v1"
            )
        from evenhand.models.vllm_model import VllmModel

        if not name:
            raise ModelError(f"the name after vllm: is blank; expected {self.ACCEPTED}")
        checkpoint = checkpoint_of(name, loading, TransformersOptions(base=options.base))
        return VllmModel(checkpoint, options, loading.pictures or only_sees(checkpoint))

    def without_effect(self, name: str) -> Mapping[str, str]:
        return TransformersBackend().without_effect(name)
