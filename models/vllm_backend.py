"""Names after "vllm:": checkpoints and adapters that vLLM's engine answers for, in this process."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.models.errors import ModelError
from evenhand.models.registry import Loading
from evenhand.models.transformers_backend import TransformersBackend, TransformersOptions, checkpoint_of, only_sees
from evenhand.models.vllm_engine import INSTALL, VllmOptions

if TYPE_CHECKING:
    from evenhand.models.protocol import Model


class VllmBackend:
    """Text models, image-text-to-text models, and LoRA adapters on either; each prefix of prompts is computed once."""

    Options = VllmOptions
    ACCEPTED = "vllm:embedded, vllm:HUB_ID, vllm:FOLDER, or an adapter's, of a model that vLLM knows"

    def load(self, name: str, loading: Loading, options: VllmOptions) -> Model:
        """Raises ModelError for what can't be loaded, and where vLLM is not installed."""
        if importlib.util.find_spec("vllm") is None:
            raise ModelError(
                f"vllm:{name} came, and vLLM is not installed here: {INSTALL}, in an environment of its own; or name a "
                "server that runs it, http://HOST:PORT/v1"
            )
        from evenhand.models.vllm_model import VllmModel

        if not name:
            raise ModelError(f"the name after vllm: came blank; accepted: {self.ACCEPTED}")
        checkpoint = checkpoint_of(name, loading, TransformersOptions(base=options.base))
        return VllmModel.from_checkpoint(checkpoint, options, loading.pictures or only_sees(checkpoint))

    def without_effect(self, name: str) -> Mapping[str, str]:
        return TransformersBackend().without_effect(name)
